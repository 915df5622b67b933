//! A correct host passes, a host that does nothing passes nothing.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use std::sync::Arc;

use super::{Habits, driven, plans, profile, record, record_nothing};
use crate::check::faults::{TRACE_FAULTS, TraceFault};
use crate::check::finding::{Finding, Level, Outcome, Verdict};
use crate::check::{judge, lanes, outcome, registry};
use crate::host::profile::Profile;
use crate::plan::{Plan, SelectRevisions};
use crate::trace::Trace;

fn show(finding: &Finding) -> String {
    format!(
        "{} {} {}: {} {:?}",
        finding.level, finding.verdict, finding.requirement, finding.message, finding.evidence
    )
}

/// A host that is played.
type Played = (Arc<Profile>, Habits, SelectRevisions);

/// Hosts that ask a model: one on every revision, the others on one of each era.
fn asking() -> [Played; 5] {
    let reference = |variant| profile("reference", variant);
    [
        (reference(None), Habits::SendsIds, SelectRevisions::All),
        (reference(None), Habits::KeepsIds, SelectRevisions::Default),
        (reference(Some("responses")), Habits::KeepsIds, SelectRevisions::Default),
        (reference(Some("search")), Habits::SendsIds, SelectRevisions::Default),
        (reference(Some("search-responses")), Habits::KeepsIds, SelectRevisions::Default),
    ]
}

/// One that asks none.
fn without_model() -> [Played; 1] {
    [(driven(), Habits::KeepsIds, SelectRevisions::Default)]
}

/// The plans of a variant. Where only the way to a tool is another, the areas that show it are enough.
fn plans_of(profile: &Arc<Profile>, revisions: SelectRevisions) -> Vec<Plan> {
    let mut plans = plans(profile, revisions);
    plans.retain(|plan| {
        let searches = plan.profile.model.surface.search().is_some();
        // A found tool that is removed needs words of its own in each API, which the small host does not have.
        let shows = ["list/pages", "list/three-turns", "list/two-runs", "list/without-schema", "surface/"];
        !searches || shows.iter().any(|area| plan.key.scenario.starts_with(area))
    });
    plans
}

