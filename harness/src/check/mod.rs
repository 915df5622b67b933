//! Judging a trace: a pure function from plan and trace to findings.
//!
//! One file per area. Each check collects facts with the events that show them; a fact without an event does not count,
//! so nothing passes on absence alone. A check without a subject says nothing, unless the scenario asked for it.

pub mod faults;
pub mod finding;
pub mod registry;

mod arguments;
mod catalogue;
mod claims;
mod clean_end;
mod definition;
mod errors;
mod gates;
mod isolation;
mod json_rpc;
mod lanes;
mod offers;
mod once;
mod order;
mod overlap;
mod pinned;
mod reading;
mod schema;
mod sheet;
mod stable_list;
mod steps;
mod table;
#[cfg(test)]
pub(crate) mod testing;
mod traits;
pub(crate) mod view;
mod wire_name;

use finding::{Finding, Level, Outcome, Verdict};
use sheet::Sheet;
use view::View;

use crate::plan::Plan;
use crate::trace::Trace;
use crate::trace::event::Kind;

/// Judges a trace by the plan that it was recorded for. The order of the findings is always the same.
#[must_use]
pub fn judge(plan: &Plan, trace: &Trace) -> Vec<Finding> {
    let view = View::new(plan, trace);
    let mut sheet = Sheet::new(plan);
    steps::check(&view, &mut sheet);
    order::check(&view, &mut sheet);
    once::check(&view, &mut sheet);
    wire_name::check(&view, &mut sheet);
    arguments::check(&view, &mut sheet);
    errors::check(&view, &mut sheet);
    stable_list::check(&view, &mut sheet);
    gates::check(&view, &mut sheet);
    json_rpc::check(&view, &mut sheet);
    isolation::check(&view, &mut sheet);
    clean_end::check(&view, &mut sheet);
    catalogue::check(&view, &mut sheet);
    claims::check(&view, &mut sheet);
    traits::check(&view, &mut sheet);
    overlap::check(&view, &mut sheet);
    lanes::check(&view, &mut sheet);
    named(&view, &mut sheet);
    pinned::apply(plan, &mut sheet.findings);
    sheet.findings
}

/// Requirements that the scenario names must come to a verdict: without one they are untestable, or do not apply.
fn named(view: &View<'_>, sheet: &mut Sheet<'_>) {
    let plan = view.plan;
    for named in &plan.scenario.requirements {
        let id = named.value.as_str();
        if sheet.findings.iter().any(|finding| finding.requirement == id) {
            continue;
        }
        let Some(requirement) = registry::find(id) else {
            sheet.untestable(id, Level::Invariant, format!("no check judges `{id}` yet"), &named.span);
            continue;
        };
        if let Some((verdict, reason)) = claims::not_applicable(id, plan) {
            sheet.bare(id, requirement.level, verdict, reason, &named.span);
            continue;
        }
        if let Some(reason) = lanes::not_applicable(id, plan).or_else(|| catalogue::undecided(id, view)) {
            sheet.bare(id, requirement.level, Verdict::NotApplicable, reason, &named.span);
            continue;
        }
        match requirement.not_applicable(&plan.profile.name, plan.key.revision) {
            Some(reason) => sheet.bare(id, requirement.level, Verdict::NotApplicable, reason, &named.span),
            None => {
                let reason = "nothing in the trace speaks of it";
                sheet.untestable(id, requirement.level, reason, &named.span);
            }
        }
    }
}

/// The outcome of a run, with the reason where it is an error.
///
/// Only what is no fault of the host is an error: hopcheck failed or said something wrong, or somebody interrupted it. A
/// crash, a hang or a flood of the host is a finding.
#[must_use]
pub fn outcome(plan: &Plan, trace: &Trace, findings: &[Finding]) -> (Outcome, Option<String>) {
    let of = |kind: Kind| trace.events.iter().find(|event| event.kind == kind);
    if let Some(failed) = of(Kind::Failed) {
        let message = failed.data.str("message").unwrap_or("hopcheck failed");
        return (Outcome::Error, Some(message.to_owned()));
    }
    let ended = |reason: &str| {
        trace.events.iter().any(|event| event.kind == Kind::RunEnd && event.data.str("reason") == Some(reason))
    };
    if ended("failed") {
        return (Outcome::Error, Some("the run failed".to_owned()));
    }
    if of(Kind::Interrupted).is_some() || ended("interrupted") {
        return (Outcome::Error, Some("the run was interrupted".to_owned()));
    }
    // hopcheck was killed, or the file was cut, perhaps before the run that was to follow: what is missing says nothing
    // about the host.
    if trace.events.last().is_none_or(|event| event.kind != Kind::RunEnd || event.data.get("then").is_some()) {
        return (Outcome::Error, Some("the trace ends before its run did".to_owned()));
    }
    if let Some(reason) = json_rpc::own_fault(plan, trace) {
        return (Outcome::Error, Some(reason));
    }
    (Outcome::of(findings), None)
}
