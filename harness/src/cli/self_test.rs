//! `hopcheck self-test`: check the checker.
//!
//! The faultless reference host must pass all that applies, the null host must pass nothing, and every fault must be
//! caught by what it is about: an id counts as caught where its verdict turned from pass to fail, never to untestable.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::time::Duration;

use super::args::SelfTestArgs;
use super::exit::Exit;
use super::faults::{self, Fault, Kind};
use super::output::{self, Progress};
use super::run;
use crate::check::faults::TraceFault;
use crate::check::finding::{Finding, Outcome, Verdict};
use crate::invocation::pool::{self, Go};
use crate::invocation::{self, Failure, Job, Ran, files, hosts, job, judge, select};
use crate::json::Json;
use crate::plan::{Plan, Planned, Select, SelectRevisions};
use crate::report::{self, RunReport, Summary};
use crate::stage::{Deadlines, Interrupter, StageOptions, Staged};
use crate::trace::Trace;

/// Plans that a host fault is tried on at first: most lies are caught at once, and some hosts that lie hang in every run.
const FIRST: usize = 2;

/// Plans that a host fault is tried on at a time from then on.
const BATCH: usize = 8;

/// A lying host may hang, and one that does shall not cost as much as a product that is given the benefit of the doubt.
const IMPATIENT: Deadlines = Deadlines {
    start: Some(Duration::from_secs(4)),
    progress: Some(Duration::from_secs(5)),
    shutdown: Some(Duration::from_secs(5)),
    whole: Some(Duration::from_secs(30)),
};

/// A run with its record.
struct Recorded {
    plan: Plan,
    trace: Trace,
    report: RunReport,
}

/// What came of one fault.
struct Catch {
    fault: &'static Fault,
    caught: BTreeSet<String>,
    /// Plans or traces that it was tried on.
    tried: usize,
}

impl Catch {
    fn missed(&self) -> Vec<&'static str> {
        self.fault.about.iter().copied().filter(|id| !self.caught.contains(*id)).collect()
    }

    fn also(&self) -> Vec<&str> {
        self.caught.iter().map(String::as_str).filter(|id| !self.fault.about.contains(id)).collect()
    }
}

/// Checks the checker.
pub(super) fn self_test(args: &SelfTestArgs) -> Result<Exit, Failure> {
    let bench = Bench::new(args)?;
    let progress = Progress::new();
    let reference = bench.run(&bench.reference, &bench.options);
    let null = bench.run(&bench.null, &bench.options);
    let base = baseline(&reference.recorded);
    let mut catches = Vec::new();
    for fault in faults::all().iter().filter(|fault| fault.kind == Kind::Host) {
        progress.show(&format!("host fault {}", fault.name));
        catches.push(bench.host_fault(fault, &base));
        // What did not run was not caught either, which would be told as a fault of the checks.
        if bench.interrupted() {
            return Err(Failure::Harness(format!("interrupted while the reference host told {}", fault.name)));
        }
    }
    progress.show("trace faults");
    catches.extend(bench.trace_faults(&reference.recorded));
    progress.clear();

    let null_passes =
        null.reports.iter().flat_map(|run| &run.findings).filter(|f| f.verdict == Verdict::Pass).count();
    let summary = Summary::of(&reference.reports);
    output::out(&text(&summary, null_passes, &catches))?;
    for file in &args.report {
        if file.kind != report::Kind::Json {
            return Err(Failure::Usage("the catch matrix is written as json only".to_owned()));
        }
        files::write(&file.path, &format!("{}\n", json(&summary, null_passes, &catches)))?;
    }
    let sound = summary.count(Outcome::Pass) == summary.ran()
        && summary.ran() > 0
        && null_passes == 0
        && catches.iter().all(|catch| catch.missed().is_empty());
    if !sound {
        output::out(&report::failures(&reference.reports, report::Detail::First(3)))?;
    }
    Ok(if sound { Exit::Expected } else { Exit::Findings })
}

/// What the runs of one host gave.
struct Round {
    reports: Vec<RunReport>,
    recorded: Vec<Recorded>,
}

/// What all rounds have in common.
struct Bench {
    /// The plans of the reference host.
    reference: Vec<Job>,
    /// The plans of the null host.
    null: Vec<Job>,
    extent: Extent,
    workers: NonZeroUsize,
    options: StageOptions,
}

/// On how much a host fault is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    /// On what can catch it, until all that it is about has caught it.
    Enough,
    /// On everything.
    All,
}

