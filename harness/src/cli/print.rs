//! What a person sees of runs, and what files get.

use super::args::{Format, Loudness, ReportFile};
use super::exit::Exit;
use super::output::{self, Progress};
use crate::check::finding::Outcome;
use crate::invocation::{Failure, files};
use crate::report::{self, Detail, Report, RunReport, Snapshots, Summary};

/// Failures that are shown in full where nobody asked for all.
const SHOWN: usize = 10;

/// What runs are carried out for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To be judged.
    Judge,
    /// To be recorded, and judged another time.
    Record,
}

/// Tells of runs as they end.
pub(super) struct Printer {
    purpose: Purpose,
    loudness: Loudness,
    format: Format,
    progress: Progress,
    total: usize,
    done: usize,
}

impl Printer {
    pub(super) fn new(purpose: Purpose, loudness: Loudness, format: Format, total: usize) -> Self {
        Self { purpose, loudness, format, progress: Progress::new(), total, done: 0 }
    }

    /// A run has ended.
    pub(super) fn finished(&mut self, run: &RunReport) -> Result<(), Failure> {
        self.done += 1;
        if self.format == Format::Json {
            return Ok(());
        }
        let passed = matches!(run.outcome, Outcome::Pass | Outcome::Known | Outcome::NotApplicable);
        let line = match self.loudness {
            Loudness::Verbose => true,
            // What does not apply did not run; the table counts it.
            Loudness::Normal => run.outcome != Outcome::NotApplicable && !(passed && self.progress.watched()),
            Loudness::Quiet => !passed,
        };
        self.progress.clear();
        if line {
            output::out(&match self.purpose {
                Purpose::Judge => report::run_line(run),
                Purpose::Record => report::record_line(run),
            })?;
        }
        self.progress.show(&format!("{}/{} {}", self.done, self.total, run.scenario));
        Ok(())
    }

    /// All runs have ended.
    pub(super) fn end(&self, report: Report<'_>) -> Result<(), Failure> {
        let runs = report.runs;
        self.progress.clear();
        if self.format == Format::Json {
            return output::out(&report::Kind::Json.render(report));
        }
        if self.loudness != Loudness::Verbose && Summary::of(runs).ran() == 0 {
            // Nothing else would tell why.
            runs.iter().try_for_each(|run| output::out(&report::run_line(run)))?;
        }
        let detail = if self.loudness == Loudness::Verbose { Detail::All } else { Detail::First(SHOWN) };
        output::out(&report::failures(runs, detail))?;
        output::out(&report::stale(runs))?;
        if let Some(snapshots) = report.snapshots {
            output::out(&snapshots.details(detail))?;
        }
        if self.loudness != Loudness::Quiet {
            output::out(&report::known_failures(runs))?;
            output::out(&report::newer(runs))?;
        }
        if self.loudness != Loudness::Quiet {
            output::out(&report::verdict_table(runs))?;
        }
        output::out(&report::summary_line(runs))?;
        report.snapshots.map_or(Ok(()), |snapshots| output::out(&snapshots.summary()))
    }
}

/// Writes the report files that are asked for.
pub(super) fn write_reports(files: &[ReportFile], report: Report<'_>) -> Result<(), Failure> {
    files.iter().try_for_each(|file| files::write(&file.path, &file.kind.render(report)))
}

/// Whether a SHOULD that does not hold fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strictness {
    Lenient,
    Strict,
}

impl Strictness {
    pub(super) const fn of(flag: bool) -> Self {
        if flag { Self::Strict } else { Self::Lenient }
    }
}

/// The exit code that runs mean; `unstarted` of them are errors since their host could not be started.
pub(super) fn exit(report: Report<'_>, unstarted: usize, strictness: Strictness) -> Exit {
    let summary = Summary::of(report.runs);
    let mut exit = if summary.ran() == 0 { Exit::Nothing } else { Exit::Expected };
    let warned = strictness == Strictness::Strict && summary.count(Outcome::Warn) > 0;
    if warned || summary.count(Outcome::Fail) + summary.count(Outcome::Untestable) > 0 {
        exit = exit.or(Exit::Findings);
    }
    if report.snapshots.is_some_and(Snapshots::drifted) {
        exit = exit.or(Exit::Findings);
    }
    if unstarted > 0 {
        exit = exit.or(Exit::Host);
    }
    if summary.count(Outcome::Error) > unstarted {
        exit = exit.or(Exit::Harness);
    }
    exit
}
