//! Lies about what happens while a run is going on: interruptions, limits, changed lists.

use super::edit::{Hop, Tape, arrays, at_mut, hop, is_result, remove, request, strings};
use super::lists::{offered_as, without};
use super::{TraceFault, fault};
use crate::check::steps::change;
use crate::check::view::{Exchange, Run, View, after, markers};
use crate::json::Json;
use crate::plan::Plan;
use crate::scenario::ast::{Change, Verb};
use crate::trace::Trace;
use crate::trace::event::{Event, Kind};

pub(super) const FAULTS: &[TraceFault] = &[
    fault(
        "interrupted-silently",
        &["expect.cancelled", "stdio.cancel-by-notification", "cancel.user-abort-signals"],
        "A call that the user interrupted was never cancelled.",
        |plan, trace| {
            hop(plan, trace, interrupted, |hop, tape| {
                let (interrupt, line) = (hop.run.interruption(hop.used)?, hop.conn.cancellation(hop.call)?);
                // In its place nothing came for a quiet time.
                tape.event(line.n, |event| {
                    *event = Event {
                        kind: Kind::Quiet,
                        server: None,
                        conn: None,
                        payload: None,
                        step: interrupt.step,
                        data: Json::object([("for", Json::from("cancelled")), ("ms", 500.into())]),
                        ..event.clone()
                    };
                })
            })
        },
    ),
    fault(
        "late-answer-told",
        &["cancel.late-response-ignored"],
        "The model was told an answer that came after the call was given up.",
        |plan, trace| {
            hop(
                plan,
                trace,
                |hop| late_answer(hop).is_some(),
                |hop, tape| {
                    let (_, words) = late_answer(hop)?;
                    let follow = hop.run.follow(hop.used)?;
                    told_instead(follow, &hop.used.id, &words.join(" "), tape)
                },
            )
        },
    ),
    fault(
        "crossed-result-lost",
        &["cancel.races-handled"],
        "A cancelled call that was answered all the same ended in no result.",
        |plan, trace| {
            let crossed = |hop: &Hop<'_, '_>| {
                let told = hop.run.follow(hop.used).is_some();
                told && hop.call.answer().is_some() && hop.conn.cancellation(hop.call).is_some()
            };
            hop(plan, trace, crossed, |hop, tape| {
                let follow = hop.run.follow(hop.used)?;
                tape.json(follow.event.n, |body| {
                    arrays(body, &mut |items| items.retain(|item| !is_result(item, &hop.used.id)));
                })
            })
        },
    ),
    fault(
        "cancelled-what-was-told",
        &["cancel.only-own-in-flight"],
        "A call was cancelled whose result the model had been told.",
        |plan, trace| {
            let told = |hop: &Hop<'_, '_>| {
                hop.call.result().is_some() && hop.run.told(hop.used).is_some_and(|told| told.flag == Some(false))
            };
            hop(plan, trace, told, |hop, tape| {
                let params = Json::object([("requestId", hop.call.id.clone())]);
                let method = Json::from("notifications/cancelled");
                let line = Json::object([("jsonrpc", "2.0".into()), ("method", method), ("params", params)]);
                let event = tape.line(hop.call.event.n, &line.to_string())?;
                tape.after(hop.run.told(hop.used)?.exchange.event.n, event)
            })
        },
    ),
    fault(
        "waited-past-the-limit",
        &["timeout.configurable", "expect.told"],
        "A call was waited for far beyond the limit that was set.",
        |plan, trace| {
            hop(plan, trace, has_bound, |hop, tape| {
                let mut overdue = tape.copy(hop.used.reply.n)?;
                overdue.kind = Kind::Overdue;
                (overdue.cause, overdue.payload) = (None, None);
                overdue.data = Json::object([("use", Json::from(hop.used.planned.index)), ("ms", 4000.into())]);
                tape.before(hop.run.follow(hop.used)?.event.n, overdue)
            })
        },
    ),
    fault(
        "answered-before-it-was-told",
        &["expect.told"],
        "A result that should come by the limit was told after its answer.",
        |plan, trace| {
            hop(
                plan,
                trace,
                |hop| has_bound(hop) && hop.call.answer().is_some(),
                |hop, tape| tape.move_after(hop.call.answer()?.event.n, hop.call.event.n),
            )
        },
    ),
    fault(
        "waited-without-end",
        &["timeout.established", "timeout.configurable"],
        "A call was waited for until the harness lost its patience.",
        |plan, trace| {
            hop(plan, trace, has_bound, |hop, tape| {
                let end = hop.run.of(Kind::RunEnd).last()?;
                let later = hop.run.events.iter().filter(|event| {
                    let stays = matches!(event.kind, Kind::HostExit | Kind::Gone | Kind::RunEnd);
                    event.n > hop.call.event.n && !stays
                });
                tape.drop_all(&later.map(|event| event.n).collect::<Vec<_>>());
                let mut deadline = tape.copy(end.n)?;
                deadline.kind = Kind::Deadline;
                deadline.data = Json::object([("phase", Json::from("progress")), ("ms", 20_000.into())]);
                // The copy has the number of the original, which is changed while it is the only one.
                tape.event(end.n, |event| event.data = Json::object([("reason", "deadline")]))?;
                tape.after(hop.call.event.n, deadline)
            })
        },
    ),
    fault(
        "change-not-read",
        &["expect.change", "tools.list-changed.refetch"],
        "A list that the server changed was not read again.",
        |plan, trace| {
            changed(plan, trace, |_, change, changed, run, tape| {
                let lists = run.conns_of(&change.server.value).flat_map(|conn| &conn.rpcs);
                let lists = lists.filter(|rpc| rpc.method == "tools/list" && after(rpc.event, changed));
                let answers = |rpc: &crate::check::view::Rpc<'_>| rpc.answer().map(|answer| answer.event.n);
                let lines: Vec<u32> = lists.flat_map(|rpc| [Some(rpc.event.n), answers(rpc)]).flatten().collect();
                (!lines.is_empty()).then(|| tape.drop_all(&lines))
            })
        },
    ),
    fault(
        "read-again-and-again",
        &["expect.change"],
        "A list that had changed once was read many times.",
        |plan, trace| {
            changed(plan, trace, |_, change, changed, run, tape| {
                change.refreshes.as_ref()?;
                let mut lists = run.conns_of(&change.server.value).flat_map(|conn| conn.walks());
                let list = lists.find(|rpc| after(rpc.event, changed))?;
                for id in 9000..9009 {
                    let mut line = list.event.json()?;
                    line.set("id", id);
                    let event = tape.line(list.event.n, &line.to_string())?;
                    tape.after(list.answer()?.event.n, event)?;
                }
                Some(())
            })
        },
    ),
    fault(
        "added-tool-not-shown",
        &["expect.change", "expect.offers"],
        "A tool that was added was not shown to the model.",
        |plan, trace| {
            changed(plan, trace, |_, change, changed, run, tape| {
                let added = change.edit.add.first()?;
                let mut hidden = None;
                for exchange in change::after_change(run, changed) {
                    let name = published(exchange, change, &added.name)?;
                    tape.json(exchange.event.n, |body| without(body, &[&name]))?;
                    hidden = Some(());
                }
                hidden
            })
        },
    ),
    fault(
        "removed-tool-shown",
        &["expect.change", "tools.list-changed.removed-tool-not-called"],
        "A tool that vanished from the list was still shown to the model.",
        |plan, trace| {
            changed(plan, trace, |_, change, changed, run, tape| {
                let gone = change.edit.remove.first()?;
                let before = run.main_line().filter(|exchange| !after(exchange.event, changed)).last()?;
                let name = published(before, change, gone)?;
                let entry = offered_as(before.event, &name)?;
                let other = before.offers.iter().find(|offer| offer.tool.tool != *gone)?;
                for exchange in change::after_change(run, changed) {
                    tape.json(exchange.event.n, |body| {
                        arrays(body, &mut |items| {
                            let beside = |item: &Json| item.str("name") == Some(&other.published.name);
                            if items.iter().any(|item| beside(item) && item.get("description").is_some()) {
                                items.push(entry.clone());
                            }
                        });
                    })?;
                }
                Some(())
            })
        },
    ),
    fault(
        "replaced-tool-as-before",
        &["expect.change"],
        "A tool that was replaced was shown as it was before.",
        |plan, trace| {
            changed(plan, trace, |_, change, changed, run, tape| {
                let replaced = change.edit.replace.first()?;
                let before = run.main_line().filter(|exchange| !after(exchange.event, changed)).last()?;
                let name = published(before, change, &replaced.name)?;
                let entry = offered_as(before.event, &name)?;
                for exchange in change::after_change(run, changed) {
                    tape.json(exchange.event.n, |body| {
                        arrays(body, &mut |items| {
                            let is = |item: &&mut Json| {
                                item.str("name") == Some(&name) && item.get("description").is_some()
                            };
                            items.iter_mut().filter(is).for_each(|item| *item = entry.clone());
                        });
                    })?;
                }
                Some(())
            })
        },
    ),
    fault(
        "removed-tool-called",
        &["tools.list-changed.removed-tool-not-called"],
        "A tool that vanished from the list was called.",
        |plan, trace| {
            changed(plan, trace, |_, change, changed, run, tape| {
                let gone = change.edit.remove.first()?;
                let conn = run.conns_of(&change.server.value).next()?;
                let later =
                    |rpc: &&crate::check::view::Rpc<'_>| rpc.method == "tools/call" && after(rpc.event, changed);
                let call = conn.rpcs.iter().find(later)?;
                tape.json(call.event.n, |line| {
                    if let Some(params) = at_mut(line, &["params"]) {
                        params.set("name", gone);
                    }
                })
            })
        },
    ),
    fault(
        "listened-to-all",
        &["subscriptions.capability-gated"],
        "A stream was opened for changes that the server does not declare.",
        |plan, trace| {
            listen(plan, trace, |params| {
                if let Some(filter) = at_mut(params, &["notifications"]) {
                    filter.set("promptsListChanged", true);
                }
            })
        },
    ),
    fault(
        "listened-without-a-filter",
        &["subscriptions.opt-in-filter", "expect.list"],
        "A stream was opened without a filter.",
        |plan, trace| listen(plan, trace, |params| remove(params, "notifications")),
    ),
];

