//! `hop.stable-list`: the offered set is all that the servers listed, less what has a reason, and the same on every turn.
//!
//! Where tools are searched for, offered means reachable: a search for the tool finds it. So what nobody has searched for is
//! neither offered nor missing, what was searched for must have been found, and what was found stays.

use std::collections::BTreeSet;

use super::sheet::{Sheet, Tally};
use super::steps::list::{self, Chain};
use super::view::{Exchange, Run, Search, View, after};
use crate::host::names::Names;
use crate::json::Json;
use crate::plan::Plan;
use crate::rpc::Message;
use crate::scenario::ast::{DenyBy, Feature, Permissions, ToolRef, UseKind};
use crate::trace::event::{Event, Kind};

pub(super) fn check(view: &View<'_>, sheet: &mut Sheet<'_>) {
    let mut tally = Tally::default();
    for run in &view.runs {
        let exchanges: Vec<_> = run.main_line().filter(|exchange| exchange.request.is_some()).collect();
        nothing_vanishes(run, &exchanges, &mut tally);
        nothing_is_missing(run, &exchanges, &mut tally);
        every_page_counts(run, &exchanges, &mut tally);
    }
    runs_agree(view, &mut tally);
    let less = removals(view);
    sheet.close(
        "hop.stable-list",
        tally,
        format!("the offered set is what the servers listed, on every turn{less}"),
    );
}

/// The tools that were listed and have a reason not to be offered, each named with it.
fn removals(view: &View<'_>) -> String {
    let mut named = BTreeSet::new();
    for run in view.judged() {
        for exchange in run.main_line() {
            let listed = run.listed_before(exchange.event);
            for (tool, _) in listed.iter().filter(|(tool, _)| !exchange.offers(tool)) {
                let reason = removal(run.plan, tool, &listed);
                // What is found later was never taken away.
                let later = || run.main_line().any(|other| other.offers(tool));
                let deferred = || (is_deferred(run, tool, exchange) && !later()).then_some("want of a search");
                named.extend(reason.or_else(deferred).map(|reason| format!("`{tool}` for {reason}")));
            }
        }
    }
    if named.is_empty() {
        return String::new();
    }
    format!(", less {}", named.into_iter().collect::<Vec<_>>().join(", "))
}

fn nothing_vanishes(run: &Run<'_>, exchanges: &[&Exchange<'_>], tally: &mut Tally) {
    for pair in exchanges.windows(2) {
        for offer in &pair[0].offers {
            if !pair[1].offers(&offer.tool) && !may_change(run, &offer.tool.server, pair[1].event) {
                let reason = format!("`{}` was offered and then no longer", offer.published);
                tally.fails(reason, [pair[0].event, pair[1].event]);
            }
        }
    }
}

/// What was listed is offered, unless a rule, the specification or a law of names takes it away.
fn nothing_is_missing(run: &Run<'_>, exchanges: &[&Exchange<'_>], tally: &mut Tally) {
    for (at, exchange) in exchanges.iter().enumerate() {
        let listed = run.listed_before(exchange.event);
        for (tool, answer) in &listed {
            if exchange.offers(tool) {
                tally.holds([*answer, exchange.event]);
                continue;
            }
            if is_deferred(run, tool, exchange) {
                continue;
            }
            // A host that was not told to wait may have asked the model before it had read the list.
            let known = match waits_for(run, &tool.server) {
                Waits::Yes => true,
                Waits::No => at > 0 && !after(answer, exchanges[at - 1].event),
            };
            if known
                && removal(run.plan, tool, &listed).is_none()
                && !may_change(run, &tool.server, exchange.event)
            {
                tally.fails(format!("`{tool}` was listed and is not offered"), [*answer, exchange.event]);
            }
        }
    }
}

/// Whether tools are searched for, and this one was not before the request.
pub(super) fn is_deferred(run: &Run<'_>, tool: &ToolRef, exchange: &Exchange<'_>) -> bool {
    let searched = |search: &Search<'_>| {
        let follow = search.follow.map(|at| &run.exchanges[at]);
        search.planned.tool == *tool && follow.is_some_and(|follow| !after(follow.event, exchange.event))
    };
    run.plan.profile.model.surface.search().is_some() && !run.searches.iter().any(searched)
}

/// The set is that of all pages, so a list that was not read to its end is no list.
fn every_page_counts(run: &Run<'_>, exchanges: &[&Exchange<'_>], tally: &mut Tally) {
    let Some(last) = exchanges.last() else { return };
    for server in &run.plan.servers {
        let conns = || run.conns_of(&server.key);
        let complete =
            conns().any(|conn| conn.broken().is_some() || matches!(list::chain(conn), Chain::Complete(_)));
        let partial = conns().find_map(|conn| match list::chain(conn) {
            Chain::Partial(events) => events.last().copied().filter(|page| page.kind == Kind::ToHost),
            Chain::Complete(_) | Chain::None => None,
        });
        if let (false, Some(page)) = (complete, partial) {
            tally.fails(
                format!("the pages of `{}` beyond this one were never read", server.key),
                [page, last.event],
            );
        }
    }
}

