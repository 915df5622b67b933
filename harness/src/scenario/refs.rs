//! Names of servers and tools in steps and rules.

use std::ops::Range;

use super::ast::{ToolPattern, ToolRef};
use super::report_unknown;
use crate::decode::inside::span_inside;
use crate::decode::{Reporter, Value};
use crate::diagnostic::Spanned;

/// What a scenario can name. A syntax error may have swallowed a server or a tool, so in a damaged file no name is
/// reported.
pub(super) struct Names {
    /// Server keys with their tools; `None` where the tools could not be read, so that nothing can be said of them.
    pub(super) servers: Vec<(String, Option<Vec<String>>)>,
    /// Servers that may not announce changes of their tools.
    pub(super) mute: Vec<String>,
    /// The names under which rules of servers hold replies; `None` where some script could not be read.
    pub(super) holds: Option<Vec<String>>,
}

/// A name with the place to point at when it is unknown.
type Name = Spanned<String>;

impl Names {
    /// Reports a server that is not there.
    pub(super) fn check_server(&self, server: &Name, out: &mut Reporter) {
        if !self.servers.iter().any(|(key, _)| *key == server.value) && !out.is_damaged() {
            let known: Vec<&str> = self.servers.iter().map(|(key, _)| key.as_str()).collect();
            report_unknown(server, "server", &known, "a server of this scenario", out);
        }
    }

    /// Reports a tool that its server does not have. Keeps silent about an unknown server.
    pub(super) fn check_tool(&self, server: &str, tool: &Name, out: &mut Reporter) {
        let tools = self.servers.iter().find(|(key, _)| key == server).and_then(|(_, tools)| tools.as_ref());
        let Some(tools) = tools else { return };
        if !tools.contains(&tool.value) && !out.is_damaged() {
            let known: Vec<&str> = tools.iter().map(String::as_str).collect();
            report_unknown(tool, "tool", &known, &format!("a tool of `{server}`"), out);
        }
    }

    /// Whether the server is known and may not announce changes of its tools.
    pub(super) fn is_mute(&self, server: &str) -> bool {
        self.mute.iter().any(|mute| mute == server)
    }

    /// Reports a name under which no rule of a server holds anything.
    pub(super) fn check_hold(&self, hold: &Name, out: &mut Reporter) {
        let Some(known) = &self.holds else { return };
        if !known.contains(&hold.value) && !hold.value.is_empty() && !out.is_damaged() {
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            report_unknown(hold, "hold", &known, "held by a rule of any server", out);
        }
    }

    /// The tool that a verb names.
    pub(super) fn tool(&self, value: &Value, out: &mut Reporter) -> Option<ToolRef> {
        let (server, tool) = if let Some(text) = value.as_str() {
            split(value, text, out)?
        } else {
            (value.get("server")?.spanned_str()?, value.get("tool")?.spanned_str()?)
        };
        self.check_server(&server, out);
        self.check_tool(&server.value, &tool, out);
        Some(ToolRef { server: server.value, tool: tool.value })
    }

    /// The pattern of a rule. In the string form `*` means any; in the table form a name that is left out does.
    pub(super) fn pattern(&self, value: &Value, out: &mut Reporter) -> Option<ToolPattern> {
        let (server, tool) = if let Some(text) = value.as_str() {
            let (server, tool) = split(value, text, out)?;
            let named = |name: Name| Some(name).filter(|name| name.value != "*");
            (named(server), named(tool))
        } else {
            (value.get("server").and_then(Value::spanned_str), value.get("tool").and_then(Value::spanned_str))
        };
        if let Some(server) = &server {
            self.check_server(server, out);
        }
        match (&server, &tool) {
            (Some(server), Some(tool)) => self.check_tool(&server.value, tool, out),
            (None, Some(tool)) => self.check_any_tool(tool, out),
            _ => {}
        }
        Some(ToolPattern { server: server.map(|name| name.value), tool: tool.map(|name| name.value) })
    }

    fn check_any_tool(&self, tool: &Name, out: &mut Reporter) {
        let mut known = Vec::new();
        for (_, tools) in &self.servers {
            let Some(tools) = tools else { return };
            known.extend(tools.iter().map(String::as_str));
        }
        if !known.contains(&tool.value.as_str()) && !out.is_damaged() {
            report_unknown(tool, "tool", &known, "a tool of any server", out);
        }
    }
}

/// Splits `SERVER/TOOL` at the first slash.
fn split(value: &Value, text: &str, out: &mut Reporter) -> Option<(Name, Name)> {
    if let Some(slash) = text.find('/') {
        let name = |part: Range<usize>| {
            let span = span_inside(&out.source().text, &value.span, text, part.clone());
            Spanned::new(text[part].to_owned(), span)
        };
        return Some((name(0..slash), name(slash + 1..text.len())));
    }
    // An empty string was reported as such.
    if !text.is_empty() {
        out.error(value.span.clone(), format!("`{text}` names no tool"))
            .label("expected SERVER/TOOL")
            .help("write the server's key, a slash and the registered name, such as `orders/lookup_order`");
    }
    None
}
