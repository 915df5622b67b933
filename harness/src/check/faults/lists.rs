//! Lies about lists, pages and offers.

use super::edit::{Tape, arrays, at_mut, remove, request};
use super::{TraceFault, fault};
use crate::check::view::{Exchange, Run, View};
use crate::json::Json;
use crate::plan::Plan;
use crate::rpc::Message;
use crate::scenario::ast::{ToolRef, Verb};
use crate::trace::Trace;
use crate::trace::event::Event;

pub(super) const FAULTS: &[TraceFault] = &[
    fault(
        "other-cursor",
        &["pagination.cursor-verbatim", "expect.list"],
        "A cursor came back with a character more.",
        |plan, trace| {
            request(
                plan,
                trace,
                |_, rpc| rpc.param("cursor").is_some(),
                |_, rpc, tape| {
                    tape.json(rpc.event.n, |line| {
                        if let Some(cursor) = at_mut(line, &["params", "cursor"]) {
                            *cursor = Json::from(format!("{}=", cursor.as_str().unwrap_or_default()));
                        }
                    })
                },
            )
        },
    ),
    fault(
        "last-page-unread",
        &["pagination.both-flows", "expect.list", "hop.stable-list"],
        "The last page was never asked for.",
        last_page,
    ),
    fault(
        "asked-beyond-the-end",
        &["pagination.missing-cursor-ends"],
        "A page was asked for after the last one.",
        beyond,
    ),
    fault(
        "ended-at-empty-cursor",
        &["pagination.empty-string-cursor-continues"],
        "An empty cursor ended the list.",
        empty_cursor,
    ),
    fault(
        "called-unlisted",
        &["tools.list.requested-before-call", "hop.order"],
        "A tool was offered and called that no list had named.",
        unlisted,
    ),
    fault(
        "list-without-capability",
        &["tools.list.only-with-capability", "claim.05-list-needs-capability"],
        "Tools were asked of a server that declares none.",
        |plan, trace| {
            request(
                plan,
                trace,
                |_, rpc| ["initialize", "server/discover"].contains(&rpc.method.as_str()),
                |_, rpc, tape| {
                    tape.json(rpc.answer()?.event.n, |line| {
                        if let Some(capabilities) = at_mut(line, &["result", "capabilities"]) {
                            remove(capabilities, "tools");
                        }
                    })
                },
            )
        },
    ),
    fault(
        "tool-forgotten",
        &["hop.stable-list"],
        "A tool is missing from the second model request on.",
        |plan, trace| hide(plan, trace, 1),
    ),
    fault("tool-not-offered", &["expect.offers"], "A listed tool was never offered.", |plan, trace| {
        hide(plan, trace, 0)
    }),
    fault(
        "bare-tool-offered",
        &["claim.08-no-schema-no-offer"],
        "A tool without a schema was offered.",
        |plan, trace| {
            with_offers(plan, trace, |run, exchange, tape| {
                let entries = run.plan.servers.iter().flat_map(|server| &server.script.tools);
                let bare = entries.filter(|entry| entry.input_schema.is_none()).find_map(|entry| {
                    let word = |(tool, _): &&(String, String)| *tool == entry.name;
                    run.plan.servers.iter().flat_map(|server| &server.words).find(word)
                })?;
                tape.json(exchange.event.n, |body| offered_once_more(body, exchange, &format!("[hc:{}]", bare.1)))
            })
        },
    ),
    fault(
        "bare-tool-hides-the-others",
        &["tools.list.invalid-tool-isolated"],
        "A tool without a schema took its neighbours with it.",
        |plan, trace| {
            let sick = plan
                .servers
                .iter()
                .find(|server| server.script.tools.iter().any(|entry| entry.input_schema.is_none()))?;
            hide_where(plan, trace, |tool| tool.server == sick.key)
        },
    ),
    fault(
        "alike-names-merged",
        &["tools.name.case-sensitive"],
        "Of two tools that differ in case only one was offered.",
        |plan, trace| {
            let tools = || plan.servers.iter().flat_map(|server| &server.script.tools);
            let alike =
                |name: &str| tools().any(|other| other.name != name && other.name.eq_ignore_ascii_case(name));
            let merged = tools().find(|tool| alike(&tool.name))?;
            hide_where(plan, trace, |tool| tool.tool == merged.name)
        },
    ),
    fault(
        "changed-list-unread",
        &["tools.list-changed.refetch"],
        "A list that had changed was not asked for again.",
        |plan, trace| {
            let again = |conn: &crate::check::view::Conn<'_>, rpc: &crate::check::view::Rpc<'_>| {
                rpc.method == "tools/list"
                    && conn.lines.iter().any(|line| {
                        crate::check::view::after(rpc.event, line.event)
                            && matches!(&line.message, Message::Notification { method, .. } if method == "notifications/tools/list_changed")
                    })
            };
            request(plan, trace, again, |_, rpc, tape| {
                tape.drop_all(&[rpc.event.n, rpc.answer()?.event.n]);
                Some(())
            })
        },
    ),
    fault("invented-offer", &["hop.order"], "A tool was offered that no server has listed.", invented),
    fault(
        "same-published-name",
        &["tools.name.collision-disambiguated"],
        "Tools of two servers share a published name.",
        shared_name,
    ),
    fault(
        "sick-server-hides-all",
        &["hop.isolation"],
        "With one server broken, no tool of another was offered.",
        hide_all,
    ),
    fault(
        "healthy-server-never-asked",
        &["hop.isolation"],
        "With one server sick, another was never asked for its tools.",
        never_asked,
    ),
    fault(
        "renamed-in-the-second-run",
        &["hop.stable-list"],
        "The second run of the host offers a tool by another name.",
        renamed,
    ),
];

