//! Lies about what the model was told.

use super::edit::{Hop, arrays, hop, is_result, strings};
use super::{TraceFault, fault};
use crate::check::reading;
use crate::check::view::{View, markers};
use crate::json::Json;
use crate::model::ErrorFlag;
use crate::plan::Plan;
use crate::trace::Trace;

pub(super) const FAULTS: &[TraceFault] = &[
    fault(
        "result-dropped",
        &["hop.once", "expect.call", "claim.15-three-traces"],
        "The model was not told a result.",
        |plan, trace| {
            results(
                plan,
                trace,
                |_| true,
                |items, at| {
                    items.remove(at);
                },
            )
        },
    ),
    fault("failure-dropped", &["hop.errors"], "The model was not told that a call failed.", |plan, trace| {
        results(
            plan,
            trace,
            |hop| hop.call.error().is_some(),
            |items, at| {
                items.remove(at);
            },
        )
    }),
    fault("result-told-twice", &["hop.once"], "The model was told a result twice.", |plan, trace| {
        results(
            plan,
            trace,
            |_| true,
            |items, at| {
                let copy = items[at].clone();
                items.push(copy);
            },
        )
    }),
    fault(
        "results-swapped",
        &["hop.once", "expect.told", "expect.call"],
        "Two uses were told each other's result.",
        swapped,
    ),
    fault(
        "error-told-as-success",
        &["hop.errors", "tools.error.is-error-to-model"],
        "An error was told without its flag.",
        |plan, trace| {
            let flagged = |hop: &Hop<'_, '_>| {
                hop.call.is_tool_error()
                    && hop.run.told(hop.used).is_some_and(|told| told.result.is_error == Some(true))
            };
            results(plan, trace, flagged, |items, at| items[at].set("is_error", false))
        },
    ),
    fault("success-told-as-error", &["expect.told"], "A success was told as an error.", |plan, trace| {
        let fine = |hop: &Hop<'_, '_>| {
            hop.used
                .planned
                .told
                .as_ref()
                .is_some_and(|told| told.is_error.as_ref().is_some_and(|flag| !flag.value))
                && hop.run.told(hop.used).is_some_and(|told| told.flag == Some(false))
                && hop.run.error_flag() == ErrorFlag::Member
        };
        results(plan, trace, fine, |items, at| items[at].set("is_error", true))
    }),
    fault(
        "error-text-lost",
        &["hop.errors", "tools.error.is-error-to-model", "claim.10-result-and-error"],
        "The reason of an error was not told.",
        |plan, trace| {
            let reason = |hop: &Hop<'_, '_>| hop.call.is_tool_error() && has_text(hop);
            results(plan, trace, reason, |items, at| said(&mut items[at], "The tool failed."))
        },
    ),
    fault(
        "rpc-error-text-lost",
        &["tools.error.protocol-error-to-model"],
        "The message of a JSON-RPC error was not told.",
        |plan, trace| {
            results(
                plan,
                trace,
                |hop| hop.call.error().is_some(),
                |items, at| said(&mut items[at], "The tool failed."),
            )
        },
    ),
    fault(
        "content-lost",
        &["expect.call", "expect.told", "claim.10-result-and-error"],
        "The content of a result was not told.",
        |plan, trace| {
            results(
                plan,
                trace,
                |hop| has_text(hop) && asserts_text(hop),
                |items, at| said(&mut items[at], "Done."),
            )
        },
    ),
    fault(
        "marker-changed",
        &["expect.call"],
        "The model was told the result of some other time.",
        |plan, trace| {
            let marked = |hop: &Hop<'_, '_>| {
                hop.run.told(hop.used).is_some_and(|told| !markers(told.reading.text()).is_empty())
            };
            results(plan, trace, marked, |items, at| {
                strings(&mut items[at], &mut |text| {
                    let word = markers(text).into_iter().next()?;
                    Some(text.replace(&word, "hcm-stale000"))
                });
            })
        },
    ),
    fault(
        "blocks-reversed",
        &["tools.result.multiple-blocks-order"],
        "The blocks of a result were told in another order.",
        reversed,
    ),
    fault(
        "image-lost",
        &["tools.result.content.text-image-resource"],
        "The image of a result was not told.",
        |plan, trace| {
            let shown = |hop: &Hop<'_, '_>| hop.run.told(hop.used).is_some_and(|told| told.reading.image);
            results(plan, trace, shown, |items, at| said(&mut items[at], "one pixel"))
        },
    ),
    fault(
        "structured-lost",
        &["tools.structured.object-accepted"],
        "Structured content without a text was not told.",
        |plan, trace| {
            let structured = |hop: &Hop<'_, '_>| {
                let result = hop.call.result();
                result.is_some_and(|(_, result)| result.get("structuredContent").is_some()) && !has_text(hop)
            };
            results(plan, trace, structured, |items, at| said(&mut items[at], "Done."))
        },
    ),
    fault(
        "unknown-type-believed",
        &["base.result-type.unknown-invalid"],
        "A result of an unknown type was told as a success.",
        |plan, trace| {
            let text = unknown_type(plan, trace)?;
            results(
                plan,
                trace,
                |hop| hop.call.unknown_type().is_some(),
                |items, at| {
                    said(&mut items[at], &text);
                    super::edit::remove(&mut items[at], "is_error");
                },
            )
        },
    ),
    fault("told-before-the-response", &["hop.order"], "A success was told before its response.", |plan, trace| {
        let told = |hop: &Hop<'_, '_>| {
            hop.call.result().is_some() && hop.run.told(hop.used).is_some_and(|told| told.flag != Some(true))
        };
        hop(plan, trace, told, |hop, tape| {
            tape.move_after(hop.call.answer()?.event.n, hop.run.follow(hop.used)?.event.n)
        })
    }),
];

