//! Writing Responses replies. Source: "Streaming" in the guides, and "Streaming events" in the API reference.

use crate::json::Json;

use super::super::sse::{Events, pieces};
use super::super::types::{Block, Reply};

/// The model's name in replies: nobody shall take a scripted answer for a real one.
const MODEL: &str = "hopcheck";

/// The events of one response, which are numbered.
#[derive(Default)]
struct Numbered {
    events: Events,
    next: usize,
}

impl Numbered {
    fn push<const N: usize>(&mut self, kind: &str, members: [(&str, Json); N]) {
        let head = [("type", Json::from(kind)), ("sequence_number", self.next.into())];
        self.events.push(&Json::object(head.into_iter().chain(members)));
        self.next += 1;
    }
}

pub(super) fn events(reply: &Reply) -> Vec<u8> {
    let mut out = Numbered::default();
    out.push("response.created", [("response", response(reply, Status::InProgress))]);
    for (index, block) in reply.blocks.iter().enumerate() {
        push_block(&mut out, reply, index, block);
    }
    out.push("response.completed", [("response", response(reply, Status::Completed))]);
    out.events.into_bytes()
}

fn push_block(out: &mut Numbered, reply: &Reply, index: usize, block: &Block) {
    let item_id = item_id(reply, index, block);
    let at = || [("item_id", Json::from(&item_id)), ("output_index", index.into())];
    let started = item(reply, index, block, Status::InProgress);
    out.push("response.output_item.added", [("output_index", index.into()), ("item", started)]);
    match block {
        Block::Text(text) => {
            let [id, output] = at();
            let content = ("content_index", Json::from(0));
            let part = ("part", output_text(""));
            out.push("response.content_part.added", [id, output, content, part]);
            for piece in pieces(text) {
                let [id, output] = at();
                let content = ("content_index", Json::from(0));
                out.push("response.output_text.delta", [id, output, content, ("delta", piece.into())]);
            }
            let [id, output] = at();
            let content = ("content_index", Json::from(0));
            out.push("response.output_text.done", [id, output, content, ("text", text.into())]);
            let [id, output] = at();
            let content = ("content_index", Json::from(0));
            out.push("response.content_part.done", [id, output, content, ("part", output_text(text))]);
        }
        Block::ToolUse { input, .. } => {
            for piece in pieces(input) {
                let [id, output] = at();
                out.push("response.function_call_arguments.delta", [id, output, ("delta", piece.into())]);
            }
            let [id, output] = at();
            out.push("response.function_call_arguments.done", [id, output, ("arguments", input.into())]);
        }
        // It comes whole: the API has no events for its parts.
        Block::Search { .. } => {}
    }
    let done = item(reply, index, block, Status::Completed);
    out.push("response.output_item.done", [("output_index", index.into()), ("item", done)]);
}

pub(super) fn whole(reply: &Reply) -> Json {
    response(reply, Status::Completed)
}

pub(super) fn blocks(reply: &Reply) -> Json {
    let items = reply.blocks.iter().enumerate();
    Json::array(items.map(|(index, block)| item(reply, index, block, Status::Completed)))
}

/// How far a response or an item is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Status {
    InProgress,
    Completed,
}

impl Status {
    const fn as_str(self) -> &'static str {
        match self {
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
        }
    }
}

fn response(reply: &Reply, status: Status) -> Json {
    let (output, usage) = match status {
        Status::InProgress => (Json::Array(Vec::new()), Json::Null),
        Status::Completed => (blocks(reply), usage()),
    };
    Json::object([
        ("id", Json::from(format!("resp_{}", reply.id))),
        ("object", "response".into()),
        ("created_at", 0.into()),
        ("status", status.as_str().into()),
        ("model", MODEL.into()),
        ("output", output),
        ("usage", usage),
    ])
}

fn usage() -> Json {
    Json::object([
        ("input_tokens", Json::from(1)),
        ("input_tokens_details", Json::object([("cached_tokens", 0)])),
        ("output_tokens", 1.into()),
        ("output_tokens_details", Json::object([("reasoning_tokens", 0)])),
        ("total_tokens", 2.into()),
    ])
}

fn item(reply: &Reply, index: usize, block: &Block, status: Status) -> Json {
    let id = ("id", Json::from(item_id(reply, index, block)));
    let state = ("status", Json::from(status.as_str()));
    match block {
        Block::Text(text) => {
            let content = match status {
                Status::InProgress => Vec::new(),
                Status::Completed => vec![output_text(text)],
            };
            let rest = [state, ("role", "assistant".into()), ("content", Json::Array(content))];
            Json::object([("type", Json::from("message")), id].into_iter().chain(rest))
        }
        Block::ToolUse { id: call_id, published, input } => {
            let arguments = match status {
                Status::InProgress => "",
                Status::Completed => input,
            };
            let namespace = published.namespace.as_ref().map(|namespace| ("namespace", Json::from(namespace)));
            let head = [("type", Json::from("function_call")), id, state, ("call_id", call_id.into())];
            let rest = [("name", Json::from(&published.name)), ("arguments", arguments.into())];
            Json::object(head.into_iter().chain(namespace).chain(rest))
        }
        Block::Search { id: call_id, input } => {
            let arguments = match status {
                Status::InProgress => Json::empty(),
                Status::Completed => Json::parse(input).unwrap_or_else(|_| input.into()),
            };
            let head = [("type", Json::from("tool_search_call")), id, state, ("call_id", call_id.into())];
            let rest = [("execution", Json::from("client")), ("arguments", arguments)];
            Json::object(head.into_iter().chain(rest))
        }
    }
}

fn item_id(reply: &Reply, index: usize, block: &Block) -> String {
    match block {
        Block::Text(_) => format!("msg_{}_{index}", reply.id),
        Block::ToolUse { id, .. } => format!("fc_{}", id.trim_start_matches("call_")),
        Block::Search { id, .. } => format!("ts_{}", id.trim_start_matches("call_")),
    }
}

fn output_text(text: &str) -> Json {
    Json::object([
        ("type", Json::from("output_text")),
        ("text", text.into()),
        ("annotations", Json::Array(Vec::new())),
    ])
}