impl Bench {
    fn new(args: &SelfTestArgs) -> Result<Self, Failure> {
        let revisions = if args.full { SelectRevisions::All } else { SelectRevisions::Default };
        let select = Select { revisions, seed: invocation::random_seed(), ..Select::default() };
        let scenarios = select::scenarios(&[])?;
        let plans = |hosts: &[String]| job::plans(&hosts::resolve(hosts)?, &scenarios, &select);
        // Every variant: some lies can only be told in one model API, and some on one surface.
        let (_, profile) = hosts::profile(hosts::REFERENCE)?;
        let variants = profile.variants.iter().map(|variant| format!("{}:{variant}", profile.name));
        let names: Vec<String> = [profile.name.clone()].into_iter().chain(variants).collect();
        let mut reference = plans(&names)?;
        if !args.full {
            one_of_each_file(&mut reference);
        }
        Ok(Self {
            reference,
            null: plans(&["null".to_owned()])?,
            extent: if args.full { Extent::All } else { Extent::Enough },
            workers: pool::workers(args.jobs),
            options: StageOptions { isolate: run::isolate(args.isolate), ..invocation::options()? },
        })
    }

    fn interrupted(&self) -> bool {
        self.options.interrupter.is_some_and(Interrupter::interrupted)
    }

    fn run(&self, jobs: &[Job], options: &StageOptions) -> Round {
        let mut results: Vec<Option<Ran>> = jobs.iter().map(|_| None).collect();
        job::run(jobs.to_vec(), self.workers, options, |at, ran| results[at] = Some(ran));
        let mut round = Round { reports: Vec::new(), recorded: Vec::new() };
        for ran in results.into_iter().flatten() {
            let Ran::Run { plan, staged, .. } = ran else { continue };
            match staged {
                Ok(Staged { trace, .. }) => {
                    let report = judge::report(&plan, &trace);
                    round.reports.push(report.clone());
                    round.recorded.push(Recorded { plan: *plan, trace, report });
                }
                Err(error) => {
                    round.reports.push(RunReport::new(&plan.key, "", Outcome::Error, Some(error.to_string())));
                }
            }
        }
        round
    }

    fn host_fault(&self, fault: &'static Fault, base: &Passes) -> Catch {
        let mut jobs = self.reference.clone();
        if self.extent == Extent::Enough {
            likely_first(&mut jobs, fault, base);
        }
        for job in &mut jobs {
            run::lie(&mut job.launch, fault.name);
        }
        let mut catch = Catch { fault, caught: BTreeSet::new(), tried: 0 };
        // Batches of one size, however many workers there are, so that the matrix is always the same.
        let options = StageOptions { deadlines: IMPATIENT, ..self.options.clone() };
        let (first, rest) = jobs.split_at(FIRST.min(jobs.len()));
        for batch in std::iter::once(first).chain(rest.chunks(BATCH)) {
            for run in &self.run(batch, &options).recorded {
                catch.tried += 1;
                if let Some(passed) = base.get(&run.plan.key.to_string()) {
                    catch.caught.extend(failed(&run.report.findings).intersection(passed).cloned());
                }
            }
            if self.extent == Extent::Enough && catch.missed().is_empty() {
                break;
            }
        }
        catch
    }

    fn trace_faults(&self, recorded: &[Recorded]) -> Vec<Catch> {
        let faults: Vec<(&'static Fault, &'static TraceFault)> = faults::traces().collect();
        let passing: Vec<&Recorded> = recorded.iter().filter(|run| run.report.outcome == Outcome::Pass).collect();
        let mut catches: Vec<Option<Catch>> = faults.iter().map(|_| None).collect();
        pool::each(
            faults,
            self.workers,
            || Go::On,
            |(fault, lie)| {
                let mut catch = Catch { fault, caught: BTreeSet::new(), tried: 0 };
                for run in &passing {
                    if self.extent == Extent::Enough && catch.missed().is_empty() {
                        break;
                    }
                    let Some(trace) = lie.apply(&run.plan, &run.trace) else { continue };
                    catch.tried += 1;
                    let findings = crate::check::judge(&run.plan, &trace);
                    catch.caught.extend(failed(&findings).intersection(&passed(&run.report.findings)).cloned());
                }
                catch
            },
            |at, catch| catches[at] = Some(catch),
        );
        catches.into_iter().flatten().collect()
    }
}

