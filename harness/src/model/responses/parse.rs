//! Reading Responses requests.

use crate::json::Json;
use crate::plan::Published;

use super::super::hash::stands_for;
use super::super::reduce::is_reduced_entry;
use super::super::types::{Block, Item, Offer, Part, Request, ToolResult};

pub(super) fn request(body: &Json) -> Result<Request, String> {
    let mut items = Vec::new();
    if let Some(instructions) = body.get("instructions").filter(|value| **value != Json::Null) {
        items.push(text("system", instructions));
    }
    match body.get("input") {
        Some(Json::Array(input)) => input.iter().for_each(|value| item(value, &mut items)),
        Some(input @ Json::String(_)) => items.push(text("user", input)),
        Some(input) if stands_for(input, &[]) => items.push(text("user", input)),
        _ => return Err("input: expected a string or an array".to_owned()),
    }
    let mut offers = Vec::new();
    offered(body.get("tools"), None, &mut offers);
    for output in body.get("input").map(Json::items).unwrap_or_default() {
        if output.str("type") == Some(SEARCH_OUTPUT) {
            offered(output.get("tools"), output.str("call_id"), &mut offers);
        }
    }
    Ok(Request { stream: body.get("stream").and_then(Json::as_bool).unwrap_or(false), offers, items })
}

/// The item that brings the tools of a search. They are offered as long as it stands in the conversation.
const SEARCH_OUTPUT: &str = "tool_search_output";

/// The entries of a list of tools, those of namespaces among them.
fn offered(tools: Option<&Json>, found: Option<&str>, offers: &mut Vec<Offer>) {
    for entry in tools.map(Json::items).unwrap_or_default() {
        match (entry.str("type"), entry.get("tools")) {
            (Some("namespace"), Some(nested)) => {
                offers.extend(nested.items().iter().filter_map(|nested| offer(entry.str("name"), nested, found)));
            }
            _ => offers.extend(offer(None, entry, found)),
        }
    }
}

fn offer(namespace: Option<&str>, entry: &Json, found: Option<&str>) -> Option<Offer> {
    // A tool that the provider runs has no name, only a type.
    let name = entry.str("name").or_else(|| entry.str("type"))?;
    Some(Offer {
        published: published(namespace, name),
        description: entry.str("description").map(str::to_owned),
        schema: entry.get("parameters").cloned(),
        raw: entry.clone(),
        reduced: is_reduced_entry(entry),
        found: found.map(str::to_owned),
    })
}

/// The tools in a result.
pub(super) fn found(result: &ToolResult) -> Vec<Published> {
    let entries = result.parts.iter().filter_map(|part| match part {
        Part::Other(entry) => Some(entry.clone()),
        _ => None,
    });
    let mut offers = Vec::new();
    offered(Some(&Json::Array(entries.collect())), Some(&result.id), &mut offers);
    offers.into_iter().map(|offer| offer.published).collect()
}

fn published(namespace: Option<&str>, name: &str) -> Published {
    Published { namespace: namespace.map(str::to_owned), name: name.to_owned() }
}

fn text(role: &str, text: &Json) -> Item {
    Item::Text { role: role.to_owned(), text: text.as_str().map(str::to_owned) }
}

fn item(item: &Json, items: &mut Vec<Item>) {
    let kind = item.str("type");
    match (kind, item.str("role"), item.get("content")) {
        // The type of a message may be left out.
        (Some("message") | None, Some(role), Some(Json::Array(parts))) => {
            items.extend(parts.iter().map(|part| message_part(role, part)));
        }
        (Some("message") | None, Some(role), Some(content)) => items.push(text(role, content)),
        _ => items.push(call_item(kind, item).unwrap_or_else(|| Item::Other(item.clone()))),
    }
}

fn message_part(role: &str, part: &Json) -> Item {
    match part.str("type") {
        Some("input_text" | "output_text" | "text") => text(role, part.get("text").unwrap_or(&Json::Null)),
        _ => Item::Other(part.clone()),
    }
}

fn call_item(kind: Option<&str>, item: &Json) -> Option<Item> {
    let id = item.str("call_id")?.to_owned();
    let use_of = |id: String, input: &str| {
        let published = published(item.str("namespace"), item.str("name")?);
        let input = item.get(input).map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        Some(Item::ToolUse { id, published, input: input.unwrap_or_default() })
    };
    match kind? {
        "function_call" => use_of(id, "arguments"),
        "custom_tool_call" => use_of(id, "input"),
        "tool_search_call" => Some(Item::ToolUse {
            id,
            published: published(None, "tool_search"),
            input: item.get("arguments").map(Json::to_string).unwrap_or_default(),
        }),
        SEARCH_OUTPUT => Some(Item::ToolResult(ToolResult {
            id,
            is_error: None,
            parts: item
                .get("tools")
                .map(Json::items)
                .unwrap_or_default()
                .iter()
                .cloned()
                .map(Part::Other)
                .collect(),
        })),
        "function_call_output" | "custom_tool_call_output" => Some(Item::ToolResult(ToolResult {
            id,
            is_error: None,
            parts: item.get("output").map(parts).unwrap_or_default(),
        })),
        _ => None,
    }
}

fn parts(output: &Json) -> Vec<Part> {
    match output {
        Json::Array(parts) => parts.iter().map(part).collect(),
        other => {
            vec![other.as_str().map_or_else(|| Part::Other(other.clone()), |text| Part::Text(text.to_owned()))]
        }
    }
}

fn part(part: &Json) -> Part {
    match (part.str("type"), part.str("text")) {
        (Some("input_text" | "output_text" | "text"), Some(text)) => Part::Text(text.to_owned()),
        (Some("input_image"), _) => Part::Image(part.clone()),
        _ => Part::Other(part.clone()),
    }
}

/// Reads the items of a reply.
pub(super) fn blocks(blocks: &Json) -> Vec<Block> {
    blocks.items().iter().filter_map(reply_item).collect()
}

fn reply_item(item: &Json) -> Option<Block> {
    match item.str("type")? {
        "message" => Some(Block::Text(item.pointer("/content/0/text")?.as_str()?.to_owned())),
        "function_call" => Some(Block::ToolUse {
            id: item.str("call_id")?.to_owned(),
            published: published(item.str("namespace"), item.str("name")?),
            input: item.str("arguments")?.to_owned(),
        }),
        "tool_search_call" => Some(Block::Search {
            id: item.str("call_id")?.to_owned(),
            input: item.get("arguments").map(Json::to_string)?,
        }),
        _ => None,
    }
}