/// With two runs of one trace, both offer the same in the end.
fn runs_agree(view: &View<'_>, tally: &mut Tally) {
    let last: Vec<_> = view.judged().filter_map(|run| Some((run, run.main_line().last()?))).collect();
    for pair in last.windows(2) {
        let set = |exchange: &Exchange<'_>| -> BTreeSet<String> {
            exchange.offers.iter().map(|offer| format!("`{}`", offer.published)).collect()
        };
        let (first, second) = (set(pair[0].1), set(pair[1].1));
        if let Some(odd) = first.symmetric_difference(&second).next() {
            tally.fails(
                format!("{odd} was offered in one run and not in the other"),
                [pair[0].1.event, pair[1].1.event],
            );
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Waits {
    Yes,
    No,
}

/// Whether the host was told to wait for the server, in a word that it has.
fn waits_for(run: &Run<'_>, server: &str) -> Waits {
    let drive = run.plan.profile.drives.get(run.plan.drive);
    let has_word = drive.is_some_and(|drive| drive.features.contains(&Feature::Required));
    if has_word && run.server(server).is_some_and(|server| server.required) { Waits::Yes } else { Waits::No }
}

/// Whether the server announced a change, or went away, before `event`; then its part of the list may differ.
pub(super) fn may_change(run: &Run<'_>, server: &str, event: &Event) -> bool {
    let mut changes = run.of(Kind::Change).filter(|change| change.server.as_deref() == Some(server));
    if changes.any(|change| !after(change, event)) {
        return true;
    }
    run.conns_of(server).any(|conn| {
        let announced = conn.lines.iter().any(|line| {
            matches!(&line.message, Message::Notification { method, .. } if method == "notifications/tools/list_changed")
                && !after(line.event, event)
        });
        announced || conn.broken().is_some_and(|end| !after(end, event))
    })
}

/// Why a listed tool may be left out, where there is a reason.
pub(super) fn removal(plan: &Plan, tool: &ToolRef, listed: &[(ToolRef, &Event)]) -> Option<&'static str> {
    own_reason(plan, tool, listed).or_else(|| {
        // Whether one bad entry spoils the list is judged apart, and nobody's duty.
        let server = plan.servers.iter().find(|server| server.key == tool.server)?;
        let malformed = server.all_tools().any(|entry| entry.input_schema.is_none());
        malformed.then_some("a malformed entry beside it")
    })
}

/// The reason that lies in the tool itself.
pub(super) fn own_reason(plan: &Plan, tool: &ToolRef, listed: &[(ToolRef, &Event)]) -> Option<&'static str> {
    if is_gated(plan, tool) {
        return Some("a rule");
    }
    let server = plan.servers.iter().find(|server| server.key == tool.server)?;
    let mut entries = server.all_tools().filter(|known| known.name == tool.tool);
    if entries.any(|entry| !entry.input_schema.as_ref().is_some_and(is_object_schema)) {
        return Some("no schema of an object");
    }
    let plain = tool.tool.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if !plain || meets_law(plan, tool, listed) {
        return Some("a law of names");
    }
    // Nothing shows whether a tool without our word is offered under some other name.
    let has_word = server.words.iter().any(|(known, _)| *known == tool.tool);
    (!has_word).then_some("a description without our word")
}

/// Whether the name that the rule gives cannot be used: it is too long, or taken.
pub(super) fn meets_law(plan: &Plan, tool: &ToolRef, listed: &[(ToolRef, &Event)]) -> bool {
    let Ok(law) = Names::new(&plan.profile) else { return false };
    let Ok(name) = law.flat(tool) else { return false };
    let taken =
        || listed.iter().any(|(other, _)| other != tool && law.flat(other).is_ok_and(|other| other == name));
    name.chars().count() > plan.profile.names.max || taken()
}

/// Whether a rule or a step denies the tool or asks about it; such a tool may be offered or not.
pub(super) fn is_gated(plan: &Plan, tool: &ToolRef) -> bool {
    let by_rule = match &plan.scenario.permissions {
        Permissions::Rules(rules) => {
            rules.deny.iter().chain(&rules.ask).any(|pattern| pattern.value.matches(tool))
        }
        Permissions::Implied | Permissions::None => false,
    };
    by_rule || plan.uses.iter().any(|planned| planned.tool == *tool && may_hide(&planned.kind))
}

/// Whether what must happen to a use can also be brought about by not offering the tool. A schema can not.
const fn may_hide(kind: &UseKind) -> bool {
    !matches!(kind, UseKind::Call | UseKind::Deny { by: Some(DenyBy::Schema) })
}

fn is_object_schema(schema: &Json) -> bool {
    schema.str("type") == Some("object")
}
