//! hopcheck is killed. Nothing of its runs stays, and what it has written can be read.

use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use hopcheck::check::finding::Outcome;
use hopcheck::trace::event::Kind;

use super::{judge, left_behind, options, read};
use crate::stage::ends::eventually;
use crate::stage::{CALL, header, lives, plan_of, program};

/// A hopcheck in a process of its own, with a place for its sandboxes that nobody else has.
struct Victim {
    child: Child,
    folder: tempfile::TempDir,
}

impl Victim {
    fn start(part: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("tmp")).unwrap();
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "stress::killed::victim", "--nocapture"])
            .env("HOPCHECK_VICTIM", part)
            .env("HOPCHECK_VICTIM_TRACE", folder.path().join("t.jsonl"))
            .env("TMPDIR", folder.path().join("tmp"))
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        Self { child, folder }
    }

    fn trace(&self) -> PathBuf {
        self.folder.path().join("t.jsonl")
    }

    /// Waits until its trace is so long.
    fn wrote(&self, bytes: u64) {
        let path = self.trace();
        eventually(|| path.metadata().is_ok_and(|file| file.len() >= bytes));
    }

    fn kill(mut self) -> tempfile::TempDir {
        self.child.kill().unwrap();
        let status = self.child.wait().unwrap();
        assert_eq!(status.signal(), Some(9), "it was killed, and had not ended");
        self.folder
    }
}

/// No test of its own: the hopcheck that is killed.
#[test]
fn victim() {
    let Ok(part) = std::env::var("HOPCHECK_VICTIM") else { return };
    let plan = plan_of(&part, "headless", CALL);
    let bin = [std::env::current_exe().unwrap().to_string_lossy().into_owned()];
    let trace = std::env::var_os("HOPCHECK_VICTIM_TRACE").unwrap();
    // It may end before it is killed.
    let _ = hopcheck::stage::run(&plan, header(&plan), &bin, &options(), Some(trace.as_ref()));
    crate::stage::fake::hang();
}

/// No process whose files are in a folder, and nothing in the folder.
#[track_caller]
fn nothing_stays(sandboxes: &Path) {
    let within =
        |pid: i64| std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(sandboxes));
    eventually(|| !all_processes().into_iter().any(within));
    eventually(|| std::fs::read_dir(sandboxes).unwrap().next().is_none());
}

fn all_processes() -> Vec<i64> {
    let names = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.file_name());
    names.filter_map(|name| name.to_str()?.parse().ok()).collect()
}

/// Runs the program with a trace.
fn told(command: &str, trace: &Path) -> (Option<i32>, String) {
    let output = Command::new(program()).args([command.as_ref(), trace.as_os_str()]).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(text).unwrap())
}

/// Moments that are the same in every test run, from the first bytes of a trace on.
fn moments() -> impl Iterator<Item = u64> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    std::iter::repeat_with(move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % 200_000
    })
}

#[test]
fn at_any_moment() {
    for bytes in [0, 1].into_iter().chain(moments().take(18)) {
        let victim = Victim::start("rounds");
        victim.wrote(bytes);
        let folder = victim.kill();
        nothing_stays(&folder.path().join("tmp"));
        let trace = folder.path().join("t.jsonl");
        if bytes < 2 {
            // There may be no whole first line, and no host to speak of.
            continue;
        }
        let (plan, prefix) = read(&trace);
        for pid in left_behind(&prefix.events) {
            eventually(|| !lives(pid));
        }
        let judged = judge(&plan, prefix);
        let expected = (Outcome::Error, Some("the trace ends before its run did"));
        assert_eq!((judged.outcome, judged.reason.as_deref()), expected, "after {bytes} bytes");
        let (code, text) = told("judge", &trace);
        assert_eq!((code, text.contains("the trace ends before its run did")), (Some(5), true), "{text}");
        let (code, text) = told("show", &trace);
        assert_eq!((code, text.starts_with("fake area/t 2025-11-25 stdio")), (Some(0), true), "{text}");
    }
}

#[test]
fn by_the_host_itself() {
    let victim = Victim::start("regicide");
    let mut child = victim.child;
    assert_eq!(child.wait().unwrap().signal(), Some(9));
    nothing_stays(&victim.folder.path().join("tmp"));
    let (_, prefix) = read(&victim.folder.path().join("t.jsonl"));
    let left = left_behind(&prefix.events);
    assert_eq!(left.len(), 1);
    eventually(|| !lives(left[0]));
    assert!(prefix.events.iter().any(|event| event.kind == Kind::ServerStart));
}

#[test]
fn in_the_middle_of_a_suite() {
    for files in [1, 3, 7, 12] {
        let folder = tempfile::tempdir().unwrap();
        let (sandboxes, traces) = (folder.path().join("tmp"), folder.path().join("out"));
        std::fs::create_dir(&sandboxes).unwrap();
        let mut child = Command::new(program())
            .args(["run", "order", "call", "list", "--jobs", "3", "--quiet", "--out"])
            .arg(&traces)
            .env("TMPDIR", &sandboxes)
            .spawn()
            .unwrap();
        eventually(|| all_files(&traces).len() >= files);
        child.kill().unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(9));
        nothing_stays(&sandboxes);
        for trace in all_files(&traces).into_iter().filter(|path| path.metadata().unwrap().len() > 0) {
            let (code, text) = told("judge", &trace);
            let expected = if text.contains("the trace ends before its run did") {
                5
            } else if text.contains("the first line is cut short") {
                2
            } else {
                0
            };
            assert_eq!(code, Some(expected), "{text}");
        }
    }
}

/// What is judged from the first of two runs alone would be held against the host.
#[test]
fn between_two_runs() {
    let folder = tempfile::tempdir().unwrap();
    let mut run = Command::new(program());
    run.args(["run", "call/order-service", "--revision", "2025-11-25", "--quiet", "--out"]).arg(folder.path());
    assert!(run.status().unwrap().success());
    let [trace] = &all_files(folder.path())[..] else { panic!("one trace") };
    let text = std::fs::read_to_string(trace).unwrap();
    let end = text.find(r#""ev":"run-end""#).unwrap();
    let end = end + text[end..].find('\n').unwrap() + 1;
    assert!(text[end..].contains(r#""role":"twin""#), "{text}");
    std::fs::write(trace, &text[..end]).unwrap();
    let (code, text) = told("judge", trace);
    assert_eq!((code, text.contains("the trace ends before its run did")), (Some(5), true), "{text}");
}

fn all_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { all_files(&path) } else { vec![path] }).collect()
}
