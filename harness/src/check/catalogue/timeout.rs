//! `timeout.*`: calls that take too long (`basic/lifecycle#timeouts`; 2026-07-28: `basic/patterns/cancellation#timeouts`).

use crate::check::sheet::{Sheet, Tally};
use crate::check::view::{Emitted, Hop, Run, View, after};
use crate::scenario::ast::Told;
use crate::trace::event::{Event, Kind};

pub(super) fn check(view: &View<'_>, sheet: &mut Sheet<'_>) {
    let (mut established, mut configured, mut given_up) = (Tally::default(), Tally::default(), Tally::default());
    for hop in view.hops() {
        ends(hop, &mut established);
        in_time(hop, &mut configured);
        cancelled(hop, &mut given_up);
    }
    sheet.close("timeout.established", established, "every call that was not answered came to an end");
    sheet.close(
        "timeout.configurable",
        configured,
        "every call that was not answered ended by the limit that was set",
    );
    sheet.close("timeout.sends-cancel", given_up, "every call that was given up was cancelled");
}

/// The request that told the failure of a call whose server still owed its answer. A host that ends the connection
/// instead has nobody left to wait for, and a user who interrupts does not wait for a limit.
fn timed_out<'a>(hop: Hop<'_, 'a>) -> Option<&'a Event> {
    let Hop { run, used, conn, call } = hop;
    let told = run.told(used).filter(|told| told.flag != Some(false))?.exchange.event;
    let answered = call.answer().is_some_and(|answer| !after(answer.event, told));
    let ended = conn.end().is_some_and(|end| !after(end, told));
    (!answered && !ended && run.interruption(used).is_none()).then_some(told)
}

/// With a limit of the scenario, no call is waited for until the harness loses its patience.
fn ends(hop: Hop<'_, '_>, tally: &mut Tally) {
    let Hop { run, used, call, .. } = hop;
    if let Some(told) = timed_out(hop) {
        return tally.holds([call.event, told]);
    }
    if let (Some(waited), Some(_)) = (without_end(hop), run.plan.scenario.limits.call) {
        let reason = format!("the host waited for `{}` without end", used.planned.tool);
        tally.fails(reason, [call.event, waited]);
    }
}

/// The event by which the harness lost its patience while a call was waited for.
fn without_end<'a>(hop: Hop<'_, 'a>) -> Option<&'a Event> {
    let Hop { run, used, conn, call } = hop;
    let is_open = call.answers.is_empty() && conn.broken().is_none() && run.follow(used).is_none();
    run.of(Kind::Deadline).find(|event| is_open && event.data.str("phase") == Some("progress"))
}

/// A result that has a bound comes in time; see [`Kind::Overdue`]. On a busy machine the harness may lose its patience with the
/// host before it finds the result overdue.
fn in_time(hop: Hop<'_, '_>, tally: &mut Tally) {
    let Hop { run, used, call, .. } = hop;
    if used.planned.told.as_ref().is_none_or(|told: &Told| told.before.is_none()) {
        return;
    }
    if let Some(overdue) = overdue(run, used).or_else(|| without_end(hop)) {
        let reason = format!("the limit for one call did not end that of `{}`", used.planned.tool);
        tally.fails(reason, [call.event, overdue]);
    } else if let Some(told) = timed_out(hop) {
        tally.holds([call.event, told]);
    }
}

/// The event that says that a use took longer than its bound allows.
pub(in crate::check) fn overdue<'a>(run: &Run<'a>, used: &Emitted<'_>) -> Option<&'a Event> {
    let index = used.planned.index;
    run.of(Kind::Overdue).find(|event| event.data.get("use") == Some(&index.into()))
}

/// A call that was given up for its time is cancelled.
pub(super) fn cancelled(hop: Hop<'_, '_>, tally: &mut Tally) {
    let Hop { used, conn, call, .. } = hop;
    let Some(told) = timed_out(hop) else { return };
    match conn.cancellation(call) {
        Some(cancelled) => tally.holds([call.event, cancelled, told]),
        None => {
            let reason = format!("the call of `{}` was given up and not cancelled", used.planned.tool);
            tally.fails(reason, [call.event, told]);
        }
    }
}