fn interrupted(hop: &Hop<'_, '_>) -> bool {
    hop.run.interruption(hop.used).is_some() && hop.conn.cancellation(hop.call).is_some()
}

/// The answer to a call that was given up, with its words, where the conversation went on from there.
fn late_answer<'a>(hop: &Hop<'_, 'a>) -> Option<(&'a Event, Vec<String>)> {
    let given_up = hop.run.given_up(hop.used, hop.conn, hop.call)?;
    let late = hop.call.answers.iter().find(|answer| after(answer.event, given_up))?;
    let words = markers(&late.body.as_ref().unwrap_or_else(|error| error).to_string());
    let goes_on = hop.run.main_line().any(|exchange| after(exchange.event, late.event));
    (!words.is_empty() && goes_on).then_some((late.event, words))
}

/// Puts a text into the result of a use, in every request that tells it from a given one on.
fn told_instead(follow: &Exchange<'_>, id: &str, text: &str, tape: &mut Tape) -> Option<()> {
    tape.all_after(follow.event.n, |event| {
        let Some(mut body) = event.json().filter(|_| event.kind == Kind::ModelRequest) else { return };
        arrays(&mut body, &mut |items| {
            for item in items.iter_mut().filter(|item| is_result(item, id)) {
                for key in ["content", "output"] {
                    if let Some(content) = at_mut(item, &[key]) {
                        strings(content, &mut |old| (old != "text").then(|| text.to_owned()));
                    }
                }
            }
        });
        event.payload = Some(crate::trace::event::Payload::Whole(body.to_bytes()));
    })
}

