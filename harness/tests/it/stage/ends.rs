//! How runs end: early, late, never.

use std::process::Command;
use std::time::{Duration, Instant};

use hopcheck::json::Json;
use hopcheck::stage::{Deadlines, StageOptions};
use hopcheck::trace::event::Kind;

use super::{impatient, of, one, options, reason, run, shown};

#[test]
fn a_host_that_exits_at_once() {
    let events = run("seven", &options());
    assert_eq!(one(&events, Kind::HostExit).data.to_string(), r#"{"code":7}"#);
    assert_eq!(reason(&events), "exit");
}

#[test]
fn a_host_that_hangs_from_the_start() {
    let events = run("hang", &impatient());
    let deadline = one(&events, Kind::Deadline);
    assert_eq!(deadline.data.str("phase"), Some("start"));
    assert!(deadline.data.at(&["last", "process"]).is_some(), "{}", shown(&events));
    assert_eq!(one(&events, Kind::HostExit).data.to_string(), r#"{"signal":"SIGKILL"}"#);
    assert_eq!(reason(&events), "deadline");
}

#[test]
fn a_host_that_hangs_in_the_middle() {
    // The start may take its time on a busy machine; only the rest is short.
    let soon = Some(Duration::from_millis(300));
    let deadlines = Deadlines { progress: soon, ..Deadlines::default() };
    let events = run("hang-later", &StageOptions { deadlines, ..options() });
    assert_eq!(one(&events, Kind::Deadline).data.str("phase"), Some("progress"));
    assert_eq!(one(&events, Kind::ServerExit).data.str("by"), Some("harness"), "{}", shown(&events));
    assert_eq!(reason(&events), "deadline");
}

#[test]
fn a_flood_of_output_is_capped() {
    let events = run("flood", &options());
    assert_eq!(reason(&events), "exit");
    let dropped: i64 =
        of(&events, Kind::Dropped).iter().filter_map(|event| event.data.get("dropped")?.as_i64()).sum();
    let kept: usize = events
        .iter()
        .filter(|event| matches!(event.kind, Kind::HostOut | Kind::HostErr))
        .map(|event| event.bytes().unwrap().len())
        .sum();
    assert!(kept <= 4 << 20, "{kept}");
    assert!(dropped + i64::try_from(kept).unwrap() >= 50 << 20, "{dropped}");
}

#[test]
fn a_flood_on_the_wire_ends_the_run() {
    let events = run("flood-wire", &options());
    assert_eq!(reason(&events), "flood");
}

/// Small messages are few bytes and much work for whoever judges them.
#[test]
fn a_host_that_asks_for_ever_is_judged_soon() {
    let events = run("chatter", &options());
    assert_eq!(reason(&events), "flood");
    assert!(events.len() < 12_000, "{}", events.len());
}

#[test]
fn a_host_that_does_not_read_hangs_nobody() {
    let events = run("deaf", &options());
    assert_eq!(
        one(&events, Kind::HostExit).data.get("code").and_then(Json::as_i64),
        Some(0),
        "{}",
        shown(&events)
    );
    assert_eq!(reason(&events), "exit");
    // What did not fit into the pipe was never sent, and is not recorded as sent.
    assert_eq!(of(&events, Kind::ToServer).len(), 5002);
    assert!(of(&events, Kind::ToHost).len() < 5000);
}

#[test]
fn a_stop_is_a_signal_instead_of_a_reply() {
    let scenario = super::CALL.replace("say = \"Done.\"", "stop = \"sigterm\"");
    let events =
        super::try_run(&super::plan_of("polite", "headless", &scenario), &options()).unwrap().trace.events;
    assert_eq!(one(&events, Kind::HostExit).data.to_string(), r#"{"signal":"SIGTERM"}"#, "{}", shown(&events));
    assert_eq!(of(&events, Kind::ModelRequest).len(), 2);
    assert_eq!(of(&events, Kind::ModelReply).len(), 1);
    assert_eq!(one(&events, Kind::ServerExit).data.to_string(), r#"{"code":0,"by":"script"}"#);
    assert_eq!(reason(&events), "exit");
}

/// Runs in a process of its own, since it interrupts the whole process.
#[test]
fn an_interrupted_run_leaves_a_readable_trace() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.jsonl");
    let mut child = start_interrupted_part(&path);
    let host = wait_for_host(&path);
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(child.wait().unwrap().success());
    let trace = hopcheck::trace::file::read("t", &std::fs::read(&path).unwrap()).unwrap();
    one(&trace.events, Kind::Interrupted);
    assert_eq!(reason(&trace.events), "interrupted");
    assert!(!super::lives(host));
}

/// Starts `interrupted_part` as a process of its own.
fn start_interrupted_part(path: &std::path::Path) -> std::process::Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "stage::ends::interrupted_part", "--nocapture"])
        .env("HOPCHECK_INTERRUPTED", path)
        .spawn()
        .unwrap()
}

#[test]
fn interrupted_part() {
    let Some(path) = std::env::var_os("HOPCHECK_INTERRUPTED") else { return };
    let interrupter = Some(hopcheck::stage::interrupter().unwrap());
    let plan = super::plan_of("hang", "headless", super::CALL);
    let bin = [std::env::current_exe().unwrap().to_string_lossy().into_owned()];
    let options = StageOptions { interrupter, ..options() };
    let staged = hopcheck::stage::run(&plan, super::header(&plan), &bin, &options, Some(path.as_ref())).unwrap();
    assert_eq!(staged.interrupted, hopcheck::stage::Interrupted::Yes);
}

#[test]
fn when_hopcheck_is_killed_nothing_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.jsonl");
    let mut child = start_interrupted_part(&path);
    let host = wait_for_host(&path);
    child.kill().unwrap();
    child.wait().unwrap();
    let trace = hopcheck::trace::file::read("t", &std::fs::read(&path).unwrap()).unwrap();
    let cwd = one(&trace.events, Kind::HostStart).data.str("cwd").unwrap().to_owned();
    eventually(|| !super::lives(host) && !std::path::Path::new(&cwd).exists());
}

/// The process id of the host, once the trace tells it.
fn wait_for_host(path: &std::path::Path) -> i64 {
    let mut host = None;
    eventually(|| {
        let bytes = std::fs::read(path).unwrap_or_default();
        let trace = hopcheck::trace::file::read("t", &bytes).ok();
        let start = trace.iter().flat_map(|trace| &trace.events).find(|event| event.kind == Kind::HostStart);
        host = start.and_then(|event| event.data.get("pid")?.as_i64());
        host.is_some()
    });
    host.unwrap()
}

/// Another process has no event for us, so this looks again and again.
#[track_caller]
pub(crate) fn eventually(mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(30), "it never happened");
        std::thread::sleep(Duration::from_millis(5));
    }
}
