//! Ctrl-C, once and twice.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::stage::program;

/// The first signal is left to whoever looks for it, the second ends the process at once.
#[test]
fn the_second_signal_ends_hopcheck() {
    for signal in [Signal::INT, Signal::TERM] {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "stress::signals::deaf_part", "--nocapture"])
            .env("HOPCHECK_DEAF", "yes")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let pid = Pid::from_child(&child);
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        lines.find(|line| line.as_ref().unwrap().contains("ready")).unwrap().unwrap();
        kill_process(pid, signal).unwrap();
        lines.find(|line| line.as_ref().unwrap().contains("interrupted")).unwrap().unwrap();
        assert!(child.try_wait().unwrap().is_none());
        kill_process(pid, signal).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(5));
    }
}

/// No test of its own: a hopcheck that has no time for the first signal.
#[test]
fn deaf_part() {
    if std::env::var_os("HOPCHECK_DEAF").is_none() {
        return;
    }
    let interrupter = hopcheck::stage::interrupter().unwrap();
    println!("\nready");
    let mut fds = [rustix::event::PollFd::new(interrupter, rustix::event::PollFlags::IN)];
    while !interrupter.interrupted() {
        // The signal itself ends the call.
        let _ = rustix::event::poll(&mut fds, None);
    }
    println!("interrupted");
    crate::stage::fake::hang();
}

/// What was never run is counted, and what was running is told.
#[test]
fn an_interrupted_suite_says_what_is_missing() {
    let mut child = Command::new(program())
        .args(["run", "--jobs", "1"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let pid = Pid::from_child(&child);
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    assert!(line.starts_with("pass"), "{line}");
    kill_process(pid, Signal::INT).unwrap();
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut output, &mut rest).unwrap();
    let ended = child.wait_with_output().unwrap();
    let told = String::from_utf8(ended.stderr).unwrap();
    assert_eq!(ended.status.code(), Some(5), "{rest}{told}");
    assert!(told.contains("interrupted: ") && told.contains("runs were never started"), "{told}");
}
