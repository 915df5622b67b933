//! `expect.search`: where tools are searched for, a search for a listed tool finds it, as its server described it.

use super::{Judged, close, every};
use crate::check::definition;
use crate::check::sheet::{Sheet, Tally};
use crate::check::stable_list::{may_change, removal};
use crate::check::view::{Offered, Run, Search, View};
use crate::model::api;

pub(super) fn check(view: &View<'_>, sheet: &mut Sheet<'_>, step: usize) {
    let Some(planned) = view.plan.searches.iter().find(|planned| planned.step == step) else { return };
    let judged = every(view, |run| {
        let mut tally = Tally::default();
        for search in run.searches.iter().filter(|search| search.planned.step == step) {
            tally.absorb(finds(run, search));
        }
        Judged::Facts(tally)
    });
    // That nothing was searched for is said by the step itself; that nothing had to be found is no finding.
    if let Judged::Facts(tally) = &judged
        && tally.is_empty()
    {
        return;
    }
    close(sheet, "expect.search", &planned.span, judged, "the model found what it searched for");
}

/// The search is answered once, and the tool is offered from then on with the parameters that its server listed.
fn finds(run: &Run<'_>, search: &Search<'_>) -> Tally {
    let mut tally = Tally::default();
    let Some(exchange) = search.follow.map(|at| &run.exchanges[at]) else { return tally };
    let tool = &search.planned.tool;
    let results = exchange.results(&search.id);
    let [result] = results[..] else {
        let reason = format!("the next model request has {} results of the search for `{tool}`", results.len());
        tally.fails(reason, [search.reply, exchange.event]);
        return tally;
    };
    let listed = run.listed_before(exchange.event);
    let known = listed.iter().find(|(known, _)| known == tool);
    let (Some((_, answer)), None) = (known, removal(run.plan, tool, &listed)) else { return tally };
    let offer = exchange.offers.iter().find(|offer| offer.tool == *tool);
    // Some are shown without a search: what was there before need not be found.
    let is_found = |offer: &&Offered| {
        offer.at.is_none()
            || run.exchanges[search.asked].offers(tool)
            || api(run.plan.profile.model.api).found(result).contains(&offer.published)
    };
    let Some(offer) = offer.filter(is_found) else {
        // A list that changed may have lost it. What a `list` step says of it is judged there.
        if may_change(run, &tool.server, exchange.event) {
            return tally;
        }
        let reason = format!("`{tool}` was listed, and the search for it does not find it");
        tally.fails(reason, [*answer, search.reply, exchange.event]);
        return tally;
    };
    let entry = exchange.entry_of(offer).and_then(|entry| entry.schema.as_ref());
    let wanted = run.entry_before(tool, exchange.event).and_then(|(_, entry)| entry.get("inputSchema"));
    match entry.zip(wanted).and_then(|(given, wanted)| definition::lost(wanted, given)) {
        Some(lost) => {
            let reason = format!("`{tool}` is found with {lost}");
            tally.fails(reason, [*answer, search.reply, exchange.event]);
        }
        None => tally.holds([*answer, search.reply, exchange.event]),
    }
    tally
}
