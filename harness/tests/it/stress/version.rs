//! Programs that misbehave when they are asked for their version.

use std::process::{Command, Stdio};

use rustix::process::{Signal, getppid, kill_process};

use super::machine::{check, text};
use crate::stage::ends::eventually;
use crate::stage::{self, program};

const TOP: &str = r#"
name = "asked"
title = "A host that is asked"
bin = { names = ["hopcheck-no-program"], env = "HOPCHECK_ASKED" }
version = { args = ["--exact", "stress::version::PART", "--nocapture"], pattern = 'asked (\S+)' }
"#;

const DRIVE: &str = r#"
[[drive]]
kind = "headless"
argv = ["{{ bin }}", "--list"]
env = { HOME = "{{ home }}", PATH = "{{ path }}" }
features = ["prompts"]
"#;

/// Runs a scenario on a host that is this program, and that is this test when it is asked for its version.
#[track_caller]
fn ask(part: &str, code: i32, words: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let profile = folder.path().join("asked.toml");
    std::fs::write(&profile, stage::profile(&TOP.replace("PART", part), DRIVE)).unwrap();
    let begun = std::time::Instant::now();
    let mut run = Command::new(program());
    run.args(["run", "connect/by-itself", "--host"]).arg(&profile);
    run.env("HOPCHECK_ASKED", std::env::current_exe().unwrap()).env("TMPDIR", folder.path());
    let output = check(&mut run, code, words);
    assert!(begun.elapsed() < super::PATIENCE, "{}", text(&output));
    text(&output)
}

/// Whether this program is asked: then it has nothing but a home in a sandbox.
fn is_asked() -> bool {
    std::env::var("HOME").is_ok_and(|home| home.contains("/hc") && home.ends_with("/home"))
}

/// A word that only the helper of this test has.
const HELPER: &str = "600.61237";

#[test]
#[expect(clippy::zombie_processes, reason = "what is left behind is the point")]
fn helper() {
    if is_asked() {
        // Standard output stays open in it.
        Command::new("/usr/bin/setsid").args(["/bin/sleep", HELPER]).stdin(Stdio::null()).spawn().unwrap();
        println!("\nasked 1.2.3");
        return;
    }
    // The host does nothing, which is no matter of its version.
    ask("helper", 1, "asked 1.2.3");
    let is_helper = |entry: std::fs::DirEntry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        line.split(|&byte| byte == 0).any(|word| word == HELPER.as_bytes())
    };
    eventually(|| !std::fs::read_dir("/proc").unwrap().flatten().any(is_helper));
}

#[test]
fn turncoat() {
    if is_asked() {
        kill_process(getppid().unwrap(), Signal::STOP).unwrap();
        crate::stage::fake::hang();
    }
    ask("turncoat", 4, "it sent SIGSTOP to the process that watches over it");
}

#[test]
fn chatterbox() {
    if is_asked() {
        println!("\nasked 4.5.6");
        let line = [b'x'; 1 << 16];
        // Nobody listens for so long.
        while std::io::Write::write_all(&mut std::io::stdout(), &line).is_ok() {}
        return;
    }
    ask("chatterbox", 1, "asked 4.5.6");
}
