//! Lies about calls: whether, when, where, under which name and with what arguments.

use super::edit::{Hop, at_mut, emitted, hop, remove};
use super::{TraceFault, fault};
use crate::json::Json;
use crate::plan::Plan;
use crate::scenario::ast::{Input, UseKind};
use crate::trace::Trace;

pub(super) const FAULTS: &[TraceFault] = &[
    fault(
        "prefixed-name",
        &["hop.wire-name", "tools.call.wire-name-unprefixed", "expect.call"],
        "The wire carries the published name.",
        |plan, trace| rename(plan, trace, |hop| Some(hop.used.published.name.clone())),
    ),
    fault("name-in-capitals", &["hop.wire-name"], "The wire carries the name in capitals.", |plan, trace| {
        rename(plan, trace, |hop| Some(hop.used.planned.tool.tool.to_uppercase()))
    }),
    fault(
        "name-in-lower-case",
        &["tools.name.case-sensitive"],
        "The wire carries the name in lower case.",
        |plan, trace| rename(plan, trace, |hop| Some(hop.used.planned.tool.tool.to_lowercase())),
    ),
    fault(
        "name-of-another-tool",
        &["hop.wire-name", "expect.call"],
        "Another tool of the server was called.",
        |plan, trace| {
            rename(plan, trace, |hop| {
                let tools = &hop.run.server(hop.conn.server)?.script.tools;
                tools.iter().map(|tool| tool.name.clone()).find(|name| *name != hop.used.planned.tool.tool)
            })
        },
    ),
    fault(
        "wire-breaks-claimed-name",
        &["claim.06-published-names"],
        "The tool was offered under a name beside the rule.",
        |plan, trace| {
            emitted(
                plan,
                trace,
                |_, used| used.name_from == "offer" && !used.calls.is_empty(),
                |_, used, tape| {
                    let at = used.planned.index;
                    tape.event(used.reply.n, |event| {
                        if let Some(Json::Array(uses)) = at_mut(&mut event.data, &["uses"]) {
                            let this = |entry: &&mut Json| {
                                entry.get("use").and_then(Json::as_i64) == i64::try_from(at).ok()
                            };
                            uses.iter_mut().filter(this).for_each(|entry| entry.set("name", "beside_the_rule"));
                        }
                    })
                },
            )
        },
    ),
    fault(
        "wrong-server",
        &["hop.once", "hop.wire-name", "expect.call"],
        "The call went to another server.",
        wrong_server,
    ),
    fault("called-twice", &["hop.once", "expect.call", "tools.call.invokes"], "The call was made twice.", twice),
    fault(
        "never-called",
        &["expect.call", "hop.gates", "tools.call.invokes"],
        "The tool was not called.",
        |plan, trace| {
            hop(plan, trace, is_call, |hop, tape| {
                tape.drop_all(&hop.wire());
                Some(())
            })
        },
    ),
    fault(
        "called-too-early",
        &["hop.order"],
        "The call was made before the model asked for it.",
        |plan, trace| {
            hop(
                plan,
                trace,
                |_| true,
                |hop, tape| {
                    for n in hop.wire() {
                        tape.move_before(n, hop.used.reply.n)?;
                    }
                    Some(())
                },
            )
        },
    ),
    fault(
        "called-on-connecting",
        &["claim.01-four-steps", "hop.once"],
        "A tool was called as soon as it was listed.",
        on_connecting,
    ),
    fault("uncounted-call", &["expect.counts"], "A call was made where there must be none.", on_connecting),
    fault("other-digit", &["hop.arguments", "expect.call"], "A digit of an argument changed.", other_digit),
    fault("argument-dropped", &["hop.arguments", "expect.call"], "An argument disappeared.", |plan, trace| {
        arguments(plan, trace, |arguments| match arguments {
            Json::Object(members) => members.pop().map(|_| ()),
            _ => None,
        })
    }),
    fault("argument-added", &["hop.arguments", "tools.call.invokes"], "An argument appeared.", |plan, trace| {
        arguments(plan, trace, |arguments| {
            arguments.set("added", true);
            Some(())
        })
    }),
    fault("number-as-string", &["hop.arguments"], "A number became a string.", |plan, trace| {
        arguments(plan, trace, |arguments| {
            let Json::Object(members) = arguments else { return None };
            let (_, value) = members.iter_mut().find(|(_, value)| matches!(value, Json::Number(_)))?;
            *value = Json::from(value.to_string());
            Some(())
        })
    }),
    fault(
        "arguments-as-array",
        &["tools.call.arguments-object", "hop.arguments"],
        "The arguments became an array.",
        |plan, trace| {
            arguments(plan, trace, |arguments| {
                *arguments = Json::Array(vec![arguments.clone()]);
                Some(())
            })
        },
    ),
    fault(
        "not-usable-without-parameters",
        &["tools.schema.no-parameters"],
        "A tool without parameters was not called.",
        |plan, trace| {
            let none =
                |hop: &Hop<'_, '_>| hop.used.arguments().is_some_and(|arguments| arguments.members().is_empty());
            hop(
                plan,
                trace,
                |hop| is_call(hop) && none(hop),
                |hop, tape| {
                    tape.drop_all(&hop.wire());
                    Some(())
                },
            )
        },
    ),
];

