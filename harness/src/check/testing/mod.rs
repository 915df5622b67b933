//! Traces for tests: the scenarios of the library, played with the real scripted servers and the real scripted model by
//! a small correct host that lives in this folder.

mod body;
mod ends;
mod host;
mod legal;
mod tape;
mod tests;

use std::sync::Arc;

use crate::host::decode;
use crate::host::profile::Profile;
use crate::library::{self, Builtin};
use crate::plan::{self, Plan, Planned, Select, SelectRevisions};
use crate::scenario;
use crate::trace::{Header, Trace};

pub(super) use host::Habits;

/// A built-in profile.
pub(crate) fn profile(name: &str, variant: Option<&str>) -> Arc<Profile> {
    let (_, source) = library::profiles().iter().find(|(known, _)| known == name).unwrap();
    Arc::new(decode::parse(source, variant, None).unwrap())
}

/// The same host, driven call by call: it asks no model.
pub(super) fn driven() -> Arc<Profile> {
    let text = r#"
name = "driven"
bin = { builtin = "__driven" }

[names]
max = 128

[wire]
tool_use_id = "/_meta/hopcheck.reference~1toolUseId"

[[drive]]
kind = "driver"
argv = ["{{ bin }}"]
features = [
  "permissions.allow", "permissions.deny", "permissions.ask",
  "prompts", "interrupt", "limits.call", "limits.start", "list-changed", "restart",
]

[claims]
dialect = "plain"
schema_gate = true

[[claims.wire]]
transport = "stdio"
revisions = ["2025-11-25", "2026-07-28"]
"#;
    Arc::new(decode::parse(&crate::diagnostic::Source::new("driven.toml", text), None, None).unwrap())
}

/// All built-in scenarios planned for a host.
pub(super) fn plans(profile: &Arc<Profile>, revisions: SelectRevisions) -> Vec<Plan> {
    let select = Select { revisions, transport: None, seed: 7 };
    let mut plans = Vec::new();
    for source in library::scenarios() {
        let path = source.name.trim_start_matches("scenarios/").trim_end_matches(".toml");
        let (area, name) = path.split_once('/').unwrap();
        for scenario in scenario::parse(source, area, name, &Builtin).unwrap() {
            let planned = plan::plan(&Arc::new(scenario), profile, Some("0.0.0"), &select).unwrap();
            plans.extend(planned.into_iter().filter_map(|planned| match planned {
                Planned::Run(plan) => Some(*plan),
                Planned::NotApplicable { .. } => None,
            }));
        }
    }
    plans
}

/// The plan of a scenario given as text, on a host.
pub(crate) fn plan_of(text: &str, profile: &Arc<Profile>, revision: &str) -> Plan {
    let source = crate::diagnostic::Source::new("scenarios/call/test.toml", text);
    let scenario = scenario::parse(&source, "call", "test", &Builtin).unwrap().remove(0);
    let revision = crate::revision::Revision::parse(revision).unwrap();
    let select = Select { revisions: SelectRevisions::One(revision), transport: None, seed: 7 };
    let planned = plan::plan(&Arc::new(scenario), profile, Some("0.0.0"), &select).unwrap().remove(0);
    match planned {
        Planned::Run(plan) => *plan,
        Planned::NotApplicable { reason, .. } => panic!("{reason}"),
    }
}

/// The record of a correct host.
pub(super) fn record(plan: &Plan, habits: Habits) -> Trace {
    Trace { header: header(plan), events: host::play(plan, habits) }
}

/// The record of a host that does nothing and exits with 0.
pub(super) fn record_nothing(plan: &Plan) -> Trace {
    Trace { header: header(plan), events: host::idle() }
}

fn header(plan: &Plan) -> Header {
    Header {
        hopcheck: "0.0.0".to_owned(),
        plan: plan.key.clone(),
        not_applicable: None,
        scenario: Arc::clone(&plan.scenario.source),
        scripts: Vec::new(),
        profile: Arc::clone(&plan.profile.source),
        host_version: "0.0.0".to_owned(),
        environment: crate::json::Json::Null,
    }
}
