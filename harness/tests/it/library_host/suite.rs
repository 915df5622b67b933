//! The honest library and the built-in suite.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::thread;

use hopcheck::check::finding::Outcome;
use hopcheck::driver::Library;
use hopcheck::library;
use hopcheck::plan::{Plan, Planned};
use hopcheck::trace::event::Kind;
use hopcheck::trace::{Trace, file};

use super::host::Pace;
use super::{Lie, Witness, header, judge, options, plan_of, plans, record, run};

/// Why a scenario of the suite does not apply to the witness.
const CHANGES: &str = "no drive of witness has list-changed";
const RESTART: &str = "no drive of witness has restart";
const OTHERS: &str = "the scenario is written for ";
const INTERRUPT: &str = "no drive of witness has interrupt";
const SIGNAL: &str = "witness is a library, and has no process to send a signal to";

#[test]
fn the_honest_library_passes_the_built_in_suite() {
    let queue: Mutex<Vec<Planned>> = Mutex::new(library::scenarios().iter().flat_map(plans).collect());
    let wrong: Mutex<Vec<String>> = Mutex::default();
    let reasons: Mutex<BTreeMap<String, usize>> = Mutex::default();
    let passed: Mutex<usize> = Mutex::default();
    let work = || {
        loop {
            let next = queue.lock().unwrap().pop();
            match next {
                None => return,
                Some(Planned::NotApplicable { reason, .. }) => {
                    *reasons.lock().unwrap().entry(reason).or_default() += 1;
                }
                Some(Planned::Run(plan)) => {
                    let judged = judge(&plan, record(&plan, Lie::None, &options(), None).unwrap());
                    if judged.outcome == Outcome::Pass {
                        *passed.lock().unwrap() += 1;
                        continue;
                    }
                    let why = judged.reason.clone().unwrap_or_else(|| judged.failures());
                    wrong.lock().unwrap().push(format!("{} {}: {why}", plan.key, judged.outcome));
                }
            }
        }
    };
    // Two libraries at a time, each on a thread of its own.
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(work);
        }
    });
    assert_eq!(wrong.into_inner().unwrap(), [""; 0]);
    let passed = passed.into_inner().unwrap();
    assert!(passed > 200, "only {passed} runs passed");
    let reasons = reasons.into_inner().unwrap();
    // Which products have scenarios of their own is not the point here.
    let (of_others, reasons): (Vec<String>, Vec<String>) =
        reasons.into_keys().partition(|reason| reason.starts_with(OTHERS));
    assert!(!of_others.is_empty());
    assert_eq!(reasons, [INTERRUPT, CHANGES, RESTART, SIGNAL]);
}

/// The lanes of a run, as kinds of events without those of one server alone.
#[test]
fn the_model_lane_is_made_of_what_the_library_offers_and_returns() {
    let judged = run("call/lookup", Lie::None);
    let events = &judged.trace.events;
    let kinds: Vec<&str> = events.iter().map(|event| event.kind.as_str()).collect();
    let expected = [
        "run-start",
        "host-start",
        "prompt",
        "server-start",
        "to-server",
        "to-host",
        "to-server",
        "to-server",
        "to-host",
        "request",
        "reply",
        "to-server",
        "to-host",
        "request",
        "reply",
        "eof",
        "server-exit",
        "host-exit",
        "gone",
        "run-end",
    ];
    assert_eq!(kinds, expected);
    let of = |kind: Kind| events.iter().find(|event| event.kind == kind).unwrap();
    assert_eq!(of(Kind::RunStart).data.str("isolation"), Some("none"));
    assert_eq!(of(Kind::HostStart).data.str("drive"), Some("in-process"));
    assert_eq!(of(Kind::HostExit).data.to_string(), r#"{"thread":"returned"}"#);
    let requests: Vec<_> = events.iter().filter(|event| event.kind == Kind::ModelRequest).collect();
    for request in &requests {
        assert_eq!(request.data.str("api"), Some("synthetic"));
        assert_eq!(request.data.get("path"), None);
    }
    let told = requests[1].json().unwrap();
    let told = told.pointer("/messages/2/content/0").unwrap();
    assert_eq!((told.str("type"), told.get("is_error").unwrap().as_bool()), (Some("tool_result"), Some(false)));
    // What the model lane is, and what it cannot show, is said in every report.
    for id in ["trait.model-lane", "trait.host-process"] {
        assert_eq!(judged.verdict(id), Some("trait"), "{id}");
    }
    assert_eq!(judged.verdict("expect.model-api"), None);
}

#[test]
fn a_requirement_about_model_apis_does_not_apply() {
    let text = r#"
title = "A rule about model APIs"
requirements = ["expect.model-api"]
[server.orders]
script = "orders"
[[step]]
list = "orders"
"#;
    let source = hopcheck::diagnostic::Source::new("scenarios/own/api.toml", text);
    let Planned::Run(plan) = plans(&source).remove(0) else { panic!("not planned") };
    let judged = judge(&plan, record(&plan, Lie::None, &options(), None).unwrap());
    assert_eq!(judged.verdict("expect.model-api"), Some("not-applicable"));
    assert_eq!(judged.outcome, Outcome::Pass, "{}", judged.failures());
}

#[test]
fn a_saved_trace_is_judged_the_same() {
    let folder = tempfile::tempdir().unwrap();
    // One with a question, one with a twin.
    for id in ["permission/ask[allowed]", "permission/deny-tool", "result/media[image]"] {
        let path = folder.path().join("trace.jsonl");
        let plan = plan_of(id);
        let live = judge(&plan, record(&plan, Lie::None, &options(), Some(&path)).unwrap());
        let saved: Trace = file::read("trace", &std::fs::read(&path).unwrap()).unwrap();
        let Planned::Run(again) = saved.header.replan().unwrap() else { panic!("{id} is not planned again") };
        let again: Box<Plan> = again;
        assert_eq!(judge(&again, saved).findings, live.findings, "{id}");
        assert_eq!(live.outcome, Outcome::Pass, "{id}: {}", live.failures());
    }
}

#[test]
fn a_transcript_has_nothing_of_the_machine_in_it() {
    let plan = plan_of("call/lookup");
    let transcript =
        || hopcheck::snapshot::transcript(&plan, &record(&plan, Lie::None, &options(), None).unwrap());
    let first = transcript();
    assert_eq!(transcript(), first);
    let start = first.lines().find(|line| line.contains("start")).unwrap();
    assert!(start.ends_with("canaries [HOPCHECK_CANARY_ORDERS]") && !start.contains("env"), "{start}");
    assert!(first.contains("exit") && first.contains("returned"), "{first}");
}

/// Where replies are held until all calls are there, a library that carries out a turn at once is seen to do so.
#[test]
fn the_uses_of_a_turn_may_be_carried_out_at_the_same_time() {
    let plan = plan_of("order/in-flight[reversed]");
    let overlap = |pace: Pace| {
        let library = Library::new("1.0.0", move || Witness::with(Lie::None, pace));
        let trace = hopcheck::stage::run(&plan, header(&plan), library, &options(), None).unwrap().trace;
        let judged = judge(&plan, trace);
        assert_eq!(judged.outcome, Outcome::Pass, "{}", judged.failures());
        let recorded = judged.findings.iter().find(|finding| finding.requirement == "trait.overlap").unwrap();
        recorded.value.clone().unwrap()
    };
    assert_eq!((overlap(Pace::OneByOne).as_str(), overlap(Pace::AtOnce).as_str()), ("1", "3"));
}
