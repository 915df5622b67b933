//! `tools/list` and `tools/call` (`server/tools` of every revision).

use super::conn::Conn;
use super::offer::Offer;
use super::pages;
use super::reply::{INVALID_PARAMS, error};
use super::script::{Body, Describe, Tool};
use crate::json::{Json, NumberModel};
use crate::revision::Revision;

/// One page of the list.
pub(super) fn list(offer: &Offer, conn: &mut Conn, params: Option<&Json>) -> Body {
    let cursor = match params.and_then(|params| params.get("cursor")) {
        // A cursor of `null` is no cursor ("whether a non-null value was provided").
        None | Some(Json::Null) => None,
        Some(Json::String(cursor)) => Some(cursor.to_lossy()),
        Some(_) => return error(INVALID_PARAMS, "Invalid cursor"),
    };
    let Some(page) = pages::page(&offer.script.pages, conn.tools.len(), cursor.as_deref(), conn.page) else {
        return error(INVALID_PARAMS, "Invalid cursor");
    };
    conn.page = page.index;
    let entries = conn.tools[page.tools].iter().map(|tool| entry(offer, tool));
    let mut result = Json::object([("tools", Json::array(entries))]);
    if let Some(next) = page.next {
        result.set("nextCursor", next);
    }
    Body::Result(result)
}

/// The entry of one tool, with the members that the revision has.
fn entry(offer: &Offer, tool: &Tool) -> Json {
    let word = offer.words.iter().find(|(name, _)| *name == tool.name).map(|(_, word)| word);
    let mut json = Json::object([("name", &tool.name)]);
    let mut set = |key: &str, since: Revision, value: Option<Json>| {
        if let Some(value) = value.filter(|_| offer.revision >= since) {
            json.set(key, value);
        }
    };
    set("title", Revision::V2025_06_18, tool.title.as_ref().map(Json::from));
    set("description", Revision::V2024_11_05, description(tool, word).map(Json::from));
    set("inputSchema", Revision::V2024_11_05, tool.input_schema.clone());
    set("outputSchema", Revision::V2025_06_18, tool.output_schema.clone());
    set("annotations", Revision::V2025_03_26, tool.annotations.clone());
    set("_meta", Revision::V2025_06_18, tool.meta.clone());
    json
}

/// The description with the word by which an offer to the model is matched to this tool.
fn description(tool: &Tool, word: Option<&String>) -> Option<String> {
    match (tool.describe, word, &tool.description) {
        (Describe::Marked, Some(word), Some(description)) => Some(format!("{description} [hc:{word}]")),
        (Describe::Marked, Some(word), None) => Some(format!("[hc:{word}]")),
        _ => tool.description.clone(),
    }
}

/// The answer of the tool that is called: its first reply whose `when` equals the arguments.
pub(super) fn call(tools: &[Tool], params: Option<&Json>) -> Body {
    let Some(name) = params.and_then(|params| params.str("name")) else {
        return error(INVALID_PARAMS, "Missing tool name");
    };
    let Some(tool) = tools.iter().find(|tool| tool.name == name) else {
        return error(INVALID_PARAMS, format!("Unknown tool: {name}"));
    };
    let absent = Json::empty();
    let arguments = params.and_then(|params| params.get("arguments")).unwrap_or(&absent);
    if !arguments.is_object() {
        return error(INVALID_PARAMS, format!("Invalid arguments for tool {name}: not an object"));
    }
    let fits = |when: &Json| when.equals(arguments, NumberModel::Decimal);
    match tool.replies.iter().find(|reply| reply.when.as_ref().is_none_or(fits)) {
        Some(reply) => reply.body.clone(),
        None if tool.replies.is_empty() => Body::Result(text("{{ marker }}")),
        // The tool knows other arguments only. A result, not a protocol error, since this is the tool speaking: the
        // model is meant to read it.
        None => {
            let mut result = text("No reply is scripted for these arguments ({{ marker }}).");
            result.set("isError", true);
            Body::Result(result)
        }
    }
}

fn text(text: &str) -> Json {
    let block = Json::object([("type", "text"), ("text", text)]);
    Json::object([("content", Json::array([block]))])
}
