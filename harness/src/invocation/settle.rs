//! What became of one job: its report, and whether its trace stays.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Failure, Ran, Traces, files};
use crate::check::finding::Outcome;
use crate::plan::Plan;
use crate::report::RunReport;
use crate::stage::{Kept, StageError};
use crate::trace::{Trace, file};

/// What became of one job.
#[derive(Debug)]
pub struct Settled {
    /// Its report, with the place of the trace where it was kept.
    pub run: RunReport,
    /// Whether the host could be started.
    pub start: Start,
    /// Sandboxes that stay.
    pub kept: Vec<Kept>,
}

/// Whether the host of a run could be started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// It was, or did not have to be.
    Done,
    /// It could not.
    Refused,
}

/// Reports one run and keeps its trace, or not.
///
/// # Errors
/// A trace that cannot be written (usage).
pub fn settle(
    ran: Ran,
    traces: &Traces,
    report: impl FnOnce(&Plan, &Trace) -> RunReport,
) -> Result<Settled, Failure> {
    let mut start = Start::Done;
    let mut kept = Vec::new();
    let mut unwritten = None;
    let (mut run, path) = match ran {
        Ran::Run { plan, staged, took, path } => {
            let mut run = match staged {
                Ok(staged) => {
                    kept = staged.kept;
                    let run = report(&plan, &staged.trace);
                    unwritten = path.is_none().then_some(staged.trace);
                    run
                }
                Err(error) => {
                    if matches!(error, StageError::Host { .. }) {
                        start = Start::Refused;
                    }
                    let version = plan.key.version.clone().unwrap_or_default();
                    RunReport::new(&plan.key, &version, Outcome::Error, Some(error.to_string()))
                }
            };
            run.duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
            (run, path)
        }
        Ran::NotApplicable { header, path } => {
            if let (true, Some(path)) = (traces.keeps(Outcome::NotApplicable), &path) {
                files::write(path, &file::write_header(&header))?;
            }
            let reason = header.not_applicable;
            (RunReport::new(&header.plan, &header.host_version, Outcome::NotApplicable, reason), path)
        }
    };
    let path = match (path, unwritten) {
        (Some(path), _) if traces.keeps(run.outcome) => Some(path).filter(|path| path.exists()),
        (Some(path), _) => {
            remove(&path);
            None
        }
        (None, Some(trace)) if traces.keeps(run.outcome) => Some(save(&trace, traces)?),
        (None, _) => None,
    };
    run.trace = path.map(|path| path.display().to_string());
    Ok(Settled { run, start, kept })
}

/// Writes a trace that was not streamed.
fn save(trace: &Trace, traces: &Traces) -> Result<PathBuf, Failure> {
    let path = traces.path(&trace.header.plan)?;
    file::save(trace, &path)
        .map_err(|cause| Failure::Usage(format!("cannot write {}: {cause}", path.display())))?;
    Ok(path)
}

fn remove(path: &Path) {
    // It may never have been written.
    let _ = fs::remove_file(path);
}
