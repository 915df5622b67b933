use super::parse;
use crate::diagnostic::{Diagnostic, Source};
use crate::json::Json;
use crate::server::script::{Action, Body, Describe, Nth, On, RpcError, Scope, Script};

#[track_caller]
fn valid(text: &str) -> Script {
    parse(&Source::new("servers/orders.toml", text)).unwrap_or_else(|found| {
        panic!("{}", found.iter().map(Diagnostic::render_plain).collect::<Vec<_>>().join("\n\n"))
    })
}

const ORDERS: &str = r#"
info = { name = "orders", version = "1.0.0" }
capabilities = '''{"tools": {"listChanged": true}}'''
pages = { size = 1, cursors = ["", "ä/+=", "Zg=="] }

[[tool]]
name = "lookup_order"
description = "Look up an order by ID. Confirm before any refund."
describe = "verbatim"
input_schema = '''{"type":"object","properties":{"order_id":{"type":"string","pattern":"^[A-Z]-\\d{4}$"}}}'''
output_schema = { type = "object" }
annotations = { readOnlyHint = true }
meta = { "x/y" = 1 }
[[tool.reply]]
when = { order_id = "A-1042" }
result = '''{"content":[{"type":"text","text":"{\"order_id\":\"A-1042\",\"status\":\"paid\"}"}],"isError":false}'''
[[tool.reply]]
error = { code = -32602, message = "no order {{ marker }}", data = [1.0] }

[[tool]]
name = "bare"
input_schema = "absent"

[[on]]
event = "request"
method = "tools/call"
tool = "lookup_order"
nth = 2
scope = "run"
do = [
  { reply = '{"content":[]}' }, { error = { code = 1, message = "no" } }, { raw = "x\n" }, { raw = { hex = "C3 28" } },
  { notify = { method = "notifications/tools/list_changed" } }, { request = { method = "ping", params = {} } },
  { stderr = "bye" }, { hold = "slow" }, { release = "slow" }, { silence = true }, { duplicate = 2 }, { id = '"x"' },
  { exit = 1 }, { kill = "SIGKILL" }, { close_stdout = true }, { delay = 5 }, { ignore = true },
]
[[on]]
event = "eof"
nth = [1, 3]
do = [{ ignore = true }]
"#;

#[test]
fn reads_tools_and_replies() {
    let script = valid(ORDERS);
    assert_eq!(script.name, "orders");
    assert_eq!(script.capabilities.to_string(), r#"{"tools":{"listChanged":true}}"#);
    assert_eq!(script.pages.size, Some(1));
    assert_eq!(script.pages.cursors, ["", "ä/+=", "Zg=="]);
    let [lookup, bare] = script.tools.as_slice() else { panic!("{:?}", script.tools) };
    assert_eq!(lookup.describe, Describe::Verbatim);
    assert_eq!(lookup.annotations, Some(Json::object([("readOnlyHint", true)])));
    assert_eq!(lookup.meta.as_ref().map(Json::to_string).as_deref(), Some(r#"{"x/y":1}"#));
    assert_eq!(lookup.replies[0].when, Some(Json::object([("order_id", "A-1042")])));
    assert!(
        matches!(&lookup.replies[0].body, Body::Result(result) if result.get("isError") == Some(&false.into()))
    );
    let error = RpcError {
        code: -32602,
        message: "no order {{ marker }}".to_owned(),
        data: Some(Json::parse("[1.0]").unwrap()),
    };
    assert_eq!(lookup.replies[1].body, Body::Error(error));
    assert_eq!((bare.describe, bare.input_schema.clone()), (Describe::Marked, None));
}

#[test]
fn reads_every_action() {
    let script = valid(ORDERS);
    let rule = &script.on[0];
    assert_eq!((rule.event, rule.nth.clone(), rule.scope), (On::Request, Nth::These(vec![2]), Scope::Run));
    assert_eq!(rule.actions.len(), 17);
    assert_eq!(rule.actions[3], Action::Raw(vec![0xc3, 0x28]));
    assert_eq!(rule.actions[11], Action::Id("x".into()));
    assert_eq!(script.on[1].nth, Nth::These(vec![1, 3]));
}

#[test]
fn an_empty_script_offers_nothing() {
    let script = valid("");
    assert_eq!(script.info.to_string(), r#"{"name":"orders","version":"1.0.0"}"#);
    assert_eq!(script.capabilities.to_string(), r#"{"tools":{}}"#);
    assert!(script.tools.is_empty() && script.on.is_empty());
}
