//! The stage with fake hosts: this test program, started again to play one.

pub(crate) mod ends;
pub(crate) mod fake;
mod idle;
mod order;
mod relay;
mod survivors;
mod whole;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use hopcheck::diagnostic::Source;
use hopcheck::json::Json;
use hopcheck::plan::{self, Plan, Planned, Select, SelectRevisions};
use hopcheck::revision::Revision;
use hopcheck::stage::{Deadlines, Isolate, StageError, StageOptions, Staged};
use hopcheck::trace::Header;
use hopcheck::trace::event::{Event, Kind};
use hopcheck::{host, scenario};

/// One server with one tool.
const SCRIPT: &str = r#"
[[tool]]
name = "lookup_order"
input_schema = '''{"type":"object"}'''
"#;

/// What the profiles of all hosts here have in common: the model API, the names and the claims.
const COMMON: &str = r#"
[model]
api = "anthropic-messages"
surface = "flat"

[names]
flat = "mcp__{{ server }}__{{ tool }}"
namespace = "mcp__{{ server }}"
replace = '[^A-Za-z0-9_-]'
max = 128

[claims]
dialect = "plain"
schema_gate = false
arguments = "exact"

[[claims.wire]]
transport = "stdio"
revisions = ["2025-11-25"]
"#;

/// A profile, of what stands above its tables and what a host has of its own below.
pub(crate) fn profile(top: &str, tables: &str) -> String {
    [top, COMMON, tables].concat()
}

const TOP: &str = r#"
name = "fake"
title = "Fake host"
bin = { names = ["fake"] }
version = { args = [], pattern = '(.*)' }
"#;

const TABLES: &str = r#"
[[drive]]
kind = "DRIVE"
argv = ["{{ bin }}", "--exact", "stage::fake::host", "--nocapture"]
env = { HOME = "{{ home }}", PATH = "{{ path }}", HOPCHECK_FAKE = "PART" }
features = ["permissions.allow", "permissions.deny", "permissions.ask", "prompts"]

[[file]]
path = "{{ home }}/config.json"
template = '''{"url": {{ model.base_url | json }}, "prompt": {{ prompt | json }}, "rules": {{ rules | json }},
"servers": { {%- for server in servers %}{{ server.key | json }}: {"command": {{ server.command | json }},
"args": {{ server.args | json }}, "env": {{ server.env | json }} }{% if not loop.last %},{% endif %}{% endfor -%} } }'''
"#;

/// A conversation with one call.
pub(crate) const CALL: &str = r#"
title = "One call"
[server.orders]
script = "orders"
[[step]]
call = "orders/lookup_order"
with = { order_id = "A-1" }
[[step]]
say = "Done."
"#;

struct Shelf;

impl scenario::Library for Shelf {
    fn script(&self, name: &str) -> Option<Arc<Source>> {
        Some(Source::new(format!("{name}.toml"), SCRIPT))
    }

    fn script_names(&self) -> Vec<String> {
        vec!["orders".to_owned()]
    }

    fn is_requirement(&self, _id: &str) -> bool {
        true
    }

    fn requirement_ids(&self) -> Vec<String> {
        Vec::new()
    }
}

pub(crate) fn plan_of(part: &str, drive: &str, scenario: &str) -> Plan {
    let profile = profile(TOP, &TABLES.replace("PART", part).replace("DRIVE", drive));
    let profile = Arc::new(host::decode::parse(&Source::new("fake.toml", profile), None, None).unwrap());
    let scenario = plan::load(&Source::new("t.toml", scenario), "area", "t", &Shelf).unwrap().remove(0);
    let select = Select { revisions: SelectRevisions::One(Revision::V2025_11_25), transport: None, seed: 7 };
    match plan::plan(&Arc::new(scenario), &profile, None, &select).unwrap().remove(0) {
        Planned::Run(plan) => *plan,
        Planned::NotApplicable { reason, .. } => panic!("{reason}"),
    }
}

pub(crate) fn header(plan: &Plan) -> Header {
    Header {
        hopcheck: "0".to_owned(),
        plan: plan.key.clone(),
        not_applicable: None,
        scenario: Arc::clone(&plan.scenario.source),
        scripts: vec![("orders".to_owned(), Source::new("orders.toml", SCRIPT))],
        profile: Arc::clone(&plan.profile.source),
        host_version: String::new(),
        environment: Json::empty(),
    }
}

pub(crate) fn program() -> PathBuf {
    PathBuf::from(env!("CARGO_BIN_EXE_hopcheck"))
}

pub(crate) fn options() -> StageOptions {
    StageOptions { isolate: Isolate::No, ..StageOptions::new(program()) }
}

/// Deadlines that a hanging host runs into soon. Only for hosts that hang: they make no difference to others.
pub(crate) fn impatient() -> StageOptions {
    let soon = Some(Duration::from_millis(300));
    StageOptions {
        deadlines: Deadlines { start: soon, progress: soon, shutdown: soon, ..Deadlines::default() },
        ..options()
    }
}

pub(crate) fn try_run(plan: &Plan, options: &StageOptions) -> Result<Staged, StageError> {
    let bin = [std::env::current_exe().unwrap().to_string_lossy().into_owned()];
    hopcheck::stage::run(plan, header(plan), &bin, options, None)
}

pub(crate) fn run(part: &str, options: &StageOptions) -> Vec<Event> {
    try_run(&plan_of(part, "headless", CALL), options).unwrap().trace.events
}

pub(crate) fn of(events: &[Event], kind: Kind) -> Vec<&Event> {
    events.iter().filter(|event| event.kind == kind).collect()
}

/// The only event of that kind.
#[track_caller]
pub(crate) fn one(events: &[Event], kind: Kind) -> &Event {
    let found = of(events, kind);
    assert_eq!(found.len(), 1, "{kind:?} in {}", shown(events));
    found[0]
}

/// How the run ended.
#[track_caller]
pub(crate) fn reason(events: &[Event]) -> &str {
    one(events, Kind::RunEnd).data.str("reason").unwrap()
}

/// The events as lines, for messages.
pub(crate) fn shown(events: &[Event]) -> String {
    let lines = events.iter().map(|event| {
        let line = hopcheck::trace::file::write_event(event);
        line.chars().take(400).collect::<String>()
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Whether a process is there and is no zombie.
pub(crate) fn lives(pid: i64) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}
