//! Reading Messages requests.

use crate::json::Json;
use crate::plan::Published;

use super::super::reduce::is_reduced_entry;
use super::super::types::{Block, Item, Offer, Part, Request, ToolResult};

pub(super) fn request(body: &Json) -> Result<Request, String> {
    let Some(Json::Array(messages)) = body.get("messages") else {
        return Err("messages: expected an array".to_owned());
    };
    let mut items = Vec::new();
    if let Some(system) = body.get("system") {
        content("system", system, &mut items);
    }
    for message in messages {
        match message.get("content") {
            Some(parts) => content(message.str("role").unwrap_or_default(), parts, &mut items),
            None => items.push(Item::Other(message.clone())),
        }
    }
    let tools = body.get("tools").map(Json::items).unwrap_or_default();
    let offers = tools.iter().filter_map(|entry| offer(entry, &items)).collect();
    Ok(Request { stream: body.get("stream").and_then(Json::as_bool).unwrap_or(false), offers, items })
}

/// The tools that a result refers to.
pub(super) fn references(result: &ToolResult) -> Vec<Published> {
    let reference = |part: &Part| match part {
        Part::Other(block) if block.str("type") == Some("tool_reference") => {
            Some(Published { namespace: None, name: block.str("tool_name")?.to_owned() })
        }
        _ => None,
    };
    result.parts.iter().filter_map(reference).collect()
}

/// The id of the last result that refers to a tool.
fn referring(name: &str, items: &[Item]) -> Option<String> {
    items.iter().rev().find_map(|item| match item {
        Item::ToolResult(result) => {
            references(result).iter().any(|published| published.name == name).then(|| result.id.clone())
        }
        _ => None,
    })
}

/// A deferred tool is not shown to the model until a result refers to it.
fn offer(entry: &Json, items: &[Item]) -> Option<Offer> {
    // A tool that the provider runs may have no name, only a type.
    let name = entry.str("name").or_else(|| entry.str("type"))?;
    let is_deferred = entry.get("defer_loading").and_then(Json::as_bool) == Some(true);
    let found = if is_deferred { Some(referring(name, items)?) } else { None };
    Some(Offer {
        published: Published { namespace: None, name: name.to_owned() },
        description: entry.str("description").map(str::to_owned),
        schema: entry.get("input_schema").cloned(),
        raw: entry.clone(),
        reduced: is_reduced_entry(entry),
        found,
    })
}

fn content(role: &str, content: &Json, items: &mut Vec<Item>) {
    match content {
        Json::Array(blocks) => items.extend(blocks.iter().map(|block| item(role, block))),
        // A text, or the object that stands for one.
        text => items.push(Item::Text { role: role.to_owned(), text: text.as_str().map(str::to_owned) }),
    }
}

fn item(role: &str, block: &Json) -> Item {
    match block.str("type") {
        Some("text") => Item::Text { role: role.to_owned(), text: block.str("text").map(str::to_owned) },
        Some("tool_use") => match (block.str("id"), block.str("name")) {
            (Some(id), Some(name)) => Item::ToolUse {
                id: id.to_owned(),
                published: Published { namespace: None, name: name.to_owned() },
                input: block.get("input").map(Json::to_string).unwrap_or_default(),
            },
            _ => Item::Other(block.clone()),
        },
        Some("tool_result") => match block.str("tool_use_id") {
            Some(id) => Item::ToolResult(ToolResult {
                id: id.to_owned(),
                is_error: block.get("is_error").and_then(Json::as_bool),
                parts: block.get("content").map(parts).unwrap_or_default(),
            }),
            None => Item::Other(block.clone()),
        },
        _ => Item::Other(block.clone()),
    }
}

fn parts(content: &Json) -> Vec<Part> {
    match content {
        Json::Array(blocks) => blocks.iter().map(part).collect(),
        other => {
            vec![other.as_str().map_or_else(|| Part::Other(other.clone()), |text| Part::Text(text.to_owned()))]
        }
    }
}

fn part(block: &Json) -> Part {
    match (block.str("type"), block.str("text")) {
        (Some("text"), Some(text)) => Part::Text(text.to_owned()),
        (Some("image"), _) => Part::Image(block.clone()),
        _ => Part::Other(block.clone()),
    }
}

/// Reads the blocks of a reply. Argument text that is a compact JSON object stands as an object, any other as a string.
pub(super) fn blocks(blocks: &Json) -> Vec<Block> {
    blocks.items().iter().filter_map(reply_block).collect()
}

fn reply_block(block: &Json) -> Option<Block> {
    match block.str("type")? {
        "text" => Some(Block::Text(block.str("text")?.to_owned())),
        "tool_use" => {
            let input = block.get("input")?;
            Some(Block::ToolUse {
                id: block.str("id")?.to_owned(),
                published: Published { namespace: None, name: block.str("name")?.to_owned() },
                input: input.as_str().map_or_else(|| input.to_string(), str::to_owned),
            })
        }
        _ => None,
    }
}
