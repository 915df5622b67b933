//! What the Responses API refuses.

use std::collections::HashSet;

use crate::host::profile::ApiName;
use crate::json::Json;

use super::super::hash::stands_for;
use super::super::reduce::is_reduced_entry;
use super::super::strict::{Rule, has_type, is_name, repeated, root_keywords, walk_schema};

const fn rule(id: &'static str, source: &'static str, check: fn(&Json) -> Vec<String>) -> Rule {
    Rule { id, api: ApiName::OpenaiResponses, source, check }
}

/// The rules.
pub(in super::super) static RULES: &[Rule] = &[
    rule("openai.model", "refusal: \"Missing required parameter: 'model'.\"", model),
    rule(
        "openai.tool-name",
        "refusals: \"Invalid 'tools[N].name': string does not match pattern '^[a-zA-Z0-9_-]+$'\", \"Invalid 'input[N].name': \
         string too long. Expected a string with maximum length 128\"; the guide Function calling says 64",
        tool_name,
    ),
    rule(
        "openai.tool-name-unique",
        "guide Function calling: a function is called by its name, and by its namespace where it has one",
        tool_name_unique,
    ),
    rule(
        "openai.parameters-object",
        "refusal: \"Invalid schema for function: schema must be a JSON Schema of 'type: \\\"object\\\"'\"",
        parameters_object,
    ),
    rule(
        "openai.parameters-properties",
        "refusal: \"Invalid schema for function: In context=(), object schema missing properties.\"",
        parameters_properties,
    ),
    rule(
        "openai.parameters-root-union",
        "refusal: \"Invalid schema for function: schema must have type 'object' and not have \
         'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.\"",
        parameters_root_union,
    ),
    rule(
        "openai.array-items",
        "refusal: \"Invalid schema for function: In context=('properties', ...), array schema missing items.\"",
        array_items,
    ),
    rule(
        "openai.pattern-lookaround",
        "refusal: \"Invalid JSON schema: regex lookaround is not supported. Found at $.properties.NAME.pattern.\"",
        pattern_lookaround,
    ),
    rule(
        "openai.output-for-call",
        "refusal: \"No tool output found for function call call_...\"",
        output_for_call,
    ),
    rule(
        "openai.call-for-output",
        "refusal: \"No tool call found for function call output with call_id call_...\"",
        call_for_output,
    ),
    rule("openai.output-once", "guide Function calling: one `function_call_output` for each call", output_once),
    rule("openai.call-id-unique", "refusal: \"Duplicate 'call_id'\"", call_id_unique),
    rule(
        "openai.arguments",
        "refusal: \"Invalid type for 'input[N].arguments': expected a string, but got an object instead.\"",
        arguments,
    ),
    rule("openai.output", "refusal: \"Missing required parameter: 'input[N].output'.\"", output),
    rule(
        "openai.role",
        "refusal: \"Invalid value. Supported values are: 'assistant', 'system', 'developer', and 'user'.\"",
        role,
    ),
    rule(
        "openai.content-type",
        "refusal: \"Invalid value: 'input_text'. Supported values are: 'output_text' and 'refusal'.\"",
        content_type,
    ),
];

fn model(body: &Json) -> Vec<String> {
    match body.str("model") {
        Some(model) if !model.is_empty() => Vec::new(),
        _ => vec!["model: missing required parameter".to_owned()],
    }
}

// Tools.

/// A tool entry with its place and the namespace that it is in.
struct Entry<'a> {
    at: String,
    namespace: Option<&'a str>,
    tool: &'a Json,
}

/// All entries, namespaces first and then what is in them.
fn entries(body: &Json) -> Vec<Entry<'_>> {
    let mut entries = Vec::new();
    for (at, tool) in body.get("tools").map(Json::items).unwrap_or_default().iter().enumerate() {
        entries.push(Entry { at: format!("tools[{at}]"), namespace: None, tool });
        if tool.str("type") == Some("namespace") {
            let namespace = tool.str("name");
            let nested = tool.get("tools").map(Json::items).unwrap_or_default().iter().enumerate();
            entries.extend(nested.map(|(index, tool)| Entry {
                at: format!("tools[{at}].tools[{index}]"),
                namespace,
                tool,
            }));
        }
    }
    entries
}

/// The parameters of the functions that are whole; a function may have none.
fn parameters(body: &Json) -> Vec<(String, &Json)> {
    entries(body)
        .into_iter()
        .filter(|entry| entry.tool.str("type") == Some("function") && !is_reduced_entry(entry.tool))
        .filter_map(|entry| {
            Some((entry.at, entry.tool.get("parameters").filter(|schema| **schema != Json::Null)?))
        })
        .collect()
}

fn tool_name(body: &Json) -> Vec<String> {
    entries(body)
        .into_iter()
        .filter(|entry| matches!(entry.tool.str("type"), Some("function" | "custom" | "namespace")))
        .map(|entry| (entry.at, entry.tool.str("name").unwrap_or_default()))
        .filter(|(_, name)| !is_name(name, b"_-", 128))
        .map(|(at, name)| format!("{at}.name: {name:?} does not match '^[a-zA-Z0-9_-]{{1,128}}$'"))
        .collect()
}

fn tool_name_unique(body: &Json) -> Vec<String> {
    let entries = entries(body);
    repeated(entries.iter().filter_map(|entry| Some((entry.namespace, entry.tool.str("name")?))))
        .into_iter()
        .map(|(namespace, name)| match namespace {
            Some(namespace) => format!("tools: {name:?} is there twice in namespace {namespace:?}"),
            None => format!("tools: {name:?} is there twice"),
        })
        .collect()
}

