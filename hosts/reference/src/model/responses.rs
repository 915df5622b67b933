//! The Responses API: tools in namespaces, and results without an error flag.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::fault::{Fault, Lies};
use crate::json::{self, Members, quote};
use crate::model::sse::SseEvent;
use crate::model::{Api, Offered, Own, Purpose, Reply, Surface, ToolUse, entry, error_message, push, reshaped};
use crate::told::{Part, Told};

/// The name of the tool that finds tools, which has none in this API.
const SEARCH: &str = crate::reach::FIND;

/// A conversation over the Responses API.
pub(crate) struct Responses {
    /// The items so far, as JSON text without brackets.
    items: String,
    /// The items of the reply that is coming in.
    incoming: String,
    reply: Reply,
    completed: bool,
    lies: Lies,
}

impl Responses {
    /// An empty conversation.
    pub(crate) fn new(lies: Lies) -> Self {
        Self { items: String::new(), incoming: String::new(), reply: Reply::default(), completed: false, lies }
    }

    fn take_item(&mut self, raw: &RawValue) -> Result<(), String> {
        let item = Members::of(raw).ok_or("an output item is not an object")?;
        match item.string("type").as_deref() {
            Some("function_call") => self.reply.uses.push(ToolUse {
                id: item.string("call_id").ok_or("a function call has no call_id")?,
                namespace: item.string("namespace"),
                name: item.string("name").ok_or("a function call has no name")?,
                input: item.string("arguments").unwrap_or_default(),
            }),
            // The search of the API stands for a tool of the host.
            Some("tool_search_call") => self.reply.uses.push(ToolUse {
                id: item.string("call_id").ok_or("a search has no call_id")?,
                namespace: None,
                name: SEARCH.to_owned(),
                input: item.get("arguments").map(|arguments| arguments.get().to_owned()).unwrap_or_default(),
            }),
            Some("message") => {
                let content = item.get("content").and_then(json::elements).unwrap_or_default();
                for text in content.into_iter().filter_map(Members::of).filter_map(|part| part.string("text")) {
                    self.reply.text.push_str(&text);
                }
            }
            _ => {}
        }
        push(&mut self.incoming, raw.get());
        Ok(())
    }
}

