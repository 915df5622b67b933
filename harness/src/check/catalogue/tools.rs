//! `tools.*`: listing, naming and calling (`server/tools`).

use crate::check::gates::{self, Gate};
use crate::check::sheet::{Sheet, Tally};
use crate::check::view::{Conn, Emitted, Line, Rpc, Run, View, after};
use crate::check::{arguments, once, schema, stable_list};
use crate::json::Json;
use crate::rpc::Message;
use crate::scenario::ast::{Answer, Outcome, ToolRef, UseKind};
use crate::trace::event::Event;

pub(super) fn check(view: &View<'_>, sheet: &mut Sheet<'_>) {
    sheet.close("tools.list.requested-before-call", listed_before_call(view), "only listed tools were called");
    let capability = capability(view);
    sheet.close("tools.list.only-with-capability", capability, "tools were asked of servers that declare them");
    let capability = self::capability(view);
    sheet.close("claim.05-list-needs-capability", capability, "tools were asked of servers that declare them");
    sheet.close("tools.call.wire-name-unprefixed", registered_names(view), "every call carries a registered name");
    sheet.close("tools.call.arguments-object", objects(view), "arguments are objects");
    sheet.close(
        "tools.call.invokes",
        invokes(view),
        "every permitted tool use became one call with its arguments",
    );
    sheet.close("tools.name.case-sensitive", case(view), "names kept their case");
    sheet.close(
        "tools.name.collision-disambiguated",
        collisions(view),
        "equal names of two servers are told apart",
    );
    sheet.close("tools.schema.no-parameters", no_parameters(view), "tools without parameters were called");
    sheet.close("tools.list-changed.refetch", refetched(view), "a changed list was asked for again");
    sheet.close("tools.human-in-loop.can-deny", denied(view), "what was denied was not called");
    let isolated = isolated(view);
    sheet.close("tools.list.invalid-tool-isolated", isolated, "valid tools beside invalid ones were offered");
}

/// Facts about the emitted uses of all runs.
pub(super) fn per_use(view: &View<'_>, fact: impl Fn(&Run<'_>, &Emitted<'_>) -> Tally) -> Tally {
    let mut tally = Tally::default();
    for run in &view.runs {
        run.uses.iter().for_each(|used| tally.absorb(fact(run, used)));
    }
    tally
}

/// Every called name was in a list of its server before, on whatever connection.
fn listed_before_call(view: &View<'_>) -> Tally {
    let mut tally = Tally::default();
    for run in &view.runs {
        for (conn, call) in run.rpcs_of("tools/call") {
            let Some(name) = call.param("name").and_then(Json::as_str) else { continue };
            let tool = ToolRef { server: conn.server.to_owned(), tool: name.to_owned() };
            match run.listed_before(call.event).iter().find(|(known, _)| *known == tool) {
                Some((_, answer)) => tally.holds([*answer, call.event]),
                None => tally.fails(format!("`{tool}` was called and not listed before"), [call.event]),
            }
        }
    }
    tally
}

/// A server says what it has in its answer to `initialize` or `server/discover`; without either, nobody can know.
fn capability(view: &View<'_>) -> Tally {
    let mut tally = Tally::default();
    for run in &view.runs {
        for conn in &run.conns {
            for rpc in conn.rpcs.iter().filter(|rpc| ["tools/list", "tools/call"].contains(&rpc.method.as_str())) {
                let Some((answer, declared)) = declaration(run, conn, rpc) else { continue };
                if declared.get("tools").is_some() {
                    tally.holds([answer, rpc.event]);
                } else {
                    let reason =
                        format!("`{}` was sent to `{}`, which declares no tools", rpc.method, conn.server);
                    tally.fails(reason, [answer, rpc.event]);
                }
            }
        }
    }
    tally
}

fn declaration<'r, 'a>(run: &'r Run<'a>, conn: &Conn<'a>, before: &Rpc<'a>) -> Option<(&'a Event, &'r Json)> {
    let conns = run.conns.iter().filter(|other| other.server == conn.server);
    let answers = conns
        .flat_map(|conn| &conn.rpcs)
        .filter(|rpc| ["initialize", "server/discover"].contains(&rpc.method.as_str()));
    let known = answers.filter_map(|rpc| rpc.result()).rfind(|(answer, _)| !after(answer, before.event))?;
    Some((known.0, known.1.get("capabilities")?))
}

fn registered_names(view: &View<'_>) -> Tally {
    per_use(view, |run, used| {
        let mut tally = Tally::default();
        for (conn, call) in run.calls(used) {
            let name = call.param("name").and_then(Json::as_str).unwrap_or_default();
            let server = run.server(conn.server);
            if server.is_some_and(|server| server.script.tools.iter().any(|tool| tool.name == name)) {
                tally.holds([call.event]);
            } else {
                tally.fails(format!("`{}` has no tool `{name}`", conn.server), [call.event]);
            }
        }
        tally
    })
}

fn objects(view: &View<'_>) -> Tally {
    let mut tally = Tally::default();
    for run in &view.runs {
        for (_, call) in run.rpcs_of("tools/call") {
            match call.param("arguments") {
                Some(Json::Object(_)) => tally.holds([call.event]),
                Some(other) => tally.fails(format!("`arguments` is {}", arguments::brief(other)), [call.event]),
                None => {}
            }
        }
    }
    tally
}

/// The uses that the rules allow, each with one call and equal arguments.
fn invokes(view: &View<'_>) -> Tally {
    per_use(view, |run, used| {
        let mut tally = Tally::default();
        if arguments::is_subject(run, used) && gates::gate(run, used) == Gate::Open {
            tally.absorb(gates::is_open(run, used));
            tally.absorb(once::calls(run, used));
            tally.absorb(arguments::calls(run, used));
        }
        tally
    })
}

