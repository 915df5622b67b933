//! Writing Messages replies. Source: "Streaming messages" in the documentation, section "Event types".

use crate::json::Json;
use crate::plan::Published;

use super::super::sse::{Events, pieces};
use super::super::types::{Block, Reply};

/// The model's name in replies: nobody shall take a scripted answer for a real one.
const MODEL: &str = "hopcheck";

pub(super) fn events(reply: &Reply) -> Vec<u8> {
    let mut events = Events::default();
    let start = message(reply, Json::Array(Vec::new()), Json::Null);
    events.push(&Json::object([("type", Json::from("message_start")), ("message", start)]));
    for (index, block) in reply.blocks.iter().enumerate() {
        let (head, deltas) = parts(block);
        events.push(&Json::object([
            ("type", Json::from("content_block_start")),
            ("index", index.into()),
            ("content_block", head),
        ]));
        for delta in deltas {
            events.push(&Json::object([
                ("type", Json::from("content_block_delta")),
                ("index", index.into()),
                ("delta", delta),
            ]));
        }
        events.push(&Json::object([("type", Json::from("content_block_stop")), ("index", index.into())]));
    }
    let end = [("stop_reason", stop_reason(reply)), ("stop_sequence", Json::Null)];
    events.push(&Json::object([
        ("type", Json::from("message_delta")),
        ("delta", Json::object(end)),
        ("usage", Json::object([("output_tokens", 1)])),
    ]));
    events.push(&Json::object([("type", "message_stop")]));
    events.into_bytes()
}

/// The block as it starts, and what is added to it. Without arguments nothing is added: so the host sees none.
fn parts(block: &Block) -> (Json, Vec<Json>) {
    let deltas = |kind: &str, key: &str, text: &str| {
        pieces(text).map(|piece| Json::object([("type", kind), (key, piece)])).collect()
    };
    match block {
        Block::Text(text) => (Json::object([("type", "text"), ("text", "")]), deltas("text_delta", "text", text)),
        Block::ToolUse { id, published, input } => {
            (tool_use(id, published, Json::empty()), deltas("input_json_delta", "partial_json", input))
        }
        Block::Search { id, input } => {
            (tool_use(id, &search(), Json::empty()), deltas("input_json_delta", "partial_json", input))
        }
    }
}

pub(super) fn whole(reply: &Reply) -> Json {
    let blocks = reply.blocks.iter().map(|block| match block {
        Block::ToolUse { id, published, input } if input.is_empty() => tool_use(id, published, Json::empty()),
        other => whole_block(other),
    });
    message(reply, Json::array(blocks), stop_reason(reply))
}

pub(super) fn blocks(reply: &Reply) -> Json {
    Json::array(reply.blocks.iter().map(whole_block))
}

/// A block as it stands when it is complete. Argument text that is no compact JSON object stands as a string, so that
/// nothing of it is lost.
fn whole_block(block: &Block) -> Json {
    match block {
        Block::Text(text) => Json::object([("type", "text"), ("text", text)]),
        Block::ToolUse { id, published, input } => {
            let parsed = Json::parse(input).ok().filter(|json| json.is_object() && json.to_string() == *input);
            tool_use(id, published, parsed.unwrap_or_else(|| input.into()))
        }
        Block::Search { id, input } => tool_use(id, &search(), Json::parse(input).unwrap_or(Json::empty())),
    }
}

/// The API has no search of its own, and profiles that ask for one are refused. Should one get here, it is a tool use of
/// a name that no host has, and is told as such.
fn search() -> Published {
    Published { namespace: None, name: "tool_search".to_owned() }
}

fn tool_use(id: &str, published: &Published, input: Json) -> Json {
    Json::object([
        ("type", Json::from("tool_use")),
        ("id", id.into()),
        ("name", published.to_string().into()),
        ("input", input),
    ])
}

fn message(reply: &Reply, content: Json, stop_reason: Json) -> Json {
    Json::object([
        ("id", Json::from(format!("msg_{}", reply.id))),
        ("type", "message".into()),
        ("role", "assistant".into()),
        ("model", MODEL.into()),
        ("content", content),
        ("stop_reason", stop_reason),
        ("stop_sequence", Json::Null),
        ("usage", Json::object([("input_tokens", 1), ("output_tokens", 1)])),
    ])
}

fn stop_reason(reply: &Reply) -> Json {
    let uses = reply.blocks.iter().any(|block| !matches!(block, Block::Text(_)));
    if uses { "tool_use" } else { "end_turn" }.into()
}
