//! hopcheck under stress: hostile hosts and servers, a hostile machine, and its own death.
//!
//! Each test says what becomes of the run, which finding explains it, and that nothing is left.

mod asks;
mod ends;
pub(crate) mod fake;
mod killed;
mod machine;
mod output;
mod parallel;
mod servers;
mod signals;
mod supervisor;
mod user;
mod version;

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use hopcheck::check::{self, finding};
use hopcheck::plan::{Plan, Planned};
use hopcheck::stage::{Deadlines, StageOptions};
use hopcheck::trace::Trace;
use hopcheck::trace::event::{Event, Kind};

use crate::stage::{CALL, header, lives, of, options, plan_of, shown};
use finding::{Finding, Outcome, Verdict};

/// Every run of these tests ends in seconds, whatever its host does. A machine that has much else to do takes longer, and
/// no machine waits for what never comes.
const PATIENCE: Duration = Duration::from_secs(240);

/// A run as it was judged from its file, by somebody who has nothing but the file.
struct Judged {
    events: Vec<Event>,
    findings: Vec<Finding>,
    outcome: Outcome,
    reason: Option<String>,
}

/// What hopcheck may take at most while it runs and judges a hostile host, in KiB. An honest host costs it a tenth.
const PEAK: u64 = 192 << 10;

/// Runs a test in a process of its own and looks at its memory.
#[track_caller]
fn alone(test: impl FnOnce()) {
    if std::env::var_os("HOPCHECK_ALONE").is_some() {
        test();
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        println!("{}", status.lines().find(|line| line.starts_with("VmHWM")).unwrap());
        return;
    }
    // The thread of a test has its name.
    let name = std::thread::current().name().unwrap().to_owned();
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &name, "--nocapture"])
        .env("HOPCHECK_ALONE", "yes")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let (_, peak) = text.split_once("VmHWM:").unwrap();
    let peak: u64 = peak.split_whitespace().next().unwrap().parse().unwrap();
    assert!(peak < PEAK, "{peak} KiB");
    println!("{name} took {peak} KiB");
}

/// Runs a part with one call.
fn run(part: &str) -> Judged {
    run_with(part, CALL, &options())
}

/// Runs a part that hangs once it has begun to talk.
fn run_hanging(part: &str) -> Judged {
    run_with(part, CALL, &hanging())
}

/// The start may take its time on a busy machine; what follows it is short.
fn hanging() -> StageOptions {
    let soon = Some(Duration::from_millis(500));
    StageOptions { deadlines: Deadlines { progress: soon, shutdown: soon, ..Deadlines::default() }, ..options() }
}

fn run_with(part: &str, scenario: &str, options: &StageOptions) -> Judged {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.jsonl");
    let plan = plan_of(part, "headless", scenario);
    let bin = [std::env::current_exe().unwrap().to_string_lossy().into_owned()];
    let begun = Instant::now();
    let staged = hopcheck::stage::run(&plan, header(&plan), &bin, options, Some(&path)).unwrap();
    let took = begun.elapsed();
    assert!(took < PATIENCE, "{took:?}: {}", shown(&staged.trace.events));
    let (plan, trace) = read(&path);
    assert_eq!(trace, staged.trace);
    nothing_is_left(&trace);
    judge(&plan, trace)
}

/// Reads a trace as `hopcheck judge` does.
fn read(path: &Path) -> (Plan, Trace) {
    let trace = hopcheck::trace::file::read("t", &std::fs::read(path).unwrap()).unwrap();
    match trace.header.replan().unwrap() {
        Planned::Run(plan) => (*plan, trace),
        Planned::NotApplicable { reason, .. } => panic!("{reason}"),
    }
}

fn judge(plan: &Plan, trace: Trace) -> Judged {
    let findings = check::judge(plan, &trace);
    let (outcome, reason) = check::outcome(plan, &trace, &findings);
    Judged { events: trace.events, findings, outcome, reason }
}

/// No process of the run and no folder.
#[track_caller]
fn nothing_is_left(trace: &Trace) {
    for event in &trace.events {
        let pid = event.data.get("pid").and_then(hopcheck::json::Json::as_i64);
        assert!(!pid.is_some_and(lives), "{pid:?} lives: {}", shown(&trace.events));
        if let (Kind::HostStart, Some(cwd)) = (event.kind, event.data.str("cwd")) {
            assert!(!Path::new(cwd).parent().unwrap().exists(), "{cwd}");
        }
    }
    for pid in left_behind(&trace.events) {
        assert!(!lives(pid), "{pid} lives: {}", shown(&trace.events));
    }
}

/// The processes that the host says it has left behind.
fn left_behind(events: &[Event]) -> Vec<i64> {
    let lines = of(events, Kind::HostOut).into_iter().filter_map(|event| str::from_utf8(event.bytes()?).ok());
    lines.filter_map(|line| line.split_once("left ")?.1.trim().parse().ok()).collect()
}

impl Judged {
    /// That the host is told to be guilty by this requirement, in these words, with events that show it.
    #[track_caller]
    fn blames(&self, requirement: &str, words: &str) -> &Self {
        let told = |finding: &&Finding| finding.requirement == requirement && finding.message.contains(words);
        let Some(finding) = self.findings.iter().find(told) else {
            let found = self.findings.iter().map(|f| format!("{} {}: {}\n", f.requirement, f.verdict, f.message));
            panic!("no `{requirement}` with `{words}`:\n{}\n{}", found.collect::<String>(), shown(&self.events))
        };
        assert_eq!(finding.verdict, Verdict::Fail, "{finding:?}");
        assert!(!finding.evidence.is_empty(), "{finding:?}");
        for n in &finding.evidence {
            assert!(self.events.iter().any(|event| event.n == *n), "{finding:?}");
        }
        let guilty = matches!(self.outcome, Outcome::Fail | Outcome::Untestable);
        assert!(guilty, "{:?} {:?}", self.outcome, self.reason);
        self
    }

    /// How the host run ended.
    #[track_caller]
    fn ended(&self, reason: &str) -> &Self {
        assert_eq!(crate::stage::reason(&self.events), reason, "{}", shown(&self.events));
        self
    }
}
