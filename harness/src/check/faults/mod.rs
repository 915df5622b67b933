//! Trace faults: lies told about a passing trace, so that every check can be seen to object.
//!
//! A fault is a pure function. It looks for a subject in the trace and changes one thing about it, as a host that lies
//! would: the judge must then turn from pass to fail on what the fault is about.

mod asked;
pub(in crate::check) mod edit;
mod envelope;
mod gates;
mod given_up;
mod hop;
mod lists;
mod live;
mod native;
mod opening;
mod process;
mod search;
mod told;

use super::table::{joined, rows};
use crate::plan::Plan;
use crate::trace::Trace;

/// A lie about a trace.
#[derive(Clone, Copy)]
pub struct TraceFault {
    /// Its name.
    pub name: &'static str,
    /// The requirements that must fail, 1 to 3.
    pub about: &'static [&'static str],
    /// The lie, in one sentence.
    pub summary: &'static str,
    lie: fn(&Plan, &Trace) -> Option<Trace>,
}

impl TraceFault {
    /// Tells the lie. Nothing where the trace has no subject for it.
    #[must_use]
    pub fn apply(&self, plan: &Plan, trace: &Trace) -> Option<Trace> {
        (self.lie)(plan, trace)
    }
}

const TABLES: &[&[TraceFault]] = &[
    opening::FAULTS,
    given_up::FAULTS,
    asked::FAULTS,
    envelope::FAULTS,
    lists::FAULTS,
    live::FAULTS,
    search::FAULTS,
    native::FAULTS,
    hop::FAULTS,
    told::FAULTS,
    gates::FAULTS,
    process::FAULTS,
];

/// All trace faults.
pub static TRACE_FAULTS: &[TraceFault] = &joined::<TraceFault, { rows(TABLES) }>(TABLES);

const fn fault(
    name: &'static str,
    about: &'static [&'static str],
    summary: &'static str,
    lie: fn(&Plan, &Trace) -> Option<Trace>,
) -> TraceFault {
    TraceFault { name, about, summary, lie }
}