#[test]
fn a_correct_host_passes_every_scenario() {
    let mut wrong = Vec::new();
    for (profile, habits, revisions) in asking().into_iter().chain(without_model()) {
        for plan in plans_of(&profile, revisions) {
            let trace = record(&plan, habits);
            let findings = judge(&plan, &trace);
            let bad = |finding: &&Finding| matches!(finding.verdict, Verdict::Fail | Verdict::Untestable);
            let bad = findings.iter().filter(bad).filter(|finding| finding.level != Level::Trait);
            wrong.extend(bad.map(|finding| format!("{} {habits:?} {}", plan.key, show(finding))));
            for finding in findings.iter().filter(|finding| finding.verdict == Verdict::Pass) {
                assert!(!finding.evidence.is_empty() && finding.evidence.is_sorted(), "{}", show(finding));
            }
            let outcome = outcome(&plan, &trace, &findings);
            if outcome.0 != Outcome::Pass {
                wrong.push(format!("{} {habits:?} {outcome:?}", plan.key));
            }
        }
    }
    wrong.truncate(40);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_host_that_does_nothing_passes_nothing() {
    let profile = profile("null", None);
    let plans = plans(&profile, SelectRevisions::Default);
    assert!(plans.len() > 50);
    for plan in plans {
        let trace = record_nothing(&plan);
        let findings = judge(&plan, &trace);
        let passed: Vec<_> =
            findings.iter().filter(|finding| finding.verdict == Verdict::Pass).map(show).collect();
        assert!(passed.is_empty(), "{}: {passed:?}", plan.key);
        let (outcome, _) = outcome(&plan, &trace, &findings);
        assert!(matches!(outcome, Outcome::Fail | Outcome::Untestable), "{}: {outcome}", plan.key);
    }
}

/// All plans of these hosts that a correct host passes, with its record.
fn passing(hosts: impl IntoIterator<Item = Played>) -> Vec<(Plan, Trace)> {
    let mut recorded = Vec::new();
    for (profile, habits, _) in hosts {
        let plans = plans_of(&profile, SelectRevisions::Default);
        recorded.extend(plans.into_iter().map(|plan| {
            let trace = record(&plan, habits);
            (plan, trace)
        }));
    }
    recorded
}

fn ids(findings: &[Finding], verdict: Verdict) -> BTreeSet<String> {
    findings
        .iter()
        .filter(|finding| finding.verdict == verdict)
        .map(|finding| finding.requirement.clone())
        .collect()
}

#[test]
fn every_trace_fault_is_caught_by_what_it_is_about() {
    let missed = missed(&passing(asking()));
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

#[test]
fn a_synthetic_model_lane_hides_no_fault() {
    let recorded = passing(without_model());
    let plan = &recorded[0].0;
    // Nobody searches in a lane that hopcheck writes by itself, and a driver has no words of its own.
    const ELSEWHERE: [&str; 3] = ["expect.search", "claim.07-deferred-table", "expect.native"];
    let about_apis = |fault: &&TraceFault| {
        fault.about.iter().any(|id| lanes::not_applicable(id, plan).is_some() && !ELSEWHERE.contains(id))
    };
    let names: Vec<&str> = TRACE_FAULTS.iter().filter(about_apis).map(|fault| fault.name).collect();
    assert_eq!(names, ["unusable-tool-name"], "all others have a subject there");
    let missed: Vec<_> =
        missed(&recorded).into_iter().filter(|line| !names.iter().any(|name| line.starts_with(name))).collect();
    let elsewhere = |line: &String| {
        TRACE_FAULTS
            .iter()
            .any(|fault| line.starts_with(fault.name) && fault.about.iter().any(|id| ELSEWHERE.contains(id)))
    };
    let missed: Vec<_> = missed.into_iter().filter(|line: &String| !elsewhere(line)).collect();
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

/// The faults that are not caught by all that they are about.
fn missed(recorded: &[(Plan, Trace)]) -> Vec<String> {
    // Most faults are caught by the first that have a subject for them, so most are never judged.
    let judged: Vec<OnceCell<BTreeSet<String>>> = recorded.iter().map(|_| OnceCell::new()).collect();
    let mut missed = Vec::new();
    for fault in TRACE_FAULTS {
        let mut caught = BTreeSet::new();
        let mut subjects = 0;
        for ((plan, trace), passed) in recorded.iter().zip(&judged) {
            let Some(lie) = fault.apply(plan, trace) else { continue };
            subjects += 1;
            let passed = passed.get_or_init(|| ids(&judge(plan, trace), Verdict::Pass));
            caught.extend(ids(&judge(plan, &lie), Verdict::Fail).intersection(passed).cloned());
            if fault.about.iter().all(|about| caught.contains(*about)) {
                break;
            }
        }
        for about in fault.about.iter().filter(|about| !caught.contains(**about)) {
            missed.push(format!("{} ({subjects} subjects): {about} not caught, but {caught:?}", fault.name));
        }
    }
    missed
}

#[test]
fn nothing_passes_without_its_evidence() {
    let mut wrong = Vec::new();
    for (plan, trace) in passing(asking().into_iter().chain(without_model())).iter().step_by(11) {
        for finding in judge(plan, trace).iter().filter(|finding| finding.verdict == Verdict::Pass) {
            let mut without = trace.clone();
            without.events.retain(|event| !finding.evidence.contains(&event.n));
            let still = judge(plan, &without).into_iter().find(|other| {
                let same = other.requirement == finding.requirement && other.at == finding.at;
                same && other.verdict == Verdict::Pass
            });
            wrong
                .extend(still.map(|still| format!("{}: {} after {:?}", plan.key, show(&still), finding.evidence)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn faults_are_named_once_and_about_known_requirements() {
    let names: BTreeSet<&str> = TRACE_FAULTS.iter().map(|fault| fault.name).collect();
    assert_eq!(names.len(), TRACE_FAULTS.len());
    assert!(names.len() >= 34, "{}", names.len());
    for fault in TRACE_FAULTS {
        assert!((1..=3).contains(&fault.about.len()), "{}", fault.name);
        assert!(fault.about.iter().all(|id| registry::find(id).is_some()), "{}", fault.name);
    }
}
