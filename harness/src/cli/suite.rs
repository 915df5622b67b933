//! Runs plans on hosts, several at a time.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::exit::Failure;
use super::hosts::{self, Host};
use super::pool::{self, Go};
use super::select;
use crate::host::locate::Located;
use crate::plan::{self, Plan, Planned, Select, SelectRevisions};
use crate::scenario::ast::Scenario;
use crate::snapshot;
use crate::stage;
use crate::trace::Trace;

/// A plan with the host that it is for.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub(super) planned: Planned,
    pub(super) located: Arc<Located>,
    /// Where the trace goes.
    pub(super) path: Option<PathBuf>,
}

/// What came of a job.
#[derive(Debug)]
pub(super) enum Ran {
    /// It was run.
    Run { plan: Box<Plan>, trace: Result<Trace, stage::Error>, took: Duration, path: Option<PathBuf> },
    /// It does not apply.
    NotApplicable { planned: Planned, path: Option<PathBuf> },
}

/// Plans all scenarios on all hosts.
pub(super) fn plans(hosts: &[Host], scenarios: &[Arc<Scenario>], select: &Select) -> Result<Vec<Job>, Failure> {
    let mut jobs = Vec::new();
    for host in hosts {
        let located = Arc::new(host.located.clone());
        for scenario in scenarios {
            let planned = plan::plan(scenario, &host.profile, host.version(), select)
                .map_err(|error| Failure::Usage(error.to_string()))?;
            jobs.extend(planned.into_iter().map(|planned| Job {
                planned,
                located: Arc::clone(&located),
                path: None,
            }));
        }
    }
    Ok(jobs)
}

/// Runs jobs; `done` hears of each as it ends, with its index.
pub(super) fn run(jobs: Vec<Job>, workers: NonZeroUsize, options: &stage::Options, done: impl FnMut(usize, Ran)) {
    let interrupted = stage::interrupter();
    let go = || if interrupted.is_raised() { Go::Stop } else { Go::On };
    pool::each(jobs, workers, go, |job| one(job, options), done);
}

fn one(job: Job, options: &stage::Options) -> Ran {
    match job.planned {
        Planned::Run(plan) => {
            let start = Instant::now();
            let trace = stage::run(&plan, &job.located, options, job.path.as_deref());
            Ran::Run { plan, trace, took: start.elapsed(), path: job.path }
        }
        planned @ Planned::NotApplicable { .. } => Ran::NotApplicable { planned, path: job.path },
    }
}

/// A transcript of the built-in suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transcript {
    /// `HOST/AREA/NAME[CASE]`.
    pub name: String,
    /// The text of its snapshot file.
    pub text: String,
}

/// The transcripts of the reference host in all revisions, in order of their names.
///
/// # Errors
/// What kept a run from being recorded.
pub fn reference_transcripts() -> Result<Vec<Transcript>, String> {
    transcripts().map_err(|failure| failure.to_string())
}

fn transcripts() -> Result<Vec<Transcript>, Failure> {
    let hosts = hosts::resolve(&[])?;
    let select = Select { revisions: SelectRevisions::All, seed: super::random_seed(), ..Select::default() };
    let jobs = plans(&hosts, &select::scenarios(&[])?, &select)?;
    let mut results: Vec<Option<Ran>> = jobs.iter().map(|_| None).collect();
    run(jobs, pool::workers(None), &stage::Options::default(), |at, ran| results[at] = Some(ran));
    let mut sections: Vec<(String, Vec<(String, String)>)> = Vec::new();
    for ran in results.into_iter().flatten() {
        let Ran::Run { plan, trace, .. } = ran else { continue };
        let trace = trace.map_err(|error| Failure::Harness(anyhow::anyhow!("{}: {error}", plan.key)))?;
        let name = format!("{}/{}", plan.key.host_file_name(), plan.key.scenario);
        let section =
            (format!("{}+{}", plan.key.revision, plan.key.transport), snapshot::transcript(&plan, &trace));
        match sections.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => known.push(section),
            None => sections.push((name, vec![section])),
        }
    }
    sections.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(sections.into_iter().map(|(name, sections)| Transcript { name, text: snapshot::file(&sections) }).collect())
}
