//! `hop.order`: no call before its handshake or its tool use, no offer before its list, no success before its response.

use super::sheet::{Sheet, Tally};
use super::view::{Conn, Run, View, after, reacts};
use crate::model::ErrorFlag;
use crate::revision::Era;
use crate::scenario::ast::ToolRef;
use crate::trace::event::Event;

pub(super) fn check(view: &View<'_>, sheet: &mut Sheet<'_>) {
    let mut tally = Tally::default();
    for run in &view.runs {
        handshake_before_call(run, &mut tally);
        list_before_offer(run, &mut tally);
        nothing_invented(run, &mut tally);
        use_before_call(run, &mut tally);
        response_before_success(run, &mut tally);
    }
    sheet.close("hop.order", tally, "everything happened after what it needs");
}

/// Legacy: `initialize`, its response and `notifications/initialized` come before the first `tools/call` of a
/// connection. That the connection listed is not asked for: a respawned one need not list again.
fn handshake_before_call(run: &Run<'_>, tally: &mut Tally) {
    if run.plan.key.revision.era() == Era::Modern {
        return;
    }
    for conn in &run.conns {
        for call in conn.rpcs.iter().filter(|rpc| rpc.method == "tools/call") {
            match missing(conn, call.event) {
                Some(what) => tally.fails(
                    format!(
                        "connection {} of `{}` carried a `tools/call` before {what}",
                        conn.number, conn.server
                    ),
                    [call.event],
                ),
                None => {
                    let init = conn.initialize();
                    let answer = init.and_then(|init| init.result()).map(|(event, _)| event);
                    let opening = [init.map(|init| init.event), answer, conn.initialized(), Some(call.event)];
                    tally.holds(opening.into_iter().flatten());
                }
            }
        }
    }
}

/// The part of the handshake that is not there before `call`.
fn missing(conn: &Conn<'_>, call: &Event) -> Option<&'static str> {
    let early = |event: Option<&Event>| event.is_none_or(|event| after(event, call));
    let init = conn.initialize();
    if early(init.map(|init| init.event)) {
        return Some("`initialize`");
    }
    if !init.and_then(|init| init.result()).is_some_and(|(answer, _)| reacts(call, answer)) {
        return Some("the response to `initialize`");
    }
    early(conn.initialized()).then_some("`notifications/initialized`")
}

/// A tool of ours is offered only after some `tools/list` of its server named it, and only as often as it was named.
fn list_before_offer(run: &Run<'_>, tally: &mut Tally) {
    for exchange in run.main_line() {
        let listed = run.listed_before(exchange.event);
        for (at, offer) in exchange.offers.iter().enumerate() {
            let before = exchange.offers[..at].iter().filter(|other| other.tool == offer.tool).count();
            match listed.iter().find(|(tool, _)| *tool == offer.tool) {
                Some((_, answer)) if before == 0 => tally.holds([*answer, exchange.event]),
                Some((_, answer)) if before < entries(run, &offer.tool) => tally.holds([*answer, exchange.event]),
                _ => tally.fails(
                    format!(
                        "`{}` was offered and no `tools/list` of `{}` had named it",
                        offer.published, offer.tool.server
                    ),
                    [exchange.event],
                ),
            }
        }
    }
}

/// Beside all that a server listed, nothing is offered under its name.
fn nothing_invented(run: &Run<'_>, tally: &mut Tally) {
    for exchange in run.main_line() {
        for (server, published) in &exchange.surplus {
            let listed = run.listed_before(exchange.event);
            let mut own = listed.iter().filter(|(tool, _)| tool.server == *server);
            // Where a listed tool is missing, this may be that tool under a name that nobody could foresee.
            if own.all(|(tool, _)| exchange.offers(tool)) {
                let reason = format!("`{published}` was offered and no `tools/list` of `{server}` had named it");
                tally.fails(reason, [exchange.event]);
            }
        }
    }
}

/// How often the server lists a tool of that name.
fn entries(run: &Run<'_>, tool: &ToolRef) -> usize {
    let tools = run.server(&tool.server).map(|server| server.script.tools.as_slice()).unwrap_or_default();
    // A tool that comes later comes once.
    tools.iter().filter(|entry| entry.name == tool.tool).count().max(1)
}

/// The model's tool use is sent before its call. A call may start before the model's reply has ended.
fn use_before_call(run: &Run<'_>, tally: &mut Tally) {
    for used in &run.uses {
        for (_, call) in run.calls(used) {
            if after(used.reply, call.event) {
                let reason = format!("`{}` was called before the model asked for it", used.planned.tool);
                tally.fails(reason, [call.event, used.reply]);
            } else {
                tally.holds([used.reply, call.event]);
            }
        }
    }
}

/// A result that is told as a success had its response before.
fn response_before_success(run: &Run<'_>, tally: &mut Tally) {
    for used in &run.uses {
        let (Some(told), Some((conn, call))) = (run.told(used), run.calls(used).last()) else {
            continue;
        };
        if told.flag == Some(true) || run.is_abandoned(used, conn, call) {
            continue;
        }
        let reason = format!("a success of `{}` was told before its response", used.planned.tool);
        match call.answer() {
            Some(answer) if !reacts(told.exchange.event, answer.event) => {
                tally.fails(reason, [told.exchange.event, answer.event]);
            }
            Some(answer) => tally.holds([answer.event, told.exchange.event]),
            None if silence_means_success(run) && conn.broken().is_none() => {
                tally.fails(reason, [call.event, told.exchange.event]);
            }
            None => {}
        }
    }
}

/// Whether a result without an error flag says that it is a success: where the API has such a flag.
fn silence_means_success(run: &Run<'_>) -> bool {
    run.error_flag() == ErrorFlag::Member
}
