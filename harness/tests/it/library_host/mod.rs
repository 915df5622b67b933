//! A host that is a library: an honest one and its lies, run inside this test program and judged like any other.

mod client;
mod driver;
mod host;
mod lies;
mod suite;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hopcheck::check::finding::{Finding, Outcome};
use hopcheck::diagnostic::Source;
use hopcheck::driver::Library;
use hopcheck::embedded;
use hopcheck::json::Json;
use hopcheck::library::{self, Builtin};
use hopcheck::plan::{self, Plan, Planned, Select};
use hopcheck::stage::{self, Deadlines, StageError, StageOptions};
use hopcheck::trace::{Header, Trace};

use host::{Lie, Witness};

const PROFILE: &str = r#"
name = "witness"
title = "Witness library"

[names]
flat = "{{ server }}__{{ tool }}"
max = 128

[[drive]]
kind = "in-process"
features = ["permissions.allow", "permissions.deny", "permissions.ask", "prompts", "limits.call", "limits.start", "required"]

[claims]
dialect = "plain"

[[claims.wire]]
transport = "stdio"
revisions = ["2025-06-18", "2025-11-25", "2026-07-28"]
"#;

/// A run, judged.
struct Judged {
    trace: Trace,
    findings: Vec<Finding>,
    outcome: Outcome,
    reason: Option<String>,
}

fn witness(lie: Lie) -> Library {
    Library::new("1.0.0", move || Witness::new(lie))
}

fn options() -> StageOptions {
    StageOptions::new(env!("CARGO_BIN_EXE_hopcheck"))
}

/// Deadlines that a hanging host runs into soon. Only for hosts that hang: they make no difference to others.
fn impatient() -> StageOptions {
    let soon = Some(Duration::from_millis(500));
    StageOptions { deadlines: Deadlines { progress: soon, ..Deadlines::default() }, ..options() }
}

/// The plans of a built-in scenario file, with its `AREA/NAME`.
fn plans(source: &Arc<Source>) -> Vec<Planned> {
    plans_with(PROFILE, source)
}

fn plans_with(profile: &str, source: &Arc<Source>) -> Vec<Planned> {
    let profile = hopcheck::host::decode::parse(&Source::new("witness.toml", profile), None, Some("1.0.0"));
    let profile = Arc::new(profile.unwrap_or_else(|found| panic!("{}", found[0].render_plain())));
    let (area, name) = source.name.trim_end_matches(".toml").rsplit_once('/').unwrap();
    let area = area.rsplit('/').next().unwrap();
    let scenarios = plan::load(source, area, name, &Builtin).unwrap();
    let select = Select { seed: 7, ..Select::default() };
    scenarios
        .into_iter()
        .flat_map(|scenario| plan::plan(&Arc::new(scenario), &profile, Some("1.0.0"), &select).unwrap())
        .collect()
}

/// The first plan of that scenario.
fn plan_of(id: &str) -> Plan {
    let file = format!("scenarios/{}.toml", id.split('[').next().unwrap());
    let source = library::scenarios().iter().find(|source| source.name == file).unwrap();
    let mut plans = plans(source).into_iter().filter(|planned| planned.key().scenario == id);
    match plans.next().unwrap_or_else(|| panic!("no {id}")) {
        Planned::Run(plan) => *plan,
        Planned::NotApplicable { reason, .. } => panic!("{id}: {reason}"),
    }
}

fn header(plan: &Plan) -> Header {
    let scripts = plan.scenario.servers.iter().filter_map(|server| {
        let name = &server.script.name;
        let (_, source) = embedded::scripts().iter().find(|(known, _)| known == name)?;
        Some((name.clone(), Arc::clone(source)))
    });
    Header {
        hopcheck: "0".to_owned(),
        plan: plan.key.clone(),
        not_applicable: None,
        scenario: Arc::clone(&plan.scenario.source),
        scripts: scripts.collect(),
        profile: Arc::clone(&plan.profile.source),
        host_version: "1.0.0".to_owned(),
        environment: Json::empty(),
    }
}

fn record(plan: &Plan, lie: Lie, options: &StageOptions, sink: Option<&Path>) -> Result<Trace, StageError> {
    Ok(stage::run(plan, header(plan), witness(lie), options, sink)?.trace)
}

fn judge(plan: &Plan, trace: Trace) -> Judged {
    let findings = hopcheck::check::judge(plan, &trace);
    let (outcome, reason) = hopcheck::check::outcome(plan, &trace, &findings);
    Judged { trace, findings, outcome, reason }
}

fn run(id: &str, lie: Lie) -> Judged {
    let plan = plan_of(id);
    judge(&plan, record(&plan, lie, &options(), None).unwrap())
}

impl Judged {
    /// What failed, one line each.
    fn failures(&self) -> String {
        let wrong = self
            .findings
            .iter()
            .filter(|finding| !matches!(finding.verdict.as_str(), "pass" | "trait" | "not-applicable"));
        wrong
            .map(|finding| format!("{} {}: {}\n", finding.verdict, finding.requirement, finding.message))
            .collect()
    }

    /// The verdict on a requirement, the worst where there are several.
    fn verdict(&self, id: &str) -> Option<&'static str> {
        let of = self.findings.iter().filter(|finding| finding.requirement == id);
        let verdicts: Vec<_> = of.map(|finding| finding.verdict.as_str()).collect();
        ["fail", "untestable", "trait", "not-applicable", "pass"].into_iter().find(|word| verdicts.contains(word))
    }
}