fn last_page(plan: &Plan, trace: &Trace) -> Option<Trace> {
    request(
        plan,
        trace,
        |_, rpc| rpc.param("cursor").is_some(),
        |conn, _, tape| {
            let last =
                conn.rpcs.iter().rfind(|rpc| rpc.method == "tools/list" && rpc.param("cursor").is_some())?;
            tape.drop_all(&[last.event.n, last.answer()?.event.n]);
            Some(())
        },
    )
}

fn beyond(plan: &Plan, trace: &Trace) -> Option<Trace> {
    let ends = |rpc: &crate::check::view::Rpc<'_>| {
        rpc.method == "tools/list" && rpc.result().is_some_and(|(_, page)| page.get("nextCursor").is_none())
    };
    let lived_on = |conn: &crate::check::view::Conn<'_>| conn.rpcs.iter().any(|rpc| rpc.method == "tools/call");
    request(
        plan,
        trace,
        |conn, rpc| ends(rpc) && lived_on(conn),
        |_, rpc, tape| {
            let mut line = tape.copy(rpc.event.n)?.json()?;
            line.set("id", 9000);
            let mut params = line.get("params").cloned().unwrap_or_else(Json::empty);
            params.set("cursor", "more");
            line.set("params", params);
            let event = tape.line(rpc.event.n, &line.to_string())?;
            tape.after(rpc.answer()?.event.n, event)
        },
    )
}

fn empty_cursor(plan: &Plan, trace: &Trace) -> Option<Trace> {
    let empty = |rpc: &crate::check::view::Rpc<'_>| rpc.param("cursor").and_then(Json::as_str) == Some("");
    request(
        plan,
        trace,
        |_, rpc| empty(rpc),
        |_, rpc, tape| {
            tape.drop_all(&[rpc.event.n, rpc.answer()?.event.n]);
            Some(())
        },
    )
}

