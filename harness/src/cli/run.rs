//! `hopcheck run` and `hopcheck record`.

use hopcheck_reference_host::fault::FAULTS;

use super::args::{Format, Isolate, Loudness, PlanArgs, RecordArgs, RunArgs, Switch};
use super::exit::Exit;
use super::print::{self, Printer, Purpose, Strictness};
use super::{faults, output};
use crate::check::finding::{Outcome, Verdict};
use crate::diagnostic::did_you_mean;
use crate::invocation::{
    self, Accepted, Failure, Job, Settled, Start, Traces, files, hosts, job, judge, known, pool, select,
};
use crate::model::Prompts;
use crate::plan::{Plan, Select, SelectRevisions};
use crate::report::{Report, RunReport, SnapshotMode};
use crate::snapshot::store::Scope;
use crate::stage::{self, Deadlines, Keep, Launch, StageOptions};
use crate::trace::Trace;

/// Runs and judges.
pub(super) fn run(args: &RunArgs) -> Result<Exit, Failure> {
    let baseline = args.baseline.as_deref().map(known::read).transpose()?;
    let Chosen { jobs, scope } = choose(&args.plans)?;
    if let Some(baseline) = &baseline {
        known::check_host(baseline, &jobs)?;
    }
    args.reports.report.iter().try_for_each(|file| files::prepare(&file.path))?;
    let mut accepted = match &args.snapshots {
        Some(folder) => {
            let mode = if args.accept { SnapshotMode::Accept } else { SnapshotMode::Compare };
            Some(Accepted::new(folder, mode, scope, jobs.iter().map(|job| &job.planned))?)
        }
        None => None,
    };
    let traces = match &args.out {
        Some(folder) => Traces::all(folder)?,
        None => Traces::problems()?,
    };
    let mut printer = Printer::new(Purpose::Judge, Loudness::of(&args.plans), args.reports.format, jobs.len());
    let judged = |plan: &Plan, trace: &Trace| {
        let mut run = judge::report(plan, trace);
        if let Some(accepted) = &mut accepted {
            accepted.add(plan, trace, run.outcome);
        }
        if let Some(baseline) = &baseline {
            baseline.apply(&mut run);
        }
        run
    };
    let executed = execute(jobs, &args.plans, &traces, judged, &mut printer);
    traces.tidy();
    let Executed { runs, unstarted, skipped } = executed?;
    let snapshots = accepted.map(Accepted::settle).transpose()?;
    if let Some(reason) = snapshots.as_ref().and_then(|snapshots| snapshots.unwritten.as_ref()) {
        output::err(&format!("{reason}; the differences are shown, and kept nowhere\n"));
    }
    let report = Report { runs: &runs, snapshots: snapshots.as_ref() };
    printer.end(report)?;
    if matches!(traces, Traces::Problems(_)) && traces.folder().exists() {
        output::err(&format!("traces: {}\n", traces.folder().display()));
    }
    print::write_reports(&args.reports.report, report)?;
    tell_of_isolation(args.plans.isolate);
    let exit = print::exit(report, unstarted, Strictness::of(args.strict)).or(cut_short(skipped));
    match &args.plans.fault {
        Some(fault) => control(fault, &runs, exit, args.reports.format),
        None => Ok(exit),
    }
}

/// A run with a fault is a control: what counts is whether the lie was caught by what it is about. Some lies break only
/// rules that never fail a run by themselves.
fn control(name: &str, runs: &[RunReport], exit: Exit, format: Format) -> Result<Exit, Failure> {
    let about = faults::all().iter().find(|fault| fault.name == name).map_or(&[][..], |fault| fault.about);
    let failed = |id: &str| {
        let mut findings = runs.iter().flat_map(|run| &run.findings);
        findings.any(|finding| finding.verdict == Verdict::Fail && finding.requirement == id)
    };
    let caught: Vec<&str> = about.iter().copied().filter(|id| failed(id)).collect();
    if format == Format::Text {
        let word = if caught.is_empty() {
            "not caught here".to_owned()
        } else {
            format!("caught by {}", caught.join(", "))
        };
        output::out(&format!("fault {name}: {word}\n"))?;
    }
    Ok(if exit == Exit::Expected && !caught.is_empty() { Exit::Findings } else { exit })
}

/// Runs and keeps the traces.
pub(super) fn record(args: &RecordArgs) -> Result<Exit, Failure> {
    let Chosen { jobs, .. } = choose(&args.plans)?;
    let traces = Traces::all(&args.out)?;
    let mut printer = Printer::new(Purpose::Record, Loudness::of(&args.plans), Format::Text, jobs.len());
    let unjudged = |plan: &Plan, trace: &Trace| {
        let (outcome, reason) = crate::check::outcome(plan, trace, &[]);
        // Nothing was judged, so only an error is more than a record.
        let outcome = if outcome == Outcome::Error { outcome } else { Outcome::Pass };
        RunReport::new(&plan.key, &trace.header.host_version, outcome, reason)
    };
    let Executed { runs, unstarted, skipped } = execute(jobs, &args.plans, &traces, unjudged, &mut printer)?;
    let errors = runs.iter().filter(|run| run.outcome == Outcome::Error).count() - unstarted;
    let ran = runs.iter().filter(|run| run.outcome != Outcome::NotApplicable).count();
    output::out(&format!("{} traces in {}\n", runs.len(), args.out.display()))?;
    let exit = match (errors, ran) {
        (0, 0) => Exit::Nothing,
        (0, _) => Exit::Expected,
        _ => Exit::Harness,
    }
    .or(cut_short(skipped));
    tell_of_isolation(args.plans.isolate);
    Ok(if unstarted > 0 { exit.or(Exit::Host) } else { exit })
}

