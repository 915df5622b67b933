//! The tests of a suite, known without starting the host.
//!
//! Which plans there are may depend on the version of the host, through the `[[when]]` blocks of its profile, and asking for
//! the version would start it. So the outline has every plan that some version has. A test whose plan the present version
//! does not have says so when it runs.

use std::sync::Arc;

use super::choice::Chosen;
use crate::diagnostic::Source;
use crate::host::decode::{self, VersionReq};
use crate::invocation::Failure;
use crate::plan::{self, Planned, Select};
use crate::revision::{Revision, Transport};
use crate::scenario::ast::Scenario;

/// One test of a suite.
#[derive(Clone, Debug)]
pub(super) struct Test {
    /// `AREA/NAME[CASE]@REVISION+TRANSPORT`.
    pub(super) name: String,
    /// The scenario.
    pub(super) scenario: Arc<Scenario>,
    /// The revision that the servers speak.
    pub(super) revision: Revision,
    /// The transport of servers that fix none.
    pub(super) transport: Transport,
    /// Whether it is run.
    pub(super) standing: Standing,
}

/// Whether a test is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// It is.
    Runs,
    /// It does not apply to any version of the host, for this reason.
    NotApplicable(String),
    /// The suite leaves it out, for this reason.
    Excluded(String),
}

/// All tests, in order of the scenarios.
///
/// # Errors
/// A profile that is wrong, or whose name rule cannot be applied.
pub(super) fn outline(
    profile: &Arc<Source>,
    variant: Option<&str>,
    scenarios: &[Chosen],
    select: &Select,
) -> Result<Vec<Test>, Failure> {
    let mut versions = vec![None];
    let whens = decode::whens(profile);
    if !whens.is_empty() {
        versions.extend(VersionReq::samples(&whens).into_iter().map(Some));
    }
    let mut profiles = Vec::new();
    for version in &versions {
        let profile = decode::parse(profile, variant, version.as_deref()).map_err(Failure::Files)?;
        profiles.push((version.as_deref(), Arc::new(profile)));
    }
    let mut tests = Vec::new();
    for chosen in scenarios {
        let planned = profiles.iter().map(|(version, profile)| {
            let plans = plan::plan(&chosen.scenario, profile, *version, select);
            plans.map_err(|error| Failure::Usage(error.to_string()))
        });
        tests.extend(of_scenario(chosen, planned.collect::<Result<_, _>>()?));
    }
    Ok(tests)
}

/// The tests of one scenario, from its plans for each version: each place once, and one that some version runs is run.
fn of_scenario(chosen: &Chosen, versions: Vec<Vec<Planned>>) -> Vec<Test> {
    let runs = |planned: &Planned| matches!(planned, Planned::Run(_));
    let applies = versions.iter().flatten().any(runs);
    let mut tests: Vec<Test> = Vec::new();
    for planned in versions {
        // A scenario that does not apply to a version at all has one plan there, with a place that only names it.
        let names_only = applies && !planned.iter().any(runs);
        for planned in planned.into_iter().filter(|_| !names_only) {
            let key = planned.key();
            let (revision, transport) = (key.revision, key.transport);
            let standing = match (planned, &chosen.excluded) {
                (Planned::NotApplicable { reason, .. }, _) => Standing::NotApplicable(reason),
                (Planned::Run(_), Some(reason)) => Standing::Excluded(reason.clone()),
                (Planned::Run(_), None) => Standing::Runs,
            };
            match tests.iter_mut().find(|test| (test.revision, test.transport) == (revision, transport)) {
                Some(test) if matches!(test.standing, Standing::NotApplicable(_)) => test.standing = standing,
                Some(_) => {}
                None => tests.push(Test {
                    name: format!("{}@{revision}+{transport}", chosen.scenario.id),
                    scenario: Arc::clone(&chosen.scenario),
                    revision,
                    transport,
                    standing,
                }),
            }
        }
    }
    tests.sort_by_key(|test| (test.revision, test.transport));
    tests
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invocation::select;

    const PROFILE: &str = r#"
name = "acme"
bin = { names = ["acme"] }
[model]
api = "anthropic-messages"
[[drive]]
kind = "headless"
argv = ["{{ bin }}", "{{ prompt }}"]
features = ["permissions.allow"]
[claims]
dialect = "plain"
[[claims.wire]]
transport = "stdio"
revisions = ["2025-06-18"]
[[when]]
version = ">=2"
set.claims.wire.0.revisions = ["2025-06-18", "2026-07-28"]
[[when]]
version = "<1.5"
set.drive.0.features = ["permissions.allow", "permissions.deny"]
"#;

    fn tests(words: &[&str], excluded: Option<&str>) -> Vec<(String, Standing)> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let chosen: Vec<Chosen> = select::scenarios(&words)
            .unwrap()
            .into_iter()
            .map(|scenario| Chosen { scenario, excluded: excluded.map(str::to_owned) })
            .collect();
        let tests = outline(&Source::new("acme.toml", PROFILE), None, &chosen, &Select::default()).unwrap();
        tests.into_iter().map(|test| (test.name, test.standing)).collect()
    }

    #[test]
    fn what_some_version_runs_is_a_test() {
        let names: Vec<String> = tests(&["call/lookup"], None).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["call/lookup@2025-06-18+stdio", "call/lookup@2026-07-28+stdio"]);
        // Below 1.5 only, and there only in the old revision.
        let denied = tests(&["permission/deny-tool"], None);
        assert_eq!(denied[0], ("permission/deny-tool@2025-06-18+stdio".to_owned(), Standing::Runs));
    }

    #[test]
    fn what_no_version_runs_is_there_with_its_reason() {
        let asked = tests(&["permission/ask"], None);
        let reasons = asked.iter().all(|(_, standing)| {
            matches!(standing, Standing::NotApplicable(reason) if reason.contains("permissions.ask"))
        });
        assert!(!asked.is_empty() && reasons, "{asked:?}");
    }

    #[test]
    fn what_the_suite_leaves_out_is_there_with_its_reason() {
        let excluded = tests(&["call/lookup"], Some("ticket 7"));
        assert!(excluded.iter().all(|(_, standing)| *standing == Standing::Excluded("ticket 7".to_owned())));
    }
}
