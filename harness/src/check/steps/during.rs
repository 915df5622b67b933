//! `expect.cancelled`: what a step expects while its calls are in flight.

use super::{Judged, close, every, unreached};
use crate::check::sheet::{Sheet, Tally};
use crate::check::view::{Run, View, after};
use crate::revision::Era;
use crate::scenario::ast::{Deed, During, Expected};
use crate::trace::event::Kind;

/// Before 2026-07-28 a host may tell the server that it gave up, and need not: what it does is trait `abort-signal`.
pub(super) fn check(view: &View<'_>, sheet: &mut Sheet<'_>, index: usize, during: &[During]) {
    let expects = |act: &&During| matches!(act.deed, Deed::Expect(Expected::Cancelled, _));
    if view.plan.key.revision.era() == Era::Legacy {
        return;
    }
    for act in during.iter().filter(expects) {
        let judged = every(view, |run| if run.is_alive() { judge(run, index) } else { unreached(run) });
        close(sheet, "expect.cancelled", &act.span, judged, "every call in flight was cancelled");
    }
}

/// Every call of the step that its server had not answered when the user interrupted, or that nobody interrupted.
fn judge(run: &Run<'_>, step: usize) -> Judged {
    let of_step = |kind: Kind| run.of(kind).filter(move |event| event.step.is_some_and(|at| at as usize == step));
    let interrupt = of_step(Kind::Interrupt).next();
    let quiet = of_step(Kind::Quiet).find(|event| event.data.str("for") == Some("cancelled"));
    let mut tally = Tally::default();
    for used in run.uses.iter().filter(|used| used.planned.step == step) {
        for (conn, call) in run.calls(used) {
            let answered = |answer| interrupt.is_none_or(|interrupt| !after(answer, interrupt));
            if call.answer().is_some_and(|answer| answered(answer.event)) {
                continue;
            }
            match (conn.cancellation(call), quiet) {
                (Some(cancelled), _) => tally.holds([call.event, cancelled]),
                (None, Some(quiet)) => {
                    let reason = format!("the call of `{}` was not cancelled", used.planned.tool);
                    tally.fails(reason, [call.event, quiet]);
                }
                (None, None) => {}
            }
        }
    }
    if tally.is_empty() {
        return Judged::Untestable("no call of this step was in flight when it was to be cancelled".to_owned());
    }
    Judged::Facts(tally)
}
