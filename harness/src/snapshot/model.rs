//! The model lane of a transcript: what is new in each request, and what the model replied.

use std::collections::HashSet;

use super::line::{Arrow, Line};
use super::placeholder::Placeholders;
use crate::host::profile::ApiName;
use crate::model::{self, ErrorFlag, Item, Names, Offer, Part, Request, ToolResult};
use crate::plan::Plan;
use crate::scenario::ast::ToolRef;
use crate::trace::event::Event;

/// What the requests of one host run said so far.
#[derive(Default)]
pub(super) struct Conversation {
    tools: Option<String>,
    told: HashSet<String>,
}

impl Conversation {
    /// The lines of a main-line request: the offer where it changed, and the tool results that are new.
    pub(super) fn request(
        &mut self,
        event: &Event,
        request: &Request,
        plan: &Plan,
        hide: &mut Placeholders,
    ) -> Vec<Line> {
        let line = |word: &str| Line::new(event.n, "model", Arrow::Back, word);
        let mut lines = Vec::new();
        let tools = hide.text(&offer(plan, request));
        if self.tools.as_ref() != Some(&tools) {
            lines.push(line("tools").rest(tools.clone()));
            self.tools = Some(tools);
        }
        for item in &request.items {
            let Item::ToolResult(result) = item else { continue };
            if self.told.insert(result.id.clone()) {
                let id = hide.text(&result.id);
                let found = model::api(plan.profile.model.api).found(result);
                if !found.is_empty() {
                    let names: Vec<String> = found.iter().map(ToString::to_string).collect();
                    lines.push(line("found").subject(id).rest(format!("[{}]", names.join(" "))));
                    continue;
                }
                lines.push(line("tool_result").subject(id).rest(hide.text(&told(result, plan.profile.model.api))));
            }
        }
        if lines.is_empty() {
            lines.push(line("request").rest("nothing new"));
        }
        lines
    }
}

/// Our tools by published name, sorted: order is judged elsewhere, and only the set must be stable here.
fn offer(plan: &Plan, request: &Request) -> String {
    let offered = Names::of(plan).offered(request);
    let name = |tool: &ToolRef, at: Option<usize>| match at {
        Some(at) => request.offers[at].published.to_string(),
        None => tool.to_string(),
    };
    let mut names: Vec<String> = offered.iter().map(|(tool, at)| name(tool, *at)).collect();
    names.sort();
    // What a search found twice is there twice, and is none of the host's own.
    let ours = |at: &usize, offer: &Offer| offer.found.is_some() || offered.iter().any(|(_, of)| *of == Some(*at));
    let others = request.offers.iter().enumerate().filter(|(at, offer)| !ours(at, offer)).count();
    let own = if others > 0 { format!(" and {others} of its own") } else { String::new() };
    format!("[{}]{own}", names.join(" "))
}

fn told(result: &ToolResult, api: ApiName) -> String {
    let flag = match (model::api(api).error_flag(), result.is_error) {
        (ErrorFlag::Member, Some(true)) => "error",
        (ErrorFlag::Member, _) => "ok",
        (ErrorFlag::None, _) => "told",
    };
    let parts: Vec<String> = result
        .parts
        .iter()
        .map(|part| match part {
            Part::Text(text) => super::message::quoted(text),
            Part::Image(json) => format!("image {json}"),
            Part::Other(json) => json.to_string(),
        })
        .collect();
    format!("{flag} {}", parts.join(" "))
}

/// The lines of a main-line reply.
pub(super) fn reply(event: &Event, plan: &Plan, hide: &mut Placeholders) -> Vec<Line> {
    let line = |word: &str| Line::new(event.n, "model", Arrow::Away, word);
    if let Some(status) = event.data.get("status") {
        return vec![line("error").rest(status.to_string())];
    }
    let turn = event.data.get("turn").and_then(crate::json::Json::as_i64);
    let turn = turn.and_then(|turn| plan.turns.get(usize::try_from(turn).ok()?));
    let mut lines = Vec::new();
    if let Some(text) = turn.and_then(|turn| turn.text.as_deref()) {
        lines.push(line("text").rest(hide.text(&super::message::quoted(text))));
    }
    for tool_use in event.data.get("uses").map(crate::json::Json::items).unwrap_or_default() {
        let name = match (tool_use.str("namespace"), tool_use.str("name").unwrap_or_default()) {
            (Some(namespace), name) => format!("{namespace}.{name}"),
            (None, name) => name.to_owned(),
        };
        let input = tool_use.str("wrapped").or_else(|| tool_use.str("input")).unwrap_or_default();
        let id = hide.text(tool_use.str("id").unwrap_or_default());
        lines.push(
            line("tool_use").subject(id).rest(hide.text(&super::message::one_line(&format!("{name} {input}")))),
        );
    }
    for search in event.data.get("searches").map(crate::json::Json::items).unwrap_or_default() {
        let name = search.str("name").map(|name| format!("{name} ")).unwrap_or_default();
        let input = search.str("input").unwrap_or_default();
        let id = hide.text(search.str("id").unwrap_or_default());
        lines.push(
            line("search").subject(id).rest(hide.text(&super::message::one_line(&format!("{name}{input}")))),
        );
    }
    if lines.is_empty() {
        lines.push(line("end"));
    }
    lines
}
