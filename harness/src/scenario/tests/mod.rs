mod tutorial;

use std::sync::Arc;

use super::ast::*;
use super::{Library, parse};
use crate::diagnostic::{Diagnostic, Source, Spanned};
use crate::json::Json;
use crate::revision::{Revision, Transport};
use crate::server::script::{Action, Nth};

/// Two scripts and a handful of requirements.
struct Shelf;

const ORDERS: &str = r#"
pages = { size = 1 }
[[tool]]
name = "lookup_order"
[[tool]]
name = "refund_order"
[[tool]]
name = "create_note"
"#;

impl Library for Shelf {
    fn script(&self, name: &str) -> Option<Arc<Source>> {
        match name {
            "orders" => Some(Source::new("servers/orders.toml", ORDERS)),
            "broken" => Some(Source::new("servers/broken.toml", "[[tool]]\nnam = \"x\"\n")),
            _ => None,
        }
    }
    fn script_names(&self) -> Vec<String> {
        vec!["orders".to_owned(), "broken".to_owned()]
    }
    fn is_requirement(&self, id: &str) -> bool {
        self.requirement_ids().iter().any(|known| known == id)
    }
    fn requirement_ids(&self) -> Vec<String> {
        vec!["hop.order".to_owned(), "hop.wire-name".to_owned()]
    }
}

fn read(text: &str) -> Result<Vec<Scenario>, Vec<Diagnostic>> {
    parse(&Source::new("scenarios/call/t.toml", text), "call", "t", &Shelf)
}

#[track_caller]
fn valid(text: &str) -> Vec<Scenario> {
    read(text).unwrap_or_else(|found| {
        panic!("{}", found.iter().map(Diagnostic::render_plain).collect::<Vec<_>>().join("\n\n"))
    })
}

#[track_caller]
fn titles(text: &str) -> Vec<String> {
    read(text)
        .unwrap_err()
        .into_iter()
        .map(|found| format!("{} {}", found.source.at(&found.span), found.title))
        .collect()
}

fn values<T: Clone>(list: &[Spanned<T>]) -> Vec<T> {
    list.iter().map(|item| item.value.clone()).collect()
}

const FULL: &str = r#"
title = "The wire carries the registered name"
requirements = ["hop.wire-name"]
revisions = ">=2025-06-18"
transports = ["stdio", "http"]
hosts = ["codex"]
needs = ["interrupt", "permissions.ask"]
runs = 2

[server.orders]
script = "orders"
required = true
transport = "http"
info = { name = "o", version = "2" }
instructions = "Confirm."
[[server.orders.tool]]
name = "refund_order"
input_schema = "absent"
[[server.orders.tool]]
name = "a/b"
input_schema = '''{"type": "object", "x": 1.0}'''
[[server.orders.on]]
event = "request"
method = "tools/call"
tool = "a/b"
nth = "2..=3"
do = [{ hold = "slow" }, { raw = { hex = "00 ff" } }]

[permissions]
allow = ["orders/lookup_order", "*/*"]
ask = [{ server = "orders", tool = "a/b" }]
deny = ["orders/*"]

[limits]
call = 1500

[expect]
calls = 3
list_requests = "<=4"
initialize = ">=1"
cancelled = "1..=3"

[[step]]
connect = "all"
spawns = 1
[[step]]
list = "orders"
offers = ["lookup_order"]
hidden = ["create_note"]
alive = 1
[[step]]
call = "orders/lookup_order"
with = { order_id = "A-1042", z = 1.0, a = [0x10, -0.0, 1e2] }
told = { is_error = false, text = ["a", "b"], text_json = { b = 1, a = 2 }, any = [{ text = "x" }, { image = true }] }
[[step]]
deny = "orders/a/b"
with_json = '''{"n": 9007199254740993, "n": null}'''
by = "schema"
outcome = "trait"
[[step]]
together = [
  { call = "orders/lookup_order", with_json = "absent" },
  { ask = "orders/create_note", raw_input = '{"order_id": ', answer = "always" },
]
[[step]]
prompt = "Again."
[[step]]
say = "Done."
[[step]]
stop = "sigterm"
"#;

#[test]
fn reads_every_key() {
    let [scenario] = valid(FULL).try_into().unwrap();
    assert_eq!(scenario.id.to_string(), "call/t");
    assert_eq!(scenario.revisions, Revisions::AtLeast(Revision::V2025_06_18));
    assert_eq!(scenario.transports, [Transport::Stdio, Transport::Http]);
    assert_eq!(values(&scenario.hosts), ["codex"]);
    assert_eq!(values(&scenario.needs), [Feature::Interrupt, Feature::PermissionsAsk]);
    assert_eq!(scenario.runs, 2);
    assert_eq!(scenario.limits, Limits { start: None, call: Some(1500) });
    let ranges: Vec<_> =
        scenario.expect.iter().map(|count| (count.what, count.range.min, count.range.max)).collect();
    assert_eq!(
        ranges,
        [
            (Counted::Calls, 3, 3),
            (Counted::ListRequests, 0, 4),
            (Counted::Initialize, 1, u32::MAX),
            (Counted::Cancelled, 1, 3)
        ]
    );
    let Permissions::Rules(rules) = &scenario.permissions else { panic!("no rules") };
    let shown = |list: &[Spanned<ToolPattern>]| list.iter().map(|rule| rule.value.to_string()).collect::<Vec<_>>();
    assert_eq!(shown(&rules.allow), ["orders/lookup_order", "*/*"]);
    assert_eq!(shown(&rules.ask), ["orders/a/b"]);
    assert_eq!(shown(&rules.deny), ["orders/*"]);
    assert_eq!(scenario.steps.len(), 8);
}