/// The first tool that is called disappears from the lists that were read.
fn unlisted(plan: &Plan, trace: &Trace) -> Option<Trace> {
    super::edit::hop(
        plan,
        trace,
        |_| true,
        |hop, tape| {
            let name = hop.used.planned.tool.tool.as_str();
            for rpc in hop.conn.rpcs.iter().filter(|rpc| rpc.method == "tools/list") {
                tape.json(rpc.answer()?.event.n, |line| {
                    if let Some(Json::Array(tools)) = at_mut(line, &["result", "tools"]) {
                        tools.retain(|tool| tool.str("name") != Some(name));
                    }
                })?;
            }
            Some(())
        },
    )
}

/// The tools that some `list` step names.
fn named_offers(plan: &Plan) -> Vec<ToolRef> {
    let steps = plan.scenario.steps.iter().filter_map(|step| match &step.verb {
        Verb::List { server, offers, .. } => {
            Some(offers.iter().map(|tool| ToolRef { server: server.value.clone(), tool: tool.value.clone() }))
        }
        _ => None,
    });
    steps.flatten().collect()
}

/// Takes an offered tool out of the model requests from the given one on.
fn hide(plan: &Plan, trace: &Trace, from: usize) -> Option<Trace> {
    let view = View::new(plan, trace);
    let run = view.judged().next()?;
    let exchanges: Vec<_> = run.main_line().collect();
    if exchanges.len() < from + 2 {
        return None;
    }
    let named = named_offers(plan);
    let gone = exchanges[0].offers.iter().find(|offer| named.contains(&offer.tool))?;
    let mut tape = Tape::new(trace);
    for exchange in &exchanges[from..] {
        tape.json(exchange.event.n, |body| without(body, &[&gone.published.name]))?;
    }
    Some(tape.trace())
}

/// Takes all offers that fit out of all model requests.
fn hide_where(plan: &Plan, trace: &Trace, fits: impl Fn(&ToolRef) -> bool) -> Option<Trace> {
    let view = View::new(plan, trace);
    let mut tape = Tape::new(trace);
    let mut hidden = None;
    for exchange in view.judged().flat_map(|run| run.main_line()) {
        let offers = exchange.offers.iter().filter(|offer| fits(&offer.tool));
        let names: Vec<&str> = offers.map(|offer| offer.published.name.as_str()).collect();
        if !names.is_empty() {
            tape.json(exchange.event.n, |body| without(body, &names))?;
            hidden = Some(());
        }
    }
    hidden.map(|()| tape.trace())
}

/// Offers the first tool once more, as another one that has this word.
fn offered_once_more(body: &mut Json, exchange: &Exchange<'_>, word: &str) {
    let Some(first) = exchange.offers.first() else { return };
    arrays(body, &mut |items| {
        let offer = |item: &&Json| is_offer(item) && item.str("name") == Some(&first.published.name);
        let copy = items.iter().find(offer).cloned();
        items.extend(copy.map(|mut copy| {
            copy.set("name", "once_more");
            copy.set("description", word);
            copy
        }));
    });
}

pub(super) fn without(body: &mut Json, names: &[&str]) {
    arrays(body, &mut |items| {
        items.retain(|item| !is_offer(item) || !item.str("name").is_some_and(|name| names.contains(&name)))
    });
}

/// How a tool was offered in a model request.
pub(super) fn offered_as(request: &Event, name: &str) -> Option<Json> {
    let mut found = None;
    arrays(&mut request.json()?, &mut |items| {
        let entry = items.iter().find(|item| is_offer(item) && item.str("name") == Some(name));
        found = found.take().or(entry.cloned());
    });
    found
}

fn is_offer(item: &Json) -> bool {
    item.get("description").is_some() && (item.get("input_schema").is_some() || item.get("parameters").is_some())
}

fn invented(plan: &Plan, trace: &Trace) -> Option<Trace> {
    with_offers(plan, trace, |run, exchange, tape| {
        run.uses.first()?;
        let first = exchange.offers.first()?.published.name.clone();
        tape.json(exchange.event.n, |body| {
            arrays(body, &mut |items| {
                let entry = items.iter().find(|item| is_offer(item) && item.str("name") == Some(&first)).cloned();
                items.extend(entry.map(|mut entry| {
                    entry.set("name", format!("{first}_invented"));
                    entry.set("description", "Listed by nobody.");
                    entry
                }));
            });
        })
    })
}