fn has_text(hop: &Hop<'_, '_>) -> bool {
    hop.call.result().is_some_and(|(_, result)| reading::blocks(result).iter().any(|block| !block.is_empty()))
}

/// The text of the first result whose type nobody knows.
fn unknown_type(plan: &Plan, trace: &Trace) -> Option<String> {
    let view = View::new(plan, trace);
    let mut calls = view.judged().flat_map(|run| run.rpcs_of("tools/call")).map(|(_, call)| call);
    let result = calls.find(|call| call.unknown_type().is_some()).and_then(|call| call.result());
    Some(reading::blocks(result?.1).join("\n"))
}

fn asserts_text(hop: &Hop<'_, '_>) -> bool {
    hop.used.planned.told.as_ref().is_some_and(|told| !told.text.is_empty())
}

/// Changes the result of the first hop that fits, in the request that must tell it: its place among its neighbours.
fn results(
    plan: &Plan,
    trace: &Trace,
    fits: impl Fn(&Hop<'_, '_>) -> bool,
    mut change: impl FnMut(&mut Vec<Json>, usize),
) -> Option<Trace> {
    hop(
        plan,
        trace,
        |hop| hop.run.told(hop.used).is_some() && fits(hop),
        |hop, tape| {
            let id = hop.used.id.as_str();
            tape.json(hop.run.follow(hop.used)?.event.n, |body| {
                arrays(body, &mut |items| {
                    if let Some(at) = items.iter().position(|item| is_result(item, id)) {
                        change(items, at);
                    }
                });
            })
        },
    )
}

/// Puts a text in the place of all that a result says.
fn said(result: &mut Json, text: &str) {
    if result.get("output").is_some() {
        result.set("output", text);
    } else {
        result.set("content", Json::array([Json::object([("type", "text"), ("text", text)])]));
    }
}

/// Swaps the ids of two results of one request.
fn swapped(plan: &Plan, trace: &Trace) -> Option<Trace> {
    let other = |hop: &Hop<'_, '_>| {
        let second = hop.run.uses.iter().find(|other| {
            other.follow == hop.used.follow
                && other.planned.index != hop.used.planned.index
                && !other.calls.is_empty()
        });
        second.filter(|_| asserts_text(hop)).map(|second| second.id.clone())
    };
    hop(
        plan,
        trace,
        |hop| hop.run.told(hop.used).is_some() && other(hop).is_some(),
        |hop, tape| {
            let (first, second) = (hop.used.id.clone(), other(hop)?);
            tape.json(hop.run.follow(hop.used)?.event.n, |body| {
                arrays(body, &mut |items| {
                    for item in items.iter_mut() {
                        let id = if is_result(item, &first) {
                            &second
                        } else if is_result(item, &second) {
                            &first
                        } else {
                            continue;
                        };
                        let key = if item.get("tool_use_id").is_some() { "tool_use_id" } else { "call_id" };
                        item.set(key, id);
                    }
                });
            })
        },
    )
}

fn reversed(plan: &Plan, trace: &Trace) -> Option<Trace> {
    let several =
        |hop: &Hop<'_, '_>| hop.call.result().is_some_and(|(_, result)| reading::blocks(result).len() > 1);
    results(plan, trace, several, |items, at| {
        let item = &mut items[at];
        if let Some(Json::Array(blocks)) = super::edit::at_mut(item, &["content"]) {
            blocks.reverse();
        } else if let Some(text) = item.str("output") {
            let lines: Vec<&str> = text.lines().rev().collect();
            let text = lines.join("\n");
            item.set("output", text);
        }
    })
}
