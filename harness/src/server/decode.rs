//! Server scripts: text to [`Script`].

mod actions;
pub mod edits;
pub mod keys;

use std::path::Path;
use std::sync::Arc;

use edits::Listed;

use super::script::{Body, Describe, Nth, On, Pages, Reply, Rule, Scope, Script, Tool};
use crate::decode::{Reporter, Value, keys::quoted, payload, shape, suggest, syntax};
use crate::diagnostic::{Diagnostic, Source};
use crate::json::Json;

/// Reads a server script. Its name is the stem of the file's name.
///
/// # Errors
/// Everything that is wrong with the file.
pub fn parse(source: &Arc<Source>) -> Result<Script, Vec<Diagnostic>> {
    let mut out = Reporter::new(source);
    let root = syntax::read(source, &mut out);
    shape::check(&root, &keys::SCRIPT, &mut out);
    let stem = Path::new(&source.name).file_stem().unwrap_or_default().to_string_lossy();
    let script = extend(blank(&stem), &root, &mut out);
    check_generations(&root, &script, &mut out);
    check_rules(&root, &script.name, Listed::of(&script).ever(), &mut out);
    out.finish(script)
}

/// A script that offers nothing.
#[must_use]
pub fn blank(name: &str) -> Script {
    Script {
        name: name.to_owned(),
        info: Json::object([("name", name), ("version", "1.0.0")]),
        capabilities: Json::object([("tools", Json::empty())]),
        instructions: None,
        pages: Pages::default(),
        tools: Vec::new(),
        on: Vec::new(),
        generations: Vec::new(),
    }
}

/// Lays the keys of a table over a script: tools replace those of the same name and follow the others, rules follow
/// the rules that are there, generations those that are there, all else is replaced.
pub fn extend(mut script: Script, table: &Value, out: &mut Reporter) -> Script {
    if let Some(info) = table.get("info").and_then(payload::json) {
        script.info = info;
    }
    if let Some(capabilities) = table.get("capabilities").and_then(payload::json) {
        script.capabilities = capabilities;
    }
    if let Some(instructions) = table.string("instructions") {
        script.instructions = Some(instructions);
    }
    if let Some(pages) = table.get("pages") {
        if let Some(size) = pages.get("size") {
            script.pages.size = size.as_integer();
        }
        if pages.get("cursors").is_some() {
            script.pages.cursors = pages.strings("cursors");
        }
    }
    // Only tools that were there before are replaced: a hostile script may well list one name twice.
    let inherited = script.tools.len();
    for tool in table.list("tool").iter().filter_map(tool) {
        match script.tools[..inherited].iter_mut().find(|known| known.name == tool.name) {
            Some(known) => *known = tool,
            None => script.tools.push(tool),
        }
    }
    for value in table.list("on") {
        script.on.extend(rule(value, out));
    }
    script.generations.extend(table.list("generation").iter().filter_map(edits::generation));
    script
}

fn tool(value: &Value) -> Option<Tool> {
    Some(Tool {
        name: value.string("name")?,
        title: value.string("title"),
        description: value.string("description"),
        describe: value.get("describe").and_then(|word| word.pick(&keys::DESCRIBE)).unwrap_or(Describe::Marked),
        input_schema: match value.get("input_schema") {
            Some(schema) => schema_or_absent(schema),
            None => Some(Json::object([("type", "object")])),
        },
        output_schema: value.get("output_schema").and_then(schema_or_absent),
        annotations: value.get("annotations").and_then(payload::json),
        meta: value.get("meta").and_then(payload::json),
        replies: value.list("reply").iter().filter_map(reply).collect(),
    })
}

fn schema_or_absent(value: &Value) -> Option<Json> {
    if value.as_str() == Some("absent") { None } else { payload::json(value) }
}

fn reply(value: &Value) -> Option<Reply> {
    let body = match (value.get("result"), value.get("error")) {
        (Some(result), _) => Body::Result(payload::json(result)?),
        (None, Some(error)) => Body::Error(actions::rpc_error(error)?),
        (None, None) => return None,
    };
    Some(Reply { when: value.get("when").and_then(payload::json), body })
}

fn rule(value: &Value, out: &mut Reporter) -> Option<Rule> {
    // Every part is read before any is missed, so that all mistakes of a rule come at once.
    let nth = value.get("nth").map_or(Some(Nth::Every), |nth| read_nth(nth, out));
    let actions = value.list("do").iter().filter_map(|act| actions::action(act, out)).collect();
    let event: On = value.get("event")?.pick(&keys::EVENTS)?;
    Some(Rule {
        span: value.span.clone(),
        event,
        method: value.string("method"),
        tool: value.string("tool"),
        nth: nth?,
        scope: value.get("scope").and_then(|word| word.pick(&keys::SCOPES)).unwrap_or(Scope::Connection),
        actions,
    })
}

/// Reports rules of a table for tools that the script of that name never has.
pub fn check_rules(table: &Value, script: &str, tools: &[String], out: &mut Reporter) {
    // A syntax error may have swallowed the tool.
    if !out.is_damaged() {
        table.list("on").iter().for_each(|rule| check_tool(rule, script, tools, out));
    }
}

/// Reports what generations of a table cannot do. The tools of the script are those of its first process.
pub fn check_generations(table: &Value, script: &Script, out: &mut Reporter) {
    let mut listed = Listed::of(script);
    table.list("generation").iter().for_each(|generation| listed.change(generation, &script.name, out));
}

fn check_tool(rule: &Value, script: &str, tools: &[String], out: &mut Reporter) {
    let Some((place, name)) = rule.get("tool").and_then(|value| Some((value, value.as_str()?))) else { return };
    let known = || tools.iter().map(String::as_str);
    if known().any(|tool| tool == name) {
        return;
    }
    let wording =
        out.error(place.span.clone(), format!("unknown tool `{name}`")).label(format!("not a tool of `{script}`"));
    match suggest(name, known()) {
        Some(close) => wording.help(format!("did you mean `{close}`?")),
        None => wording.help(format!("its tools are {}", quoted(known()))),
    };
}

fn read_nth(value: &Value, out: &mut Reporter) -> Option<Nth> {
    if let Some(number) = value.as_integer() {
        return Some(Nth::These(vec![number]));
    }
    let Some(text) = value.as_str() else {
        return Some(Nth::These(value.items().iter().filter_map(Value::as_integer).collect()));
    };
    let range = || {
        let (first, last) = text.split_once("..=")?;
        let (first, last) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        (first >= 1 && first <= last).then_some(Nth::Range(first, last))
    };
    let nth = if text == "every" { Some(Nth::Every) } else { range() };
    if nth.is_none() {
        out.error(value.span.clone(), format!("`nth` cannot be `{text}`"))
            .label("no number, range or `every`")
            .help("write `2`, `[1, 3]`, `\"2..=4\"` or `\"every\"`; occurrences count from 1");
    }
    nth
}

#[cfg(test)]
mod tests;
