//! From traces to reports: `hopcheck judge`, and the second half of `hopcheck run`.

use std::fs;
use std::path::Path;

use super::args::{JudgeArgs, Loudness};
use super::exit::{Exit, Failure};
use super::print::{self, Printer, Purpose};
use crate::check;
use crate::check::finding::Outcome;
use crate::plan::{Plan, Planned};
use crate::report::{Report, RunReport};
use crate::snapshot;
use crate::trace::{self, Trace};

/// Judges saved traces.
pub(super) fn judge(args: &JudgeArgs) -> Result<Exit, Failure> {
    let mut printer =
        Printer::new(Purpose::Judge, Loudness::of_judge(args), args.reports.format, args.traces.len());
    let mut runs = Vec::new();
    for path in &args.traces {
        let run = saved(path)?;
        printer.finished(&run)?;
        runs.push(run);
    }
    let report = Report { runs: &runs, snapshots: None };
    printer.end(report)?;
    print::write_reports(&args.reports.report, report)?;
    Ok(print::exit(report, 0, print::Strictness::of(args.strict)))
}

/// The report of a saved trace.
fn saved(path: &Path) -> Result<RunReport, Failure> {
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
pub(super) fn read(path: &Path) -> Result<(Planned, Trace), Failure> {
    let name = path.display().to_string();
    let bytes = fs::read(path).map_err(|cause| Failure::Usage(format!("cannot read {name}: {cause}")))?;
    let trace = trace::file::read(&name, &bytes).map_err(|error| Failure::Usage(error.to_string()))?;
    let planned = trace.header.replan().map_err(|error| Failure::Usage(format!("{name}: {error}")))?;
    Ok((planned, trace))
}

/// Judges one trace.
pub(super) fn report(plan: &Plan, trace: &Trace) -> RunReport {
    let findings = check::judge(plan, trace);
    let (outcome, reason) = check::outcome(trace, &findings);
    let mut run = RunReport::new(&plan.key, &trace.header.host_version, outcome, reason);
    run.findings = findings;
    if run.problems().next().is_some() || outcome == Outcome::Error {
        run.transcript = snapshot::lines(plan, trace);
    }
    run
}
