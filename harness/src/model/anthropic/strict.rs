//! What the Messages API refuses.

use std::collections::HashSet;

use crate::host::profile::ApiName;
use crate::json::Json;

use super::super::reduce::is_reduced_entry;
use super::super::strict::{Rule, is_name, repeated, root_keywords};

const fn rule(id: &'static str, source: &'static str, check: fn(&Json) -> Vec<String>) -> Rule {
    Rule { id, api: ApiName::AnthropicMessages, source, check }
}

/// The rules. That roles alternate is none of them: consecutive turns of one role are combined.
pub(in super::super) static RULES: &[Rule] = &[
    rule("anthropic.model", "API reference, Messages: `model` is required", model),
    rule("anthropic.max-tokens", "API reference, Messages: `max_tokens` is required, a whole number", max_tokens),
    rule(
        "anthropic.first-message",
        "refusals: \"messages: at least one message is required\", \"first message must use the \\\"user\\\" role\"",
        first_message,
    ),
    rule(
        "anthropic.role",
        "API reference, Messages: the role of a message is `user` or `assistant`; `system` is a beta that Claude Code uses",
        role,
    ),
    rule("anthropic.empty-text", "refusal: \"text content blocks must be non-empty\"", empty_text),
    rule(
        "anthropic.tool-name",
        "refusal: \"tools.N.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'\"; the page Define tools, and \
         older models, say 64",
        tool_name,
    ),
    rule("anthropic.tool-name-unique", "refusal: \"tools: Tool names must be unique.\"", tool_name_unique),
    rule(
        "anthropic.schema-object",
        "API reference, Messages: `input_schema` is required, and its `type` is \"object\"",
        schema_object,
    ),
    rule(
        "anthropic.schema-root-union",
        "refusal: \"input_schema does not support oneOf, allOf, or anyOf at the top level\"",
        schema_root_union,
    ),
    rule(
        "anthropic.schema-property-name",
        "refusal: \"input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'\"",
        schema_property_name,
    ),
    rule(
        "anthropic.result-for-use",
        "page Handle tool calls: results immediately follow their tool uses; refusal: \"`tool_use` ids were found without \
         `tool_result` blocks immediately after\"",
        result_for_use,
    ),
    rule(
        "anthropic.use-for-result",
        "refusal: \"unexpected `tool_use_id` found in `tool_result` blocks. Each `tool_result` block must have a \
         corresponding `tool_use` block in the previous message.\"",
        use_for_result,
    ),
    rule(
        "anthropic.result-once",
        "refusal: \"each tool_use must have a single result. Found multiple `tool_result` blocks with id\"",
        result_once,
    ),
    rule(
        "anthropic.result-first",
        "page Handle tool calls: in a user message `tool_result` blocks come first, any text comes after all of them",
        result_first,
    ),
    rule(
        "anthropic.tool-reference",
        "refusal: \"Tool reference 'NAME' not found in available tools\" (claude-code#81863)",
        tool_reference,
    ),
    rule("anthropic.use-id-unique", "refusal: \"`tool_use` ids must be unique\"", use_id_unique),
    rule("anthropic.use-input", "refusal: \"tool_use.input: Input should be a valid dictionary\"", use_input),
];

fn broken(breaks: bool, what: &str) -> Vec<String> {
    if breaks { vec![what.to_owned()] } else { Vec::new() }
}

fn model(body: &Json) -> Vec<String> {
    broken(body.str("model").is_none_or(str::is_empty), "model: Field required")
}

fn max_tokens(body: &Json) -> Vec<String> {
    let valid = body.get("max_tokens").and_then(Json::as_i64).is_some_and(|most| most >= 0);
    broken(!valid, "max_tokens: Field required, a whole number")
}

// Tools.

/// The tool entries with their index.
fn tools(body: &Json) -> impl Iterator<Item = (usize, &Json)> {
    body.get("tools").map(Json::items).unwrap_or_default().iter().enumerate()
}

/// The entries that the user of the API defines, where they are whole, with their schema.
fn schemas(body: &Json) -> impl Iterator<Item = (usize, Option<&Json>)> {
    tools(body)
        .filter(|(_, tool)| matches!(tool.str("type"), None | Some("custom")) && !is_reduced_entry(tool))
        .map(|(at, tool)| (at, tool.get("input_schema")))
}

