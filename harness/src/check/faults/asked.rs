//! Lies about what the host answered to requests and notifications of a server.

use super::edit::{Tape, at_mut};
use super::{TraceFault, fault};
use crate::check::view::{Conn, Line, Side, View};
use crate::json::Json;
use crate::plan::Plan;
use crate::revision::Era;
use crate::rpc::{self, Message};
use crate::trace::Trace;

pub(super) const FAULTS: &[TraceFault] = &[
    fault("ping-unanswered", &["ping.responds"], "A ping of the server was not answered.", |plan, trace| {
        answered(
            plan,
            trace,
            |method| method == "ping",
            |_, line, tape| {
                tape.drop_all(&[line.event.n]);
                Some(())
            },
        )
    }),
    fault("ping-refused", &["ping.responds"], "A ping of the server was refused.", |plan, trace| {
        answered(
            plan,
            trace,
            |method| method == "ping",
            |_, line, tape| {
                tape.json(line.event.n, |answer| {
                    super::edit::remove(answer, "result");
                    answer.set("error", Json::object([("code", Json::from(-32601)), ("message", "no".into())]));
                })
            },
        )
    }),
    fault(
        "unknown-request-unanswered",
        &["base.unknown-server-request.method-not-found"],
        "A request with an unknown method was not answered.",
        |plan, trace| {
            answered(plan, trace, is_unknown, |_, line, tape| {
                tape.drop_all(&[line.event.n]);
                Some(())
            })
        },
    ),
    fault(
        "unknown-request-served",
        &["base.unknown-server-request.method-not-found"],
        "A request with an unknown method was answered with a result.",
        |plan, trace| {
            answered(plan, trace, is_unknown, |_, line, tape| {
                tape.json(line.event.n, |answer| {
                    super::edit::remove(answer, "error");
                    answer.set("result", Json::empty());
                })
            })
        },
    ),
    fault(
        "roots-declared-and-unknown",
        &["lifecycle.capabilities.truthful"],
        "Roots were declared, and `roots/list` was unknown.",
        |plan, trace| {
            answered(
                plan,
                trace,
                |method| method == "roots/list",
                |conn, _, tape| {
                    tape.json(conn.initialize()?.event.n, |init| {
                        if let Some(capabilities) = at_mut(init, &["params", "capabilities"]) {
                            capabilities.set("roots", Json::empty());
                        }
                    })
                },
            )
        },
    ),
    fault("answered-twice", &["hop.json-rpc"], "A request of a server was answered twice.", |plan, trace| {
        answered(
            plan,
            trace,
            |_| true,
            |_, line, tape| {
                let again = tape.copy(line.event.n)?;
                tape.after(line.event.n, again)
            },
        )
    }),
    fault(
        "open-question",
        &["hop.json-rpc"],
        "A request of a server was not answered, and a later one of the host was.",
        |plan, trace| {
            answered(
                plan,
                trace,
                |_| true,
                |_, line, tape| {
                    tape.drop_all(&[line.event.n]);
                    Some(())
                },
            )
        },
    ),
    fault(
        "response-with-another-id",
        &["base.response.id-echo", "hop.json-rpc"],
        "A response has an id that nobody asked with.",
        |plan, trace| {
            answered(
                plan,
                trace,
                |_| true,
                |_, line, tape| tape.json(line.event.n, |answer| answer.set("id", "nobody")),
            )
        },
    ),
    fault(
        "response-with-both",
        &["base.response.result-xor-error"],
        "A response has both a result and an error.",
        |plan, trace| {
            answered(
                plan,
                trace,
                |method| method == "ping",
                |_, line, tape| {
                    tape.json(line.event.n, |answer| {
                        answer
                            .set("error", Json::object([("code", Json::from(-32603)), ("message", "no".into())]));
                    })
                },
            )
        },
    ),
    fault(
        "notification-answered",
        &["base.notification.no-response"],
        "A notification of the server was answered.",
        |plan, trace| {
            let notified = |conn: &Conn<'_>| {
                let mut lines = conn.lines.iter().filter(|line| line.side == Side::Server);
                lines.find(|line| matches!(line.message, Message::Notification { .. })).map(|line| line.event.n)
            };
            legacy(plan, trace, |conn, tape| {
                let n = notified(conn)?;
                let answer = r#"{"jsonrpc":"2.0","id":null,"result":{}}"#;
                let event = tape.line(conn.rpcs.first()?.event.n, answer)?;
                tape.after(n, event)
            })
        },
    ),
];

fn is_unknown(method: &str) -> bool {
    method.starts_with("orders/")
}

/// The first connection of a judged run in the legacy era on which the lie can be told.
fn legacy(plan: &Plan, trace: &Trace, lie: impl Fn(&Conn<'_>, &mut Tape) -> Option<()>) -> Option<Trace> {
    if plan.key.revision.era() == Era::Modern {
        return None;
    }
    let view = View::new(plan, trace);
    view.judged().flat_map(|run| &run.conns).find_map(|conn| {
        let mut tape = Tape::new(trace);
        lie(conn, &mut tape)?;
        Some(tape.trace())
    })
}

/// The host's answer to the first request of a server whose method fits.
fn answered(
    plan: &Plan,
    trace: &Trace,
    fits: impl Fn(&str) -> bool,
    lie: impl Fn(&Conn<'_>, &Line<'_>, &mut Tape) -> Option<()>,
) -> Option<Trace> {
    legacy(plan, trace, |conn, tape| {
        let wanted = conn.lines.iter().find_map(|line| match &line.message {
            Message::Request { id, method, .. } if line.side == Side::Server && fits(method) => Some(id),
            _ => None,
        })?;
        let answer = conn.host_lines().find(|line| match &line.message {
            Message::Result { id, .. } | Message::Error { id, .. } => rpc::same_id(id, wanted),
            _ => false,
        })?;
        lie(conn, answer, tape)
    })
}
