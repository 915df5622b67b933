//! `claim.*`: what hosts document or are expected to do, where one trace shows it.

use super::finding::Verdict;
use super::gates::{self, Gate};
use super::sheet::{Sheet, Tally};
use super::steps::connect;
use super::view::{Emitted, Run, Search, View, after};
use super::{arguments, errors, reading, stable_list};
use crate::host::profile::SchemaGate;
use crate::json::Json;
use crate::plan::Plan;
use crate::scenario::ast::{DenyBy, Outcome, Permissions, Rules, ToolRef, UseKind};
use crate::trace::event::Kind;

pub(super) fn check(view: &View<'_>, sheet: &mut Sheet<'_>) {
    sheet.close("claim.01-four-steps", four_steps(view), "connecting and listing caused no call");
    sheet.close(
        "claim.06-published-names",
        published_names(view),
        "tools are offered under the names of the host's rule",
    );
    sheet.close("claim.07-deferred-table", deferred(view), "no definition was shown before it was searched for");
    sheet.close("claim.08-no-schema-no-offer", no_schema(view), "a tool without a schema was not offered");
    sheet.close(
        "claim.09-two-doors",
        two_doors(view),
        "arguments that fail the schema caused neither call nor question",
    );
    sheet.close("claim.10-result-and-error", content(view), "the model read what the tools answered");
    sheet.close("claim.11-deny-ask-allow", precedence(view), "of two rules for one tool the stricter won");
    sheet.close("claim.15-three-traces", three_traces(view), "every call is in all three lanes");
    sheet.close("claim.18-secrets", secrets(view), "every server got its own variables only");
}

/// Why a claim is none of this host's, where it is not.
pub(super) fn not_applicable(id: &str, plan: &Plan) -> Option<(Verdict, String)> {
    let claims = &plan.profile.claims;
    if id == "expect.search" && plan.searches.is_empty() {
        let reason = format!("on the surface {} nothing is searched for", plan.profile.model.surface.as_str());
        return Some((Verdict::NotApplicable, reason));
    }
    let missing = match id {
        "claim.07-deferred-table" if claims.published != Some("search") => "deferral",
        "claim.09-two-doors" if claims.schema_gate == SchemaGate::Unclaimed => "schema gate",
        _ => return None,
    };
    Some((Verdict::NotApplicable, format!("{} claims no {missing}", plan.profile.name)))
}

/// Servers were opened and listed and the model was asked, and nothing was called before the model used a tool.
fn four_steps(view: &View<'_>) -> Tally {
    let mut tally = Tally::default();
    for run in view.judged() {
        let first_use = run.uses.first().map(|used| used.reply);
        let early =
            run.rpcs_of("tools/call").find(|(_, call)| first_use.is_none_or(|first| after(first, call.event)));
        if let Some((conn, call)) = early {
            let reason = format!("`{}` was called before the model used a tool", conn.server);
            tally.fails(reason, [call.event].into_iter().chain(first_use));
            continue;
        }
        let Some(asked) = run.main_line().next() else { continue };
        for conn in &run.conns {
            let listed = conn.rpcs.iter().find(|rpc| rpc.method == "tools/list").and_then(|rpc| rpc.result());
            if let Some((opening, (listed, _))) = connect::opening(conn, run).zip(listed) {
                tally.holds(opening.into_iter().chain([listed, asked.event]));
            }
        }
    }
    tally
}

/// The offered name is that of the profile's rule, and the call carries the bare one. Names that meet a law of names are
/// left out: there the host has to find another.
fn published_names(view: &View<'_>) -> Tally {
    let mut tally = Tally::default();
    for run in view.judged() {
        for used in run.uses.iter().filter(|used| used.name_from == "offer") {
            let asked = &run.exchanges[used.asked];
            let listed = run.listed_before(asked.event);
            if stable_list::meets_law(run.plan, &used.planned.tool, &listed) {
                continue;
            }
            if used.published != used.planned.by_rule {
                let reason =
                    format!("`{}` is offered where the rule gives `{}`", used.published, used.planned.by_rule);
                tally.fails(reason, [asked.event]);
            }
            for (_, call) in run.calls(used) {
                let name = call.param("name").and_then(|name| name.as_str()).unwrap_or_default();
                if name == used.planned.tool.tool {
                    tally.holds([asked.event, call.event]);
                } else {
                    tally.fails(format!("the wire carries `{name}`"), [asked.event, call.event]);
                }
            }
        }
    }
    tally
}

/// Before the first search was answered none of our tools was offered. That a search finds one is the witness that it was
/// there to be offered; which others it brings is the host's business.
fn deferred(view: &View<'_>) -> Tally {
    let mut tally = Tally::default();
    if view.plan.profile.claims.published != Some("search") {
        return tally;
    }
    for run in view.judged() {
        let found =
            |search: &&Search<'_>| search.follow.is_some_and(|at| run.exchanges[at].offers(&search.planned.tool));
        let answered = run.searches.iter().filter_map(|search| search.follow).min();
        let (Some(found), Some(answered)) = (run.searches.iter().find(found), answered) else { continue };
        let witness = found.follow.map(|at| run.exchanges[at].event);
        let before: Vec<_> = run.exchanges[..answered].iter().filter(|exchange| exchange.main).collect();
        match before.iter().find_map(|exchange| Some((exchange, exchange.offers.first()?))) {
            Some((exchange, offer)) => {
                let reason = format!("`{}` was offered before anything was searched for", offer.tool);
                tally.fails(reason, [exchange.event]);
            }
            None => tally.holds(before.iter().map(|exchange| exchange.event).chain([found.reply]).chain(witness)),
        }
    }
    tally
}

