//! Runs plans on hosts, several at a time.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::exit::Failure;
use super::hosts::{self, Host};
use super::pool::{self, Go};
use super::select;
use crate::diagnostic::Source;
use crate::host::locate::Located;
use crate::host::profile::Profile;
use crate::json::Json;
use crate::plan::{self, Plan, PlanKey, Planned, Select, SelectRevisions};
use crate::scenario::ast::Scenario;
use crate::snapshot;
use crate::stage::{self, StageError, StageOptions, Staged};
use crate::trace::Header;

/// A plan with the host that it is for.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub(super) planned: Planned,
    pub(super) located: Located,
    /// Where the trace goes.
    pub(super) path: Option<PathBuf>,
}

/// What came of a job.
#[derive(Debug)]
pub(super) enum Ran {
    /// It was run.
    Run { plan: Box<Plan>, staged: Result<Staged, StageError>, took: Duration, path: Option<PathBuf> },
    /// It does not apply.
    NotApplicable { header: Header, path: Option<PathBuf> },
}

/// Plans all scenarios on all hosts.
pub(super) fn plans(hosts: &[Host], scenarios: &[Arc<Scenario>], select: &Select) -> Result<Vec<Job>, Failure> {
    let mut jobs = Vec::new();
    for host in hosts {
        for scenario in scenarios {
            let planned = plan::plan(scenario, &host.profile, host.version(), select)
                .map_err(|error| Failure::Usage(error.to_string()))?;
            jobs.extend(planned.into_iter().map(|planned| Job {
                planned,
                located: host.located.clone(),
                path: None,
            }));
        }
    }
    Ok(jobs)
}

/// The usual options, with Ctrl-C taken over.
pub(super) fn options() -> Result<StageOptions, Failure> {
    let interrupter = stage::interrupter()
        .map_err(|error| Failure::Harness(anyhow::Error::new(error).context("cannot take over Ctrl-C")))?;
    Ok(StageOptions { interrupter: Some(interrupter), ..StageOptions::new(super::self_exe()?) })
}

/// Runs jobs; `done` hears of each as it ends, with its index.
pub(super) fn run(jobs: Vec<Job>, workers: NonZeroUsize, options: &StageOptions, done: impl FnMut(usize, Ran)) {
    let interrupted = || options.interrupter.is_some_and(stage::Interrupter::interrupted);
    let go = || if interrupted() { Go::Stop } else { Go::On };
    pool::each(jobs, workers, go, |job| one(job, options), done);
}

fn one(job: Job, options: &StageOptions) -> Ran {
    match job.planned {
        Planned::Run(plan) => {
            let start = Instant::now();
            let header = header(&plan.key, &plan.scenario, &plan.profile, &job.located.version);
            let staged = stage::run(&plan, header, &job.located.bin, options, job.path.as_deref());
            Ran::Run { plan, staged, took: start.elapsed(), path: job.path }
        }
        Planned::NotApplicable { key, scenario, profile, reason } => {
            let mut header = header(&key, &scenario, &profile, &job.located.version);
            header.not_applicable = Some(reason);
            Ran::NotApplicable { header, path: job.path }
        }
    }
}

/// Line 1 of the trace of a plan.
fn header(key: &PlanKey, scenario: &Scenario, profile: &Profile, version: &str) -> Header {
    let mut scripts: Vec<(String, Arc<Source>)> = Vec::new();
    for server in &scenario.servers {
        let name = &server.script.name;
        if let Some(source) =
            select::script(&scenario.source, name).filter(|_| !scripts.iter().any(|(old, _)| old == name))
        {
            scripts.push((name.clone(), source));
        }
    }
    Header {
        hopcheck: env!("CARGO_PKG_VERSION").to_owned(),
        plan: key.clone(),
        not_applicable: None,
        scenario: Arc::clone(&scenario.source),
        scripts,
        profile: Arc::clone(&profile.source),
        host_version: version.to_owned(),
        environment: Json::object([("os", std::env::consts::OS), ("arch", std::env::consts::ARCH)]),
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

/// The variants of the reference host that have transcripts of their own.
const SURFACES: [&str; 3] = ["search", "search-responses", "wrapper"];

/// The scenarios of those transcripts.
const SHOWN: &str = "surface";

fn transcripts() -> Result<Vec<Transcript>, Failure> {
    let select = Select { revisions: SelectRevisions::All, seed: super::random_seed(), ..Select::default() };
    let mut jobs = plans(&hosts::resolve(&[])?, &select::scenarios(&[])?, &select)?;
    // On another surface the way to a tool is another; these show it.
    let surfaces = SURFACES.map(|variant| format!("{}:{variant}", hosts::REFERENCE));
    let select = Select { revisions: SelectRevisions::Default, ..select };
    jobs.extend(plans(&hosts::resolve(&surfaces)?, &select::scenarios(&[SHOWN.to_owned()])?, &select)?);
    let mut results: Vec<Option<Ran>> = jobs.iter().map(|_| None).collect();
    run(jobs, pool::workers(None), &options()?, |at, ran| results[at] = Some(ran));
    let mut sections: Vec<(String, Vec<(String, String)>)> = Vec::new();
    for ran in results.into_iter().flatten() {
        let Ran::Run { plan, staged, .. } = ran else { continue };
        let staged = staged.map_err(|error| Failure::Harness(anyhow::anyhow!("{}: {error}", plan.key)))?;
        let name = format!("{}/{}", plan.key.host_file_name(), plan.key.scenario);
        let section =
            (format!("{}+{}", plan.key.revision, plan.key.transport), snapshot::transcript(&plan, &staged.trace));
        match sections.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => known.push(section),
            None => sections.push((name, vec![section])),
        }
    }
    sections.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(sections.into_iter().map(|(name, sections)| Transcript { name, text: snapshot::file(&sections) }).collect())
}
