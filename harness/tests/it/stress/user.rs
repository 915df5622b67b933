//! A user without privileges. As root, the tests become one; otherwise they are run as they are.

use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::machine::{check, text};
use crate::stage::ends::eventually;
use crate::stage::{self, program};

/// Nobody.
const USER: u32 = 65534;

/// What such a user can reach: a copy of the program, and a folder of its own.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let open = |mode| std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(folder.path(), open(0o755)).unwrap();
        // Another test may start a process at any time, which would hold a file that we write open, and busy.
        let copied = Command::new("/bin/cp").arg(program()).arg(folder.path().join("hopcheck")).status();
        assert!(copied.unwrap().success());
        for (name, mode) in [("own", 0o777), ("locked", 0o555)] {
            std::fs::create_dir(folder.path().join(name)).unwrap();
            std::fs::set_permissions(folder.path().join(name), open(mode)).unwrap();
        }
        Self { folder }
    }

    fn own(&self) -> PathBuf {
        self.folder.path().join("own")
    }

    fn hopcheck(&self) -> Command {
        let mut command = Command::new(self.folder.path().join("hopcheck"));
        command.current_dir(self.own()).env_clear().env("PATH", "/usr/bin:/bin").env("TMPDIR", self.own());
        if rustix::process::getuid().is_root() {
            command.uid(USER).gid(USER);
        }
        command
    }
}

#[test]
fn a_whole_area_and_nothing_left() {
    let place = Place::new();
    check(place.hopcheck().args(["run", "process", "permission", "call", "--strict"]), 0, "runs: ");
    assert_eq!(std::fs::read_dir(place.own()).unwrap().count(), 0);
}

/// A host that locks folders in its sandbox, even against itself, and then does what its first argument says.
const LOCKS: [&str; 2] = [
    r#"
name = "locks"
title = "A host that locks folders"
bin = { names = ["sh"] }
version = { args = [], pattern = '(.*)' }
"#,
    r#"
[[drive]]
kind = "headless"
argv = ["{{ bin }}", "-c", "mkdir -p $HOME/a/b $TMPDIR/c && echo x > $HOME/a/b/c && chmod 000 $HOME/a/b $HOME/a $TMPDIR/c && END"]
env = { HOME = "{{ home }}", PATH = "{{ path }}" }
features = ["prompts"]
"#,
];

impl Place {
    /// A run of a host that locks folders.
    fn locks(&self, end: &str) -> Command {
        let profile = self.folder.path().join("locks.toml");
        let [top, tables] = LOCKS;
        std::fs::write(&profile, stage::profile(top, &tables.replace("END", end))).unwrap();
        let mut run = self.hopcheck();
        run.args(["run", "connect/by-itself", "--host"]).arg(profile).stdout(Stdio::null()).stderr(Stdio::null());
        run
    }

    /// The sandboxes that are there.
    fn sandboxes(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.own()).unwrap().flatten().map(|entry| entry.path());
        entries.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with("hc")).collect()
    }
}

#[test]
fn locked_folders_go_with_their_run() {
    let place = Place::new();
    // The host did nothing that could be judged.
    assert_eq!(place.locks("exit 0").status().unwrap().code(), Some(1));
    assert_eq!(place.sandboxes(), Vec::<PathBuf>::new());
}

#[test]
fn locked_folders_go_when_hopcheck_is_killed() {
    let place = Place::new();
    let mut child = place.locks("exec sleep 600").spawn().unwrap();
    // Only somebody with privileges could look for the folders; the last one that is locked tells.
    let locked = |sandbox: PathBuf| {
        let mode = std::fs::metadata(sandbox.join("tmp/c")).map(|folder| folder.permissions().mode());
        mode.is_ok_and(|mode| mode & 0o777 == 0)
    };
    if rustix::process::getuid().is_root() {
        eventually(|| place.sandboxes().into_iter().any(locked));
    } else {
        eventually(|| !place.sandboxes().is_empty());
    }
    child.kill().unwrap();
    child.wait().unwrap();
    eventually(|| place.sandboxes().is_empty());
}

#[test]
fn folders_of_others() {
    let place = Place::new();
    let locked = place.folder.path().join("locked");
    let run = || {
        let mut run = place.hopcheck();
        run.args(["run", "call/lookup", "--revision", "2025-11-25"]);
        run
    };
    let output = check(run().arg("--out").arg(locked.join("traces")), 2, "Permission denied");
    assert!(output.stdout.is_empty(), "{}", text(&output));
    let report = format!("json={}", locked.join("report.json").display());
    let output = check(run().args(["--report", &report]), 2, "Permission denied");
    assert!(output.stdout.is_empty(), "{}", text(&output));
    check(run().env("TMPDIR", &locked), 5, "Permission denied");
}
