//! Conversations with a scripted server.

mod changes;
mod handshake;
mod modern;
mod properties;
mod rules;
mod serve;
mod tools;

use super::script::{Action, Body, Describe, Nth, On, Pages, Reply, RpcError, Rule, Scope, Script, Tool};
use super::{Act, Cause, Server};
use crate::json::{Json, NumberModel};
use crate::revision::Revision;
use crate::rpc;

/// The `_meta` that a modern request carries.
const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
/// The `_meta` that a modern result carries.
const FROM: &str = r#""_meta":{"io.modelcontextprotocol/serverInfo":{"name":"orders","version":"1.0.0"}}"#;
const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"host","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

fn json(text: &str) -> Json {
    Json::parse(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// A tool that says nothing about itself.
fn tool(name: &str) -> Tool {
    Tool {
        name: name.to_owned(),
        title: None,
        description: None,
        describe: Describe::Marked,
        input_schema: Some(json(r#"{"type":"object"}"#)),
        output_schema: None,
        annotations: None,
        meta: None,
        replies: Vec::new(),
    }
}

fn reply(when: Option<&str>, result: &str) -> Reply {
    Reply { when: when.map(json), body: Body::Result(json(result)) }
}

/// A server of three tools without replies.
fn orders() -> Script {
    Script {
        name: "orders".to_owned(),
        info: json(r#"{"name":"orders","version":"1.0.0"}"#),
        capabilities: json(r#"{"tools":{"listChanged":true}}"#),
        instructions: None,
        pages: Pages::default(),
        tools: ["lookup_order", "create_note", "refund_order"].map(tool).to_vec(),
        on: Vec::new(),
        generations: Vec::new(),
    }
}

/// A rule for every occurrence, per connection.
fn rule(event: On, actions: impl Into<Vec<Action>>) -> Rule {
    Rule {
        span: 0..0,
        event,
        method: None,
        tool: None,
        nth: Nth::Every,
        scope: Scope::Connection,
        actions: actions.into(),
    }
}

/// A rule for the calls of a tool.
fn on_call(tool: &str, actions: impl Into<Vec<Action>>) -> Rule {
    Rule { method: Some("tools/call".to_owned()), tool: Some(tool.to_owned()), ..rule(On::Request, actions) }
}

fn error(code: i64, message: &str) -> RpcError {
    RpcError { code, message: message.to_owned(), data: None }
}

fn notify(method: &str) -> Action {
    Action::Notify { method: method.to_owned(), params: None }
}

fn server(script: Script, revision: Revision) -> Server {
    let words = script.tools.iter().map(|tool| (tool.name.clone(), format!("w-{}", tool.name))).collect();
    Server::new("orders", script, revision, words, 7)
}

/// A server with connection 1 open and past the handshake.
fn ready(script: Script, revision: Revision) -> Server {
    let mut server = server(script, revision);
    server.open(1);
    server.line(1, INITIALIZE.as_bytes());
    server.line(1, INITIALIZED.as_bytes());
    server
}

/// A `tools/call` of either era.
fn call(revision: Revision, id: u32, tool: &str) -> String {
    let meta = if revision == Revision::V2026_07_28 { format!("{META},") } else { String::new() };
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{{meta}"name":"{tool}"}}}}"#)
}

/// The acts in short: `Send` as its text, everything else as its debug text.
fn show(acts: &[Act]) -> Vec<String> {
    let show = |act: &Act| match act {
        Act::Send { line, .. } => String::from_utf8(line.clone()).unwrap(),
        other => format!("{other:?}"),
    };
    acts.iter().map(show).collect()
}

/// Parses every message and checks its envelope.
#[track_caller]
fn sent(revision: Revision, acts: &[Act]) -> Vec<Json> {
    let lines = acts.iter().filter_map(|act| match act {
        Act::Send { line, .. } => Some(line),
        _ => None,
    });
    lines.map(|line| envelope(revision, line)).collect()
}

/// A message of ours is valid in all that a schema would look at first.
#[track_caller]
fn envelope(revision: Revision, line: &[u8]) -> Json {
    assert!(!line.contains(&b'\n'), "a message holds a newline");
    let message = Json::parse(line).unwrap();
    // JSON-RPC wants the id `null` here, and the older schemas have no form for it at all.
    let unread = revision < Revision::V2025_11_25
        && message.get("error").is_some()
        && message.get("id") == Some(&Json::Null);
    if !unread {
        assert_eq!(rpc::violations(line), Vec::<String>::new(), "{message}");
    }
    if let Some(result) = message.get("result") {
        let modern = revision == Revision::V2026_07_28;
        assert_eq!(result.get("resultType").is_some(), modern, "{message}");
        assert_eq!(result.at(&["_meta", "io.modelcontextprotocol/serverInfo"]).is_some(), modern, "{message}");
    }
    message
}

/// Whether a message is as expected: `"*"` stands for any value, `<marker>` in a string for a marker.
fn matches(expected: &Json, actual: &Json) -> bool {
    match (expected, actual) {
        (Json::String(text), _) if *text == "*" => true,
        (Json::String(text), Json::String(actual)) => match (text.as_str(), actual.as_str()) {
            (Some(text), Some(actual)) => match text.split_once("<marker>") {
                Some((before, after)) => {
                    let word = actual.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
                    word.is_some_and(|word| word.len() == 12 && word.starts_with("hcm-"))
                }
                None => text == actual,
            },
            _ => text == actual,
        },
        (Json::Array(a), Json::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| matches(a, b)),
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(key, a)| b.iter().find(|(name, _)| name == key).is_some_and(|(_, b)| matches(a, b)))
        }
        (a, b) => a.equals(b, NumberModel::Decimal),
    }
}

/// Plays a conversation: what the host writes, and the messages that answer each line, in order.
#[track_caller]
fn check(server: &mut Server, conversation: &[(&str, &[&str])]) {
    let revision = server.offer.revision;
    for (line, expected) in conversation {
        let actual = sent(revision, &server.line(1, line.as_bytes()));
        let same = actual.len() == expected.len()
            && expected.iter().zip(&actual).all(|(expected, actual)| matches(&json(expected), actual));
        let actual: Vec<String> = actual.iter().map(Json::to_string).collect();
        assert!(same, "{revision}\n       in {line}\n expected {expected:#?}\n   actual {actual:#?}");
    }
}

/// The text of the first content block of a result.
fn text_of(message: &Json) -> String {
    message.pointer("/result/content/0/text").and_then(Json::as_str).unwrap_or_default().to_owned()
}

fn cause_of(act: &Act) -> Option<&Json> {
    match act {
        Act::Send { cause: Cause::Request { id }, .. } => Some(id),
        _ => None,
    }
}
