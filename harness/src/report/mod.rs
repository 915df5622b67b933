//! Reports: findings as text for people and as files for programs. Nothing here looks at a process or a clock.

mod baseline;
mod failures;
mod json;
mod markdown;
mod newer;
mod snapshots;
mod text;

use std::collections::BTreeMap;
use std::fmt;

pub use baseline::{known_failures, stale};
pub use failures::{Detail, failures};
pub use json::{json, summary_json};
pub use markdown::markdown;
pub use newer::newer;
pub use snapshots::{Change, ChangeKind, SnapshotMode, Snapshots};
pub use text::{record_line, run_line, summary_line, verdict_table};

use crate::check::finding::{Finding, Level, Outcome, Place, Verdict};
use crate::plan::PlanKey;
use crate::revision::{Revision, Transport};
use crate::snapshot::Line;

/// Everything that reports say about one invocation.
#[derive(Clone, Copy, Debug)]
pub struct Report<'r> {
    /// Its runs, in the order of the plans.
    pub runs: &'r [RunReport],
    /// Its transcripts against the accepted ones, where the user wanted that.
    pub snapshots: Option<&'r Snapshots>,
}

/// Everything that reports say about one run.
#[derive(Clone, Debug)]
pub struct RunReport {
    /// `AREA/NAME` or `AREA/NAME[CASE]`.
    pub scenario: String,
    /// The host.
    pub host: HostReport,
    /// The revision that the servers spoke.
    pub revision: Revision,
    /// The transport of servers that fix none.
    pub transport: Transport,
    /// What came of it.
    pub outcome: Outcome,
    /// Why it does not apply, or what broke.
    pub reason: Option<String>,
    /// How long it took.
    pub duration_ms: u64,
    /// Where the trace is, where it was kept.
    pub trace: Option<String>,
    /// What was found.
    pub findings: Vec<Finding>,
    /// The findings that the baseline knows: their positions, with the reasons.
    pub known: BTreeMap<usize, String>,
    /// What the baseline knows and did not happen.
    pub stale: Vec<Stale>,
    /// The transcript, where a finding needs it to be understood.
    pub transcript: Vec<Line>,
}

/// A known failure that did not happen.
#[derive(Clone, Debug, PartialEq)]
pub struct Stale {
    /// The requirement.
    pub requirement: String,
    /// What came of it, as a lowercase sentence.
    pub message: String,
    /// Its place in the baseline.
    pub at: Place,
}

/// A host as reports name it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostReport {
    /// `NAME` or `NAME:VARIANT`.
    pub name: String,
    /// What it says of its version.
    pub version: String,
}

impl RunReport {
    /// A report without findings.
    #[must_use]
    pub fn new(key: &PlanKey, version: &str, outcome: Outcome, reason: Option<String>) -> Self {
        Self {
            scenario: key.scenario.clone(),
            host: HostReport { name: key.host_selector(), version: version.to_owned() },
            revision: key.revision,
            transport: key.transport,
            outcome,
            reason,
            duration_ms: 0,
            trace: None,
            findings: Vec::new(),
            known: BTreeMap::new(),
            stale: Vec::new(),
            transcript: Vec::new(),
        }
    }

    /// The folder of the scenario.
    #[must_use]
    pub fn area(&self) -> &str {
        self.scenario.split('/').next().unwrap_or(&self.scenario)
    }

    /// The findings that keep the run from passing, or warn.
    pub fn problems(&self) -> impl Iterator<Item = &Finding> {
        let findings = self.findings.iter().enumerate();
        findings
            .filter(|(at, finding)| is_problem(finding) && !self.known.contains_key(at))
            .map(|(_, finding)| finding)
    }

    /// The findings that the baseline knows, with the reasons.
    pub fn known_findings(&self) -> impl Iterator<Item = (&Finding, &str)> {
        self.known.iter().filter_map(|(at, reason)| Some((self.findings.get(*at)?, reason.as_str())))
    }

    /// `HOST SCENARIO REVISION TRANSPORT`.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{} {} {}", self.host.name, self.scenario, self.coordinates())
    }

    /// `REVISION TRANSPORT`.
    #[must_use]
    pub fn coordinates(&self) -> String {
        format!("{} {}", self.revision, self.transport)
    }
}

/// Whether a finding is worth a person's eyes.
fn is_problem(finding: &Finding) -> bool {
    match finding.verdict {
        Verdict::Untestable => true,
        Verdict::Fail => finding.level.fails() || finding.level == Level::Should,
        Verdict::Pass | Verdict::Trait | Verdict::NotApplicable => false,
    }
}

/// How many runs had which outcome.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    counts: [usize; Outcome::ALL.len()],
}

impl Summary {
    /// Counts runs.
    pub fn of<'r>(runs: impl IntoIterator<Item = &'r RunReport>) -> Self {
        let mut summary = Self::default();
        for run in runs {
            summary.counts[place(run.outcome)] += 1;
        }
        summary
    }

    /// The number of runs with this outcome.
    #[must_use]
    pub fn count(&self, outcome: Outcome) -> usize {
        self.counts[place(outcome)]
    }

    /// The number of runs that were carried out.
    #[must_use]
    pub fn ran(&self) -> usize {
        self.counts.iter().sum::<usize>() - self.count(Outcome::NotApplicable)
    }
}

fn place(outcome: Outcome) -> usize {
    Outcome::ALL.iter().position(|known| *known == outcome).unwrap_or_default()
}

/// Forms of a report file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// For programs.
    Json,
    /// For pull requests and wikis.
    Markdown,
}

impl Kind {
    /// All.
    pub const ALL: [Self; 2] = [Self::Json, Self::Markdown];

    /// Its word on the command line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Markdown => "markdown",
        }
    }

    /// The report as text.
    #[must_use]
    pub fn render(self, report: Report<'_>) -> String {
        match self {
            Self::Json => format!("{}\n", json(report)),
            Self::Markdown => markdown(report),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests;
