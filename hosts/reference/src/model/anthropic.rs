//! The Messages API: tools in one flat list, and an error flag on results.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::fault::{Fault, Lies};
use crate::json::{self, Members, quote};
use crate::model::sse::SseEvent;
use crate::model::{Api, Offered, Own, Purpose, Reply, Surface, ToolUse, entry, error_message, push, reshaped};
use crate::told::{Part, Told};

/// A conversation over the Messages API.
pub(crate) struct Messages {
    /// The messages so far, as JSON text without brackets.
    messages: String,
    /// The blocks of the reply that is coming in, by index.
    blocks: BTreeMap<u64, Block>,
    stopped: bool,
    /// References to tools that searches have found, as JSON text with the published name.
    references: Vec<(String, String)>,
    lies: Lies,
}

/// A block of a reply while it grows.
enum Block {
    Text(String),
    ToolUse {
        id: String,
        name: String,
        input: String,
    },
    Thinking {
        text: String,
        signature: String,
    },
    /// A block of a kind that the host does not know goes back as it came.
    Other(String),
}

impl Messages {
    /// An empty conversation.
    pub(crate) fn new(lies: Lies) -> Self {
        Self { messages: String::new(), blocks: BTreeMap::new(), stopped: false, references: Vec::new(), lies }
    }
}

