//! Runs that did not come to their end, and hosts that did nothing.

use super::{Habits, plans, profile, record, record_nothing};
use crate::check::finding::Outcome;
use crate::check::{judge, outcome};
use crate::plan::SelectRevisions;
use crate::trace::event::{Kind, Payload};

/// What went wrong is mostly in how the host ended, and in its last words.
#[test]
fn a_host_that_does_nothing_is_quoted() {
    let plan = plans(&profile("null", None), SelectRevisions::Default).remove(0);
    let mut trace = record_nothing(&plan);
    let mut line = trace.events[2].clone();
    line.kind = Kind::HostErr;
    line.payload = Some(Payload::Whole(b"config: no such key".to_vec()));
    trace.events.insert(2, line);
    let messages: Vec<String> = judge(&plan, &trace).into_iter().map(|finding| finding.message).collect();
    let told = |message: &String| message.ends_with("exited with code 0; its last line is `config: no such key`");
    assert!(messages.iter().any(told), "{messages:?}");
}

#[test]
fn a_trace_that_was_cut_is_no_fault_of_the_host() {
    let plan = plans(&profile("reference", None), SelectRevisions::Default).remove(0);
    let whole = record(&plan, Habits::SendsIds);
    for kept in 0..whole.events.len() {
        let mut cut = whole.clone();
        cut.events.truncate(kept);
        assert_eq!(outcome(&plan, &cut, &judge(&plan, &cut)).0, Outcome::Error, "{kept} events");
    }
}
