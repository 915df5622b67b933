//! `hop.once`: each call belongs to one tool use, further calls need a licence, each tool use has exactly one result.

use super::sheet::{Sheet, Tally};
use super::view::{Conn, Emitted, Rpc, Run, View, markers};
use crate::json::Json;
use crate::trace::event::{Event, Kind};

/// Error codes after which a request may be sent again (2026-07-28): header mismatch, and unsupported version.
const REPEATABLE: [i64; 2] = [-32020, -32022];

pub(super) fn check(view: &View<'_>, sheet: &mut Sheet<'_>) {
    let mut tally = Tally::default();
    for run in &view.runs {
        no_stray_call(run, &mut tally);
        for used in &run.uses {
            tally.absorb(calls(run, used));
            tally.absorb(one_result(run, used));
            tally.absorb(own_result(run, used));
        }
    }
    sheet.close("hop.once", tally, "each call has its tool use, and each tool use its result");
}

fn no_stray_call(run: &Run<'_>, tally: &mut Tally) {
    for call in run.stray_calls() {
        let name = call.param("name").cloned().unwrap_or(Json::Null);
        tally.fails(format!("a `tools/call` of {name} belongs to no tool use"), [call.event]);
    }
}

/// Calls beyond the first need a licence each. A call at another server is none of this use, however it was joined.
pub(super) fn calls(run: &Run<'_>, used: &Emitted<'_>) -> Tally {
    let mut tally = Tally::default();
    let calls: Vec<_> = run.calls(used).collect();
    for (conn, call) in &calls {
        if conn.server == used.planned.tool.server {
            tally.holds([used.reply, call.event]);
        } else {
            let reason = format!("the use of `{}` was called at the server `{}`", used.planned.tool, conn.server);
            tally.fails(reason, [used.reply, call.event]);
        }
    }
    for pair in calls.windows(2) {
        let ((conn, before), (_, again)) = (pair[0], pair[1]);
        match licence(conn, before, again) {
            Some(licence) => tally.holds([licence, again.event]),
            None => tally.fails(
                format!("`{}` was called again for one tool use, without a licence", used.planned.tool),
                [used.reply, before.event, again.event],
            ),
        }
    }
    tally
}

/// What makes `again` legal after `before`: an answer that asks for a repetition, a closed stream, a dead process. Each
/// stands between its two calls, so none is used twice.
fn licence<'a>(conn: &Conn<'a>, before: &Rpc<'a>, again: &Rpc<'a>) -> Option<&'a Event> {
    let repeat = || {
        let (event, error) = before.error()?;
        let code = error.get("code").and_then(Json::as_i64)?;
        REPEATABLE.contains(&code).then_some(event)
    };
    let input = || before.is_input_required().then(|| before.result().map(|(event, _)| event)).flatten();
    let gone = || {
        conn.events.iter().copied().find(|event| {
            matches!(event.kind, Kind::WireClosed | Kind::ServerExit)
                && event.n > before.event.n
                && (event.n < again.event.n || event.tick == again.event.tick)
        })
    };
    repeat().or_else(input).or_else(gone)
}

/// Exactly one result in the next main-line request. Where the run ended instead, that is a trait.
pub(super) fn one_result(run: &Run<'_>, used: &Emitted<'_>) -> Tally {
    let mut tally = Tally::default();
    let Some(follow) = run.follow(used) else {
        return tally;
    };
    match follow.results(&used.id).len() {
        1 => tally.holds([used.reply, follow.event]),
        0 => tally.fails(
            format!("the next model request has no result of `{}`", used.planned.tool),
            [used.reply, follow.event],
        ),
        count => tally.fails(
            format!("the next model request has {count} results of `{}`", used.planned.tool),
            [used.reply, follow.event],
        ),
    }
    tally
}

/// The result is that of a call of this use: no marker in it belongs to the calls of other uses only.
fn own_result(run: &Run<'_>, used: &Emitted<'_>) -> Tally {
    let mut tally = Tally::default();
    let Some(told) = run.told(used) else { return tally };
    let told_words = markers(&told.result.text());
    let own: Vec<String> = run.calls(used).flat_map(|(_, call)| answered(call)).collect();
    for (_, call) in run.rpcs_of("tools/call") {
        let foreign = answered(call).into_iter().find(|word| told_words.contains(word) && !own.contains(word));
        if foreign.is_some() {
            let reason =
                format!("the model was told the result of another call as that of `{}`", used.planned.tool);
            tally.fails(reason, [call.event, told.exchange.event]);
        }
    }
    tally
}

/// The markers in the answers of a call.
fn answered(call: &Rpc<'_>) -> Vec<String> {
    call.answers
        .iter()
        .flat_map(|answer| markers(&answer.body.as_ref().unwrap_or_else(|error| error).to_string()))
        .collect()
}
