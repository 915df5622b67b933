//! Running the tests of a suite.

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use libtest_mimic::{Arguments, Completion, Failed, Trial};

use super::outline::{Standing, Test};
use super::place::Place;
use super::program::{At, Program};
use crate::baseline::Baseline;
use crate::check::finding::Outcome;
use crate::host::profile::Profile;
use crate::invocation::{self, Failure, Host, Job, Traces, hosts, job, judge};
use crate::plan::{self, Plan, Planned, Select};
use crate::report::{self, Detail, RunReport};
use crate::stage::{Interrupter, StageOptions};

/// Whether a SHOULD that does not hold fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strictness {
    Lenient,
    Strict,
}

/// The tests of a suite, and what they have in common.
pub(super) struct Session {
    tests: Vec<Test>,
    shared: Arc<Shared>,
}

/// What the tests have in common.
struct Shared {
    place: Place,
    /// Not yet resolved for a version.
    profile: Profile,
    program: Program,
    baseline: Option<Baseline>,
    strictness: Strictness,
    traces: Traces,
    options: StageOptions,
    select: Select,
    /// The host, from the first test on that needs it.
    host: OnceLock<Result<Host, String>>,
    /// Whether somebody was told in full why there is no host.
    told: OnceLock<()>,
    /// Runs that did not fail: there may be things in them to know of.
    passed: Mutex<Vec<RunReport>>,
}

impl Session {
    pub(super) fn new(
        place: Place,
        profile: Profile,
        program: Program,
        tests: Vec<Test>,
        select: Select,
        baseline: Option<Baseline>,
        strictness: Strictness,
    ) -> Result<Self, Failure> {
        let traces = Traces::Problems(place.traces.clone());
        let shared = Shared {
            place,
            profile,
            program,
            baseline,
            strictness,
            traces,
            options: invocation::options()?,
            select: Select { seed: invocation::random_seed(), ..select },
            host: OnceLock::new(),
            told: OnceLock::new(),
            passed: Mutex::new(Vec::new()),
        };
        Ok(Self { tests, shared: Arc::new(shared) })
    }

    /// Lists or runs the tests, as the arguments say.
    pub(super) fn run(self, arguments: &Arguments) -> ExitCode {
        let shared = &self.shared;
        let trial = |test: Test| {
            let ignored = test.standing != Standing::Runs;
            let (name, shared) = (test.name.clone(), Arc::clone(shared));
            Trial::ignorable_test(name, move || shared.test(&test)).with_ignored_flag(ignored)
        };
        let trials = self.tests.into_iter().map(trial).collect();
        let conclusion = libtest_mimic::run(arguments, trials);
        if !arguments.list {
            shared.close();
        }
        conclusion.exit_code()
    }
}

impl Shared {
    /// One test.
    fn test(&self, test: &Test) -> Result<Completion, Failed> {
        if let Standing::NotApplicable(reason) = &test.standing {
            return Ok(Completion::ignored_with(reason));
        }
        // The user wants no more of it, and a stage would only notice after it has started a host.
        if self.options.interrupter.is_some_and(Interrupter::interrupted) {
            return Err("interrupted".into());
        }
        let host = self.host()?;
        let plan = match self.planned(test, host)? {
            Ok(plan) => plan,
            Err(reason) => return Ok(Completion::ignored_with(reason)),
        };
        let path = Some(self.traces.path(&plan.key)?);
        let Host { launch, version, .. } = host.clone();
        let ran = job::one(Job { planned: Planned::Run(plan), launch, version, path }, &self.options);
        let settled = invocation::settle(ran, &self.traces, |plan, trace| {
            let mut run = judge::report(plan, trace);
            if let Some(baseline) = &self.baseline {
                baseline.apply(&mut run);
            }
            run
        })?;
        self.verdict(settled.run)
    }

