//! The expectations of steps. Each speaks of every judged run of the trace; one finding per step and expectation.

mod ask;
mod call;
pub(super) mod change;
pub(super) mod connect;
mod counts;
mod deny;
mod during;
pub(super) mod list;
mod model_api;
mod native;
mod run_ends;
mod say;
mod search;
mod stop;
mod told;

use std::ops::Range;

use super::finding::{Finding, Level, Verdict};
use super::sheet::{Sheet, Tally};
use super::view::{Emitted, Run, View};
use crate::json::Json;
use crate::plan::PlannedUse;
use crate::scenario::ast::{During, Outcome, UseKind, Verb};
use crate::trace::event::{Event, Kind};

/// What came of one expectation.
pub(super) enum Judged {
    /// Facts, of which there is at least one.
    Facts(Tally),
    /// It could not be judged, for this reason.
    Untestable(String),
}

pub(super) fn check(view: &View<'_>, sheet: &mut Sheet<'_>) {
    for (index, step) in view.plan.scenario.steps.iter().enumerate() {
        let first = sheet.findings.len();
        search::check(view, sheet, index);
        match &step.verb {
            Verb::Connect { servers, spawns } => connect::check(view, sheet, servers, spawns.as_ref(), &step.span),
            Verb::List { .. } => list::check(view, sheet, index, step),
            Verb::Change(change) => change::check(view, sheet, index, change),
            Verb::Uses { during, .. } => {
                for planned in view.plan.uses.iter().filter(|planned| planned.step == index) {
                    one_use(view, sheet, planned);
                }
                for change in during.iter().filter_map(During::change) {
                    change::check(view, sheet, index, change);
                }
                during::check(view, sheet, index, during);
            }
            Verb::Say(_) => say::check(view, sheet, index, &step.span),
            Verb::Stop(stop) => stop::check(view, sheet, stop.value, &step.span),
            Verb::Prompt(_) => {}
        }
        if step.outcome == Outcome::Trait {
            sheet.findings[first..].iter_mut().for_each(|finding| soften(view, finding));
        }
    }
    counts::check(view, sheet);
    native::check(view, sheet);
    run_ends::check(view, sheet);
    model_api::check(view, sheet);
}

fn one_use(view: &View<'_>, sheet: &mut Sheet<'_>, planned: &PlannedUse) {
    match &planned.kind {
        UseKind::Call => {
            close(
                sheet,
                "expect.call",
                &planned.span,
                every(view, |run| call::judge(run, planned)),
                "called once, and told",
            );
        }
        UseKind::Deny { by } => deny::check(view, sheet, planned, *by),
        UseKind::Ask { answer } => {
            let judged = every(view, |run| ask::judge(run, planned, *answer));
            close(sheet, "expect.ask", &planned.span, judged, "asked first, and the outcome follows the answer");
        }
    }
    if let Some(wanted) = &planned.told {
        let judged = every(view, |run| told::judge(run, planned, wanted));
        close(sheet, "expect.told", &wanted.span, judged, "the model was told what the step says");
    }
}

/// Judges all runs and puts the facts together. A failure of one run outweighs that another could not be judged.
fn every(view: &View<'_>, judge: impl Fn(&Run<'_>) -> Judged) -> Judged {
    let mut all = Tally::default();
    let mut reason = None;
    for run in view.judged() {
        match judge(run) {
            Judged::Facts(tally) => all.absorb(tally),
            Judged::Untestable(why) => reason = reason.or(Some(why)),
        }
    }
    match reason {
        Some(reason) if !all.has_failed() => Judged::Untestable(reason),
        None if view.judged().next().is_none() => Judged::Untestable("the trace has no run".to_owned()),
        _ => Judged::Facts(all),
    }
}

fn close(sheet: &mut Sheet<'_>, id: &'static str, span: &Range<usize>, judged: Judged, holds: &str) {
    match judged {
        Judged::Facts(tally) if tally.is_empty() => {
            sheet.untestable(id, Level::Invariant, "nothing in the trace speaks of this step", span);
        }
        Judged::Facts(tally) => sheet.close_at(id, tally, holds, span),
        Judged::Untestable(reason) => sheet.untestable(id, Level::Invariant, reason, span),
    }
}

/// The emitted use, or why there is none.
fn emitted<'r, 'a>(run: &'r Run<'a>, planned: &PlannedUse) -> Result<&'r Emitted<'a>, Judged> {
    run.emitted(planned.index).ok_or_else(|| {
        if run.is_alive() {
            let reason = format!("the host never came to ask for the reply in which `{}` is used", planned.tool);
            Judged::Untestable(reason)
        } else {
            unreached(run)
        }
    })
}

/// Longest text of a host that is quoted in a finding.
const QUOTE: usize = 160;

/// Nothing came from the host: how it ended, and its last words, are all that can help to find out why.
fn unreached(run: &Run<'_>) -> Judged {
    let mut reason = "the host reached neither a server nor the model".to_owned();
    let ended = run.of(Kind::Deadline).last().or_else(|| run.of(Kind::HostExit).last());
    let how = |name: &str| ended.and_then(|event| event.data.get(name));
    if let Some(ms) = how("ms") {
        reason.push_str(&format!(" within {ms} ms"));
    } else if let Some(code) = how("code") {
        reason.push_str(&format!("; it exited with code {code}"));
    } else if let Some(signal) = how("signal").and_then(Json::as_str) {
        reason.push_str(&format!("; it was ended by {signal}"));
    } else if let Some(thread) = how("thread").and_then(Json::as_str) {
        reason.push_str(&format!("; its thread {thread}"));
    }
    if let Some(noise) = run.of(Kind::ModelNoise).last() {
        let what = ["reason", "method", "path"].map(|name| noise.data.str(name).unwrap_or_default());
        reason.push_str(&format!("; the model endpoint got {}", quote(&what.join(" "))));
    }
    // Some write what went wrong to standard output.
    let words = |kind| run.of(kind).filter_map(last_words).last();
    if let Some(words) = words(Kind::HostErr).or_else(|| words(Kind::HostOut)) {
        reason.push_str(&format!("; its last line is {}", quote(&words)));
    }
    Judged::Untestable(reason)
}

/// The text of a line of output, unless it is blank.
fn last_words(event: &Event) -> Option<String> {
    let text = String::from_utf8_lossy(event.payload.as_ref()?.kept()).trim().to_owned();
    (!text.is_empty()).then_some(text)
}

fn quote(text: &str) -> String {
    let head: String = text.trim().chars().take(QUOTE).collect();
    let more = if head.len() < text.trim().len() { "…" } else { "" };
    format!("`{head}{more}`")
}

/// `outcome = "trait"`: what was found is recorded. Where nothing happened at all, there is nothing to record.
fn soften(view: &View<'_>, finding: &mut Finding) {
    if finding.verdict == Verdict::Untestable && !view.judged().any(Run::is_alive) {
        return;
    }
    let value = match finding.verdict {
        Verdict::Pass => "holds",
        Verdict::Fail => "does not hold",
        Verdict::Untestable => "not reached",
        Verdict::Trait | Verdict::NotApplicable => return,
    };
    finding.level = Level::Trait;
    finding.verdict = Verdict::Trait;
    finding.value = Some(value.to_owned());
}
