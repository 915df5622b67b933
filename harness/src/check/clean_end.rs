//! `hop.clean-end`: no process of the run outlives it.

use super::sheet::{Sheet, Tally};
use super::view::{Run, View};
use crate::json::Json;
use crate::trace::event::Kind;

pub(super) fn check(view: &View<'_>, sheet: &mut Sheet<'_>) {
    let mut tally = Tally::default();
    for run in view.runs.iter().filter(|run| is_subject(run)) {
        tally.absorb(survivors(run));
    }
    sheet.close("hop.clean-end", tally, "nothing outlived the host");
}

/// A run in which a server or the model was reached, and that came to an end by itself or by a stop of the scenario.
fn is_subject(run: &Run<'_>) -> bool {
    run.is_alive() && run.end_reason() == Some("exit")
}

/// That all processes are gone, none of them by our hand.
pub(super) fn survivors(run: &Run<'_>) -> Tally {
    let mut tally = Tally::default();
    let outlived: Vec<_> = run.of(Kind::Survivor).collect();
    if let Some(first) = outlived.first() {
        let command = first.data.str("command").unwrap_or("a process");
        tally.fails(format!("`{command}` outlived the host and had to be killed"), outlived);
    }
    for gone in run.of(Kind::Gone) {
        match gone.data.get("survivors").and_then(Json::as_i64) {
            Some(0) => tally.holds(run.first_contact().into_iter().chain(run.of(Kind::HostExit)).chain([gone])),
            Some(count) => tally.fails(format!("{count} processes outlived the host"), [gone]),
            None => {}
        }
    }
    tally
}
