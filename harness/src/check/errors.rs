//! `hop.errors`: the text of an error result reaches the model with its flag; any other failure ends in some result.

use super::reading;
use super::sheet::{Sheet, Tally};
use super::view::{Conn, Emitted, Rpc, Run, View};
use crate::model::ErrorFlag;

pub(super) fn check(view: &View<'_>, sheet: &mut Sheet<'_>) {
    let mut tally = Tally::default();
    for run in &view.runs {
        for used in &run.uses {
            let Some((conn, call)) = run.settled_call(used) else {
                continue;
            };
            if call.is_tool_error() {
                tally.absorb(reason_is_told(run, used, call));
            } else {
                tally.absorb(failure_is_told(run, used, conn, call));
            }
        }
    }
    sheet.close("hop.errors", tally, "every error reached the model");
}

/// The text of an `isError` result is told, flagged where the model API has a flag.
pub(super) fn reason_is_told(run: &Run<'_>, used: &Emitted<'_>, call: &Rpc<'_>) -> Tally {
    let mut tally = Tally::default();
    let (Some((answer, result)), Some(told)) = (call.result(), run.told(used)) else {
        return tally;
    };
    let evidence = [answer, told.exchange.event];
    if run.error_flag() == ErrorFlag::Member && told.flag != Some(true) {
        tally.fails(format!("the error of `{}` was told without its flag", used.planned.tool), evidence);
    }
    if reading::contains(told.reading, result) {
        tally.holds(evidence);
    } else {
        tally.fails(format!("the text of the error of `{}` did not reach the model", used.planned.tool), evidence);
    }
    tally
}

/// A JSON-RPC error or a broken connection ends in some result, and the run goes on. How much is told is a trait.
fn failure_is_told(run: &Run<'_>, used: &Emitted<'_>, conn: &Conn<'_>, call: &Rpc<'_>) -> Tally {
    let mut tally = Tally::default();
    let broken = || conn.broken().filter(|event| event.n > call.event.n && call.answers.is_empty());
    let Some(failure) = call.error().map(|(event, _)| event).or_else(broken) else {
        return tally;
    };
    match run.follow(used) {
        Some(follow) if follow.results(&used.id).is_empty() => {
            let reason = format!("the failure of `{}` ended in no result", used.planned.tool);
            tally.fails(reason, [call.event, failure, follow.event]);
        }
        Some(follow) => tally.holds([call.event, failure, follow.event]),
        None => {
            // A run that somebody else ended says nothing about the host.
            if let Some(exit) = run.own_exit() {
                let reason = format!("the host ended after the failure of `{}`", used.planned.tool);
                tally.fails(reason, [call.event, failure, exit]);
            }
        }
    }
    tally
}
