//! The model side: two APIs behind one trait.

pub(crate) mod anthropic;
pub(crate) mod http;
pub(crate) mod responses;
pub(crate) mod sse;

use std::borrow::Cow;

use crate::config::ApiKind;
use crate::fault::Lies;
use crate::json::{self, Members};
use crate::model::sse::SseEvent;
use crate::told::Told;
use crate::tool::Tool;

/// A tool use of the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ToolUse {
    pub(crate) id: String,
    /// The group of the tool, where the API has groups.
    pub(crate) namespace: Option<String>,
    pub(crate) name: String,
    /// The arguments, as the text that the model wrote. It may be anything.
    pub(crate) input: String,
}

/// A complete reply of the model.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) text: String,
    pub(crate) uses: Vec<ToolUse>,
}

/// How tools are shown to the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Surface {
    /// One list of long names.
    Flat,
    /// One group for each server.
    Namespace,
}

/// A tool of the host itself.
pub(crate) struct Own {
    pub(crate) name: &'static str,
    pub(crate) description: String,
    /// Its schema, as JSON text.
    pub(crate) schema: &'static str,
    pub(crate) purpose: Purpose,
}

/// What a tool of the host itself is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// It finds tools.
    Search,
    /// It calls tools.
    Call,
}

/// A tool under its published name.
pub(crate) struct Offered<'a> {
    pub(crate) namespace: Option<&'a str>,
    pub(crate) name: &'a str,
    /// The key of its server.
    pub(crate) server: &'a str,
    pub(crate) tool: &'a Tool,
    /// The schema as the model is shown it.
    pub(crate) schema: Cow<'a, str>,
}

/// A model API: it keeps the conversation in its own form, and nothing of it is ever spelled anew.
pub(crate) trait Api {
    /// The path of the request.
    fn path(&self) -> &'static str;
    /// The headers that carry the key, each with its line end.
    fn headers(&self, key: &str) -> String;
    /// How tools are shown.
    fn surface(&self) -> Surface;
    /// The offer as JSON text: the tools, and the host's own one.
    fn offer(&self, tools: &[Offered<'_>], own: Option<&Own>) -> String;
    /// A tool that was found, as JSON text for the result of the search.
    fn found(&self, tool: &Offered<'_>) -> String;
    /// Adds a message of the user.
    fn say(&mut self, prompt: &str);
    /// The body of the next request.
    fn body(&self, tools: &str) -> String;
    /// Takes in one event of the reply.
    fn on_event(&mut self, event: &SseEvent) -> Result<(), String>;
    /// Ends the reply and adds it to the conversation.
    fn finish(&mut self) -> Result<Reply, String>;
    /// Adds the results of the tool uses of the last reply.
    fn tell(&mut self, results: &[(ToolUse, Told)]);
}

/// The API of the given kind, with an empty conversation.
pub(crate) fn api(kind: ApiKind, lies: Lies) -> Box<dyn Api> {
    match kind {
        ApiKind::AnthropicMessages => Box::new(anthropic::Messages::new(lies)),
        ApiKind::OpenAiResponses => Box::new(responses::Responses::new(lies)),
    }
}

/// A tool entry: its members as JSON text, with the published name and the schema under the key and in the form that the API wants.
fn entry(offered: &Offered<'_>, schema_key: &str, schema: &str) -> String {
    let description = offered.tool.description_json.as_deref().unwrap_or("\"\"");
    format!("\"name\":{},\"description\":{description},\"{schema_key}\":{}", json::quote(offered.name), schema)
}

/// An object with some members kept and some JSON text added, or nothing when that changes nothing.
fn reshaped(object: &str, keep: impl Fn(&str) -> bool, more: Option<&str>) -> Option<String> {
    let members = Members::parse(object).ok()?;
    if more.is_none() && members.0.iter().all(|(key, _)| keep(key)) {
        return None;
    }
    let mut text = String::new();
    for (key, value) in members.0.iter().filter(|(key, _)| keep(key)) {
        push(&mut text, &format!("{}:{}", json::quote(key), value.get()));
    }
    if let Some(more) = more {
        push(&mut text, more);
    }
    Some(format!("{{{text}}}"))
}

/// The message of an error event, for either API.
fn error_message(data: &Members<'_>) -> String {
    let inner = data
        .get("error")
        .or_else(|| data.get("response"))
        .map_or_else(String::new, |error| error.get().to_owned());
    let outer = data.string("message").unwrap_or_default();
    format!("the stream reported an error: {outer}{inner}")
}

/// Adds an element to a list of JSON texts.
fn push(list: &mut String, element: &str) {
    if !list.is_empty() {
        list.push(',');
    }
    list.push_str(element);
}
