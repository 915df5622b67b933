//! `hopcheck baseline`: the known failures of a host, as a file that people keep.

use std::path::Path;
use std::sync::Arc;

use super::args::{BaselineArgs, BaselineCommand, BaselineUpdateArgs, Format, Loudness, PlanArgs};
use super::exit::Exit;
use super::output;
use super::print::{Printer, Purpose};
use super::run::{self, Executed};
use crate::baseline::{Baseline, decode, update};
use crate::check::finding::Outcome;
use crate::diagnostic::Source;
use crate::invocation::{Failure, Traces, files, hosts, judge, known};
use crate::plan::Plan;
use crate::trace::Trace;

/// Does what is asked for.
pub(super) fn baseline(args: &BaselineArgs) -> Result<Exit, Failure> {
    match &args.command {
        BaselineCommand::Update(args) => update(args),
    }
}

/// Runs the host, and writes what is known of it now.
fn update(args: &BaselineUpdateArgs) -> Result<Exit, Failure> {
    let baseline = current(&args.file, &args.plans)?;
    let host =
        if args.plans.host.is_empty() { vec![baseline.host.value.clone()] } else { args.plans.host.clone() };
    let plans = PlanArgs { host, ..args.plans.clone() };
    let jobs = run::choose(&plans)?.jobs;
    known::check_host(&baseline, &jobs)?;
    files::prepare(&args.file)?;
    let traces = Traces::problems()?;
    let mut printer = Printer::new(Purpose::Judge, Loudness::of(&plans), Format::Text, jobs.len());
    let report = |plan: &Plan, trace: &Trace| {
        let mut run = judge::report(plan, trace);
        baseline.apply(&mut run);
        run
    };
    let executed = run::execute(jobs, &plans, &traces, report, &mut printer);
    traces.tidy();
    let Executed { runs, unstarted, skipped } = executed?;
    // Something that did not run is not known to fail.
    let errors = runs.iter().filter(|run| run.outcome == Outcome::Error).count();
    if errors > 0 {
        output::complain(&format!("{errors} runs are errors, so {} stays as it is", args.file.display()));
        return Ok(if unstarted > 0 { Exit::Host } else { Exit::Harness });
    }
    if skipped > 0 {
        output::complain(&format!("not all was run, so {} stays as it is", args.file.display()));
        return Ok(run::cut_short(skipped));
    }
    let covered: Vec<_> = runs.into_iter().filter(|run| baseline.covers(&run.host.version)).collect();
    let updated = update::update(&baseline, &covered).map_err(|error| Failure::Files(vec![error]))?;
    if updated.text != baseline.source.text || !args.file.exists() {
        files::write(&args.file, &updated.text)?;
    }
    output::out(&format!("{}: {} new, {} gone\n", args.file.display(), updated.added, updated.removed))?;
    if updated.added > 0 {
        output::out("The new ones have empty reasons: the file is accepted when each has one.\n")?;
    }
    Ok(Exit::Expected)
}

/// The file as it is, or an empty one for the host that is named.
fn current(path: &Path, plans: &PlanArgs) -> Result<Baseline, Failure> {
    if path.exists() {
        return known::read(path);
    }
    let [selector] = plans.host.as_slice() else {
        return Err(Failure::Usage(format!(
            "{} does not exist yet: say with one --host of which host it is to be",
            path.display()
        )));
    };
    let (_, profile) = hosts::profile(selector)?;
    let source: Arc<Source> = Source::new(path.display().to_string(), update::blank(&profile.selector()));
    decode::parse(&source).map_err(Failure::Files)
}
