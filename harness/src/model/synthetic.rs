//! The model lane of hosts that ask no model: hopcheck writes the requests by itself, of what the host offers and
//! returns. Neutral JSON, no product's API, and nothing that a real API would refuse.
//!
//! ```text
//! {"tools":[{"name","description"?,"input_schema"?}],
//!  "messages":[{"role":"user","content":[{"type":"text","text"}]},
//!              {"role":"assistant","content":[{"type":"text","text"},{"type":"tool_use","id","name","input"?}]},
//!              {"role":"tool","content":[{"type":"tool_result","tool_use_id","is_error","refused_by"?,"content":[BLOCK…]}]}]}
//! ```
//!
//! `input` is absent where there are no arguments, and text that is no JSON stands as `input_text`. Each BLOCK has the
//! form of MCP.

use crate::json::Json;
use crate::plan::Published;

use super::hash;
use super::keep::{Keep, Prompts};
use super::reduce::{array, image, object, tool};
use super::types::{Block, Item, Offer, Part, Reply, Request, ToolResult, Violation};
use super::{Api, ErrorFlag, Route};

/// The synthetic model lane.
pub(super) struct Synthetic;

impl Api for Synthetic {
    /// There is no endpoint: whoever comes to it is none of ours.
    fn route(&self, _method: &str, _path: &str) -> Route {
        Route::NotOurs
    }

    fn parse(&self, body: &Json) -> Result<Request, String> {
        let Some(Json::Array(messages)) = body.get("messages") else {
            return Err("messages: expected an array".to_owned());
        };
        let items = messages.iter().flat_map(|message| {
            let role = message.str("role").unwrap_or_default();
            let content = message.get("content").map(Json::items).unwrap_or_default();
            content.iter().map(move |block| item(role, block))
        });
        Ok(Request {
            stream: false,
            offers: body.get("tools").map(Json::items).unwrap_or_default().iter().filter_map(offer).collect(),
            items: items.collect(),
        })
    }

    /// All messages are the scenario's or what the host said of them; of the tools, those of others are reduced.
    fn reduce(&self, body: &Json, keep: &Keep<'_>) -> Json {
        if keep.prompts == Prompts::Keep {
            return body.clone();
        }
        object(body, |key, member| match key {
            "tools" => array(member, keep, |entry| tool(entry, keep)),
            "messages" => array(member, keep, |message| with_images_reduced(message, keep)),
            _ => member.clone(),
        })
    }

    fn stream(&self, reply: &Reply) -> Vec<u8> {
        self.whole(reply).to_bytes()
    }

    fn whole(&self, reply: &Reply) -> Json {
        Json::object([("role", Json::from("assistant")), ("content", self.blocks(reply))])
    }

    fn blocks(&self, reply: &Reply) -> Json {
        Json::array(reply.blocks.iter().map(block))
    }

    fn parse_blocks(&self, blocks: &Json) -> Vec<Block> {
        let read = |block: &Json| match item("assistant", block) {
            Item::Text { text: Some(text), .. } => Some(Block::Text(text)),
            Item::ToolUse { id, published, input } => Some(Block::ToolUse { id, published, input }),
            _ => None,
        };
        blocks.items().iter().filter_map(read).collect()
    }

    fn error(&self, _status: u16, message: &str) -> Json {
        Json::object([("error", message)])
    }

    fn error_flag(&self) -> ErrorFlag {
        ErrorFlag::Member
    }

    fn use_id(&self, seed: u64, run: u32, index: usize) -> String {
        format!("use_{}", hash::id(seed, run, index, 16))
    }

    /// No real API ever sees such a request.
    fn violations(&self, _body: &Json) -> Vec<Violation> {
        Vec::new()
    }
}

fn offer(entry: &Json) -> Option<Offer> {
    Some(Offer {
        published: Published { namespace: None, name: entry.str("name")?.to_owned() },
        description: entry.str("description").map(str::to_owned),
        schema: entry.get("input_schema").cloned(),
        raw: entry.clone(),
        reduced: super::reduce::is_reduced_entry(entry),
        found: None,
    })
}

fn item(role: &str, block: &Json) -> Item {
    match (block.str("type"), block.str("id").or_else(|| block.str("tool_use_id"))) {
        (Some("text"), _) => Item::Text { role: role.to_owned(), text: block.str("text").map(str::to_owned) },
        (Some("tool_use"), Some(id)) => Item::ToolUse {
            id: id.to_owned(),
            published: Published { namespace: None, name: block.str("name").unwrap_or_default().to_owned() },
            input: match (block.get("input"), block.str("input_text")) {
                (Some(input), _) => input.to_string(),
                (None, text) => text.unwrap_or_default().to_owned(),
            },
        },
        (Some("tool_result"), Some(id)) => Item::ToolResult(ToolResult {
            id: id.to_owned(),
            is_error: block.get("is_error").and_then(Json::as_bool),
            parts: block.get("content").map(Json::items).unwrap_or_default().iter().map(part).collect(),
        }),
        _ => Item::Other(block.clone()),
    }
}

fn part(block: &Json) -> Part {
    match (block.str("type"), block.str("text")) {
        (Some("text"), Some(text)) => Part::Text(text.to_owned()),
        (Some("image"), _) => Part::Image(block.clone()),
        _ => Part::Other(block.clone()),
    }
}

fn block(block: &Block) -> Json {
    match block {
        Block::Text(text) => Json::object([("type", "text"), ("text", text)]),
        Block::Search { id, input } => {
            // No host without a model searches, and profiles that ask for it are refused.
            let head = [("type", Json::from("tool_use")), ("id", id.into()), ("name", "tool_search".into())];
            Json::object(head.into_iter().chain([("input", Json::parse(input).unwrap_or(Json::empty()))]))
        }
        Block::ToolUse { id, published, input } => {
            let mut json = Json::object([("type", Json::from("tool_use")), ("id", id.into())]);
            json.set("name", published.to_string());
            match Json::parse(input) {
                // Only white space can get lost, of which a scenario has none.
                Ok(input) => json.set("input", input),
                Err(_) if input.is_empty() => {}
                Err(_) => json.set("input_text", input),
            }
            json
        }
    }
}

/// Images become length and hash, so that a trace stays small.
fn with_images_reduced(message: &Json, keep: &Keep<'_>) -> Json {
    let parts = |value: &Json| {
        array(value, keep, |part| match (part.str("type"), part.str("data")) {
            (Some(kind @ "image"), Some(data)) => {
                image(kind, part.str("mimeType").unwrap_or_default(), data, keep)
            }
            _ => part.clone(),
        })
    };
    let block = |value: &Json| match value.str("type") {
        Some("tool_result") => object(value, |key, member| match key {
            "content" => parts(member),
            _ => member.clone(),
        }),
        _ => value.clone(),
    };
    object(message, |key, member| match key {
        "content" => array(member, keep, block),
        _ => member.clone(),
    })
}
