//! What a check says.

use std::fmt;
use std::sync::Arc;

pub use crate::catalogue::Level;
use crate::diagnostic::{Source, Span};

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// It holds, and the evidence shows it.
    Pass,
    /// It does not hold, and the evidence shows it.
    Fail,
    /// A recorded choice where the specification is silent.
    Trait,
    /// It does not apply to this plan.
    NotApplicable,
    /// The evidence never came.
    Untestable,
}

impl Verdict {
    /// All.
    pub const ALL: [Self; 5] = [Self::Pass, Self::Fail, Self::Trait, Self::NotApplicable, Self::Untestable];

    /// Its word in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Trait => "trait",
            Self::NotApplicable => "not-applicable",
            Self::Untestable => "untestable",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A requirement with a verdict on one trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The id of the requirement.
    pub requirement: String,
    /// Its level.
    pub level: Level,
    /// What was found.
    pub verdict: Verdict,
    /// What was found, as a lowercase sentence with the actual values.
    pub message: String,
    /// The numbers of the events that the verdict rests on, ascending. Never empty for a pass.
    pub evidence: Vec<u32>,
    /// The value of a trait.
    pub value: Option<String>,
    /// The place in the scenario.
    pub at: Option<Place>,
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// The file.
    pub source: Arc<Source>,
    /// The bytes.
    pub span: Span,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source.at(&self.span))
    }
}

/// The outcome of a run, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// The plan does not apply.
    NotApplicable,
    /// All that was judged holds.
    Pass,
    /// What does not hold is in the baseline of the host, and all that is in it does not hold.
    Known,
    /// A SHOULD does not hold.
    Warn,
    /// Something that binds does not hold.
    Fail,
    /// Something that was to be judged could not be.
    Untestable,
    /// The harness or the set-up failed.
    Error,
}

impl Outcome {
    /// All, in the order of report summaries.
    pub const ALL: [Self; 7] =
        [Self::Pass, Self::Known, Self::Warn, Self::Fail, Self::Untestable, Self::NotApplicable, Self::Error];

    /// Its word in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotApplicable => "not-applicable",
            Self::Pass => "pass",
            Self::Known => "known",
            Self::Warn => "warn",
            Self::Fail => "fail",
            Self::Untestable => "untestable",
            Self::Error => "error",
        }
    }

    /// The outcome of findings alone; errors are decided by events.
    #[must_use]
    pub fn of(findings: &[Finding]) -> Self {
        let worst = findings.iter().map(|finding| match (finding.verdict, finding.level) {
            (Verdict::Untestable, _) => Self::Untestable,
            (Verdict::Fail, level) if level.fails() => Self::Fail,
            (Verdict::Fail, Level::Should) => Self::Warn,
            (Verdict::Pass, _) => Self::Pass,
            _ => Self::NotApplicable,
        });
        worst.max().unwrap_or(Self::Untestable)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