fn parameters_object(body: &Json) -> Vec<String> {
    parameters(body)
        .into_iter()
        .filter(|(_, schema)| schema.str("type") != Some("object"))
        .map(|(at, _)| format!("{at}.parameters: schema must be of type 'object'"))
        .collect()
}

fn parameters_properties(body: &Json) -> Vec<String> {
    parameters(body)
        .into_iter()
        .filter(|(_, schema)| has_type(schema, "object") && !schema.get("properties").is_some_and(Json::is_object))
        .map(|(at, _)| format!("{at}.parameters: object schema missing properties"))
        .collect()
}

fn parameters_root_union(body: &Json) -> Vec<String> {
    parameters(body)
        .into_iter()
        .map(|(at, schema)| (at, root_keywords(schema, &["oneOf", "anyOf", "allOf", "enum", "not"])))
        .filter(|(_, found)| !found.is_empty())
        .map(|(at, found)| format!("{at}.parameters: no {} at the top level", found.join(", ")))
        .collect()
}

fn array_items(body: &Json) -> Vec<String> {
    let mut found = Vec::new();
    for (at, schema) in parameters(body) {
        walk_schema(schema, "", &mut |path, nested| {
            if has_type(nested, "array") && nested.get("items").is_none() {
                found.push(format!("{at}.parameters: array schema missing items at {path}"));
            }
        });
    }
    found
}

fn pattern_lookaround(body: &Json) -> Vec<String> {
    let mut found = Vec::new();
    for (at, schema) in parameters(body) {
        walk_schema(schema, "", &mut |path, nested| {
            let pattern = nested.str("pattern").unwrap_or_default();
            if ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|group| pattern.contains(group)) {
                found.push(format!("{at}.parameters: regex lookaround is not supported, found at {path}.pattern"));
            }
        });
    }
    found
}

// Input.

fn input(body: &Json) -> impl Iterator<Item = (usize, &Json)> {
    body.get("input").map(Json::items).unwrap_or_default().iter().enumerate()
}

fn of_type<'a>(body: &'a Json, kind: &str) -> impl Iterator<Item = (usize, &'a Json)> {
    input(body).filter(move |(_, item)| item.str("type") == Some(kind))
}

/// The call ids of the items of a type, in order.
fn call_ids<'a>(body: &'a Json, kind: &str) -> impl Iterator<Item = &'a str> {
    of_type(body, kind).filter_map(|(_, item)| item.str("call_id"))
}

/// The kinds of calls, each with the kind of its output.
const CALLS: [(&str, &str); 3] = [
    ("function_call", "function_call_output"),
    ("custom_tool_call", "custom_tool_call_output"),
    ("tool_search_call", "tool_search_output"),
];

fn output_for_call(body: &Json) -> Vec<String> {
    CALLS
        .into_iter()
        .flat_map(|(call, output)| {
            let told: HashSet<&str> = call_ids(body, output).collect();
            call_ids(body, call).filter(move |id| !told.contains(id))
        })
        .map(|id| format!("input: no tool output found for function call {id}"))
        .collect()
}

fn call_for_output(body: &Json) -> Vec<String> {
    // What a stored response called is not repeated in the input.
    if body.str("previous_response_id").is_some() {
        return Vec::new();
    }
    CALLS
        .into_iter()
        .flat_map(|(call, output)| {
            let asked: HashSet<&str> = call_ids(body, call).collect();
            call_ids(body, output).filter(move |id| !asked.contains(id))
        })
        .map(|id| format!("input: no tool call found for function call output with call_id {id}"))
        .collect()
}

fn output_once(body: &Json) -> Vec<String> {
    CALLS
        .into_iter()
        .flat_map(|(_, output)| repeated(call_ids(body, output)))
        .map(|id| format!("input: several outputs for function call {id}"))
        .collect()
}

fn call_id_unique(body: &Json) -> Vec<String> {
    repeated(CALLS.into_iter().flat_map(|(call, _)| call_ids(body, call)))
        .into_iter()
        .map(|id| format!("input: duplicate call_id {id}"))
        .collect()
}

fn arguments(body: &Json) -> Vec<String> {
    of_type(body, "function_call")
        .filter(|(_, item)| !matches!(item.get("arguments"), Some(Json::String(_))))
        .map(|(at, _)| format!("input[{at}].arguments: expected a string"))
        .collect()
}

fn output(body: &Json) -> Vec<String> {
    of_type(body, "function_call_output")
        .filter(|(_, item)| !matches!(item.get("output"), Some(Json::String(_) | Json::Array(_))))
        .map(|(at, _)| format!("input[{at}].output: missing, or neither a string nor an array"))
        .collect()
}

/// The messages with their role.
fn messages(body: &Json) -> impl Iterator<Item = (usize, &Json, &str)> {
    input(body)
        .filter(|(_, item)| matches!(item.str("type"), None | Some("message")) && !stands_for(item, &[]))
        .map(|(at, item)| (at, item, item.str("role").unwrap_or_default()))
}

fn role(body: &Json) -> Vec<String> {
    messages(body)
        .filter(|(_, _, role)| !matches!(*role, "assistant" | "system" | "developer" | "user"))
        .map(|(at, _, role)| format!("input[{at}].role: invalid value {role:?}"))
        .collect()
}

fn content_type(body: &Json) -> Vec<String> {
    let mut found = Vec::new();
    for (at, message, role) in messages(body) {
        let parts = message.get("content").map(Json::items).unwrap_or_default();
        for (index, kind) in parts.iter().enumerate().map(|(index, part)| (index, part.str("type"))) {
            let of_model = matches!(kind, Some("output_text" | "refusal"));
            if of_model != (role == "assistant") {
                let kind = kind.unwrap_or_default();
                found.push(format!("input[{at}].content[{index}].type: {kind:?} is not for role {role:?}"));
            }
        }
    }
    found
}
