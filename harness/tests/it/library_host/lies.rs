//! Each lie of the library is caught by the requirement that it breaks, and never takes the trace with it.

use std::time::Instant;

use hopcheck::check::finding::Outcome;
use hopcheck::driver::{Host, HostError, Library, OfferedTool, Setup, Told, ToolUse, User};
use hopcheck::json::Json;
use hopcheck::stage::{Deadlines, Isolate, StageError, StageOptions};
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
fn results_of_one_turn_that_are_swapped() {
    caught(Lie::SwapsResults, "order/together[two-tools]", &["hop.once", "expect.call"]);
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
    let error = hopcheck::stage::run(&plan, header(&plan), &bin, &options(), None).unwrap_err();
    assert!(matches!(error, StageError::OtherSort { .. }));
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

/// A host that panics at one point of its life.
struct Fragile(&'static str);

impl Host for Fragile {
    fn start(&mut self, _: &Setup) -> Result<(), HostError> {
        assert_ne!(self.0, "start", "panicked in start");
        Ok(())
    }

    fn tools(&mut self) -> Result<Vec<OfferedTool>, HostError> {
        Ok(Vec::new())
    }

    fn call(&mut self, _: &ToolUse, _: &dyn User) -> Result<Told, HostError> {
        Ok(Told::failure("there are no tools"))
    }

    fn stop(&mut self) -> Result<(), HostError> {
        Ok(())
    }
}

impl Drop for Fragile {
    fn drop(&mut self) {
        assert_ne!(self.0, "drop", "panicked in drop");
    }
}

#[track_caller]
fn panics(library: &Library, message: &str) -> Judged {
    let plan = plan_of("call/lookup");
    let trace = hopcheck::stage::run(&plan, header(&plan), library.clone(), &options(), None).unwrap().trace;
    let judged = judge(&plan, trace);
    let exit = one(&judged, Kind::HostExit);
    assert_eq!(exit.str("thread"), Some("panicked"));
    assert!(exit.str("message").unwrap().contains(message), "{exit}");
    assert!(matches!(judged.outcome, Outcome::Fail | Outcome::Untestable), "{}", judged.outcome);
    assert!(
        !judged.findings.iter().any(|finding| finding.verdict.as_str() == "pass" && finding.evidence.is_empty())
    );
    judged
}

#[test]
fn a_panic_at_any_point_of_its_life() {
    panics(&Library::new("1.0.0", || -> Fragile { panic!("panicked when it was made") }), "when it was made");
    panics(&Library::new("1.0.0", || Fragile("start")), "in start");
    // This one asked its model to the end, and yet does not pass.
    let judged = panics(&Library::new("1.0.0", || Fragile("drop")), "in drop");
    assert_eq!(judged.verdict("expect.run-ends"), Some("fail"), "{}", judged.failures());
}

#[test]
fn a_host_that_hangs_when_it_is_made_comes_to_an_end() {
    let plan = plan_of("call/lookup");
    let library = Library::new("1.0.0", || -> Fragile {
        loop {
            std::thread::park();
        }
    });
    let soon = Some(std::time::Duration::from_millis(300));
    let options = StageOptions { deadlines: Deadlines { start: soon, ..Deadlines::default() }, ..options() };
    let trace = hopcheck::stage::run(&plan, header(&plan), library, &options, None).unwrap().trace;
    let judged = judge(&plan, trace);
    assert_eq!(one(&judged, Kind::Deadline).str("phase"), Some("start"));
    assert_eq!(judged.outcome, Outcome::Untestable, "{}", judged.failures());
}
