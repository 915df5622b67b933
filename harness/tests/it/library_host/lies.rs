//! Each lie of the library is caught by the requirement that it breaks, and never takes the trace with it.

use std::time::Instant;

use hopcheck::check::finding::Outcome;
use hopcheck::json::Json;
use hopcheck::stage::{Isolate, StageError, StageOptions, Subject};
use hopcheck::trace::event::Kind;

use super::{Judged, Lie, header, impatient, judge, options, plan_of, record, run};

/// A lie in a scenario, and what it breaks; the honest library passes the same.
#[track_caller]
fn caught(lie: Lie, scenario: &str, by: &[&str]) {
    let judged = run(scenario, lie);
    for id in by {
        assert_eq!(judged.verdict(id), Some("fail"), "{lie:?} by {id}: {}", judged.failures());
    }
    assert!(matches!(judged.outcome, Outcome::Fail | Outcome::Untestable), "{}", judged.outcome);
    let honest = run(scenario, Lie::None);
    for id in by {
        assert_eq!(honest.verdict(id), Some("pass"), "{id}: {}", honest.failures());
    }
}

#[test]
fn the_published_name_on_the_wire() {
    caught(Lie::PublishedOnTheWire, "call/lookup", &["hop.wire-name", "expect.call"]);
}

#[test]
fn changed_arguments() {
    caught(Lie::ChangesArguments, "args/fidelity[integers-around-2-53]", &["hop.arguments", "expect.call"]);
}

#[test]
fn a_hidden_error() {
    caught(Lie::HidesErrors, "result/errors[is-error-with-text]", &["hop.errors"]);
}

#[test]
fn a_call_of_what_is_denied() {
    caught(Lie::CallsDenied, "permission/deny-tool", &["hop.gates", "expect.deny"]);
}

#[test]
fn a_question_that_is_never_asked() {
    caught(Lie::NeverAsks, "permission/ask[denied]", &["hop.gates", "expect.ask"]);
}

#[test]
fn a_list_that_is_not_read_to_its_end() {
    caught(Lie::FirstPageOnly, "list/pages", &["expect.list", "hop.stable-list"]);
}

#[test]
fn servers_that_are_left_running() {
    caught(Lie::LeavesServers, "call/lookup", &["hop.clean-end"]);
    let judged = run("call/lookup", Lie::LeavesServers);
    let survivor = one(&judged, Kind::Survivor);
    let (pid, command) = (survivor.get("pid").unwrap().as_i64().unwrap(), survivor.str("command"));
    assert_eq!(command, Some("hopcheck"));
    assert!(!crate::stage::lives(pid), "{pid} still runs");
}

#[test]
fn a_panic() {
    let judged = run("call/lookup", Lie::Panics);
    assert_eq!(judged.verdict("expect.run-ends"), Some("fail"), "{}", judged.failures());
    assert!(
        judged.failures().contains("the host panicked: `the witness was told to panic`"),
        "{}",
        judged.failures()
    );
    assert_eq!(
        one(&judged, Kind::HostExit).to_string(),
        r#"{"thread":"panicked","message":"the witness was told to panic"}"#
    );
    assert_ne!(judged.outcome, Outcome::Error);
}

#[test]
fn a_hang() {
    let plan = plan_of("call/lookup");
    let began = Instant::now();
    let judged = judge(&plan, record(&plan, Lie::Hangs, &impatient(), None).unwrap());
    assert!(began.elapsed().as_secs() < 60, "a hang must not hang hopcheck");
    assert_eq!(judged.verdict("expect.run-ends"), Some("fail"), "{}", judged.failures());
    assert!(judged.failures().contains("the deadline for progress expired"), "{}", judged.failures());
    let left = one(&judged, Kind::Survivor);
    assert_eq!(left.str("thread"), Some("hopcheck-host"));
    assert_ne!(judged.outcome, Outcome::Error);
}

#[test]
fn a_driver_that_breaks_is_no_fault_of_the_library() {
    let judged = run("call/lookup", Lie::Breaks);
    assert_eq!(judged.outcome, Outcome::Error);
    let reason = "the driver is broken: it failed at `call`: the witness was told to break";
    assert_eq!(judged.reason.as_deref(), Some(reason));
}

#[test]
fn a_library_cannot_be_isolated() {
    let options = StageOptions { isolate: Isolate::Yes, ..options() };
    let error = record(&plan_of("call/lookup"), Lie::None, &options, None).unwrap_err();
    let expected = "cannot isolate the network: the host is a library and has the network of this program";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_program_in_the_place_of_a_library_is_an_error() {
    let plan = plan_of("call/lookup");
    let bin = ["/bin/true".to_owned()];
    let error = hopcheck::stage::run(&plan, header(&plan), Subject::from(&bin), &options(), None).unwrap_err();
    assert!(matches!(error, StageError::Subject { .. }));
    assert_eq!(error.to_string(), "the profile witness describes a library, and the host is a program");
}

/// The data of the only event of a kind.
#[track_caller]
fn one(judged: &Judged, kind: Kind) -> &Json {
    let mut found = judged.trace.events.iter().filter(|event| event.kind == kind);
    match (found.next(), found.next()) {
        (Some(event), None) => &event.data,
        (first, _) => panic!("{kind:?} {}", if first.is_some() { "more than once" } else { "never" }),
    }
}