/// A use whose result has to be told in time, and was.
fn has_bound(hop: &Hop<'_, '_>) -> bool {
    let bound = hop.used.planned.told.as_ref().is_some_and(|told| told.before.is_some());
    bound && hop.run.told(hop.used).is_some()
}

/// The first change of a server that a step ordered and a host took up, with its event.
fn changed(
    plan: &Plan,
    trace: &Trace,
    lie: impl Fn(usize, &Change, &Event, &Run<'_>, &mut Tape) -> Option<()>,
) -> Option<Trace> {
    let view = View::new(plan, trace);
    let run = view.judged().next()?;
    for (index, step) in plan.scenario.steps.iter().enumerate() {
        let Verb::Change(change) = &step.verb else { continue };
        let mut tape = Tape::new(trace);
        if change.announce > 0
            && let Some(event) = change::of(run, index, &change.server.value)
            && lie(index, change, event, run, &mut tape).is_some()
        {
            return Some(tape.trace());
        }
    }
    None
}

fn published(exchange: &Exchange<'_>, change: &Change, tool: &str) -> Option<String> {
    let is =
        |offer: &&crate::check::view::Offered| offer.tool.tool == tool && offer.tool.server == change.server.value;
    exchange.offers.iter().find(is).map(|offer| offer.published.name.clone())
}

/// Changes what the first stream for changes was opened with.
fn listen(plan: &Plan, trace: &Trace, change: impl Fn(&mut Json)) -> Option<Trace> {
    request(
        plan,
        trace,
        |_, rpc| rpc.method == "subscriptions/listen",
        |_, rpc, tape| {
            tape.json(rpc.event.n, |line| {
                if let Some(params) = at_mut(line, &["params"]) {
                    change(params);
                }
            })
        },
    )
}