impl Api for Messages {
    fn path(&self) -> &'static str {
        "/v1/messages?beta=true"
    }

    fn headers(&self, key: &str) -> String {
        format!("x-api-key: {key}\r\nanthropic-version: 2023-06-01\r\n")
    }

    fn surface(&self) -> Surface {
        Surface::Flat
    }

    fn offer(&self, tools: &[Offered<'_>], own: Option<&Own>) -> String {
        let own = own.map(|own| {
            let (name, description) = (quote(own.name), quote(&own.description));
            let head = format!("\"name\":{name},\"description\":{description},\"input_schema\":{}", own.schema);
            (own.purpose, format!("{{{head}}}"))
        });
        // What was found stays deferred, so that the model is shown it where the search referred to it.
        let deferred = matches!(own, Some((Purpose::Search, _))) && !self.lies.tell(Fault::PourTable);
        let flag = if deferred { ",\"defer_loading\":true" } else { "" };
        let tools = tools
            .iter()
            .map(|offered| format!("{{{}{flag}}}", entry(offered, "input_schema", &schema(&offered.schema))));
        let entries: Vec<_> = own.into_iter().map(|(_, entry)| entry).chain(tools).collect();
        format!("[{}]", entries.join(","))
    }

    fn found(&self, tool: &Offered<'_>) -> String {
        format!("{{\"type\":\"tool_reference\",\"tool_name\":{}}}", quote(tool.name))
    }

    fn say(&mut self, prompt: &str) {
        // A reply that was interrupted leaves nothing behind.
        self.blocks.clear();
        push(
            &mut self.messages,
            &format!("{{\"role\":\"user\",\"content\":[{{\"type\":\"text\",\"text\":{}}}]}}", quote(prompt)),
        );
    }

    fn body(&self, tools: &str) -> String {
        let mut messages = Cow::Borrowed(&self.messages);
        for (name, reference) in &self.references {
            // The API refuses a reference to a tool that is not in the list any more.
            if !tools.contains(&format!("\"name\":{},", quote(name))) {
                let words = quote(&format!("The tool {name} is gone."));
                let gone = format!("{{\"type\":\"text\",\"text\":{words}}}");
                messages = Cow::Owned(messages.replace(reference, &gone));
            }
        }
        format!(
            "{{\"model\":\"hopcheck-reference\",\"max_tokens\":4096,\"stream\":true,\"tools\":{tools},\"messages\":[{messages}]}}"
        )
    }

    fn on_event(&mut self, event: &SseEvent) -> Result<(), String> {
        let data = Members::parse(&event.data).map_err(|error| format!("an event is not JSON: {error}"))?;
        let index = data.get("index").and_then(|index| index.get().parse().ok());
        match (data.string("type").as_deref().unwrap_or(&event.name), index) {
            ("content_block_start", Some(index)) => {
                let block = data.get("content_block").ok_or("a block starts without a block")?;
                self.blocks.insert(index, start(block)?);
            }
            ("content_block_delta", Some(index)) => {
                let delta = data.get("delta").and_then(Members::of).ok_or("a delta is not an object")?;
                let block = self.blocks.get_mut(&index).ok_or("a delta belongs to no block")?;
                grow(block, &delta);
            }
            ("message_stop", _) => self.stopped = true,
            ("error", _) => return Err(error_message(&data)),
            _ => {}
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<Reply, String> {
        if !std::mem::take(&mut self.stopped) {
            return Err("the reply ended without message_stop".to_owned());
        }
        let mut reply = Reply::default();
        let mut content = String::new();
        for block in std::mem::take(&mut self.blocks).into_values() {
            match block {
                // The API refuses empty text blocks in what it is sent.
                Block::Text(text) if text.is_empty() => {}
                Block::Text(text) => {
                    push(&mut content, &format!("{{\"type\":\"text\",\"text\":{}}}", quote(&text)));
                    reply.text.push_str(&text);
                }
                Block::Thinking { text, signature } => {
                    push(
                        &mut content,
                        &format!(
                            "{{\"type\":\"thinking\",\"thinking\":{},\"signature\":{}}}",
                            quote(&text),
                            quote(&signature)
                        ),
                    );
                }
                Block::ToolUse { id, name, input } => {
                    // The API wants an object here. What the model wrote instead is in the error that it is told.
                    let object = serde_json::from_str::<&RawValue>(&input)
                        .ok()
                        .filter(|raw| json::is_object(raw))
                        .map_or("{}", |raw| raw.get());
                    push(
                        &mut content,
                        &format!(
                            "{{\"type\":\"tool_use\",\"id\":{},\"name\":{},\"input\":{object}}}",
                            quote(&id),
                            quote(&name)
                        ),
                    );
                    reply.uses.push(ToolUse { id, namespace: None, name, input });
                }
                Block::Other(block) => push(&mut content, &block),
            }
        }
        if !content.is_empty() {
            push(&mut self.messages, &format!("{{\"role\":\"assistant\",\"content\":[{content}]}}"));
        }
        Ok(reply)
    }

    fn tell(&mut self, results: &[(ToolUse, Told)]) {
        let mut content = String::new();
        for (tool_use, told) in results {
            let mut parts = String::new();
            for part in &told.parts {
                push(&mut parts, &part_json(part));
                if let Part::Found(reference) = part
                    && let Some(name) = Members::parse(reference).ok().and_then(|part| part.string("tool_name"))
                {
                    self.references.push((name, reference.clone()));
                }
            }
            let flag =
                if told.is_error && !self.lies.tell(Fault::LoseErrorFlag) { ",\"is_error\":true" } else { "" };
            push(
                &mut content,
                &format!(
                    "{{\"type\":\"tool_result\",\"tool_use_id\":{},\"content\":[{parts}]{flag}}}",
                    quote(&tool_use.id)
                ),
            );
        }
        if content.is_empty() {
            // The API refuses empty messages; only a fault brings the host here.
            content.push_str("{\"type\":\"text\",\"text\":\"Go on.\"}");
        }
        push(&mut self.messages, &format!("{{\"role\":\"user\",\"content\":[{content}]}}"));
    }
}

/// The API refuses a request with a tool whose schema has a combinator at its root. The rest of the schema still tells the model enough, and the
/// gate keeps the whole one.
fn schema(text: &str) -> Cow<'_, str> {
    let keep = |key: &str| !matches!(key, "oneOf" | "anyOf" | "allOf");
    reshaped(text, keep, None).map_or(Cow::Borrowed(text), Cow::Owned)
}

fn part_json(part: &Part) -> String {
    match part {
        Part::Found(reference) => reference.clone(),
        Part::Text(text) => format!("{{\"type\":\"text\",\"text\":{}}}", quote(text)),
        Part::Image { data, mime_type } => {
            format!(
                "{{\"type\":\"image\",\"source\":{{\"type\":\"base64\",\"media_type\":{},\"data\":{}}}}}",
                quote(mime_type),
                quote(data)
            )
        }
    }
}

fn start(raw: &RawValue) -> Result<Block, String> {
    let block = Members::of(raw).ok_or("a block is not an object")?;
    let get = |name: &str| block.string(name).unwrap_or_default();
    Ok(match get("type").as_str() {
        "text" => Block::Text(get("text")),
        "thinking" => Block::Thinking { text: get("thinking"), signature: get("signature") },
        "tool_use" => {
            // Input comes in deltas; only a start that holds something already counts for itself.
            let input = block
                .get("input")
                .map(RawValue::get)
                .filter(|input| !matches!(*input, "{}" | "\"\"" | "null"))
                .unwrap_or_default();
            Block::ToolUse { id: get("id"), name: get("name"), input: input.to_owned() }
        }
        _ => Block::Other(raw.get().to_owned()),
    })
}

fn grow(block: &mut Block, delta: &Members<'_>) {
    let get = |name: &str| delta.string(name).unwrap_or_default();
    match block {
        Block::Text(text) => text.push_str(&get("text")),
        Block::ToolUse { input, .. } => input.push_str(&get("partial_json")),
        Block::Thinking { text, signature } => {
            text.push_str(&get("thinking"));
            signature.push_str(&get("signature"));
        }
        Block::Other(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feed(api: &mut Messages, events: &[&str]) -> Result<Reply, String> {
        for data in events {
            api.on_event(&SseEvent { name: String::new(), data: (*data).to_owned() })?;
        }
        api.finish()
    }

    #[test]
    fn a_reply_goes_back_with_the_text_that_the_model_wrote() {
        let mut api = Messages::new(Lies::default());
        api.say("go");
        let reply = feed(
            &mut api,
            &[
                r#"{"type":"message_start","message":{}}"#,
                r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
                r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Looking"}}"#,
                r#"{"type":"content_block_stop","index":0}"#,
                r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t1","name":"n","input":{}}}"#,
                r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"n\": 9007199"}}"#,
                r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"254740993}"}}"#,
                r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#,
                r#"{"type":"message_stop"}"#,
            ],
        )
        .unwrap();
        assert_eq!(reply.text, "Looking");
        assert_eq!(reply.uses[0].input, r#"{"n": 9007199254740993}"#);
        api.tell(&[(reply.uses[0].clone(), Told::trouble("no"))]);
        assert_eq!(
            api.messages,
            r#"{"role":"user","content":[{"type":"text","text":"go"}]},{"role":"assistant","content":[{"type":"text","text":"Looking"},{"type":"tool_use","id":"t1","name":"n","input":{"n": 9007199254740993}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"no"}],"is_error":true}]}"#
        );
    }

    #[test]
    fn only_what_the_api_refuses_is_left_out_of_a_schema() {
        let plain = r#"{ "type":"object", "properties":{"a":{"anyOf":[{},{}]}} }"#;
        assert_eq!(schema(plain), plain);
        assert_eq!(
            schema(r#"{"type":"object","anyOf":[{"required":["a"]}],"x":1.0}"#),
            r#"{"type":"object","x":1.0}"#
        );
    }

    #[test]
    fn malformed_input_stays_out_of_the_conversation() {
        let mut api = Messages::new(Lies::default());
        let reply = feed(
            &mut api,
            &[
                r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t1","name":"n","input":{}}}"#,
                r#"{"type":"content_block_delta","index":0,"delta":{"partial_json":"{\"id\": "}}"#,
                r#"{"type":"message_stop"}"#,
            ],
        )
        .unwrap();
        assert_eq!(reply.uses[0].input, "{\"id\": ");
        assert!(api.messages.contains(r#""input":{}"#));
    }

    #[test]
    fn a_reply_that_breaks_off_is_an_error() {
        let mut api = Messages::new(Lies::default());
        assert!(feed(&mut api, &[r#"{"type":"message_start"}"#]).is_err());
        assert!(feed(&mut api, &[r#"{"type":"error","error":{"type":"overloaded_error"}}"#]).is_err());
        assert!(feed(&mut api, &["{"]).is_err());
    }
}