fn no_schema(view: &View<'_>) -> Tally {
    let mut tally = Tally::default();
    for run in view.judged() {
        for exchange in run.main_line() {
            for (tool, answer) in run.listed_before(exchange.event) {
                let entry = run
                    .server(&tool.server)
                    .and_then(|server| server.script.tools.iter().find(|entry| entry.name == tool.tool));
                if entry.is_none_or(|entry| entry.input_schema.is_some()) {
                    continue;
                }
                if exchange.offers(&tool) {
                    tally.fails(format!("`{tool}` has no schema and is offered"), [answer, exchange.event]);
                } else {
                    tally.holds([answer, exchange.event]);
                }
            }
        }
    }
    tally
}

/// Only for hosts that claim a schema gate; for others it is a trait what happens.
fn two_doors(view: &View<'_>) -> Tally {
    let mut tally = Tally::default();
    for run in view.judged() {
        for used in &run.uses {
            let by_schema = used.planned.kind == UseKind::Deny { by: Some(DenyBy::Schema) };
            if by_schema && gates::gate(run, used) == Gate::Closed {
                tally.absorb(gates::stays_closed(run, used));
            }
        }
    }
    tally
}

/// The content of a success and the reason of a failure are told. Steps that only record have traits instead.
fn content(view: &View<'_>) -> Tally {
    let mut tally = Tally::default();
    for run in &view.runs {
        for used in run.uses.iter().filter(|used| arguments::outcome(run, used) == Outcome::Assert) {
            let Some((_, call)) = run.settled_call(used) else { continue };
            if call.is_tool_error() {
                tally.absorb(errors::reason_is_told(run, used, call));
            } else if let (Some((answer, result)), Some(told)) = (call.result(), run.told(used)) {
                let nothing_to_tell =
                    reading::blocks(result).is_empty() && result.get("structuredContent").is_none();
                if nothing_to_tell {
                    continue;
                }
                if reading::contains(told.reading, result) {
                    tally.holds([answer, told.exchange.event]);
                } else {
                    let reason = format!("the content of `{}` did not reach the model", used.planned.tool);
                    tally.fails(reason, [answer, told.exchange.event]);
                }
            }
        }
    }
    tally
}

/// A denied use beside an allowance that covers it or a called neighbour; an asked use beside an allowance.
fn precedence(view: &View<'_>) -> Tally {
    let mut tally = Tally::default();
    let Permissions::Rules(rules) = &view.plan.scenario.permissions else { return tally };
    for run in view.judged() {
        for used in run.uses.iter().filter(|used| arguments::outcome(run, used) == Outcome::Assert) {
            let tool = &used.planned.tool;
            match &used.planned.kind {
                UseKind::Deny { by } if *by != Some(DenyBy::Schema) && denies_beside(rules, tool) => {
                    tally.absorb(gates::stays_closed(run, used));
                }
                UseKind::Ask { .. } if covers(&rules.allow, tool) => tally.absorb(asked(run, used)),
                _ => {}
            }
        }
    }
    tally
}

fn denies_beside(rules: &Rules, tool: &ToolRef) -> bool {
    covers(&rules.deny, tool) && (covers(&rules.allow, tool) || covers(&rules.ask, tool))
}

fn covers(patterns: &[crate::diagnostic::Spanned<crate::scenario::ast::ToolPattern>], tool: &ToolRef) -> bool {
    patterns.iter().any(|pattern| pattern.value.matches(tool))
}

fn asked(run: &Run<'_>, used: &Emitted<'_>) -> Tally {
    let mut tally = Tally::default();
    match run.question(used.planned.index) {
        Some(question) => tally.holds([used.reply, question.event]),
        None => tally.fails(format!("nobody was asked about `{}`", used.planned.tool), [used.reply]),
    }
    tally
}

/// Every call has its tool use and, where the conversation went on, its result.
fn three_traces(view: &View<'_>) -> Tally {
    let mut tally = Tally::default();
    for run in &view.runs {
        for stray in run.stray_calls() {
            tally.fails("a call has no tool use", [stray.event]);
        }
        for used in &run.uses {
            for (_, call) in run.calls(used) {
                let answer = call.answer().map(|answer| answer.event);
                match (run.told(used), run.follow(used)) {
                    (Some(told), _) => {
                        tally.holds([used.reply, call.event, told.exchange.event].into_iter().chain(answer));
                    }
                    (None, Some(follow)) => {
                        let reason =
                            format!("the call of `{}` has no result in the model lane", used.planned.tool);
                        tally.fails(reason, [used.reply, call.event, follow.event]);
                    }
                    (None, None) if run.own_exit().is_some() && run.interruption(used).is_none() => {
                        let reason =
                            format!("the host ended before the result of `{}` was told", used.planned.tool);
                        tally.fails(
                            reason,
                            [used.reply, call.event].into_iter().chain(run.of(Kind::HostExit).last()),
                        );
                    }
                    (None, None) => {}
                }
            }
        }
    }
    tally
}

/// Each server is given a variable of its own; that it arrives shows that the variables of all were looked for.
fn secrets(view: &View<'_>) -> Tally {
    let mut tally = Tally::default();
    for run in &view.runs {
        for start in run.of(Kind::ServerStart) {
            let Some(server) = start.server.as_deref().and_then(|key| run.server(key)) else { continue };
            let arrived = start.data.get("canaries").map(Json::items).unwrap_or_default();
            for name in arrived.iter().filter_map(Json::as_str) {
                if name == server.canary() {
                    tally.holds([start]);
                } else {
                    tally.fails(format!("`{}` got the variable `{name}` of another server", server.key), [start]);
                }
            }
        }
    }
    tally
}
