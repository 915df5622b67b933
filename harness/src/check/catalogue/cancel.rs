//! `cancel.*`: requests that the host gives up (`basic/utilities/cancellation`; 2026-07-28:
//! `basic/patterns/cancellation`).

use super::conns;
use crate::check::arguments::brief;
use crate::check::once;
use crate::check::sheet::{Sheet, Tally};
use crate::check::view::{Hop, View, after, markers};
use crate::json::Json;
use crate::rpc;
use crate::trace::event::{Event, Kind};

pub(super) fn check(view: &View<'_>, sheet: &mut Sheet<'_>) {
    let mut own = Tally::default();
    let mut handshake = Tally::default();
    for conn in conns(view) {
        for (id, event) in conn.cancellations() {
            match conn.rpcs.iter().find(|rpc| rpc::same_id(&rpc.id, id) && !after(rpc.event, event)) {
                Some(rpc) if rpc.method == "initialize" => {
                    handshake.fails("`initialize` was cancelled", [rpc.event, event]);
                }
                Some(rpc) => own.holds([rpc.event, event]),
                None => {
                    own.fails(format!("a cancellation names {}, which is no request", brief(id)), [event]);
                }
            }
        }
        // A handshake that was given up and not cancelled: it has no answer, and the connection is over.
        let abandoned = conn.initialize().filter(|init| init.answer().is_none() && conn.broken().is_none());
        if let (Some(init), Some(end)) = (abandoned, conn.end()) {
            handshake.holds([init.event, end]);
        }
    }
    let (mut late, mut crossed) = (Tally::default(), Tally::default());
    let mut signalled = Tally::default();
    for hop in view.hops() {
        ended_all_the_same(hop, &mut own);
        late_answers(hop, &mut late);
        crossing(hop, &mut crossed);
        signal(hop, &mut signalled);
    }
    sheet.close("cancel.only-own-in-flight", own, "every cancellation names a request that was in progress");
    sheet.close(
        "lifecycle.initialize.not-cancelled",
        handshake,
        "a handshake was given up without a cancellation",
    );
    sheet.close("cancel.late-response-ignored", late, "answers that came too late were ignored");
    sheet.close("cancel.races-handled", crossed, "answers that crossed a cancellation did no harm");
    sheet.close("stdio.cancel-by-notification", signalled, "every call that the user gave up was cancelled");
    sheet.close("cancel.user-abort-signals", signals(view), "every call that was given up was signalled");
}

/// A cancellation of a call whose success the model was told before: the host itself knew that it was over.
fn ended_all_the_same(hop: Hop<'_, '_>, tally: &mut Tally) {
    let Hop { run, conn, call, .. } = hop;
    let Some(cancelled) = conn.cancellation(call) else { return };
    let told = run.uses.iter().filter(|used| run.calls(used).any(|(_, other)| other.event.n == call.event.n));
    let told = told.filter_map(|used| run.told(used)).find(|told| told.flag != Some(true));
    if let (Some(told), Some((answer, _))) = (told, call.result())
        && after(cancelled, told.exchange.event)
    {
        let reason = "a call was cancelled whose result the model had been told";
        tally.fails(reason, [answer, told.exchange.event, cancelled]);
    }
}

/// What a server answers after the host gave up does not reach the model.
fn late_answers(hop: Hop<'_, '_>, tally: &mut Tally) {
    let Hop { run, used, conn, call } = hop;
    let Some(given_up) = run.given_up(used, conn, call) else { return };
    let in_time = |event: &Event| !after(event, given_up);
    let timely: Vec<String> = call
        .answers
        .iter()
        .filter(|answer| in_time(answer.event))
        .flat_map(|answer| words(&answer.body))
        .collect();
    for answer in call.answers.iter().filter(|answer| !in_time(answer.event)) {
        let late: Vec<String> = words(&answer.body).into_iter().filter(|word| !timely.contains(word)).collect();
        // A request before the answer says nothing of it, and an answer without a word of its own cannot be told apart.
        let later = run.main_line().filter(|exchange| !late.is_empty() && after(exchange.event, answer.event));
        for exchange in later {
            let told = exchange.tool_results().map(|result| result.text());
            if told.into_iter().any(|text| late.iter().any(|word| text.contains(word))) {
                let reason = format!("the model was told an answer of `{}` that came too late", used.planned.tool);
                tally.fails(reason, [given_up, answer.event, exchange.event]);
                break;
            }
            tally.holds([given_up, answer.event, exchange.event]);
        }
    }
}

fn words(body: &Result<Json, Json>) -> Vec<String> {
    markers(&body.as_ref().unwrap_or_else(|error| error).to_string())
}

/// An answer that is on its way while the request is cancelled: there is one result, and the host goes on.
fn crossing(hop: Hop<'_, '_>, tally: &mut Tally) {
    let Hop { run, used, conn, call } = hop;
    let (Some(cancelled), Some(answer)) = (conn.cancellation(call), call.answer()) else { return };
    let tool = &used.planned.tool;
    if let Some(follow) = run.follow(used)
        && once::one_result(run, used).has_failed()
    {
        let reason = format!("the cancelled call of `{tool}` did not end in one result");
        return tally.fails(reason, [answer.event, cancelled, follow.event]);
    }
    let later = |event: &Event| after(event, answer.event) && after(event, cancelled);
    if let Some(next) = run.main_line().find(|exchange| later(exchange.event)) {
        return tally.holds([answer.event, cancelled, next.event]);
    }
    let failed = |exit: &&Event| exit.data.get("code") != Some(&0.into()) && later(exit);
    let by_itself = run.end_reason() == Some("exit") && run.plan.stop.is_none();
    if let Some(exit) = run.of(Kind::HostExit).last().filter(failed).filter(|_| by_itself) {
        let reason = format!("the host did not survive the answer to the cancelled call of `{tool}`");
        tally.fails(reason, [answer.event, cancelled, exit]);
    }
}

/// A call that was in flight when the user interrupted is cancelled by a notification, unless its connection ends.
fn signal(hop: Hop<'_, '_>, tally: &mut Tally) {
    let Hop { run, used, conn, call } = hop;
    let Some(interrupt) = run.interruption(used) else { return };
    if call.answer().is_some_and(|answer| !after(answer.event, interrupt)) {
        return;
    }
    if let Some(cancelled) = conn.cancellation(call) {
        return tally.holds([interrupt, call.event, cancelled]);
    }
    // Whoever went on, or was given a quiet time, has had its time to say so.
    let quiet = run.of(Kind::Quiet).find(|event| event.n > interrupt.n && event.step == interrupt.step);
    let went_on = run.follow(used).map(|follow| follow.event).or(quiet).or_else(|| run.own_exit());
    let Some(went_on) = went_on.filter(|event| conn.end().is_none_or(|end| after(end, event))) else { return };
    let reason = format!("the call of `{}` was given up by the user and not cancelled", used.planned.tool);
    tally.fails(reason, [interrupt, call.event, went_on]);
}

/// The same for a call that was given up for whatever reason, where the end of the connection is a signal as well.
fn signals(view: &View<'_>) -> Tally {
    let mut tally = Tally::default();
    for hop in view.hops() {
        signal(hop, &mut tally);
        super::timeout::cancelled(hop, &mut tally);
    }
    tally
}
