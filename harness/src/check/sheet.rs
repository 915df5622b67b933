//! How findings are written: facts are collected, then closed into one finding.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use super::finding::{Finding, Level, Place, Verdict};
use super::registry;
use crate::plan::Plan;
use crate::trace::event::Event;

/// The facts for one finding: what holds and what does not, each with its events.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    held: BTreeSet<u32>,
    broken: BTreeSet<u32>,
    reasons: Vec<String>,
}

impl Tally {
    /// A fact that holds. Only facts with events count: no evidence, no pass.
    pub(crate) fn holds<'e>(&mut self, events: impl IntoIterator<Item = &'e Event>) {
        self.held.extend(events.into_iter().map(|event| event.n));
    }

    /// A fact that does not hold.
    pub(crate) fn fails<'e>(&mut self, reason: impl Into<String>, events: impl IntoIterator<Item = &'e Event>) {
        self.broken.extend(events.into_iter().map(|event| event.n));
        self.reasons.push(reason.into());
    }

    /// Takes over the facts of another tally.
    pub(crate) fn absorb(&mut self, other: Self) {
        self.held.extend(other.held);
        self.broken.extend(other.broken);
        self.reasons.extend(other.reasons);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.held.is_empty() && self.reasons.is_empty()
    }

    pub(crate) fn has_failed(&self) -> bool {
        !self.reasons.is_empty()
    }

    /// The first reason with the number of others, where something does not hold.
    fn reason(&self) -> Option<String> {
        let first = self.reasons.first()?;
        Some(match self.reasons.len() {
            1 => first.clone(),
            count => format!("{first} (and {} more)", count - 1),
        })
    }
}

/// The findings of a trace.
pub(crate) struct Sheet<'a> {
    plan: &'a Plan,
    pub(crate) findings: Vec<Finding>,
}

impl<'a> Sheet<'a> {
    pub(crate) fn new(plan: &'a Plan) -> Self {
        Self { plan, findings: Vec::new() }
    }

    /// A place in the scenario.
    fn place(&self, span: Range<usize>) -> Option<Place> {
        Some(Place { source: Arc::clone(&self.plan.scenario.source), span })
    }

    /// Where the scenario names the requirement, else its title.
    fn home(&self, id: &str) -> Option<Place> {
        let named = self.plan.scenario.requirements.iter().find(|named| named.value == id);
        self.place(named.map_or_else(|| self.plan.scenario.title.span.clone(), |named| named.span.clone()))
    }

    /// Closes a tally into a finding of a requirement; without any fact there is none. `holds` is said of a pass.
    pub(crate) fn close(&mut self, id: &'static str, tally: Tally, holds: impl Into<String>) {
        let Some(requirement) = registry::find(id) else {
            return;
        };
        if requirement.not_applicable(&self.plan.profile.name, self.plan.key.revision).is_some() {
            return;
        }
        let at = self.home(id);
        self.findings.extend(finding(id, requirement.level, tally, holds.into(), at));
    }

    /// Closes a tally into a finding of a step.
    pub(crate) fn close_at(
        &mut self,
        id: &'static str,
        tally: Tally,
        holds: impl Into<String>,
        span: &Range<usize>,
    ) {
        let at = self.place(span.clone());
        let level = registry::find(id).map_or(Level::Invariant, |requirement| requirement.level);
        self.findings.extend(finding(id, level, tally, holds.into(), at));
    }

    /// A finding that could not be made.
    pub(crate) fn untestable(&mut self, id: &str, level: Level, reason: impl Into<String>, span: &Range<usize>) {
        self.bare(id, level, Verdict::Untestable, reason, span);
    }

    /// A finding without evidence.
    pub(crate) fn bare(
        &mut self,
        id: &str,
        level: Level,
        verdict: Verdict,
        reason: impl Into<String>,
        span: &Range<usize>,
    ) {
        let at = self.place(span.clone());
        let (requirement, message) = (id.to_owned(), reason.into());
        self.findings.push(Finding {
            requirement,
            level,
            verdict,
            message,
            evidence: Vec::new(),
            value: None,
            at,
        });
    }

    /// A trait with its value.
    pub(crate) fn record<'e>(
        &mut self,
        name: &str,
        value: impl Into<String>,
        message: impl Into<String>,
        events: impl IntoIterator<Item = &'e Event>,
        span: Option<&Range<usize>>,
    ) {
        let evidence: BTreeSet<u32> = events.into_iter().map(|event| event.n).collect();
        let at = self.place(span.cloned().unwrap_or_else(|| self.plan.scenario.title.span.clone()));
        self.findings.push(Finding {
            requirement: format!("trait.{name}"),
            level: Level::Trait,
            verdict: Verdict::Trait,
            message: message.into(),
            evidence: evidence.into_iter().collect(),
            value: Some(value.into()),
            at,
        });
    }
}

fn finding(id: &str, level: Level, tally: Tally, holds: String, at: Option<Place>) -> Option<Finding> {
    let (verdict, message, evidence) = match tally.reason() {
        Some(reason) => (Verdict::Fail, reason, tally.broken),
        None if tally.held.is_empty() => return None,
        None => (Verdict::Pass, holds, tally.held),
    };
    Some(Finding {
        requirement: id.to_owned(),
        level,
        verdict,
        message,
        evidence: evidence.into_iter().collect(),
        value: None,
        at,
    })
}
