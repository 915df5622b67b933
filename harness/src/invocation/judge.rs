//! From traces to reports.

use std::fs;
use std::path::Path;

use super::Failure;
use crate::check;
use crate::check::finding::Outcome;
use crate::plan::{Plan, Planned};
use crate::report::RunReport;
use crate::snapshot;
use crate::trace::{self, Trace};

/// The report of a saved trace.
///
/// # Errors
/// A file that is no trace (usage).
pub fn saved(path: &Path) -> Result<RunReport, Failure> {
    let (planned, trace) = read(path)?;
    let mut run = match planned {
        Planned::Run(plan) => report(&plan, &trace),
        Planned::NotApplicable { key, reason, .. } => {
            RunReport::new(&key, &trace.header.host_version, Outcome::NotApplicable, Some(reason))
        }
    };
    run.trace = Some(path.display().to_string());
    // The last event was recorded when the run ended.
    run.duration_ms = trace.events.last().map_or(0, |event| event.us / 1000);
    Ok(run)
}

/// Reads a trace and plans it again.
///
/// # Errors
/// A file that is no trace (usage).
pub fn read(path: &Path) -> Result<(Planned, Trace), Failure> {
    let name = path.display().to_string();
    let bytes = fs::read(path).map_err(|cause| Failure::Usage(format!("cannot read {name}: {cause}")))?;
    let trace = trace::file::read(&name, &bytes).map_err(|error| Failure::Usage(error.to_string()))?;
    let planned = trace.header.replan().map_err(|error| Failure::Usage(format!("{name}: {error}")))?;
    Ok((planned, trace))
}

/// Judges one trace.
#[must_use]
pub fn report(plan: &Plan, trace: &Trace) -> RunReport {
    let findings = check::judge(plan, trace);
    let (outcome, reason) = check::outcome(plan, trace, &findings);
    let mut run = RunReport::new(&plan.key, &trace.header.host_version, outcome, reason);
    run.findings = findings;
    if run.problems().next().is_some() || outcome == Outcome::Error {
        run.transcript = snapshot::lines(plan, trace);
    }
    run
}
