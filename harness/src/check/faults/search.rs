//! Lies about searches for tools, and about what they find.

use super::edit::{Tape, arrays, at_mut, is_result, strings};
use super::{TraceFault, fault};
use crate::check::view::{Exchange, Run, Search, View};
use crate::json::Json;
use crate::plan::Plan;
use crate::trace::Trace;

pub(super) const FAULTS: &[TraceFault] = &[
    fault("search-unanswered", &["expect.search"], "A search got no result.", |plan, trace| {
        found(plan, trace, |hunt, tape| {
            hunt.each(tape, |body| {
                arrays(body, &mut |items| items.retain(|item| !is_result(item, &hunt.search.id)));
            })
        })
    }),
    fault(
        "search-in-vain",
        &["expect.search", "hop.stable-list"],
        "A search did not find a tool that was listed.",
        |plan, trace| {
            found(plan, trace, |hunt, tape| {
                let name = hunt.name()?;
                hunt.each(tape, |body| {
                    arrays(body, &mut |items| {
                        items.retain(|item| item.str("tool_name") != Some(&name) && !is_entry(item, &name));
                    });
                })
            })
        },
    ),
    fault("found-another", &["expect.search"], "A search found another tool under the name.", |plan, trace| {
        found(plan, trace, |hunt, tape| {
            let words = || hunt.run.plan.servers.iter().flat_map(|server| &server.words);
            let wanted = &hunt.search.planned.tool.tool;
            let (_, own) = words().find(|(tool, _)| tool == wanted)?;
            let (_, other) = words().find(|(tool, _)| tool != wanted)?;
            hunt.each(tape, |body| {
                strings(body, &mut |text| text.contains(own.as_str()).then(|| text.replace(own.as_str(), other)));
            })
        })
    }),
    fault("found-without-parameter", &["expect.search"], "What was found lacks a parameter.", |plan, trace| {
        found(plan, trace, |hunt, tape| {
            let name = hunt.name()?;
            let mut lost = None;
            hunt.each(tape, |body| {
                arrays(body, &mut |items| {
                    for item in items.iter_mut().filter(|item| is_entry(item, &name)) {
                        for schema in ["input_schema", "parameters"] {
                            if let Some(Json::Object(members)) = at_mut(item, &[schema, "properties"]) {
                                lost = members.pop().or(lost.take());
                            }
                        }
                    }
                });
            })?;
            lost.map(drop)
        })
    }),
    fault(
        "table-poured",
        &["claim.07-deferred-table"],
        "What was found later was offered from the start.",
        |plan, trace| {
            found(plan, trace, |hunt, tape| {
                let offer = hunt.follow.offers.iter().find(|offer| offer.tool == hunt.search.planned.tool)?;
                let mut entry = hunt.follow.entry_of(offer)?.raw.clone();
                entry.set("defer_loading", false);
                let entry = match &offer.published.namespace {
                    Some(namespace) => Json::object([
                        ("type", Json::from("namespace")),
                        ("name", namespace.into()),
                        ("tools", Json::array([entry])),
                    ]),
                    None => entry,
                };
                let first = hunt.run.main_line().next()?.event.n;
                tape.json(first, |body| {
                    if let Some(Json::Array(tools)) = at_mut(body, &["tools"]) {
                        tools.push(entry);
                    }
                })
            })
        },
    ),
];

/// A search that found its tool.
struct Hunt<'r, 'a> {
    run: &'r Run<'a>,
    search: &'r Search<'a>,
    follow: &'r Exchange<'a>,
}

impl Hunt<'_, '_> {
    /// The name under which the tool was found.
    fn name(&self) -> Option<String> {
        let offer = self.follow.offers.iter().find(|offer| offer.tool == self.search.planned.tool)?;
        Some(offer.published.name.clone())
    }

    /// Changes every main-line request from the answer of the search on.
    fn each(&self, tape: &mut Tape, mut change: impl FnMut(&mut Json)) -> Option<()> {
        let later = self.run.main_line().filter(|exchange| exchange.event.n >= self.follow.event.n);
        for exchange in later {
            tape.json(exchange.event.n, &mut change)?;
        }
        Some(())
    }
}

/// The first search of a judged run that found its tool, handed to `lie`.
fn found(plan: &Plan, trace: &Trace, lie: impl FnOnce(&Hunt<'_, '_>, &mut Tape) -> Option<()>) -> Option<Trace> {
    let view = View::new(plan, trace);
    let hunt = view.judged().find_map(|run| {
        run.searches.iter().find_map(|search| {
            let follow = &run.exchanges[search.follow?];
            follow.offers(&search.planned.tool).then_some(Hunt { run, search, follow })
        })
    })?;
    let mut tape = Tape::new(trace);
    lie(&hunt, &mut tape)?;
    Some(tape.trace())
}

fn is_entry(item: &Json, name: &str) -> bool {
    item.str("name") == Some(name) && (item.get("input_schema").is_some() || item.get("parameters").is_some())
}
