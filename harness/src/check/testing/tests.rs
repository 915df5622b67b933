//! A correct host passes, a host that does nothing passes nothing.

use super::{Habits, plans, profile, record, record_nothing};
use crate::check::finding::{Finding, Level, Outcome, Verdict};
use crate::check::{judge, outcome};

fn show(finding: &Finding) -> String {
    format!(
        "{} {} {}: {} {:?}",
        finding.level, finding.verdict, finding.requirement, finding.message, finding.evidence
    )
}

#[test]
fn a_correct_host_passes_every_scenario() {
    let mut wrong = Vec::new();
    for variant in [None, Some("responses")] {
        let profile = profile("reference", variant);
        for plan in plans(&profile) {
            for habits in [Habits::SendsIds, Habits::KeepsIds] {
                let trace = record(&plan, habits);
                let findings = judge(&plan, &trace);
                let bad = |finding: &&Finding| {
                    matches!(finding.verdict, Verdict::Fail | Verdict::Untestable) && finding.level != Level::Trait
                };
                wrong.extend(
                    findings
                        .iter()
                        .filter(bad)
                        .map(|finding| format!("{} {habits:?} {}", plan.key, show(finding))),
                );
                for finding in findings.iter().filter(|finding| finding.verdict == Verdict::Pass) {
                    assert!(!finding.evidence.is_empty() && finding.evidence.is_sorted(), "{}", show(finding));
                }
                if outcome(&trace, &findings).0 != Outcome::Pass {
                    wrong.push(format!("{} {habits:?} {:?}", plan.key, outcome(&trace, &findings)));
                }
            }
        }
    }
    wrong.truncate(40);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_host_that_does_nothing_passes_nothing() {
    let profile = profile("null", None);
    let plans = plans(&profile);
    assert!(plans.len() > 50);
    for plan in plans {
        let trace = record_nothing(&plan);
        let findings = judge(&plan, &trace);
        let passed: Vec<_> =
            findings.iter().filter(|finding| finding.verdict == Verdict::Pass).map(show).collect();
        assert!(passed.is_empty(), "{}: {passed:?}", plan.key);
        let (outcome, _) = outcome(&trace, &findings);
        assert!(matches!(outcome, Outcome::Fail | Outcome::Untestable), "{}: {outcome}", plan.key);
    }
}
