//! Traits of the offer: its order, how much of a request is the same as before, and what of the schemas is shown.

use std::collections::BTreeSet;

use super::definition;
use super::sheet::Sheet;
use super::view::{Exchange, Run, View};
use crate::json::Json;
use crate::trace::event::Event;

pub(super) fn record(view: &View<'_>, sheet: &mut Sheet<'_>) {
    order(view, sheet);
    schemas(view, sheet);
}

/// The order of our offers, against that of the list, over the turns and over the runs, and how much of a request stands
/// at the beginning of the next. A provider's cache goes by both.
fn order(view: &View<'_>, sheet: &mut Sheet<'_>) {
    let mut words = BTreeSet::new();
    let mut evidence = Vec::new();
    let mut firsts = Vec::new();
    for run in view.judged() {
        let exchanges = several(run);
        let Some(first) = exchanges.first() else { continue };
        words.insert(word(run, &exchanges));
        evidence.extend(exchanges.iter().map(|exchange| exchange.event));
        firsts.push(names(first));
    }
    if firsts.windows(2).any(|pair| pair[0] != pair[1]) {
        words.insert("other from run to run");
    }
    if words.is_empty() {
        return;
    }
    let mut value = words.into_iter().collect::<Vec<_>>().join(", ");
    let mut message = format!("the order of the offered tools is {value}");
    if let Some(Prefix { bytes, share, events }) = least_prefix(view) {
        // Tens of percent: the rest depends on the length of paths and ids.
        value.push_str(&format!(", {} % in common", share / 10 * 10));
        message.push_str(&format!("; of each request at least {bytes} bytes ({share} %) begin the next one"));
        evidence.extend(events);
    }
    sheet.record("list-order", value, message, evidence, None);
}

/// The requests that offer more than one tool of ours.
fn several<'r, 'a>(run: &'r Run<'a>) -> Vec<&'r Exchange<'a>> {
    run.main_line().filter(|exchange| exchange.offers.len() > 1).collect()
}

fn names(exchange: &Exchange<'_>) -> Vec<String> {
    exchange.offers.iter().map(|offer| offer.published.to_string()).collect()
}

fn word(run: &Run<'_>, exchanges: &[&Exchange<'_>]) -> &'static str {
    let Some(first) = exchanges.first() else { return "other" };
    // What is added stands behind what was there: a longer list is no other order.
    let grows = exchanges.windows(2).all(|pair| names(pair[1]).starts_with(&names(pair[0])));
    if !grows {
        return "changing";
    }
    let listed: Vec<_> = run.listed_before(first.event).into_iter().map(|(tool, _)| tool).collect();
    let places = first.offers.iter().filter_map(|offer| listed.iter().position(|tool| *tool == offer.tool));
    if places.is_sorted() {
        "listed"
    } else if names(first).is_sorted() {
        "sorted"
    } else {
        "other"
    }
}

/// What two requests have in common from their first byte.
struct Prefix<'a> {
    bytes: i64,
    /// In percent of the earlier request.
    share: i64,
    events: [&'a Event; 2],
}

/// The smallest over all pairs of requests, one after the other, that one run made.
fn least_prefix<'a>(view: &View<'a>) -> Option<Prefix<'a>> {
    let mut least: Option<Prefix<'a>> = None;
    for run in view.judged() {
        let events: Vec<&'a Event> = run.main_line().map(|exchange| exchange.event).collect();
        for pair in events.windows(2).filter(|pair| !repeats(pair[1])) {
            let number = |event: &Event, key: &str| event.data.get(key).and_then(Json::as_i64);
            let sizes = number(pair[1], "prefix").zip(number(pair[0], "len"));
            let Some((bytes, len)) = sizes.filter(|(_, len)| *len > 0) else { continue };
            let share = bytes * 100 / len;
            if least.as_ref().is_none_or(|known| share < known.share) {
                least = Some(Prefix { bytes, share, events: [pair[0], pair[1]] });
            }
        }
    }
    least
}

fn repeats(event: &Event) -> bool {
    event.data.get("repeated").and_then(Json::as_bool) == Some(true)
}

/// What the model is shown of the schemas that the servers listed. Under a tool that calls all others there is only text.
fn schemas(view: &View<'_>, sheet: &mut Sheet<'_>) {
    let mut values = BTreeSet::new();
    let mut evidence = Vec::new();
    for run in view.judged() {
        let mut seen = BTreeSet::new();
        for exchange in run.main_line() {
            for offer in exchange.offers.iter().filter(|offer| seen.insert(offer.tool.clone())) {
                let given = exchange.entry_of(offer).and_then(|entry| entry.schema.as_ref());
                let entry = run.entry_before(&offer.tool, exchange.event);
                let listed = entry.and_then(|(answer, entry)| Some((answer, entry.get("inputSchema")?)));
                let (Some(given), Some((answer, listed))) = (given, listed) else { continue };
                if view.plan.profile.model.surface.wrapper().is_none() {
                    values.insert(definition::difference(listed, given));
                    evidence.extend([answer, exchange.event]);
                }
            }
        }
    }
    if !values.is_empty() {
        let value = values.into_iter().collect::<Vec<_>>().join(" | ");
        sheet.record("offered-schema", value.clone(), format!("schemas are shown {value}"), evidence, None);
    }
}