/// The plans that the arguments mean.
pub(super) struct Chosen {
    pub(super) jobs: Vec<Job>,
    /// The accepted transcripts that they speak of.
    scope: Scope,
}

pub(super) fn choose(args: &PlanArgs) -> Result<Chosen, Failure> {
    let mut hosts = hosts::resolve(&args.host)?;
    if let Some(fault) = &args.fault {
        check_fault(fault)?;
        for host in &mut hosts {
            if host.profile.name != hosts::REFERENCE {
                let title = &host.profile.title;
                return Err(Failure::Usage(format!("only the reference host tells lies, {title} does not")));
            }
            lie(&mut host.launch, fault);
        }
    }
    let scenarios = select::scenarios(&args.scenarios)?;
    let revisions = match (args.revision, args.all_revisions) {
        (Some(revision), _) => SelectRevisions::One(revision),
        (None, true) => SelectRevisions::All,
        (None, false) => SelectRevisions::Default,
    };
    let select = Select { revisions, transport: args.transport, seed: invocation::random_seed() };
    let names = hosts.iter().map(|host| host.profile.file_name()).collect();
    let scope = Scope::of(names, select::names(&args.scenarios), &select);
    Ok(Chosen { jobs: job::plans(&hosts, &scenarios, &select)?, scope })
}

fn check_fault(fault: &str) -> Result<(), Failure> {
    if FAULTS.iter().any(|known| known.name == fault) {
        return Ok(());
    }
    let help = match did_you_mean(fault, FAULTS.iter().map(|known| known.name)) {
        Some(close) => format!("did you mean `{close}`?"),
        None => "`hopcheck list faults` lists them all".to_owned(),
    };
    Err(Failure::Usage(format!("no host fault `{fault}`: {help}")))
}

/// Makes the reference host tell a lie.
pub(super) fn lie(host: &mut Launch, fault: &str) {
    if let Launch::Program(argv) = host {
        argv.extend(["--fault".to_owned(), fault.to_owned()]);
    }
}

/// How runs are carried out.
fn options(args: &PlanArgs) -> Result<StageOptions, Failure> {
    Ok(StageOptions {
        isolate: isolate(args.isolate),
        keep: if args.keep { Keep::Yes } else { Keep::No },
        prompts: if args.keep_prompts { Prompts::Keep } else { Prompts::Reduce },
        deadlines: match args.deadlines {
            Switch::On => Deadlines::default(),
            Switch::Off => Deadlines::OFF,
        },
        ..invocation::options()?
    })
}

/// The word of the command line as the stage understands it.
pub(super) const fn isolate(word: Isolate) -> stage::Isolate {
    match word {
        Isolate::Auto => stage::Isolate::Auto,
        Isolate::Yes => stage::Isolate::Yes,
        Isolate::No => stage::Isolate::No,
    }
}

/// What came of all jobs.
pub(super) struct Executed {
    /// The reports, in the order of the plans.
    pub(super) runs: Vec<RunReport>,
    /// How many of them are of a host that could not be started.
    pub(super) unstarted: usize,
    /// How many plans were never begun, since somebody interrupted.
    pub(super) skipped: usize,
}

/// Says how many runs are missing in everything that was told. An invocation that did not come to its end has failed.
pub(super) fn cut_short(skipped: usize) -> Exit {
    if skipped == 0 {
        return Exit::Expected;
    }
    let s = if skipped == 1 { " was" } else { "s were" };
    output::err(&format!("interrupted: {skipped} run{s} never started\n"));
    Exit::Harness
}

/// Says that hosts were not cut off from the network, where that was left to the machine.
fn tell_of_isolation(asked: Isolate) {
    if let (Isolate::Auto, Some(reason)) = (asked, stage::isolation_refused()) {
        output::err(&format!(
            "hosts were not cut off from the network: {reason}; `--isolate yes` makes that an error\n"
        ));
    }
}

/// Runs jobs and reports each. A host that cannot be started does not take the reports of the others with it.
pub(super) fn execute(
    mut jobs: Vec<Job>,
    args: &PlanArgs,
    traces: &Traces,
    mut report: impl FnMut(&Plan, &Trace) -> RunReport,
    printer: &mut Printer,
) -> Result<Executed, Failure> {
    for job in &mut jobs {
        job.path = traces.sink(job.planned.key())?;
    }
    let mut reports: Vec<Option<RunReport>> = jobs.iter().map(|_| None).collect();
    let mut failure = None;
    let mut unstarted = 0;
    job::run(jobs, pool::workers(args.jobs), &options(args)?, |at, ran| {
        let finished = invocation::settle(ran, traces, &mut report).and_then(|Settled { run, start, kept }| {
            for kept in &kept {
                let folder = kept.folder.display();
                output::err(&format!("{}: kept {folder}\n  repeat: {}\n", run.name(), kept.command));
            }
            unstarted += usize::from(start == Start::Refused);
            printer.finished(&run)?;
            Ok(run)
        });
        match finished {
            Ok(run) => reports[at] = Some(run),
            // The first is the one that says why.
            Err(error) => failure = failure.take().or(Some(error)),
        }
    });
    match failure {
        Some(failure) => Err(failure),
        None => {
            let skipped = reports.iter().filter(|report| report.is_none()).count();
            Ok(Executed { runs: reports.into_iter().flatten().collect(), unstarted, skipped })
        }
    }
}
