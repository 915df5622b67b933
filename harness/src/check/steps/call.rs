//! `expect.call`: one call at the right server with the registered name and equal arguments, and one result with the reply.

use super::{Judged, emitted};
use crate::check::sheet::Tally;
use crate::check::view::{Emitted, Run};
use crate::check::{arguments, once, reading, wire_name};
use crate::plan::PlannedUse;
use crate::scenario::ast::Input;
use crate::trace::event::Kind;

pub(super) fn judge(run: &Run<'_>, planned: &PlannedUse) -> Judged {
    let used = match emitted(run, planned) {
        Ok(used) => used,
        Err(judged) => return judged,
    };
    let mut tally = Tally::default();
    if matches!(planned.input, Input::Raw(_)) {
        // Text that is no JSON may be refused or repaired; all that is asked for is one result.
        tally.absorb(result(run, used));
        return Judged::Facts(tally);
    }
    tally.absorb(called(run, used));
    tally.absorb(result(run, used));
    Judged::Facts(tally)
}

/// The calls of a use that must be called.
pub(super) fn called(run: &Run<'_>, used: &Emitted<'_>) -> Tally {
    let mut tally = Tally::default();
    if let (true, Some(interrupt)) = (used.calls.is_empty(), run.interruption(used)) {
        // The user lost patience before the host came to it.
        tally.holds([used.reply, interrupt]);
        return tally;
    }
    if used.calls.is_empty() {
        let end = run.follow(used).map(|exchange| exchange.event).or_else(|| run.own_exit());
        tally.fails(format!("`{}` was never called", used.planned.tool), [used.reply].into_iter().chain(end));
        return tally;
    }
    tally.absorb(once::calls(run, used));
    tally.absorb(wire_name::calls(run, used));
    tally.absorb(arguments::calls(run, used));
    tally
}

/// Exactly one result, with the reply in it where there was one.
pub(super) fn result(run: &Run<'_>, used: &Emitted<'_>) -> Tally {
    let mut tally = once::one_result(run, used);
    let Some(told) = run.told(used) else {
        // A turn that the user interrupts need not tell anybody.
        if run.follow(used).is_none() && run.interruption(used).is_none() {
            let end = run.of(Kind::HostExit).last().or_else(|| run.of(Kind::RunEnd).last());
            let reason = format!("the run ended before the result of `{}` was told", used.planned.tool);
            tally.fails(reason, [used.reply].into_iter().chain(end));
        }
        return tally;
    };
    // Of several calls under a licence, the last one has the reply.
    let Some((answer, reply)) = run.settled_call(used).and_then(|(_, call)| call.result()) else {
        return tally;
    };
    if reading::contains(told.reading, reply) {
        tally.holds([answer, told.exchange.event]);
    } else {
        let reason = format!("the result of `{}` does not contain its reply", used.planned.tool);
        tally.fails(reason, [answer, told.exchange.event]);
    }
    tally
}
