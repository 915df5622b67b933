use super::*;
use crate::model::{Ours, Prompts, rules};

/// A conversation that breaks no rule.
fn good(name: ApiName) -> Json {
    let plan = plan(name);
    let ids = [0, 1].map(|index| api(name).use_id(42, 1, index));
    let blocks = ids.clone().map(|id| Block::ToolUse {
        id,
        published: plan.uses[0].by_rule.clone(),
        input: "{}".to_owned(),
    });
    let model = Reply { id: "1_turn0".to_owned(), blocks: blocks.to_vec() };
    let mut said = vec![Said::User(plan.prompts[0].clone()), Said::Model(model)];
    said.extend(ids.map(|id| Said::Told(id, "a result")));
    said.push(Said::User("Go on.".to_owned()));
    body(name, &said, tools(name))
}

/// For each rule one change of the good request that breaks it, as pointer, and what stands there instead. `null` takes
/// the member or item away, `twice` doubles the item.
const BREAKS: &[(&str, &str, &str)] = &[
    ("anthropic.model", "/model", "null"),
    ("anthropic.max-tokens", "/max_tokens", "null"),
    ("anthropic.first-message", "/messages/0", "null"),
    ("anthropic.role", "/messages/0/role", r#""tool""#),
    ("anthropic.empty-text", "/messages/4/content", r#"[{"type":"text","text":""}]"#),
    ("anthropic.tool-name", "/tools/1/name", r#""mcp.orders""#),
    ("anthropic.tool-name-unique", "/tools/1", "twice"),
    ("anthropic.schema-object", "/tools/1/input_schema/type", "null"),
    ("anthropic.schema-root-union", "/tools/1/input_schema", r#"{"type":"object","anyOf":[]}"#),
    ("anthropic.schema-property-name", "/tools/1/input_schema/properties", r#"{"filter[id]":{}}"#),
    ("anthropic.result-for-use", "/messages/3", "null"),
    ("anthropic.use-for-result", "/messages/3/content/0/tool_use_id", r#""toolu_unknown""#),
    ("anthropic.result-once", "/messages/3", "twice"),
    ("anthropic.result-first", "/messages/2/content", r#""A text before the last result.""#),
    (
        "anthropic.tool-reference",
        "/messages/3/content/0/content",
        r#"[{"type":"tool_reference","tool_name":"mcp__orders__unknown"}]"#,
    ),
    ("anthropic.use-id-unique", "/messages/1/content/0", "twice"),
    ("anthropic.use-input", "/messages/1/content/0/input", "[1]"),
    ("openai.model", "/model", "null"),
    ("openai.tool-name", "/tools/1/tools/0/name", r#""lookup order""#),
    ("openai.tool-name-unique", "/tools/1/tools/0", "twice"),
    ("openai.parameters-object", "/tools/1/tools/0/parameters/type", "null"),
    ("openai.parameters-properties", "/tools/1/tools/0/parameters", r#"{"type":"object"}"#),
    (
        "openai.parameters-root-union",
        "/tools/1/tools/0/parameters",
        r#"{"type":"object","properties":{},"not":{}}"#,
    ),
    ("openai.array-items", "/tools/1/tools/0/parameters/properties/order_id", r#"{"type":["array","null"]}"#),
    (
        "openai.pattern-lookaround",
        "/tools/1/tools/0/parameters/properties/order_id",
        r#"{"anyOf":[{"type":"string","pattern":"^(?!null$)"}]}"#,
    ),
    ("openai.output-for-call", "/input/5", "null"),
    ("openai.call-for-output", "/input/5/call_id", r#""call_unknown""#),
    ("openai.output-once", "/input/5", "twice"),
    ("openai.call-id-unique", "/input/2", "twice"),
    ("openai.arguments", "/input/2/arguments", "{}"),
    ("openai.output", "/input/5/output", "null"),
    ("openai.role", "/input/0/role", r#""tool""#),
    ("openai.content-type", "/input/1/content/0/type", r#""output_text""#),
];

fn change(value: &mut Json, pointer: &str, to: &str) {
    let (parent, last) = pointer.rsplit_once('/').unwrap();
    let parent = parent.split('/').skip(1).fold(value, |value, key| match value {
        Json::Array(items) => &mut items[key.parse::<usize>().unwrap()],
        Json::Object(members) => &mut members.iter_mut().find(|(name, _)| name == key).unwrap().1,
        other => panic!("{pointer}: {other}"),
    });
    match (parent, to) {
        (Json::Array(items), "null") => drop(items.remove(last.parse().unwrap())),
        (Json::Array(items), "twice") => {
            let at = last.parse().unwrap();
            items.insert(at, items[at].clone());
        }
        (Json::Object(members), "null") => members.retain(|(name, _)| name != last),
        (parent, to) => parent.set(last, json(to)),
    }
}

#[track_caller]
fn broken(name: ApiName, body: &Json) -> Vec<&'static str> {
    api(name).violations(body).into_iter().map(|violation| violation.rule).collect()
}

#[test]
fn a_correct_request_breaks_no_rule_whole_or_reduced() {
    for name in ApiName::ALL {
        let body = good(name);
        assert_eq!(api(name).violations(&body), [], "{body}");
        let plan = plan(name);
        assert_eq!(api(name).violations(&api(name).reduce(&body, &Ours::of(&plan).keep(Prompts::Reduce))), []);
    }
}

#[test]
fn each_rule_is_broken_by_its_request_whole_and_reduced() {
    for (rule, pointer, to) in BREAKS {
        let name = match rule.split_once('.') {
            Some(("anthropic", _)) => ApiName::AnthropicMessages,
            _ => ApiName::OpenaiResponses,
        };
        let mut body = good(name);
        change(&mut body, pointer, to);
        assert!(broken(name, &body).contains(rule), "{rule}: {:?}", api(name).violations(&body));
        let plan = plan(name);
        let reduced = api(name).reduce(&body, &Ours::of(&plan).keep(Prompts::Reduce));
        assert_eq!(api(name).violations(&reduced), api(name).violations(&body), "{rule}");
    }
}

#[test]
fn each_rule_has_a_breaking_request_and_a_source() {
    for name in ApiName::ALL {
        assert!(rules(name).len() >= 8);
        for rule in rules(name) {
            assert_eq!(rule.api, name, "{}", rule.id);
            assert!(rule.source.len() > 20, "{}", rule.id);
            assert_eq!(BREAKS.iter().filter(|(id, ..)| *id == rule.id).count(), 1, "{}", rule.id);
        }
    }
}

#[test]
fn what_real_hosts_send_is_no_violation() {
    let messages = [
        // A system message between a result and what follows, and consecutive messages of one role.
        r#"{"model":"m","max_tokens":0,"messages":[
            {"role":"user","content":"a"},{"role":"system","content":"b"},{"role":"user","content":"c"},
            {"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"x","input":{}}]},
            {"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1"}]},
            {"role":"system","content":"d"}]}"#,
        // A tool that the provider runs has no schema.
        r#"{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"a"}],
            "tools":[{"type":"web_search_20250305","name":"web_search"}]}"#,
    ];
    for body in messages {
        assert_eq!(api(ApiName::AnthropicMessages).violations(&json(body)), [], "{body}");
    }
    let responses = [
        r#"{"model":"m","input":"just text","tools":[{"type":"web_search"},{"type":"function","name":"f","parameters":null}]}"#,
        // The call is in the stored response.
        r#"{"model":"m","previous_response_id":"resp_1","input":[
            {"type":"function_call_output","call_id":"call_1","output":""}]}"#,
        // One name in two namespaces, and beside them.
        r#"{"model":"m","input":[],"tools":[{"type":"function","name":"f"},
            {"type":"namespace","name":"a","tools":[{"type":"function","name":"f"}]},
            {"type":"namespace","name":"b","tools":[{"type":"function","name":"f"}]}]}"#,
    ];
    for body in responses {
        assert_eq!(api(ApiName::OpenaiResponses).violations(&json(body)), [], "{body}");
    }
}
