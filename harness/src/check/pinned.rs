//! Findings of a host that is pinned to a pack: what is newer than the pack is told, and fails nothing.

use super::finding::{Finding, Level, Verdict};
use crate::embedded;
use crate::pack::Pack;
use crate::plan::Plan;

/// Takes from findings what the pack of the profile does not have.
pub(super) fn apply(plan: &Plan, findings: &mut [Finding]) {
    let Some(name) = &plan.profile.pack else { return };
    let Some(pack) = Pack::find(name) else { return };
    let source = &plan.scenario.source;
    // A scenario of the author's own is as old as the author wants it to be.
    let is_ours = embedded::scenarios().iter().any(|known| known == source);
    let age = if is_ours && !pack.has_scenario(&plan.key.scenario) { Age::Newer } else { Age::Of };
    for finding in findings {
        soften(finding, name, pack, age);
    }
}

/// Whether the pack has a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Age {
    /// It has.
    Of,
    /// It came later.
    Newer,
}

fn soften(finding: &mut Finding, name: &str, pack: &Pack, scenario: Age) {
    if !matches!(finding.verdict, Verdict::Fail | Verdict::Untestable) {
        return;
    }
    match pack.level(&finding.requirement) {
        Some(level) if scenario == Age::Of => {
            if strength(level) < strength(finding.level) {
                finding.level = level;
            }
        }
        known => {
            let what = if known.is_some() { "scenario" } else { "requirement" };
            finding.value = Some(finding.verdict.as_str().to_owned());
            finding.message.push_str(&format!(" (a {what} newer than the pack {name})"));
            finding.verdict = Verdict::Trait;
        }
    }
}

/// How much comes of a failure: nothing, a warning, a failed run.
const fn strength(level: Level) -> u8 {
    match level {
        Level::Trait | Level::May => 0,
        Level::Should => 1,
        Level::Must | Level::Invariant | Level::Policy => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::finding::Outcome;
    use crate::check::registry::REQUIREMENTS;
    use crate::pack::PACKS;

    fn finding(id: &str, level: Level, verdict: Verdict) -> Finding {
        let (message, evidence) = ("x".to_owned(), vec![1]);
        Finding { requirement: id.to_owned(), level, verdict, message, evidence, value: None, at: None }
    }

    /// The newest pack without the lines that name an id.
    fn without(id: &str) -> Pack {
        let lines = PACKS.iter().flat_map(|(_, text)| text.lines());
        let lines: Vec<&str> = lines.filter(|line| line.split(' ').nth(1) != Some(id)).collect();
        Pack::parse(&lines.join("\n"))
    }

    #[test]
    fn an_id_that_is_not_in_a_pack_cannot_fail_a_run_that_is_pinned_to_it() {
        for requirement in REQUIREMENTS {
            let pack = without(requirement.id);
            for verdict in Verdict::ALL {
                let mut found = finding(requirement.id, requirement.level, verdict);
                let before = found.clone();
                soften(&mut found, "2026.12", &pack, Age::Of);
                assert!(Outcome::of(&[found.clone()]) <= Outcome::Pass, "{found:?}");
                // What would have failed is told.
                let fails = matches!(verdict, Verdict::Fail | Verdict::Untestable);
                assert_eq!(found.value.as_deref(), fails.then(|| verdict.as_str()));
                assert_eq!(found == before, !fails);
            }
        }
    }

    #[test]
    fn an_id_that_is_in_it_fails_as_before() {
        let pack = Pack::parse(PACKS[0].1);
        // What is newer than the file on disk is complained about by the test of the packs, and there alone.
        let known = |id: &str, level| pack.level(id) == Some(level);
        let known: Vec<_> = REQUIREMENTS.iter().filter(|one| known(one.id, one.level)).collect();
        assert!(known.len() > 80, "{}", known.len());
        for requirement in known {
            for verdict in Verdict::ALL {
                let before = finding(requirement.id, requirement.level, verdict);
                let mut found = before.clone();
                soften(&mut found, "2026.12", &pack, Age::Of);
                assert_eq!(found, before);
            }
        }
    }

    #[test]
    fn a_level_that_was_raised_since_is_the_one_of_the_pack() {
        let pack = Pack::parse("requirement a.b should\nrequirement c.d must\n");
        let outcome = |id: &str, level| {
            let mut found = finding(id, level, Verdict::Fail);
            soften(&mut found, "2026.12", &pack, Age::Of);
            Outcome::of(&[found])
        };
        assert_eq!(outcome("a.b", Level::Must), Outcome::Warn);
        assert_eq!(outcome("c.d", Level::Must), Outcome::Fail);
        // One that was lowered is as low as it is now.
        assert_eq!(outcome("c.d", Level::Should), Outcome::Warn);
    }

    #[test]
    fn nothing_fails_in_a_scenario_that_came_later() {
        let pack = Pack::parse("requirement a.b must\n");
        let mut found = finding("a.b", Level::Must, Verdict::Untestable);
        soften(&mut found, "2026.12", &pack, Age::Newer);
        assert_eq!(found.verdict, Verdict::Trait);
        assert!(found.message.ends_with("(a scenario newer than the pack 2026.12)"), "{}", found.message);
    }
}
