//! Hosts that end too early, too late, or not at all.

use hopcheck::json::Json;
use hopcheck::trace::event::Kind;

use super::{hanging, left_behind, of, run, run_hanging, run_with};
use crate::stage::{CALL, one, shown};

#[test]
fn everything_is_closed_and_the_host_hangs() {
    let judged = run_hanging("shut");
    judged.ended("deadline").blames("expect.run-ends", "the deadline for progress expired");
}

#[test]
fn every_signal_is_ignored() {
    for signal in ["sigterm", "sigint"] {
        let scenario = CALL.replace("say = \"Done.\"", &format!("stop = \"{signal}\""));
        let scenario =
            scenario.replace("[[step]]\ncall = \"orders/lookup_order\"\nwith = { order_id = \"A-1\" }\n", "");
        let judged = run_with("shrug", &scenario, &hanging());
        judged.ended("deadline").blames("expect.run-ends", "the deadline for shutdown expired");
        assert_eq!(one(&judged.events, Kind::HostExit).data.to_string(), r#"{"signal":"SIGKILL"}"#);
    }
}

#[test]
fn an_exit_in_any_phase() {
    for phase in ["start", "spawned", "asked", "connected", "listed", "offered", "calling", "called"] {
        let judged = run(&format!("exit:{phase}"));
        judged.ended("exit");
        assert_eq!(one(&judged.events, Kind::HostExit).data.to_string(), r#"{"code":3}"#, "{phase}");
        let failing = matches!(judged.outcome, super::Outcome::Fail | super::Outcome::Untestable);
        assert!(failing, "{phase}: {:?}\n{}", judged.outcome, shown(&judged.events));

        let judged = run(&format!("exit:{phase}-killed"));
        judged.ended("exit").blames("expect.run-ends", "the host was ended by SIGKILL");
    }
}

#[test]
fn daemons_of_every_kind() {
    let judged = run("leaves");
    judged.ended("exit").blames("hop.clean-end", "outlived the host");
    assert_eq!(left_behind(&judged.events).len(), 2, "{}", shown(&judged.events));
    assert_eq!(of(&judged.events, Kind::Survivor).len(), 2);
}

#[test]
fn two_hundred_children() {
    let judged = run("storm");
    judged.ended("exit").blames("hop.clean-end", "outlived the host");
    assert_eq!(left_behind(&judged.events).len(), 5);
    let gone = one(&judged.events, Kind::Gone).data.get("survivors").and_then(Json::as_i64);
    assert_eq!(gone, Some(5), "{}", shown(&judged.events));
}

/// As root the locks hold nobody back; the same is run as another user elsewhere.
#[test]
fn a_sandbox_that_is_hard_to_remove() {
    run("litter").ended("exit");
    assert!(std::path::Path::new("/usr/bin").exists());
}

#[test]
fn a_host_that_removes_its_sandbox() {
    let judged = run("raze");
    judged.ended("exit");
    assert_eq!(judged.reason, None);
}
