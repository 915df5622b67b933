//! Hosts that turn on the process which watches over them.

use hopcheck::trace::event::Kind;

use super::{left_behind, run};
use crate::stage::one;

#[track_caller]
fn check(part: &str, signal: &str, daemons: usize) {
    let judged = run(part);
    judged.ended("orphaned").blames("expect.run-ends", signal);
    assert_eq!(one(&judged.events, Kind::SupervisorLost).data.str("signal"), Some(signal));
    // That they are gone is looked for with every run.
    assert_eq!(left_behind(&judged.events).len(), daemons);
}

#[test]
fn it_is_killed() {
    check("supervisor:SIGKILL", "SIGKILL", 2);
    check("supervisor:SIGKILL-and-exit", "SIGKILL", 2);
    check("supervisor-at-once:SIGKILL", "SIGKILL", 0);
}

#[test]
fn it_is_told_to_end() {
    check("supervisor:SIGTERM", "SIGTERM", 2);
}

#[test]
fn it_is_stopped() {
    check("supervisor:SIGSTOP", "SIGSTOP", 2);
    check("supervisor:SIGSTOP-and-exit", "SIGSTOP", 2);
    check("supervisor-at-once:SIGSTOP", "SIGSTOP", 0);
}
