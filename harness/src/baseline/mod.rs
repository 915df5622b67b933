//! The known failures of one host version, strict both ways: a failure that is not in the file fails, and one that is in
//! the file and no longer happens fails as well, so that the file never says more than is true.

pub mod decode;
pub mod keys;
pub mod update;

use std::sync::Arc;

use crate::check::finding::{Finding, Outcome, Place, Verdict};
use crate::diagnostic::{Diagnostic, Source, Span, Spanned};
use crate::host::decode::VersionReq;
use crate::report::{RunReport, Stale};
use crate::revision::{Revision, Transport};

/// The known failures of a host.
#[derive(Clone, Debug)]
pub struct Baseline {
    /// The file.
    pub source: Arc<Source>,
    /// The host, as `NAME` or `NAME:VARIANT`.
    pub host: Spanned<String>,
    /// The versions of the host that the file speaks of; absent means all.
    pub versions: Option<VersionReq>,
    /// The failures.
    pub known: Vec<Known>,
}

/// Failures of one scenario with one reason.
#[derive(Clone, Debug)]
pub struct Known {
    /// `AREA/NAME` or `AREA/NAME[CASE]`.
    pub scenario: Spanned<String>,
    /// The requirements that do not hold.
    pub requirements: Vec<Spanned<String>>,
    /// How they come out.
    pub verdict: KnownVerdict,
    /// The revisions in which they do; empty means all.
    pub revisions: Vec<Revision>,
    /// The transports on which they do; empty means all.
    pub transports: Vec<Transport>,
    /// The versions of the host that do; absent means all of the file.
    pub versions: Option<VersionReq>,
    /// Why this is known and not mended.
    pub reason: String,
    /// The header of the entry.
    pub span: Span,
}

/// What can be known of a requirement that does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KnownVerdict {
    /// The evidence shows that it does not hold.
    Fail,
    /// The evidence never comes. It has to be named: otherwise a host that stopped working would hide behind its failures.
    Untestable,
}

impl KnownVerdict {
    /// All.
    pub const ALL: [Self; 2] = [Self::Fail, Self::Untestable];

    /// Its word in files.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.verdict().as_str()
    }

    const fn verdict(self) -> Verdict {
        match self {
            Self::Fail => Verdict::Fail,
            Self::Untestable => Verdict::Untestable,
        }
    }
}

impl Baseline {
    /// Whether the file speaks of a version of its host. A host without a version is spoken of where the file names none.
    #[must_use]
    pub fn covers(&self, version: &str) -> bool {
        fits(self.versions.as_ref(), version)
    }

    /// Takes the known failures of a run out of what it fails for, and adds those that did not happen.
    ///
    /// A run that is an error shows nothing of the host, so it neither uses nor disproves an entry.
    pub fn apply(&self, run: &mut RunReport) {
        if run.host.name != self.host.value
            || !self.covers(&run.host.version)
            || matches!(run.outcome, Outcome::Error | Outcome::NotApplicable)
        {
            return;
        }
        let spoken: Vec<&Known> = self.known.iter().filter(|known| known.speaks_of(run)).collect();
        for known in spoken {
            for requirement in &known.requirements {
                let hits = hits(&run.findings, &requirement.value, known.verdict);
                if hits.is_empty() {
                    run.stale.extend(self.stale(requirement, known, &run.findings));
                }
                run.known.extend(hits.into_iter().map(|at| (at, known.reason.clone())));
            }
        }
        run.outcome = outcome(run);
    }

    /// The entry that has lost its failure. Where the requirement is untestable, the run fails for that already.
    fn stale(&self, requirement: &Spanned<String>, known: &Known, findings: &[Finding]) -> Option<Stale> {
        let has = |verdict: Verdict| {
            findings.iter().any(|finding| finding.requirement == requirement.value && finding.verdict == verdict)
        };
        let id = &requirement.value;
        let word = known.verdict.as_str();
        let message = match known.verdict {
            KnownVerdict::Fail if has(Verdict::Untestable) => return None,
            _ if has(Verdict::Fail) => format!("`{id}` fails now, and the baseline knows it as {word}"),
            _ if has(Verdict::Pass) => format!("`{id}` passes now, and the baseline knows it as {word}"),
            _ => format!("`{id}` is not judged in this run, and the baseline knows it as {word}"),
        };
        let at = Place { source: Arc::clone(&self.source), span: requirement.span.clone() };
        Some(Stale { requirement: id.clone(), message, at })
    }

    /// Entries that no run can ever use, because no scenario has their name.
    #[must_use]
    pub fn unknown_scenarios(&self, known: &[String]) -> Vec<Diagnostic> {
        let strangers = self.known.iter().filter(|entry| !known.contains(&entry.scenario.value));
        strangers.map(|entry| self.unknown_scenario(&entry.scenario, known)).collect()
    }

    fn unknown_scenario(&self, scenario: &Spanned<String>, known: &[String]) -> Diagnostic {
        let word = &scenario.value;
        let error = Diagnostic::error(&self.source, scenario.span.clone(), format!("no scenario `{word}`"))
            .label("no run can have this failure");
        let cases: Vec<&str> =
            known.iter().map(String::as_str).filter(|id| id.starts_with(&format!("{word}["))).collect();
        if let Some(first) = cases.first() {
            return error.help(format!("the scenario has cases, so name one, such as `{first}`"));
        }
        match crate::decode::suggest(word, known.iter().map(String::as_str)) {
            Some(close) => error.help(format!("did you mean `{close}`?")),
            None => error.help("remove the entry if the scenario is gone"),
        }
    }

    /// The file of another host.
    #[must_use]
    pub fn wrong_host(&self, hosts: &[&str]) -> Diagnostic {
        Diagnostic::error(&self.source, self.host.span.clone(), format!("a baseline of `{}`", self.host.value))
            .label("this host is not run here")
            .help(format!("what is run is {}", crate::decode::keys::quoted(hosts.iter().copied())))
    }
}

impl Known {
    /// Whether a run is one that the entry speaks of.
    #[must_use]
    pub fn speaks_of(&self, run: &RunReport) -> bool {
        self.scenario.value == run.scenario
            && (self.revisions.is_empty() || self.revisions.contains(&run.revision))
            && (self.transports.is_empty() || self.transports.contains(&run.transport))
            && fits(self.versions.as_ref(), &run.host.version)
    }
}

/// Whether a version fits. What asks for no version fits also a host that tells none.
fn fits(versions: Option<&VersionReq>, version: &str) -> bool {
    versions.is_none_or(|versions| !version.is_empty() && versions.matches(version))
}

/// The findings that an entry knows, by position.
fn hits(findings: &[Finding], requirement: &str, verdict: KnownVerdict) -> Vec<usize> {
    let hit = |finding: &Finding| finding.requirement == requirement && finding.verdict == verdict.verdict();
    findings.iter().enumerate().filter(|(_, finding)| hit(finding)).map(|(at, _)| at).collect()
}

/// The outcome of a run without what is known.
fn outcome(run: &RunReport) -> Outcome {
    if !run.stale.is_empty() {
        return Outcome::Fail.max(run.outcome);
    }
    if run.known.is_empty() {
        return run.outcome;
    }
    let rest: Vec<Finding> = run
        .findings
        .iter()
        .enumerate()
        .filter(|(at, _)| !run.known.contains_key(at))
        .map(|(_, finding)| finding.clone())
        .collect();
    // With nothing left there is nothing that would be worse than what is known.
    let rest = if rest.is_empty() { Outcome::Known } else { Outcome::of(&rest) };
    rest.max(Outcome::Known)
}

#[cfg(test)]
mod tests;
