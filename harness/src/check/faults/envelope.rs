//! Lies about single lines: envelopes, ids, framing.

use super::edit::{Tape, at_mut, remove, request};
use super::{TraceFault, fault};
use crate::check::view::{Conn, Rpc, View};
use crate::json::Json;
use crate::plan::Plan;
use crate::revision::{Era, Revision};
use crate::trace::Trace;
use crate::trace::event::{Kind, Payload};

pub(super) const FAULTS: &[TraceFault] = &[
    fault(
        "no-jsonrpc",
        &["base.jsonrpc.valid-2-0", "hop.json-rpc"],
        "A message does not say that it is JSON-RPC 2.0.",
        |plan, trace| list(plan, trace, |line| remove(line, "jsonrpc")),
    ),
    fault(
        "null-id",
        &["base.request.id-not-null", "base.request.id-string-or-integer"],
        "A request has the id null.",
        |plan, trace| list(plan, trace, |line| line.set("id", Json::Null)),
    ),
    fault(
        "fractional-id",
        &["base.request.id-string-or-integer"],
        "A request has an id with a fraction.",
        |plan, trace| list(plan, trace, |line| line.set("id", Json::parse("1.5").unwrap_or(Json::Null))),
    ),
    fault(
        "used-id",
        &["base.request.id-unique-in-session", "hop.json-rpc"],
        "A request has the id of one before.",
        |plan, trace| {
            if plan.key.revision.era() == Era::Modern {
                return None;
            }
            request(
                plan,
                trace,
                |conn, rpc| is_list(conn, rpc) && conn.rpcs.len() > 1,
                |conn, rpc, tape| {
                    let first = conn.rpcs.first()?.id.clone();
                    tape.json(rpc.event.n, |line| line.set("id", first))
                },
            )
        },
    ),
    fault(
        "shared-id-in-flight",
        &["base.request.id-unique-in-flight", "hop.json-rpc"],
        "A request has the id of one that still waits.",
        shared_id,
    ),
    fault("notification-with-id", &["base.notification.no-id"], "A notification has an id.", |plan, trace| {
        request(
            plan,
            trace,
            |_, rpc| rpc.method == "initialize",
            |conn, _, tape| tape.json(conn.initialized()?.n, |line| line.set("id", 9000)),
        )
    }),
    fault("batch-of-one", &["base.batch.none-sent"], "A message was sent as a batch.", |plan, trace| {
        if plan.key.revision < Revision::V2025_06_18 {
            return None;
        }
        list(plan, trace, |line| *line = Json::Array(vec![line.clone()]))
    }),
    fault("latin-1", &["base.encoding.utf8"], "A message is encoded in Latin-1.", latin),
    fault(
        "invented-method",
        &["base.request.method-and-params-shape"],
        "A request has a method that no revision knows.",
        |plan, trace| {
            extra_line(plan, trace, r#"{"jsonrpc":"2.0","id":9000,"method":"tools/describe","params":{}}"#)
        },
    ),
    fault(
        "cursor-as-number",
        &["base.request.method-and-params-shape"],
        "A cursor is a number.",
        |plan, trace| {
            request(
                plan,
                trace,
                |_, rpc| rpc.param("cursor").is_some(),
                |_, rpc, tape| {
                    tape.json(rpc.event.n, |line| {
                        if let Some(cursor) = at_mut(line, &["params", "cursor"]) {
                            *cursor = Json::from(2);
                        }
                    })
                },
            )
        },
    ),
    fault(
        "unasked-response",
        &["base.client-sends-no-responses", "hop.json-rpc"],
        "A modern host sent a response.",
        |plan, trace| extra_line(plan, trace, r#"{"jsonrpc":"2.0","id":9000,"result":{}}"#),
    ),
    fault(
        "banner",
        &["stdio.stdin-only-mcp", "stdio.newline-delimited"],
        "Words were written to a server.",
        |plan, trace| extra_line(plan, trace, "client ready"),
    ),
    fault(
        "content-length",
        &["stdio.newline-delimited", "base.jsonrpc.valid-2-0"],
        "A message has a header in front.",
        |plan, trace| extra_line(plan, trace, "Content-Length: 64"),
    ),
    fault("embedded-newline", &["stdio.no-embedded-newlines"], "A message is spread over two lines.", split),
    fault("unended-line", &["stdio.newline-delimited"], "The last message does not end.", |plan, trace| {
        request(
            plan,
            trace,
            |_, _| true,
            |conn, _, tape| {
                let last = conn.events.iter().rfind(|event| event.kind == Kind::ToServer)?;
                tape.event(last.n, |event| event.data = Json::object([("end", "eof")]))
            },
        )
    }),
    fault(
        "signals-before-eof",
        &["stdio.shutdown.close-stdin-first"],
        "A server got two signals before its input was closed.",
        |plan, trace| {
            request(
                plan,
                trace,
                |conn, _| conn.first(Kind::WireEof).is_some(),
                |conn, _, tape| {
                    let eof = conn.first(Kind::WireEof)?.n;
                    let mut signal = tape.copy(eof)?;
                    signal.kind = Kind::ServerSignal;
                    signal.data = Json::object([("signal", "SIGINT")]);
                    tape.before(eof, signal.clone())?;
                    signal.data = Json::object([("signal", "SIGTERM")]);
                    tape.before(eof, signal)
                },
            )
        },
    ),
];

fn is_list(_: &Conn<'_>, rpc: &Rpc<'_>) -> bool {
    rpc.method == "tools/list"
}

fn list(plan: &Plan, trace: &Trace, change: impl FnOnce(&mut Json)) -> Option<Trace> {
    request(plan, trace, is_list, |_, rpc, tape| tape.json(rpc.event.n, change))
}

/// A further line after the first list.
fn extra_line(plan: &Plan, trace: &Trace, message: &str) -> Option<Trace> {
    request(
        plan,
        trace,
        |conn, rpc| is_list(conn, rpc) && rpc.result().is_some(),
        |_, rpc, tape| {
            let event = tape.line(rpc.event.n, message)?;
            tape.after(rpc.answer()?.event.n, event)
        },
    )
}

fn shared_id(plan: &Plan, trace: &Trace) -> Option<Trace> {
    if plan.key.revision.era() == Era::Legacy {
        return None;
    }
    request(plan, trace, is_list, |conn, list, tape| {
        let next = conn.rpcs.iter().find(|rpc| rpc.event.n > list.event.n)?;
        let (first, second) = (list.id.clone(), list.answer()?.event.n);
        tape.json(next.event.n, |line| line.set("id", first))?;
        tape.move_after(second, next.event.n)
    })
}

/// Only a line with characters of Latin-1 can be written in it.
fn latin(plan: &Plan, trace: &Trace) -> Option<Trace> {
    let view = View::new(plan, trace);
    let lines = view.judged().flat_map(|run| run.of(Kind::ToServer));
    let (n, bytes) = lines.into_iter().find_map(|event| {
        let text = str::from_utf8(event.bytes()?).ok()?;
        let odd = text.find(|c| ('\u{a0}'..='\u{ff}').contains(&c))?;
        let c = text[odd..].chars().next()?;
        let mut bytes = text.as_bytes()[..odd].to_vec();
        bytes.push(u8::try_from(u32::from(c)).ok()?);
        bytes.extend_from_slice(&text.as_bytes()[odd + c.len_utf8()..]);
        Some((event.n, bytes))
    })?;
    let mut tape = Tape::new(trace);
    tape.event(n, |event| event.payload = Some(Payload::Whole(bytes)))?;
    Some(tape.trace())
}

fn split(plan: &Plan, trace: &Trace) -> Option<Trace> {
    request(plan, trace, is_list, |_, rpc, tape| {
        let text = String::from_utf8(tape.copy(rpc.event.n)?.bytes()?.to_vec()).ok()?;
        let (head, rest) = text.split_once(',')?;
        let rest = tape.line(rpc.event.n, rest)?;
        tape.after(rpc.event.n, rest)?;
        tape.event(rpc.event.n, |event| event.payload = Some(Payload::Whole(format!("{head},").into_bytes())))
    })
}
