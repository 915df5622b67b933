//! Trait `overlap`: the largest number of calls in flight at once, where a step has its replies held until all are.

use super::sheet::Sheet;
use super::view::{Rpc, Run, View, after};
use crate::scenario::ast::{Record, Verb};
use crate::trace::event::Event;

pub(super) fn check(view: &View<'_>, sheet: &mut Sheet<'_>) {
    for (index, step) in view.plan.scenario.steps.iter().enumerate() {
        let Verb::Uses { record: Some(Record::Overlap), uses, .. } = &step.verb else { continue };
        let peaks = view.judged().map(|run| peak(&calls(run, index)));
        let Some(peak) = peaks.max_by_key(Vec::len).filter(|peak| !peak.is_empty()) else { continue };
        let (most, of) = (peak.len(), uses.len());
        let message = format!("{most} of {of} calls were in flight at once");
        sheet.record("overlap", most.to_string(), message, peak, Some(&step.span));
    }
}

/// The calls of a step, in order.
fn calls<'r>(run: &'r Run<'_>, step: usize) -> Vec<&'r Rpc<'r>> {
    let uses = run.uses.iter().filter(|used| used.planned.step == step);
    let mut calls: Vec<_> = uses.flat_map(|used| run.calls(used)).map(|(_, call)| call).collect();
    calls.sort_by_key(|call| call.event.n);
    calls
}

/// The largest set of calls that were in flight at once. It is complete when one of its calls arrives.
fn peak<'a>(calls: &[&Rpc<'a>]) -> Vec<&'a Event> {
    let at_arrival = calls.iter().map(|last| {
        let in_flight = |call: &&&Rpc<'_>| {
            !after(call.event, last.event) && call.answer().is_none_or(|answer| after(answer.event, last.event))
        };
        calls.iter().filter(in_flight).map(|call| call.event).collect::<Vec<_>>()
    });
    at_arrival.max_by_key(Vec::len).unwrap_or_default()
}