/// A name with capitals keeps them on the wire, and tools that differ in nothing else are all offered.
fn case(view: &View<'_>) -> Tally {
    let mut tally = per_use(view, |run, used| {
        let mut tally = Tally::default();
        let registered = &used.planned.tool.tool;
        for (_, call) in run.calls(used).filter(|_| registered.chars().any(char::is_uppercase)) {
            match call.param("name").and_then(Json::as_str) {
                Some(name) if name == registered => tally.holds([used.reply, call.event]),
                Some(name) if name.eq_ignore_ascii_case(registered) => {
                    tally.fails(format!("`{registered}` became `{name}`"), [used.reply, call.event]);
                }
                _ => {}
            }
        }
        tally
    });
    for run in &view.runs {
        for exchange in run.main_line() {
            let listed = run.listed_before(exchange.event);
            let open = |tool: &ToolRef| {
                stable_list::removal(run.plan, tool, &listed).is_none()
                    && !stable_list::is_deferred(run, tool, exchange)
            };
            for (tool, answer) in listed.iter().filter(|(tool, _)| !exchange.offers(tool) && open(tool)) {
                let twin = listed.iter().find(|(other, _)| {
                    let alike = other.server == tool.server && other.tool.eq_ignore_ascii_case(&tool.tool);
                    alike && other != tool && exchange.offers(other)
                });
                if let Some((twin, _)) = twin {
                    tally.fails(format!("`{twin}` is offered and `{tool}` is not"), [*answer, exchange.event]);
                }
            }
        }
    }
    tally
}

/// Tools of one name at two servers are offered under two names.
fn collisions(view: &View<'_>) -> Tally {
    let mut tally = Tally::default();
    for exchange in view.runs.iter().flat_map(|run| run.main_line()) {
        for (at, offer) in exchange.offers.iter().enumerate() {
            let twins = exchange.offers[..at]
                .iter()
                .filter(|other| other.tool.tool == offer.tool.tool && other.tool.server != offer.tool.server);
            for other in twins {
                if other.published == offer.published {
                    let reason =
                        format!("`{}` and `{}` are both offered as `{}`", other.tool, offer.tool, offer.published);
                    tally.fails(reason, [exchange.event]);
                } else {
                    tally.holds([exchange.event]);
                }
            }
        }
    }
    tally
}

fn no_parameters(view: &View<'_>) -> Tally {
    per_use(view, |run, used| {
        let mut tally = Tally::default();
        let empty = schema::of(run.plan, &used.planned.tool).is_some_and(|schema| {
            schema.str("type") == Some("object")
                && schema.get("properties").is_none_or(|properties| properties.members().is_empty())
        });
        let none = used.arguments().is_some_and(|arguments| arguments.members().is_empty());
        if empty && none && gates::gate(run, used) == Gate::Open && arguments::is_subject(run, used) {
            tally.absorb(gates::is_open(run, used));
        }
        tally
    })
}

/// After `notifications/tools/list_changed` there is a new `tools/list`, where the connection lived on.
fn refetched(view: &View<'_>) -> Tally {
    let mut tally = Tally::default();
    for run in &view.runs {
        for conn in &run.conns {
            let is_change = |line: &&Line<'_>| matches!(&line.message, Message::Notification { method, .. } if method == "notifications/tools/list_changed");
            let again = |changed: &Event| {
                let later = |rpc: &&Rpc<'_>| rpc.method == "tools/list" && after(rpc.event, changed);
                run.conns_of(conn.server).flat_map(|conn| &conn.rpcs).find(later)
            };
            let changes: Vec<_> = conn.lines.iter().filter(is_change).map(|line| line.event).collect();
            let Some(first) = changes.first() else { continue };
            let later = run.main_line().find(|exchange| after(exchange.event, first));
            if let (None, Some(later)) = (again(first), later) {
                let reason = format!("the changed list of `{}` was not asked for again", conn.server);
                tally.fails(reason, [*first, later.event]);
            }
            for (changed, again) in changes.iter().filter_map(|changed| Some((*changed, again(changed)?))) {
                tally.holds([changed, again.event]);
            }
        }
    }
    tally
}

/// Uses that a rule or the user denied. The control is that other uses were called, which `hop.gates` shows.
fn denied(view: &View<'_>) -> Tally {
    // Where a step only records, it is open what is denied.
    let asserts = |run: &Run<'_>, used: &Emitted<'_>| arguments::outcome(run, used) == Outcome::Assert;
    per_use(view, |run, used| match &used.planned.kind {
        UseKind::Deny { .. } | UseKind::Ask { answer: Answer::Deny }
            if gates::gate(run, used) == Gate::Closed && asserts(run, used) =>
        {
            gates::stays_closed(run, used)
        }
        _ => Tally::default(),
    })
}

/// What stands in a list beside an entry without a schema, and has one itself, is offered in the end.
fn isolated(view: &View<'_>) -> Tally {
    let mut tally = Tally::default();
    for run in &view.runs {
        let Some(last) = run.main_line().last() else { continue };
        let listed = run.listed_before(last.event);
        for (tool, answer) in &listed {
            let entries =
                run.server(&tool.server).map(|server| server.script.tools.as_slice()).unwrap_or_default();
            if schema::of(run.plan, tool).is_none() || entries.iter().all(|entry| entry.input_schema.is_some()) {
                continue;
            }
            if last.offers(tool) {
                tally.holds([*answer, last.event]);
            } else if stable_list::own_reason(run.plan, tool, &listed).is_none()
                && !stable_list::is_deferred(run, tool, last)
            {
                tally.fails(
                    format!("`{tool}` stands beside a malformed entry and is not offered"),
                    [*answer, last.event],
                );
            }
        }
    }
    tally
}
