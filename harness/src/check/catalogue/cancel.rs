//! `cancel.*`, `timeout.*`: requests that the host gives up (`basic/utilities/cancellation`, `basic/lifecycle#timeouts`;
//! 2026-07-28: `basic/patterns/cancellation`).

use super::conns;
use crate::check::arguments::brief;
use crate::check::sheet::{Sheet, Tally};
use crate::check::view::{Conn, Emitted, Line, Rpc, Run, View, after};
use crate::json::Json;
use crate::rpc::{self, Message};
use crate::trace::event::Event;

pub(super) fn check(view: &View<'_>, sheet: &mut Sheet<'_>) {
    let mut own = Tally::default();
    let mut handshake = Tally::default();
    for conn in conns(view) {
        for (id, event) in cancellations(conn) {
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
    sheet.close("cancel.only-own-in-flight", own, "every cancellation names a request of the host");
    sheet.close(
        "lifecycle.initialize.not-cancelled",
        handshake,
        "a handshake was given up without a cancellation",
    );
    let mut given_up = Tally::default();
    for run in &view.runs {
        for used in &run.uses {
            for (conn, call) in run.calls(used) {
                timeout(run, used, conn, call, &mut given_up);
            }
        }
    }
    sheet.close("timeout.sends-cancel", given_up, "every call that was given up was cancelled");
}

/// The ids that the host's cancellations name.
fn cancellations<'v, 'a>(conn: &'v Conn<'a>) -> impl Iterator<Item = (&'v Json, &'a Event)> + use<'v, 'a> {
    conn.host_lines().filter_map(|line: &'v Line<'a>| match &line.message {
        Message::Notification { method, params } if method == "notifications/cancelled" => {
            Some((params.as_ref()?.get("requestId")?, line.event))
        }
        _ => None,
    })
}

/// A call whose failure was told while the server still owed its answer. A host that ends the connection instead has
/// nobody left to tell.
fn timeout(run: &Run<'_>, used: &Emitted<'_>, conn: &Conn<'_>, call: &Rpc<'_>, tally: &mut Tally) {
    let Some(told) = run.told(used).filter(|told| told.flag != Some(false)) else { return };
    let told = told.exchange.event;
    let answered = call.answer().is_some_and(|answer| !after(answer.event, told));
    if answered || conn.end().is_some_and(|end| !after(end, told)) {
        return;
    }
    match cancellations(conn).find(|(id, _)| rpc::same_id(id, &call.id)) {
        Some((_, cancelled)) => tally.holds([call.event, cancelled, told]),
        None => {
            let reason = format!("the call of `{}` was given up and not cancelled", used.planned.tool);
            tally.fails(reason, [call.event, told]);
        }
    }
}
