//! Running the tests of a suite.

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use libtest_mimic::{Arguments, Completion, Failed, FormatSetting, Trial};

use super::choice::Extent;
use super::outline::{Standing, Test};
use super::place::Place;
use super::program::{At, Program};
use super::transcripts::Transcripts;
use crate::baseline::Baseline;
use crate::check::finding::Outcome;
use crate::host::profile::Profile;
use crate::invocation::{self, Failure, Host, Job, Traces, hosts, job, judge};
use crate::plan::{self, Plan, Planned, Select};
use crate::report::{self, Detail, RunReport};
use crate::scenario::ast::Scenario;
use crate::snapshot::store::Scope;
use crate::stage::{Interrupter, StageOptions};

/// Whether a SHOULD that does not hold fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strictness {
    Lenient,
    Strict,
}

/// What a run is held against beside what hopcheck judges.
#[derive(Debug)]
pub(super) struct Rules {
    /// What is known to fail.
    pub(super) baseline: Option<Baseline>,
    /// Whether a SHOULD fails.
    pub(super) strictness: Strictness,
    /// What was accepted.
    pub(super) transcripts: Option<Transcripts>,
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
    rules: Rules,
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
        rules: Rules,
    ) -> Result<Self, Failure> {
        let traces = Traces::Problems(place.traces.clone());
        let shared = Shared {
            place,
            profile,
            program,
            rules,
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
        // The printer strips styles where nobody wants them, but not inside of JSON.
        let plain = arguments.format == Some(FormatSetting::Json);
        let trial = |test: &Test| {
            let ignored = test.standing != Standing::Runs;
            let (name, test, shared) = (test.name.clone(), test.clone(), Arc::clone(shared));
            let run = move || match shared.test(&test) {
                Err(failed) if plain => Err(stripped(&failed)),
                done => done,
            };
            Trial::ignorable_test(name, run).with_ignored_flag(ignored)
        };
        let conclusion = libtest_mimic::run(arguments, self.tests.iter().map(trial).collect());
        if arguments.list {
            return ExitCode::SUCCESS;
        }
        shared.close();
        match shared.accept(&self.tests, &Extent::of(arguments)) {
            Ok(()) => conclusion.exit_code(),
            Err(failure) => {
                super::complain(&failure);
                ExitCode::from(101)
            }
        }
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
        let mut drift = Ok(None);
        let settled = invocation::settle(ran, &self.traces, |plan, trace| {
            let mut run = judge::report(plan, trace);
            if let Some(baseline) = &self.rules.baseline {
                baseline.apply(&mut run);
            }
            if let Some(transcripts) = self.rules.transcripts.as_ref().filter(|_| run.outcome != Outcome::Error) {
                drift = transcripts.take(plan, trace);
                if matches!(drift, Ok(Some(_))) {
                    // So that the trace is kept.
                    run.outcome = run.outcome.max(Outcome::Fail);
                }
            }
            run
        })?;
        self.verdict(settled.run, drift?.as_deref())
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

    /// What a run comes to; `drift` says how its transcript differs from the accepted one.
    fn verdict(&self, run: RunReport, drift: Option<&str>) -> Result<Completion, Failed> {
        let fails = match run.outcome {
            // It ran, and all that was found are traits: no evidence, no pass.
            Outcome::NotApplicable => return Ok(Completion::ignored_with("nothing in it binds this host")),
            Outcome::Pass | Outcome::Known => false,
            Outcome::Warn => self.rules.strictness == Strictness::Strict,
            Outcome::Fail | Outcome::Untestable | Outcome::Error => true,
        };
        if fails {
            return Err(failure_text(&run, drift).into());
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

    /// Accepts the transcripts of this process, where that is asked for.
    fn accept(&self, tests: &[Test], extent: &Extent) -> Result<(), Failure> {
        let (Some(transcripts), Some(Ok(host))) = (&self.rules.transcripts, self.host.get()) else {
            return Ok(());
        };
        let mut plans = Vec::new();
        let mut scenarios: Vec<&Arc<Scenario>> = tests.iter().map(|test| &test.scenario).collect();
        scenarios.dedup_by_key(|scenario| Arc::as_ptr(scenario));
        for scenario in &scenarios {
            let planned = plan::plan(scenario, &host.profile, host.version(), &self.select);
            plans.extend(planned.map_err(|error| Failure::Usage(error.to_string()))?);
        }
        // Where only one file was read, nothing is known of the others.
        let only = match extent {
            Extent::Whole => Vec::new(),
            Extent::File(_) => scenarios.iter().map(|scenario| scenario.id.to_string()).collect(),
        };
        let scope = Scope { hosts: vec![host.profile.file_name()], scenarios: only, ..Scope::default() };
        if let Some(told) = transcripts.accept(&plans, scope)? {
            let text = told.details(Detail::All) + &told.summary();
            let _ = anstream::stderr().lock().write_all(text.as_bytes());
        }
        Ok(())
    }
}

/// The same failure without colour.
fn stripped(failed: &Failed) -> Failed {
    anstream::adapter::strip_str(failed.message().unwrap_or_default()).to_string().into()
}

/// A failure with the places that it points to.
fn explain(failure: &Failure) -> String {
    let places = failure.diagnostics().iter().map(|error| format!("\n{}", error.render_styled()));
    failure.to_string() + &places.collect::<String>()
}

/// Why a run fails, as `hopcheck run` tells it.
fn failure_text(run: &RunReport, drift: Option<&str>) -> String {
    let mut text = report::run_line(run);
    let runs = std::slice::from_ref(run);
    text.push_str(&report::failures(runs, Detail::All));
    text.push_str(&report::stale(runs));
    text.push_str(&report::known_failures(runs));
    text.push_str(drift.unwrap_or_default());
    let told = run.problems().next().is_some();
    if let (false, Some(trace)) = (told, &run.trace) {
        text.push_str(&format!("  trace: {trace}\n"));
    }
    text.trim_end().to_owned()
}