    /// The host, with its program and version. The first test that needs it waits for the build, and others with it.
    fn host(&self) -> Result<&Host, Failed> {
        match self.host.get_or_init(|| self.find_host().map_err(|failure| explain(&failure))) {
            Ok(host) => Ok(host),
            // A build that fails has much to say, and it is the same for every test.
            Err(message) if self.told.set(()).is_ok() => Err(message.into()),
            Err(message) => {
                let first = message.lines().next().unwrap_or_default().trim_end_matches(':');
                Err(format!("{first} (told in full at the first test that failed)").into())
            }
        }
    }

    fn find_host(&self) -> Result<Host, Failure> {
        let source = &self.profile.source;
        match self.program.locate(&self.place)? {
            At::Profile => hosts::found(source, &self.profile),
            At::File(program) => hosts::at(source, &self.profile, vec![program.to_string_lossy().into_owned()]),
            At::Library(library) => hosts::library(source, &self.profile, library),
        }
    }

    /// The plan of a test for the version that the host has, or why there is none.
    fn planned(&self, test: &Test, host: &Host) -> Result<Result<Box<Plan>, String>, Failed> {
        let plans = plan::plan(&test.scenario, &host.profile, host.version(), &self.select)?;
        let (revision, transport) = (test.revision, test.transport);
        let here = |planned: &Planned| (planned.key().revision, planned.key().transport) == (revision, transport);
        Ok(match plans.into_iter().find(here) {
            Some(Planned::Run(plan)) => Ok(plan),
            Some(Planned::NotApplicable { reason, .. }) => Err(reason),
            None => Err(format!("this version of the host is not tested in revision {revision} over {transport}")),
        })
    }

    fn verdict(&self, run: RunReport) -> Result<Completion, Failed> {
        let fails = match run.outcome {
            // It ran, and all that was found are traits: no evidence, no pass.
            Outcome::NotApplicable => return Ok(Completion::ignored_with("nothing in it binds this host")),
            Outcome::Pass | Outcome::Known => false,
            Outcome::Warn => self.strictness == Strictness::Strict,
            Outcome::Fail | Outcome::Untestable | Outcome::Error => true,
        };
        if fails {
            return Err(failure_text(&run).into());
        }
        self.passed.lock().unwrap_or_else(PoisonError::into_inner).push(run);
        Ok(Completion::Completed)
    }

    /// Tells what no test failed for.
    fn close(&self) {
        let mut runs = self.passed.lock().unwrap_or_else(PoisonError::into_inner);
        runs.sort_by(|a, b| (&a.scenario, a.revision, a.transport).cmp(&(&b.scenario, b.revision, b.transport)));
        let mut text = report::known_failures(&runs) + &report::newer(&runs);
        if matches!(self.program, Program::Library(_)) {
            text.push_str(&format!(
                "note: {} ran inside this program, with the features that hopcheck turns on, and with a model lane that is \
                 made of what it offers and returns\n",
                self.profile.name
            ));
        }
        for run in runs.iter().filter(|run| run.outcome == Outcome::Warn) {
            text.push_str(&report::run_line(run));
            for finding in run.problems() {
                text.push_str(&format!("  {} {}: {}\n", finding.requirement, finding.verdict, finding.message));
            }
        }
        // Standard output may be parsed.
        let _ = anstream::stderr().lock().write_all(text.as_bytes());
    }
}

/// A failure with the places that it points to.
fn explain(failure: &Failure) -> String {
    let places = failure.diagnostics().iter().map(|error| format!("\n{}", error.render_styled()));
    failure.to_string() + &places.collect::<String>()
}

/// Why a run fails, as `hopcheck run` tells it.
fn failure_text(run: &RunReport) -> String {
    let mut text = report::run_line(run);
    let runs = std::slice::from_ref(run);
    text.push_str(&report::failures(runs, Detail::All));
    text.push_str(&report::stale(runs));
    text.push_str(&report::known_failures(runs));
    if let (Outcome::Error, Some(trace)) = (run.outcome, &run.trace) {
        text.push_str(&format!("  trace: {trace}\n"));
    }
    text.trim_end().to_owned()
}