fn tool_name(body: &Json) -> Vec<String> {
    tools(body)
        .filter(|(_, tool)| matches!(tool.str("type"), None | Some("custom")))
        .map(|(at, tool)| (at, tool.str("name").unwrap_or_default()))
        .filter(|(_, name)| !is_name(name, b"_-", 128))
        .map(|(at, name)| format!("tools.{at}.name: {name:?} should match '^[a-zA-Z0-9_-]{{1,128}}$'"))
        .collect()
}

fn tool_reference(body: &Json) -> Vec<String> {
    let tools = body.get("tools").map(Json::items).unwrap_or_default();
    let mut unknown = Vec::new();
    body.get("messages").unwrap_or(&Json::Null).walk(&mut |block| {
        if block.str("type") != Some("tool_reference") {
            return;
        }
        let name = block.str("tool_name").unwrap_or_default();
        if !tools.iter().any(|tool| tool.str("name") == Some(name)) {
            unknown.push(format!("tool reference '{name}' not found in available tools"));
        }
    });
    unknown
}

fn tool_name_unique(body: &Json) -> Vec<String> {
    let names = tools(body).filter_map(|(_, tool)| tool.str("name"));
    repeated(names).into_iter().map(|name| format!("tools: tool names must be unique, {name:?} is not")).collect()
}

fn schema_object(body: &Json) -> Vec<String> {
    schemas(body)
        .filter(|(_, schema)| schema.and_then(|schema| schema.str("type")) != Some("object"))
        .map(|(at, schema)| match schema {
            None => format!("tools.{at}.input_schema: Field required"),
            Some(_) => format!("tools.{at}.input_schema.type: should be 'object'"),
        })
        .collect()
}

fn schema_root_union(body: &Json) -> Vec<String> {
    schemas(body)
        .filter_map(|(at, schema)| Some((at, root_keywords(schema?, &["oneOf", "allOf", "anyOf"]))))
        .filter(|(_, found)| !found.is_empty())
        .map(|(at, found)| format!("tools.{at}.input_schema: no {} at the top level", found.join(", ")))
        .collect()
}

fn schema_property_name(body: &Json) -> Vec<String> {
    schemas(body)
        .filter_map(|(at, schema)| Some((at, schema?.get("properties")?)))
        .flat_map(|(at, properties)| properties.members().iter().map(move |(name, _)| (at, name.to_lossy())))
        .filter(|(_, name)| !is_name(name, b"_.-", 64))
        .map(|(at, name)| {
            format!("tools.{at}.input_schema.properties: {name:?} should match '^[a-zA-Z0-9_.-]{{1,64}}$'")
        })
        .collect()
}

// Messages.

fn messages(body: &Json) -> &[Json] {
    body.get("messages").map(Json::items).unwrap_or_default()
}

fn first_message(body: &Json) -> Vec<String> {
    match messages(body).first() {
        None => vec!["messages: at least one message is required".to_owned()],
        Some(first) => {
            broken(first.str("role") != Some("user"), "messages.0: the first message must be the user's")
        }
    }
}

fn role(body: &Json) -> Vec<String> {
    messages(body)
        .iter()
        .enumerate()
        .filter(|(_, message)| !matches!(message.str("role"), Some("user" | "assistant" | "system")))
        .map(|(at, _)| format!("messages.{at}.role: should be 'user' or 'assistant'"))
        .collect()
}

fn empty_text(body: &Json) -> Vec<String> {
    let empty = |value: Option<&Json>| value.and_then(Json::as_str).is_some_and(str::is_empty);
    let mut found = Vec::new();
    for (at, message) in messages(body).iter().enumerate() {
        match message.get("content") {
            Some(Json::Array(blocks)) => found.extend(
                blocks
                    .iter()
                    .enumerate()
                    .filter(|(_, block)| block.str("type") == Some("text") && empty(block.get("text")))
                    .map(|(index, _)| format!("messages.{at}.content.{index}: text blocks must be non-empty")),
            ),
            content if empty(content) => found.push(format!("messages.{at}: content must be non-empty")),
            _ => {}
        }
    }
    found
}

