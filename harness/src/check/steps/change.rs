//! `expect.change`: how often a changed list is asked for again, and that the next model request shows the change.

use super::{Judged, close, every, unreached};
use crate::check::sheet::{Sheet, Tally};
use crate::check::view::{Exchange, Run, View, after};
use crate::json::NumberModel;
use crate::model::Offer;
use crate::scenario::ast::{Change, ToolRef};
use crate::trace::event::{Event, Kind};

pub(super) fn check(view: &View<'_>, sheet: &mut Sheet<'_>, index: usize, change: &Change) {
    let judged = every(view, |run| if run.is_alive() { judge(run, index, change) } else { unreached(run) });
    close(sheet, "expect.change", &change.server.span, judged, "the change was taken up as the step says");
}

fn judge(run: &Run<'_>, step: usize, change: &Change) -> Judged {
    let key = change.server.value.as_str();
    let Some(changed) = of(run, step, key) else {
        return Judged::Untestable(format!("the conversation never came to the change of `{key}`"));
    };
    let shown: Vec<&Exchange<'_>> = after_change(run, changed).collect();
    let Some(next) = shown.first() else {
        return Judged::Untestable("the model was never asked after the change".to_owned());
    };
    let mut tally = Tally::default();
    if let Some(wanted) = &change.refreshes {
        let lists = refreshes(run, key, changed);
        let count = u32::try_from(lists.len()).unwrap_or(u32::MAX);
        let quiet = run.of(Kind::Quiet).filter(|event| event.step == changed.step);
        let evidence = [changed, next.event].into_iter().chain(lists).chain(quiet);
        if wanted.value.contains(count) {
            tally.holds(evidence);
        } else {
            let reason = format!("the list of `{key}` was asked for again {count} times, not {}", wanted.value);
            tally.fails(reason, evidence);
        }
    }
    // A change that nobody announces can be seen by nobody.
    if change.announce > 0 {
        is_shown(run, changed, change, next, &mut tally);
    }
    if tally.is_empty() {
        tally.holds([changed, next.event]);
    }
    Judged::Facts(tally)
}

/// The event of a change that a step ordered.
pub(in crate::check) fn of<'a>(run: &Run<'a>, step: usize, key: &str) -> Option<&'a Event> {
    let is =
        |event: &&Event| event.step.is_some_and(|at| at as usize == step) && event.server.as_deref() == Some(key);
    run.of(Kind::Change).find(is)
}

/// The main-line requests that were made after a change. The one whose reply was held meanwhile is none of them.
pub(in crate::check) fn after_change<'r, 'a>(
    run: &'r Run<'a>,
    changed: &'r Event,
) -> impl Iterator<Item = &'r Exchange<'a>> {
    run.main_line().filter(|exchange| exchange.request.is_some() && after(exchange.event, changed))
}

/// The lists of a server that were begun after a change and before the next one.
fn refreshes<'a>(run: &Run<'a>, key: &str, changed: &Event) -> Vec<&'a Event> {
    let next = run.of(Kind::Change).find(|event| event.n > changed.n && event.server.as_deref() == Some(key));
    let walks = run.conns_of(key).flat_map(|conn| conn.walks()).map(|rpc| rpc.event);
    walks.filter(|list| after(list, changed) && next.is_none_or(|next| !after(list, next))).collect()
}

/// The request that shows what became of a tool: the next one, or, where tools are searched for, the one that answers the
/// first search for it behind the change. Without such a search nothing shows it.
fn showing<'r, 'a>(
    run: &'r Run<'a>,
    changed: &Event,
    next: &'r Exchange<'a>,
    tool: &ToolRef,
) -> Option<(&'r Exchange<'a>, Vec<&'r str>)> {
    if run.plan.profile.model.surface.search().is_none() {
        return Some((next, Vec::new()));
    }
    let search =
        run.searches.iter().find(|search| search.planned.tool == *tool && after(search.reply, changed))?;
    Some((&run.exchanges[search.follow?], vec![search.id.as_str()]))
}

fn is_shown(run: &Run<'_>, changed: &Event, change: &Change, next: &Exchange<'_>, tally: &mut Tally) {
    let key = change.server.value.as_str();
    let tool = |name: &str| ToolRef { server: key.to_owned(), tool: name.to_owned() };
    for added in &change.edit.add {
        let added = tool(&added.name);
        let Some((shows, _)) = showing(run, changed, next, &added) else { continue };
        if shows.offers(&added) {
            tally.holds([changed, shows.event]);
        } else {
            tally.fails(format!("`{added}` was added and is not offered"), [changed, shows.event]);
        }
    }
    let before = run.main_line().filter(|exchange| !after(exchange.event, changed)).last();
    for gone in &change.edit.remove {
        let gone = tool(gone);
        let Some((shows, searches)) = showing(run, changed, next, &gone) else { continue };
        match (shows.offers_now(&gone, &searches), before) {
            (true, _) => {
                tally.fails(format!("`{gone}` was removed and is still offered"), [changed, shows.event]);
            }
            // Only what was offered can be seen to go.
            (false, Some(before)) if before.offers(&gone) => tally.holds([before.event, changed, shows.event]),
            (false, _) => {}
        }
    }
    for replaced in &change.edit.replace {
        let tool = tool(&replaced.name);
        let Some((shows, _)) = showing(run, changed, next, &tool) else { continue };
        match (before.and_then(|before| before.entry(&tool)), shows.entry(&tool)) {
            (Some(old), Some(new)) if is_same(old, new) => {
                tally.fails(format!("`{tool}` was replaced and is offered as before"), [changed, shows.event]);
            }
            (Some(_), Some(_)) => tally.holds([changed, shows.event]),
            // Behind a tool that calls all others there is only its description.
            (None, None) if shows.offers(&tool) => match before {
                Some(before) if descriptions(before) == descriptions(shows) => {
                    tally.fails(format!("`{tool}` was replaced and is offered as before"), [changed, shows.event]);
                }
                Some(before) => tally.holds([before.event, changed, shows.event]),
                None => {}
            },
            (_, None) => tally.fails(format!("`{tool}` was replaced and is not offered"), [changed, shows.event]),
            (None, Some(_)) => {}
        }
    }
}

fn descriptions<'x>(exchange: &'x Exchange<'_>) -> Vec<Option<&'x str>> {
    let offers = exchange.request.as_ref().map(|request| request.offers.as_slice()).unwrap_or_default();
    offers.iter().map(|offer| offer.description.as_deref()).collect()
}

/// Whether two offers of a tool show the model the same. What a host makes of a schema is its own business, so its offers are
/// compared with each other and not with the list.
fn is_same(old: &Offer, new: &Offer) -> bool {
    let schema = match (&old.schema, &new.schema) {
        (Some(old), Some(new)) => old.equals(new, NumberModel::Decimal),
        (None, None) => true,
        _ => false,
    };
    schema && old.description == new.description
}