#[test]
fn lays_server_keys_over_the_script() {
    let [scenario] = valid(FULL).try_into().unwrap();
    let server = &scenario.servers[0];
    assert_eq!(server.transport, Some(Transport::Http));
    let script = &server.script;
    assert_eq!(script.name, "orders");
    assert_eq!(script.info.to_string(), r#"{"name":"o","version":"2"}"#);
    assert_eq!(script.pages.size, Some(1));
    let names: Vec<_> = script.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["lookup_order", "refund_order", "create_note", "a/b"]);
    assert_eq!(script.tools[1].input_schema, None);
    assert_eq!(script.tools[0].input_schema, Some(Json::object([("type", "object")])));
    assert_eq!(script.on[0].nth, Nth::Range(2, 3));
    assert_eq!(script.on[0].actions, [Action::Hold("slow".to_owned()), Action::Raw(vec![0, 255])]);
}

#[test]
fn reads_steps_with_exact_payloads() {
    let [scenario] = valid(FULL).try_into().unwrap();
    let uses = |at: usize| match &scenario.steps[at].verb {
        Verb::Uses { uses, .. } => uses.clone(),
        other => panic!("{other:?}"),
    };
    let call = &uses(2)[0];
    let Input::Json(input) = &call.input else { panic!("{call:?}") };
    assert_eq!(input.to_string(), r#"{"order_id":"A-1042","z":1.0,"a":[16,-0.0,1e2]}"#);
    let told = call.told.as_ref().unwrap();
    assert_eq!(values(&told.text), ["a", "b"]);
    assert_eq!(told.text_json.as_ref().unwrap().value.to_string(), r#"{"b":1,"a":2}"#);
    assert_eq!(told.any.len(), 2);
    let deny = &uses(3)[0];
    assert_eq!(deny.tool.tool, "a/b");
    assert_eq!(deny.kind, UseKind::Deny { by: Some(DenyBy::Schema) });
    assert_eq!(scenario.steps[3].outcome, Outcome::Trait);
    let Input::Json(input) = &deny.input else { panic!("{deny:?}") };
    assert_eq!(input.to_string(), r#"{"n":9007199254740993,"n":null}"#);
    let together = uses(4);
    assert_eq!(together[0].input, Input::Absent);
    assert_eq!(together[1].input, Input::Raw("{\"order_id\": ".to_owned()));
    assert_eq!(together[1].kind, UseKind::Ask { answer: Answer::Always });
    assert!(matches!(&scenario.steps[7].verb, Verb::Stop(stop) if stop.value == Stop::Sigterm));
}

#[test]
fn defaults_are_those_of_the_format() {
    let [scenario] = valid("title = \"x\"\n[[step]]\nsay = \"y\"\n").try_into().unwrap();
    assert_eq!(scenario.revisions, Revisions::Eras);
    assert_eq!(scenario.runs, 1);
    assert!(matches!(scenario.permissions, Permissions::Implied));
    let [none] = valid("title = \"x\"\npermissions = \"none\"\n[[step]]\nsay = \"y\"\n").try_into().unwrap();
    assert!(matches!(none.permissions, Permissions::None));
}

const CASES: &str = r#"
title = "x"
[server.orders]
script = "orders"
[[step]]
call = "orders/lookup_order"
told = { text = "a" }
[[step]]
say = "y"
[[case]]
name = "stuck"
unset = ["step.0.told.text"]
set.server.orders.pages.cursors = ["same", "same"]
set.step.0.told.is_error = true
set.expect.list_requests = "<=4"
[[case]]
name = "other"
set.revisions = "all"
"#;

#[test]
fn cases_change_the_tree() {
    let [stuck, other] = valid(CASES).try_into().unwrap();
    assert_eq!(stuck.id.to_string(), "call/t[stuck]");
    assert_eq!(stuck.servers[0].script.pages.cursors, ["same", "same"]);
    assert_eq!(stuck.servers[0].script.pages.size, Some(1));
    // The finding of this count points at the line of the case.
    assert_eq!(stuck.source.position(stuck.expect[0].span.start).0, 15);
    let Verb::Uses { uses, .. } = &stuck.steps[0].verb else { panic!("{:?}", stuck.steps[0]) };
    let told = uses[0].told.as_ref().unwrap();
    assert!(told.text.is_empty());
    assert_eq!(told.is_error.as_ref().map(|flag| flag.value), Some(true));
    assert_eq!(other.revisions, Revisions::All);
    assert!(other.servers[0].script.pages.cursors.is_empty());
}

#[test]
fn all_mistakes_come_at_once_and_each_once() {
    let text = "title = \"x\"\nrequirments = []\n[[step]]\ncal = \"orders/lookup_order\"\n";
    assert_eq!(
        titles(text),
        ["scenarios/call/t.toml:2:1 unknown key `requirments`", "scenarios/call/t.toml:4:1 unknown key `cal`"]
    );
    let with_cases = format!("{text}[[case]]\nname = \"a\"\n[[case]]\nname = \"b\"\n");
    assert_eq!(titles(&with_cases).len(), 2);
}

#[test]
fn mistakes_of_a_script_point_into_the_script() {
    let text = "title = \"x\"\n[server.a]\nscript = \"broken\"\n[[step]]\ncall = \"a/anything\"\n";
    assert_eq!(titles(text), ["servers/broken.toml:2:1 unknown key `nam`"]);
}
