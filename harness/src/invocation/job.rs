//! Runs plans on hosts, several at a time.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::pool::{self, Go};
use super::{Failure, Host, select};
use crate::diagnostic::Source;
use crate::host::profile::Profile;
use crate::json::Json;
use crate::plan::{self, Plan, PlanKey, Planned, Select};
use crate::scenario::ast::Scenario;
use crate::stage::{self, Launch, StageError, StageOptions, Staged};
use crate::trace::Header;

/// A plan with the host that it is for.
#[derive(Clone, Debug)]
pub struct Job {
    /// The plan, or why there is none.
    pub planned: Planned,
    /// The host.
    pub launch: Launch,
    /// Its version; empty where it reports none.
    pub version: String,
    /// Where the trace goes.
    pub path: Option<PathBuf>,
}

/// What came of a job.
#[derive(Debug)]
pub enum Ran {
    /// It was run.
    Run {
        /// The plan.
        plan: Box<Plan>,
        /// What happened.
        staged: Result<Staged, StageError>,
        /// How long it took.
        took: Duration,
        /// Where the trace went.
        path: Option<PathBuf>,
    },
    /// It does not apply.
    NotApplicable {
        /// Line 1 of its trace, which is all of it.
        header: Header,
        /// Where the trace would go.
        path: Option<PathBuf>,
    },
}

/// Plans all scenarios on all hosts.
///
/// # Errors
/// A name rule of a profile that cannot be applied (usage), and scenarios for a host whose name is misspelt.
pub fn plans(hosts: &[Host], scenarios: &[Arc<Scenario>], select: &Select) -> Result<Vec<Job>, Failure> {
    let misspelt = select::misspelt_hosts(scenarios, hosts);
    if !misspelt.is_empty() {
        return Err(Failure::Files(misspelt));
    }
    let mut jobs = Vec::new();
    for host in hosts {
        for scenario in scenarios {
            let planned = plan::plan(scenario, &host.profile, host.version(), select)
                .map_err(|error| Failure::Usage(error.to_string()))?;
            jobs.extend(planned.into_iter().map(|planned| Job {
                planned,
                launch: host.launch.clone(),
                version: host.version.clone(),
                path: None,
            }));
        }
    }
    Ok(jobs)
}

/// Runs jobs; `done` hears of each as it ends, with its index.
pub fn run(jobs: Vec<Job>, workers: NonZeroUsize, options: &StageOptions, done: impl FnMut(usize, Ran)) {
    let interrupted = || options.interrupter.is_some_and(stage::Interrupter::interrupted);
    let go = || if interrupted() { Go::Stop } else { Go::On };
    pool::each(jobs, workers, go, |job| one(job, options), done);
}

/// Runs one job.
#[must_use]
pub fn one(job: Job, options: &StageOptions) -> Ran {
    match job.planned {
        Planned::Run(plan) => {
            let start = Instant::now();
            let header = header(&plan.key, &plan.scenario, &plan.profile, &job.version);
            let staged = stage::run(&plan, header, job.launch, options, job.path.as_deref());
            Ran::Run { plan, staged, took: start.elapsed(), path: job.path }
        }
        Planned::NotApplicable { key, scenario, profile, reason } => {
            let mut header = header(&key, &scenario, &profile, &job.version);
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