/// The first main-line request that offers something.
fn with_offers(
    plan: &Plan,
    trace: &Trace,
    lie: impl FnOnce(&Run<'_>, &Exchange<'_>, &mut Tape) -> Option<()>,
) -> Option<Trace> {
    let view = View::new(plan, trace);
    let (run, exchange) = view
        .judged()
        .flat_map(|run| run.main_line().map(move |exchange| (run, exchange)))
        .find(|(_, exchange)| !exchange.offers.is_empty())?;
    let mut tape = Tape::new(trace);
    lie(run, exchange, &mut tape)?;
    Some(tape.trace())
}

fn shared_name(plan: &Plan, trace: &Trace) -> Option<Trace> {
    with_offers(plan, trace, |_, exchange, tape| {
        let (first, second) = exchange.offers.iter().enumerate().find_map(|(at, offer)| {
            let twin = exchange.offers[..at].iter().find(|other| other.tool.tool == offer.tool.tool)?;
            Some((twin.published.name.clone(), offer.published.name.clone()))
        })?;
        tape.json(exchange.event.n, |body| {
            arrays(body, &mut |items| {
                for item in items.iter_mut().filter(|item| item.str("name") == Some(&second) && is_offer(item)) {
                    item.set("name", &first);
                }
            });
        })
    })
}

/// Takes the list of a healthy server away, and what was offered of it.
fn never_asked(plan: &Plan, trace: &Trace) -> Option<Trace> {
    let view = View::new(plan, trace);
    let run = view.judged().next()?;
    let healthy = plan.servers.iter().find(|server| server.script.on.is_empty())?;
    plan.servers.iter().find(|server| !server.script.on.is_empty())?;
    let mut tape = Tape::new(trace);
    let lists = run.conns_of(&healthy.key).flat_map(|conn| &conn.rpcs).filter(|rpc| rpc.method == "tools/list");
    let events: Vec<u32> =
        lists.flat_map(|rpc| std::iter::once(rpc.event.n).chain(rpc.answer().map(|a| a.event.n))).collect();
    for exchange in run.main_line() {
        let of_healthy = exchange.offers.iter().filter(|offer| offer.tool.server == healthy.key);
        let names: Vec<&str> = of_healthy.map(|offer| offer.published.name.as_str()).collect();
        tape.json(exchange.event.n, |body| without(body, &names))?;
    }
    tape.drop_all(&events);
    (!events.is_empty()).then(|| tape.trace())
}

/// Only the name differs: the description still says which tool it is.
fn renamed(plan: &Plan, trace: &Trace) -> Option<Trace> {
    let view = View::new(plan, trace);
    let second = view.judged().nth(1)?;
    let name = second.main_line().last()?.offers.iter().find(|offer| offer.at.is_some())?.published.name.clone();
    let mut tape = Tape::new(trace);
    for exchange in second.main_line() {
        tape.json(exchange.event.n, |body| {
            arrays(body, &mut |items| {
                for item in items.iter_mut().filter(|item| item.str("name") == Some(&name) && is_offer(item)) {
                    item.set("name", format!("{name}_2"));
                }
            });
        })?;
    }
    Some(tape.trace())
}

fn hide_all(plan: &Plan, trace: &Trace) -> Option<Trace> {
    let view = View::new(plan, trace);
    let run = view.judged().next()?;
    let sick = run.conns.iter().any(|conn| conn.broken().is_some() && conn.rpcs.is_empty());
    let mut tape = Tape::new(trace);
    for exchange in run.main_line().filter(|_| sick) {
        let names: Vec<&str> = exchange.offers.iter().map(|offer| offer.published.name.as_str()).collect();
        tape.json(exchange.event.n, |body| without(body, &names))?;
    }
    sick.then(|| tape.trace())
}
