//! Lies about what a host gives up: calls, handshakes, and servers that it cannot talk to.

use super::edit::{at_mut, hop, request};
use super::{TraceFault, fault};
use crate::check::view::{Conn, Line, Rpc};
use crate::json::Json;
use crate::plan::Plan;
use crate::rpc::Message;
use crate::trace::Trace;

pub(super) const FAULTS: &[TraceFault] = &[
    fault(
        "cancelled-another",
        &["cancel.only-own-in-flight"],
        "A cancellation names a request that was never sent.",
        |plan, trace| {
            cancelled(plan, trace, |line, tape| {
                tape.json(line.event.n, |line| {
                    if let Some(params) = at_mut(line, &["params"]) {
                        params.set("requestId", 9000);
                    }
                })
            })
        },
    ),
    fault(
        "given-up-silently",
        &["timeout.sends-cancel"],
        "A call was given up without a word to the server.",
        |plan, trace| {
            cancelled(plan, trace, |line, tape| {
                tape.drop_all(&[line.event.n]);
                Some(())
            })
        },
    ),
    fault(
        "handshake-cancelled",
        &["lifecycle.initialize.not-cancelled"],
        "A handshake that took too long was cancelled.",
        |plan, trace| {
            request(
                plan,
                trace,
                |_, rpc| rpc.method == "initialize" && rpc.answer().is_none(),
                |_, rpc, tape| {
                    let params = Json::object([("requestId", rpc.id.clone())]);
                    let line = notification("notifications/cancelled", params);
                    let event = tape.line(rpc.event.n, &line.to_string())?;
                    tape.after(rpc.event.n, event)
                },
            )
        },
    ),
    fault(
        "went-on-with-an-unknown-version",
        &["lifecycle.version.disconnect-if-unsupported"],
        "The host went on with a version that nobody released.",
        |plan, trace| {
            request(
                plan,
                trace,
                |conn, rpc| rpc.method == "initialize" && rpc.result().is_some() && conn.initialized().is_none(),
                |_, rpc, tape| {
                    let line = notification("notifications/initialized", Json::empty());
                    let event = tape.line(rpc.event.n, &line.to_string())?;
                    tape.after(rpc.answer()?.event.n, event)
                },
            )
        },
    ),
    fault(
        "handshake-after-modern-error",
        &["stdio.probe.modern-error-no-fallback"],
        "An error that only a modern server gives was followed by the handshake.",
        |plan, trace| {
            let refused = |rpc: &Rpc<'_>| {
                rpc.method == "server/discover"
                    && rpc.error().is_some_and(|(_, error)| error.get("code") == Some(&Json::from(-32022)))
            };
            request(
                plan,
                trace,
                |_, rpc| refused(rpc),
                |_, rpc, tape| {
                    let mut line = tape.copy(rpc.event.n)?.json()?;
                    line.set("id", 9000);
                    line.set("method", "initialize");
                    let event = tape.line(rpc.event.n, &line.to_string())?;
                    tape.after(rpc.answer()?.event.n, event)
                },
            )
        },
    ),
    fault(
        "left-after-a-refused-probe",
        &["stdio.probe.other-error-fallback", "stdio.probe.fallback-not-single-code"],
        "A server that refused the probe was left without the handshake.",
        |plan, trace| {
            let refused = |conn: &Conn<'_>, rpc: &Rpc<'_>| {
                let (Some((_, error)), Some(_)) = (rpc.error(), conn.initialize()) else { return false };
                rpc.method == "server/discover" && error.get("code").and_then(Json::as_i64) != Some(-32601)
            };
            request(plan, trace, refused, |conn, rpc, tape| {
                let behind = conn.lines.iter().map(|line| line.event.n);
                let last = rpc.answer()?.event.n;
                tape.drop_all(&behind.filter(|n| *n > last).collect::<Vec<_>>());
                Some(())
            })
        },
    ),
];

fn notification(method: &str, params: Json) -> Json {
    Json::object([("jsonrpc", Json::from("2.0")), ("method", method.into()), ("params", params)])
}

/// The first cancellation on a connection that carried a call.
fn cancelled(
    plan: &Plan,
    trace: &Trace,
    lie: impl Fn(&Line<'_>, &mut super::edit::Tape) -> Option<()>,
) -> Option<Trace> {
    let is = |line: &&Line<'_>| matches!(&line.message, Message::Notification { method, .. } if method == "notifications/cancelled");
    hop(
        plan,
        trace,
        |hop| hop.conn.host_lines().any(|line| is(&line)),
        |hop, tape| lie(hop.conn.host_lines().find(is)?, tape),
    )
}
