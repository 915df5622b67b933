//! `expect.model-api`: the real model API accepts every request of the host.

use crate::check::lanes;
use crate::check::sheet::{Sheet, Tally};
use crate::check::view::View;
use crate::model::api;

pub(super) fn check(view: &View<'_>, sheet: &mut Sheet<'_>) {
    if lanes::not_applicable("expect.model-api", view.plan).is_some() {
        return;
    }
    let api = api(view.plan.profile.model.api);
    let mut tally = Tally::default();
    let exchanges = view.runs.iter().flat_map(|run| &run.exchanges);
    for (event, body) in exchanges.filter_map(|exchange| Some((exchange.event, exchange.event.json()?))) {
        let violations = api.violations(&body);
        if violations.is_empty() {
            tally.holds([event]);
        }
        for violation in violations {
            tally.fails(
                format!("the model API would refuse this: {} ({})", violation.what, violation.rule),
                [event],
            );
        }
    }
    sheet.close("expect.model-api", tally, "the model API would accept every request");
}