/// Keeps one plan of each scenario file on the surfaces that only lead to tools in another way: what is called there, and what
/// comes of it, is the same.
fn one_of_each_file(jobs: &mut Vec<Job>) {
    let mut seen = BTreeSet::new();
    jobs.retain(|job| {
        let Planned::Run(plan) = &job.planned else { return true };
        let surface = &plan.profile.model.surface;
        let file = plan.key.scenario.split('[').next().unwrap_or_default().to_owned();
        (surface.search().is_none() && surface.wrapper().is_none())
            || seen.insert((plan.key.variant.clone(), file))
    });
}

/// Keeps the plans that can catch a fault, those of scenarios that name what it is about first, and of each scenario file
/// one plan before the second of any.
fn likely_first(jobs: &mut Vec<Job>, fault: &Fault, base: &Passes) {
    let about = |id: &str| fault.about.contains(&id);
    let tells = |job: &Job| fault.variant.is_none() || job.planned.key().variant.as_deref() == fault.variant;
    jobs.retain(tells);
    // Only a plan that passes an id can show that it turns to fail.
    jobs.retain(|job| base.get(&job.planned.key().to_string()).into_iter().flatten().any(|id| about(id)));
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    jobs.sort_by_cached_key(|job| {
        let file = job.planned.key().scenario.split('[').next().unwrap_or_default().to_owned();
        let round = seen.entry(file).or_default();
        *round += 1;
        let named = match &job.planned {
            Planned::Run(plan) => plan.scenario.requirements.iter().any(|named| about(&named.value)),
            Planned::NotApplicable { .. } => false,
        };
        (!named, *round)
    });
}

/// The ids that each plan passes without a fault.
type Passes = BTreeMap<String, BTreeSet<String>>;

fn baseline(recorded: &[Recorded]) -> Passes {
    recorded.iter().map(|run| (run.plan.key.to_string(), passed(&run.report.findings))).collect()
}

/// Ids with a pass and nothing worse.
fn passed(findings: &[Finding]) -> BTreeSet<String> {
    let failed = failed(findings);
    let passes = findings.iter().filter(|finding| finding.verdict == Verdict::Pass);
    passes.map(|finding| finding.requirement.clone()).filter(|id| !failed.contains(id)).collect()
}

fn failed(findings: &[Finding]) -> BTreeSet<String> {
    let fails = findings.iter().filter(|finding| finding.verdict == Verdict::Fail);
    fails.map(|finding| finding.requirement.clone()).collect()
}

fn json(summary: &Summary, null_passes: usize, catches: &[Catch]) -> Json {
    let fault = |catch: &Catch| {
        let members = Json::object([
            ("kind", Json::from(catch.fault.kind.as_str())),
            ("about", Json::array(catch.fault.about.iter().copied())),
            ("also", Json::from(catch.also())),
            ("caught", Json::array(&catch.caught)),
        ]);
        (catch.fault.name, members)
    };
    Json::object([
        ("faults", Json::object(catches.iter().map(fault))),
        ("null", Json::object([("pass", null_passes)])),
        ("reference", report::summary_json(summary)),
    ])
}

fn text(summary: &Summary, null_passes: usize, catches: &[Catch]) -> String {
    let width = catches.iter().map(|catch| catch.fault.name.len()).max().unwrap_or(0);
    let mark = |sound: bool| if sound { "ok  " } else { "MISS" };
    let mut out = String::new();
    for catch in catches {
        let missed = catch.missed();
        // Writing to a string cannot fail.
        let _ = write!(
            out,
            "{} {:5} {:width$}  {:4} tried  {}",
            mark(missed.is_empty()),
            catch.fault.kind.as_str(),
            catch.fault.name,
            catch.tried,
            catch.fault.about.join(" ")
        );
        if !missed.is_empty() {
            let _ = write!(out, "  not caught: {}", missed.join(" "));
        }
        match catch.also().len() {
            0 => {}
            count => {
                let _ = write!(out, "  (also {count})");
            }
        }
        out.push('\n');
    }
    let sound = summary.ran() > 0 && summary.count(Outcome::Pass) == summary.ran();
    let missed = catches.iter().filter(|catch| !catch.missed().is_empty()).count();
    let _ = writeln!(
        out,
        "\n{} reference host: {} of {} runs pass",
        mark(sound),
        summary.count(Outcome::Pass),
        summary.ran()
    );
    let _ = writeln!(out, "{} null host: {null_passes} passes", mark(null_passes == 0));
    let _ = writeln!(out, "{} faults: {} of {} caught", mark(missed == 0), catches.len() - missed, catches.len());
    out
}
