//! Many runs at a time, beside threads that do all that a test program may do.

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::machine::{check, text};
use super::options;
use crate::stage::{CALL, header, plan_of, program};

/// The transcript of a polite conversation.
fn transcript() -> String {
    let plan = plan_of("polite", "headless", CALL);
    let bin = [std::env::current_exe().unwrap().to_string_lossy().into_owned()];
    let staged = hopcheck::stage::run(&plan, header(&plan), &bin, &options(), None).unwrap();
    hopcheck::snapshot::transcript(&plan, &staged.trace)
}

#[test]
fn twenty_runs_in_a_threaded_program() {
    let expected = transcript();
    assert!(expected.contains("tools/call"), "{expected}");
    let over = AtomicBool::new(false);
    let (over, expected) = (&over, &expected);
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    Command::new("/bin/true").stdout(Stdio::null()).status().unwrap();
                    std::hint::black_box(vec![0_u8; 1 << 20]);
                }
            });
        }
        let runs: Vec<_> = (0..20).map(|_| scope.spawn(transcript)).collect();
        let transcripts: Vec<_> = runs.into_iter().map(|run| run.join()).collect();
        over.store(true, Ordering::Relaxed);
        for transcript in transcripts {
            assert_eq!(&transcript.unwrap(), expected);
        }
    });
}

#[test]
fn twenty_runs_at_a_time_give_the_transcripts_of_one() {
    let folder = tempfile::tempdir().unwrap();
    let run = |jobs: &str| {
        let mut run = Command::new(program());
        run.args(["run", "call", "order", "connect", "--strict", "--jobs", jobs, "--snapshots"])
            .arg(folder.path());
        run
    };
    check(run("1").arg("--accept"), 0, " new");
    let output = check(&mut run("20"), 0, " as accepted");
    assert!(!text(&output).contains("drift"), "{}", text(&output));
}

/// In a process of its own, since others open files meanwhile.
#[test]
fn a_run_leaves_no_descriptor_and_no_thread() {
    super::alone(|| {
        let count = |what: &str| std::fs::read_dir(format!("/proc/self/{what}")).unwrap().count();
        transcript();
        let before = (count("fd"), count("task"));
        for part in
            ["polite", "nothing", "daemon", "supervisor:SIGKILL", "supervisor:SIGSTOP", "servers", "intruder"]
        {
            super::run(part);
        }
        assert_eq!((count("fd"), count("task")), before);
    });
}
