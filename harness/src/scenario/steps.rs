//! `[[step]]`: verbs, tool uses and what the model is told.

use super::ast::{Answer, Input, Outcome, Step, Told, Use, UseKind, Verb};
use super::during;
use super::keys;
use super::refs::Names;
use crate::decode::{Member, Reporter, Value, payload};
use crate::json::Json;

/// One step; nothing where it was reported.
pub(super) fn read(table: &Value, names: &Names, out: &mut Reporter) -> Option<Step> {
    let verbs = keys::STEP.choice.as_ref()?.keys;
    let member = table.members().iter().find(|member| verbs.contains(&member.key.value.as_str()))?;
    Some(Step {
        span: member.key.span.clone(),
        verb: verb(member, table, names, out)?,
        outcome: table.get("outcome").and_then(|word| word.pick(&keys::OUTCOMES)).unwrap_or(Outcome::Assert),
    })
}

fn verb(member: &Member, table: &Value, names: &Names, out: &mut Reporter) -> Option<Verb> {
    let value = &member.value;
    let number = |key: &str| table.get(key).and_then(|value| Some(value.spanned(value.as_integer()?)));
    match member.key.value.as_str() {
        "connect" => Some(Verb::Connect { servers: servers(value, names, out), spawns: number("spawns") }),
        "list" => {
            let server = value.spanned_str()?;
            names.check_server(&server, out);
            let tools = |key: &str, out: &mut Reporter| {
                let tools = table.get(key).map(Value::spanned_strings).unwrap_or_default();
                tools.iter().for_each(|tool| names.check_tool(&server.value, tool, out));
                tools
            };
            let (offers, hidden) = (tools("offers", out), tools("hidden", out));
            let listens = table.get("listens").and_then(|value| Some(value.spanned(value.as_bool()?)));
            Some(Verb::List { server, offers, hidden, alive: number("alive"), listens })
        }
        "call" | "deny" | "ask" => {
            let uses = tool_use(member, table, names, out).into_iter().collect();
            in_one_turn(uses, table, names, out)
        }
        "change" => Some(Verb::Change(during::change(value, table, names, out)?)),
        "together" => {
            let uses = value.items().iter().filter_map(|item| {
                let verb = item
                    .members()
                    .iter()
                    .find(|member| matches!(member.key.value.as_str(), "call" | "deny" | "ask"))?;
                tool_use(verb, item, names, out)
            });
            let uses = uses.collect();
            in_one_turn(uses, table, names, out)
        }
        "prompt" => Some(Verb::Prompt(value.spanned_str()?)),
        "say" => Some(Verb::Say(value.spanned_str()?)),
        "stop" => Some(Verb::Stop(value.spanned(value.pick(&keys::STOPS)?))),
        _ => None,
    }
}

/// Tool uses of one turn, with what is done while they are in flight; nothing where all uses were reported.
fn in_one_turn(uses: Vec<Use>, step: &Value, names: &Names, out: &mut Reporter) -> Option<Verb> {
    let during = during::acts(step, names, out);
    during::check_record(step, &uses, &during, out);
    let record = step.get("record").and_then(|word| word.pick(&keys::RECORDS));
    (!uses.is_empty()).then(|| Verb::Uses { uses, during, settle: during::settle(step), record })
}

/// The servers of `connect`; none for `all`.
fn servers(value: &Value, names: &Names, out: &mut Reporter) -> Vec<crate::diagnostic::Spanned<String>> {
    if value.as_str() == Some("all") {
        return Vec::new();
    }
    let servers = value.spanned_strings();
    if value.as_str().is_none() && value.items().is_empty() {
        out.error(value.span.clone(), "`connect` names no server")
            .label("nothing here")
            .help("write a server's key, a list of them, or `all`");
    }
    for server in servers.iter().filter(|server| !server.value.is_empty()) {
        names.check_server(server, out);
    }
    servers
}

fn tool_use(verb: &Member, table: &Value, names: &Names, out: &mut Reporter) -> Option<Use> {
    let tool = names.tool(&verb.value, out);
    let input = input(table, out);
    let kind = match verb.key.value.as_str() {
        "deny" => UseKind::Deny { by: table.get("by").and_then(|word| word.pick(&keys::GATES)) },
        "ask" => UseKind::Ask {
            answer: table.get("answer").and_then(|word| word.pick(&keys::ANSWERS)).unwrap_or(Answer::Allow),
        },
        _ => UseKind::Call,
    };
    Some(Use { span: verb.key.span.clone(), tool: tool?, kind, input, told: table.get("told").map(told) })
}

/// The arguments: one of three keys, or the empty object.
fn input(table: &Value, out: &mut Reporter) -> Input {
    let mut given =
        ["with", "with_json", "raw_input"].into_iter().filter_map(|key| table.member(key)).collect::<Vec<_>>();
    given.sort_by_key(|member| member.key.span.start);
    if let [first, rest @ ..] = given.as_slice() {
        for member in rest {
            out.error(member.key.span.clone(), format!("`{}` beside `{}`", member.key.value, first.key.value))
                .label("the arguments are given twice")
                .help("keep one of `with`, `with_json`, `raw_input`");
        }
    }
    let Some(member) = given.first() else { return Input::Json(Json::empty()) };
    let value = &member.value;
    match (member.key.value.as_str(), value.as_str()) {
        ("raw_input", Some(text)) => Input::Raw(text.to_owned()),
        ("with_json", Some("absent")) => Input::Absent,
        _ => Input::Json(payload::json(value).unwrap_or(Json::empty())),
    }
}

fn told(table: &Value) -> Told {
    let bool = |key: &str| table.get(key).and_then(|value| Some(value.spanned(value.as_bool()?)));
    Told {
        span: table.span.clone(),
        is_error: bool("is_error"),
        text: table.get("text").map(Value::spanned_strings).unwrap_or_default(),
        text_json: table.get("text_json").and_then(|value| Some(value.spanned(payload::json(value)?))),
        image: bool("image"),
        before: table.get("before").and_then(|word| Some(word.spanned(word.pick(&keys::BOUNDS)?))),
        any: table.list("any").iter().map(told).collect(),
    }
}
