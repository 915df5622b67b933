//! `hopcheck judge`: findings from saved traces.

use super::args::{JudgeArgs, Loudness};
use super::exit::Exit;
use super::print::{self, Printer, Purpose};
use crate::invocation::{Failure, judge};
use crate::report::Report;

/// Judges saved traces.
pub(super) fn judge(args: &JudgeArgs) -> Result<Exit, Failure> {
    let mut printer =
        Printer::new(Purpose::Judge, Loudness::of_judge(args), args.reports.format, args.traces.len());
    let mut runs = Vec::new();
    for path in &args.traces {
        let run = judge::saved(path)?;
        printer.finished(&run)?;
        runs.push(run);
    }
    let report = Report { runs: &runs, snapshots: None };
    printer.end(report)?;
    print::write_reports(&args.reports.report, report)?;
    Ok(print::exit(report, 0, print::Strictness::of(args.strict)))
}