/// Messages of one role in a row, which the API combines; system messages in between are left out.
struct Turn<'a> {
    at: usize,
    role: &'a str,
    blocks: Vec<&'a Json>,
}

impl<'a> Turn<'a> {
    /// The blocks of that type.
    fn of_type(&self, kind: &str) -> impl Iterator<Item = &'a Json> {
        self.blocks.iter().copied().filter(move |block| block.str("type") == Some(kind))
    }

    /// The ids of the tool uses in it.
    fn uses(&self) -> impl Iterator<Item = &'a str> {
        self.of_type("tool_use").filter_map(|block| block.str("id"))
    }

    /// The ids of the tool uses whose results are in it.
    fn results(&self) -> impl Iterator<Item = &'a str> {
        self.of_type("tool_result").filter_map(|block| block.str("tool_use_id"))
    }
}

fn turns(body: &Json) -> Vec<Turn<'_>> {
    let mut turns: Vec<Turn<'_>> = Vec::new();
    for (at, message) in messages(body).iter().enumerate() {
        let role = message.str("role").unwrap_or_default();
        if role == "system" {
            continue;
        }
        let blocks = match message.get("content") {
            Some(Json::Array(blocks)) => blocks.iter().collect(),
            // A text, which is a block of no type that matters here.
            Some(other) => vec![other],
            None => Vec::new(),
        };
        match turns.last_mut() {
            Some(last) if last.role == role => last.blocks.extend(blocks),
            _ => turns.push(Turn { at, role, blocks }),
        }
    }
    turns
}

fn result_for_use(body: &Json) -> Vec<String> {
    let turns = turns(body);
    turns
        .iter()
        .enumerate()
        .filter(|(_, turn)| turn.role == "assistant")
        .flat_map(|(index, turn)| {
            let told: HashSet<&str> =
                turns.get(index + 1).map(|next| next.results().collect()).unwrap_or_default();
            turn.uses().filter(move |id| !told.contains(id)).map(|id| (turn.at, id))
        })
        .map(|(at, id)| format!("messages.{at}: tool_use without a tool_result immediately after: {id}"))
        .collect()
}

fn use_for_result(body: &Json) -> Vec<String> {
    let turns = turns(body);
    turns
        .iter()
        .enumerate()
        .flat_map(|(index, turn)| {
            let before = index.checked_sub(1).and_then(|before| turns.get(before));
            let asked: HashSet<&str> = before.map(|before| before.uses().collect()).unwrap_or_default();
            turn.results().filter(move |id| !asked.contains(id)).map(|id| (turn.at, id))
        })
        .map(|(at, id)| format!("messages.{at}: tool_result without a tool_use in the previous message: {id}"))
        .collect()
}

fn result_once(body: &Json) -> Vec<String> {
    turns(body)
        .iter()
        .flat_map(|turn| repeated(turn.results()).into_iter().map(|id| (turn.at, id)))
        .map(|(at, id)| format!("messages.{at}: several tool_result blocks for one tool_use: {id}"))
        .collect()
}

fn result_first(body: &Json) -> Vec<String> {
    turns(body)
        .iter()
        .filter(|turn| {
            let is_result = |block: &&Json| block.str("type") == Some("tool_result");
            turn.blocks.iter().skip_while(|block| is_result(block)).any(is_result)
        })
        .map(|turn| format!("messages.{}: tool_result blocks must come first in the content", turn.at))
        .collect()
}

fn use_id_unique(body: &Json) -> Vec<String> {
    let turns = turns(body);
    repeated(turns.iter().flat_map(Turn::uses))
        .into_iter()
        .map(|id| format!("messages: tool_use ids must be unique, {id} is not"))
        .collect()
}

fn use_input(body: &Json) -> Vec<String> {
    turns(body)
        .iter()
        .flat_map(|turn| turn.of_type("tool_use").map(|block| (turn.at, block)))
        .filter(|(_, block)| !block.get("input").is_some_and(Json::is_object))
        .map(|(at, block)| {
            format!(
                "messages.{at}: the input of tool_use {} should be an object",
                block.str("id").unwrap_or("without id")
            )
        })
        .collect()
}