fn is_call(hop: &Hop<'_, '_>) -> bool {
    hop.used.planned.kind == UseKind::Call && !matches!(hop.used.planned.input, Input::Raw(_))
}

fn rename(plan: &Plan, trace: &Trace, name: impl Fn(&Hop<'_, '_>) -> Option<String>) -> Option<Trace> {
    let other = |hop: &Hop<'_, '_>| name(hop).filter(|name| *name != hop.used.planned.tool.tool);
    hop(
        plan,
        trace,
        |hop| is_call(hop) && other(hop).is_some(),
        |hop, tape| {
            let name = other(hop)?;
            tape.json(hop.call.event.n, |line| {
                if let Some(old) = at_mut(line, &["params", "name"]) {
                    *old = Json::from(name);
                }
            })
        },
    )
}

fn wrong_server(plan: &Plan, trace: &Trace) -> Option<Trace> {
    let other = |hop: &Hop<'_, '_>| {
        let mut conns = hop.run.conns.iter().filter(|conn| conn.server != hop.conn.server);
        conns.find(|conn| !conn.rpcs.is_empty()).map(|conn| (conn.server.to_owned(), conn.number))
    };
    hop(
        plan,
        trace,
        |hop| is_call(hop) && other(hop).is_some(),
        |hop, tape| {
            let (server, conn) = other(hop)?;
            // An id that is free on the other connection.
            for n in hop.wire() {
                tape.json(n, |line| line.set("id", 9000))?;
                tape.event(n, |event| {
                    event.server = Some(server.clone());
                    event.conn = Some(conn);
                })?;
            }
            Some(())
        },
    )
}

fn twice(plan: &Plan, trace: &Trace) -> Option<Trace> {
    hop(plan, trace, is_call, |hop, tape| {
        let mut line = tape.copy(hop.call.event.n)?.json()?;
        line.set("id", 9000);
        let event = tape.line(hop.call.event.n, &line.to_string())?;
        tape.after(hop.call.answer()?.event.n, event)
    })
}

/// A call right after the first list.
fn on_connecting(plan: &Plan, trace: &Trace) -> Option<Trace> {
    super::edit::request(
        plan,
        trace,
        |_, rpc| rpc.method == "tools/list" && rpc.result().is_some(),
        |_, rpc, tape| {
            let mut line = tape.copy(rpc.event.n)?.json()?;
            line.set("id", 9000);
            line.set("method", "tools/call");
            let mut params = line.get("params").cloned().unwrap_or_else(Json::empty);
            remove(&mut params, "cursor");
            params.set("name", "cancel_order");
            params.set("arguments", Json::object([("order_id", "Z-0000")]));
            line.set("params", params);
            let event = tape.line(rpc.event.n, &line.to_string())?;
            tape.after(rpc.answer()?.event.n, event)
        },
    )
}

fn arguments(plan: &Plan, trace: &Trace, change: impl Fn(&mut Json) -> Option<()>) -> Option<Trace> {
    let fits = |hop: &Hop<'_, '_>| {
        let mut arguments = hop.call.param("arguments").cloned().unwrap_or_else(Json::empty);
        is_call(hop) && !arguments.members().is_empty() && change(&mut arguments).is_some()
    };
    hop(plan, trace, fits, |hop, tape| {
        tape.json(hop.call.event.n, |line| {
            if let Some(arguments) = at_mut(line, &["params", "arguments"]) {
                change(arguments);
            }
        })
    })
}

/// The last digit of the first number, or of the first string that ends with one.
fn other_digit(plan: &Plan, trace: &Trace) -> Option<Trace> {
    fn change(json: &mut Json) -> Option<()> {
        match json {
            Json::Number(number) => *json = Json::parse(turned(number.as_str())?).ok()?,
            Json::String(text) => *json = Json::from(turned(text.as_str()?)?),
            Json::Array(items) => return items.iter_mut().find_map(change),
            Json::Object(members) => return members.iter_mut().find_map(|(_, value)| change(value)),
            Json::Null | Json::Bool(_) => return None,
        }
        Some(())
    }
    arguments(plan, trace, change)
}

fn turned(text: &str) -> Option<String> {
    let last = text.chars().next_back()?.to_digit(10)?;
    let other = char::from_digit((last + 1) % 10, 10)?;
    Some(format!("{}{other}", &text[..text.len() - 1]))
}