impl Api for Responses {
    fn path(&self) -> &'static str {
        "/v1/responses"
    }

    fn headers(&self, key: &str) -> String {
        format!("Authorization: Bearer {key}\r\n")
    }

    fn surface(&self) -> Surface {
        Surface::Namespace
    }

    fn offer(&self, tools: &[Offered<'_>], own: Option<&Own>) -> String {
        let Some(own) = own else { return format!("[{}]", groups(tools, "")) };
        let (description, schema) = (quote(&own.description), own.schema);
        let rest = format!("\"description\":{description},\"parameters\":{schema}");
        // What was found stands in the result of the search, and what is called by another tool nowhere.
        match own.purpose {
            Purpose::Search => format!("[{{\"type\":\"tool_search\",\"execution\":\"client\",{rest}}}]"),
            Purpose::Call => {
                let name = quote(own.name);
                format!("[{{\"type\":\"function\",\"name\":{name},{rest},\"strict\":false}}]")
            }
        }
    }

    fn found(&self, tool: &Offered<'_>) -> String {
        groups(std::slice::from_ref(tool), ",\"defer_loading\":true")
    }

    fn say(&mut self, prompt: &str) {
        // A reply that was interrupted leaves nothing behind.
        self.incoming.clear();
        self.reply = Reply::default();
        let content = format!("[{{\"type\":\"input_text\",\"text\":{}}}]", quote(prompt));
        push(&mut self.items, &format!("{{\"type\":\"message\",\"role\":\"user\",\"content\":{content}}}"));
    }

    fn body(&self, tools: &str) -> String {
        format!(
            "{{\"model\":\"hopcheck-reference\",\"stream\":true,\"store\":false,\"tool_choice\":\"auto\",\"parallel_tool_calls\":true,\"tools\":{tools},\"input\":[{}]}}",
            self.items
        )
    }

    fn on_event(&mut self, event: &SseEvent) -> Result<(), String> {
        if event.data == "[DONE]" {
            return Ok(());
        }
        let data = Members::parse(&event.data).map_err(|error| format!("an event is not JSON: {error}"))?;
        match data.string("type").as_deref().unwrap_or(&event.name) {
            // An item is taken up only when it is complete.
            "response.output_item.done" => {
                self.take_item(data.get("item").ok_or("an output item event has no item")?)?
            }
            "response.completed" | "response.incomplete" => self.completed = true,
            "response.failed" | "error" => return Err(error_message(&data)),
            _ => {}
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<Reply, String> {
        if !std::mem::take(&mut self.completed) {
            return Err("the reply ended without response.completed".to_owned());
        }
        let incoming = std::mem::take(&mut self.incoming);
        if !incoming.is_empty() {
            push(&mut self.items, &incoming);
        }
        Ok(std::mem::take(&mut self.reply))
    }

    fn tell(&mut self, results: &[(ToolUse, Told)]) {
        for (tool_use, told) in results {
            if tool_use.namespace.is_none() && tool_use.name == SEARCH {
                let found = told.parts.iter().map(|part| if let Part::Found(tools) = part { tools } else { "" });
                let tools = found.collect::<String>();
                let id = quote(&tool_use.id);
                push(
                    &mut self.items,
                    &format!(
                        "{{\"type\":\"tool_search_output\",\"call_id\":{id},\"execution\":\"client\",\"status\":\"completed\",\"tools\":[{tools}]}}"
                    ),
                );
                continue;
            }
            let output = output_json(told, self.lies);
            push(
                &mut self.items,
                &format!(
                    "{{\"type\":\"function_call_output\",\"call_id\":{},\"output\":{output}}}",
                    quote(&tool_use.id)
                ),
            );
        }
    }
}

/// The tools, each in the group of its server; `flag` is added to every entry.
fn groups(tools: &[Offered<'_>], flag: &str) -> String {
    let mut groups = String::new();
    for group in tools.chunk_by(|one, other| one.namespace == other.namespace) {
        let mut entries = String::new();
        for offered in group {
            let entry = entry(offered, "parameters", &schema(&offered.schema));
            push(&mut entries, &format!("{{\"type\":\"function\",{entry},\"strict\":false{flag}}}"));
        }
        let namespace = quote(group[0].namespace.unwrap_or_default());
        let description = quote(&format!("Tools of the MCP server {}.", group[0].server));
        push(
            &mut groups,
            &format!(
                "{{\"type\":\"namespace\",\"name\":{namespace},\"description\":{description},\"tools\":[{entries}]}}"
            ),
        );
    }
    groups
}

/// The API refuses an object schema without `properties`, which is how a tool without parameters may look.
fn schema(text: &str) -> Cow<'_, str> {
    let complete = Members::parse(text).is_ok_and(|schema| schema.get("properties").is_some());
    let more = (!complete).then_some("\"properties\":{}");
    reshaped(text, |_| true, more).map_or(Cow::Borrowed(text), Cow::Owned)
}

fn output_json(told: &Told, lies: Lies) -> String {
    // There is no flag in this API, so the words have to say it.
    let prefix = if told.is_error && !lies.tell(Fault::LoseErrorFlag) { "Error: " } else { "" };
    let has_image = told.parts.iter().any(|part| matches!(part, Part::Image { .. }));
    if !has_image {
        let texts: Vec<_> =
            told.parts.iter().map(|part| if let Part::Text(text) = part { text.as_str() } else { "" }).collect();
        return quote(&format!("{prefix}{}", texts.join("\n")));
    }
    let mut parts = String::new();
    if !prefix.is_empty() {
        push(&mut parts, &format!("{{\"type\":\"input_text\",\"text\":{}}}", quote(prefix.trim_end())));
    }
    for part in &told.parts {
        let json = match part {
            Part::Found(_) => continue,
            Part::Text(text) => format!("{{\"type\":\"input_text\",\"text\":{}}}", quote(text)),
            Part::Image { data, mime_type } => {
                format!(
                    "{{\"type\":\"input_image\",\"image_url\":{}}}",
                    quote(&format!("data:{mime_type};base64,{data}"))
                )
            }
        };
        push(&mut parts, &json);
    }
    format!("[{parts}]")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_go_back_verbatim_and_calls_carry_their_namespace() {
        let mut api = Responses::new(Lies::default());
        let item = r#"{"type":"function_call","id":"fc_1","call_id":"c1","namespace":"mcp__orders","name":"lookup","arguments":"{\"n\":1.0}"}"#;
        for data in [
            r#"{"type":"response.created"}"#.to_owned(),
            format!(r#"{{"type":"response.output_item.done","item":{item}}}"#),
            r#"{"type":"response.completed","response":{}}"#.to_owned(),
        ] {
            api.on_event(&SseEvent { name: String::new(), data }).unwrap();
        }
        let reply = api.finish().unwrap();
        let [tool_use] = &reply.uses[..] else { panic!("one use") };
        assert_eq!(
            (tool_use.id.as_str(), tool_use.namespace.as_deref(), tool_use.name.as_str(), tool_use.input.as_str()),
            ("c1", Some("mcp__orders"), "lookup", r#"{"n":1.0}"#)
        );
        api.tell(&[(
            tool_use.clone(),
            Told { parts: vec![Part::Text("a".into()), Part::Text("b".into())], is_error: true },
        )]);
        assert_eq!(
            api.items,
            format!(r#"{item},{{"type":"function_call_output","call_id":"c1","output":"Error: a\nb"}}"#)
        );
    }

    #[test]
    fn images_make_the_output_a_list() {
        let told = Told {
            parts: vec![
                Part::Text("a".into()),
                Part::Image { data: "AA==".into(), mime_type: "image/png".into() },
            ],
            is_error: false,
        };
        assert_eq!(
            output_json(&told, Lies::default()),
            r#"[{"type":"input_text","text":"a"},{"type":"input_image","image_url":"data:image/png;base64,AA=="}]"#
        );
    }

    #[test]
    fn a_schema_without_properties_gets_none() {
        let complete = r#"{ "type":"object", "properties":{} }"#;
        assert_eq!(schema(complete), complete);
        assert_eq!(schema(r#"{"type":"object"}"#), r#"{"type":"object","properties":{}}"#);
    }

    #[test]
    fn a_reply_that_breaks_off_is_an_error() {
        let mut api = Responses::new(Lies::default());
        assert!(api.finish().is_err());
        let failed = SseEvent {
            name: String::new(),
            data: r#"{"type":"response.failed","response":{"error":{"code":"x"}}}"#.to_owned(),
        };
        assert!(api.on_event(&failed).is_err());
    }
}
