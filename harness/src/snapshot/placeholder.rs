//! Volatile values become numbered placeholders. A value is hidden only where it has the shape that it must have, so a
//! wrong value stays visible.

use std::collections::HashMap;

use regex_lite::Regex;

use crate::json::Json;
use crate::plan::{Plan, word};
use crate::trace::Trace;
use crate::trace::event::Kind;

/// Replaces volatile values, and remembers which number each one got.
pub(super) struct Placeholders {
    /// Values known from the plan and the record, longest first.
    known: Vec<(String, String)>,
    /// Shapes of values that nobody announces.
    shapes: Vec<(Regex, Shape)>,
    /// Numbers given so far, by name and value.
    numbers: HashMap<&'static str, Vec<String>>,
    /// JSON-RPC ids by server and connection, in order of appearance.
    ids: HashMap<(String, u32), Vec<Json>>,
}

enum Shape {
    /// All values alike.
    Fixed(String),
    /// Numbered by value.
    Numbered(&'static str),
    /// The value of a member, where all of it has the shape.
    Member(Regex, String),
}

impl Placeholders {
    pub(super) fn new(plan: &Plan, trace: &Trace) -> Self {
        let mut known: Vec<(String, String)> = Vec::new();
        let mut know = |value: &str, placeholder: String| {
            // A short value would be found inside others.
            if value.len() >= 4 && !known.iter().any(|(old, _)| old == value) {
                known.push((value.to_owned(), placeholder));
            }
        };
        // Ids differ between the host runs of a trace, so they are taken from the record.
        let replies = trace.events.iter().filter(|event| event.kind == Kind::ModelReply);
        for emitted in replies.flat_map(|event| event.data.get("uses").map(Json::items).unwrap_or_default()) {
            if let (Some(id), Some(index)) = (emitted.str("id"), emitted.get("use").and_then(Json::as_i64)) {
                know(id, format!("<use:{}>", index + 1));
            }
        }
        let replies = trace.events.iter().filter(|event| event.kind == Kind::ModelReply);
        for emitted in replies.flat_map(|event| event.data.get("searches").map(Json::items).unwrap_or_default()) {
            if let (Some(id), Some(index)) = (emitted.str("id"), emitted.get("search").and_then(Json::as_i64)) {
                know(id, format!("<search:{}>", index + 1));
            }
        }
        know(&plan.run_marker, "<run>".to_owned());
        // Where the scenario says nothing last, the plan does, with a word of its own.
        for prompt in 0..plan.prompts.len() {
            know(&word(plan.key.seed, &["say", &prompt.to_string()], 6), "<end>".to_owned());
        }
        for (_, marked) in plan.servers.iter().flat_map(|server| &server.words) {
            know(marked, "<word>".to_owned());
        }
        for event in trace.events.iter().filter(|event| event.kind == Kind::HostStart) {
            if let Some(cwd) = event.data.str("cwd") {
                know(cwd, "<cwd>".to_owned());
                // The work folder and the home lie side by side in the sandbox.
                if let Some((sandbox, _)) = cwd.rsplit_once('/') {
                    know(sandbox, "<sandbox>".to_owned());
                }
            }
        }
        known.sort_by(|a, b| b.0.len().cmp(&a.0.len()).then_with(|| a.0.cmp(&b.0)));
        Self { known, shapes: shapes(plan), numbers: HashMap::new(), ids: HashMap::new() }
    }

    /// The text with every volatile value replaced.
    pub(super) fn text(&mut self, text: &str) -> String {
        let mut out = text.to_owned();
        for (value, placeholder) in &self.known {
            if out.contains(value.as_str()) {
                out = out.replace(value.as_str(), placeholder);
            }
        }
        for (shape, kind) in &self.shapes {
            let numbers = &mut self.numbers;
            out = shape
                .replace_all(&out, |found: &regex_lite::Captures<'_>| match kind {
                    Shape::Fixed(placeholder) => placeholder.clone(),
                    Shape::Numbered(name) => number(numbers.entry(name).or_default(), name, &found[0]),
                    Shape::Member(whole, placeholder) => {
                        let (key, value) = (&found[1], &found[2]);
                        let hides = whole.is_match(value.trim_matches('"'));
                        format!("{key}{}", if hides { placeholder.as_str() } else { value })
                    }
                })
                .into_owned();
        }
        out
    }

    /// The placeholder of the host's JSON-RPC id on one connection; a value that is no id is shown as it is.
    pub(super) fn id(&mut self, server: &str, conn: u32, id: &Json) -> String {
        let integer = |text: &str| !text.contains(['.', 'e', 'E']);
        match id {
            Json::String(_) => {}
            Json::Number(number) if integer(number.as_str()) => {}
            other => return other.to_string(),
        }
        let known = self.ids.entry((server.to_owned(), conn)).or_default();
        let at = known.iter().position(|old| old == id).unwrap_or_else(|| {
            known.push(id.clone());
            known.len() - 1
        });
        format!("<id:{}>", at + 1)
    }

    /// The placeholder of a version, which must look like one.
    pub(super) fn version(value: &Json) -> Json {
        let shown = value.as_str().is_some_and(|text| text.starts_with(|first: char| first.is_ascii_digit()));
        if shown { Json::from("<version>") } else { value.clone() }
    }

    /// A new host run: connections count anew, and what is unique is so within the run.
    pub(super) fn begin_run(&mut self) {
        self.ids.clear();
        self.numbers.clear();
    }
}

/// The number of a value among those of its name.
fn number(known: &mut Vec<String>, name: &str, value: &str) -> String {
    let at = known.iter().position(|old| old == value).unwrap_or_else(|| {
        known.push(value.to_owned());
        known.len() - 1
    });
    format!("<{name}:{}>", at + 1)
}

/// The pattern for a whole value.
fn anchored(pattern: &str) -> Result<Regex, regex_lite::Error> {
    Regex::new(&format!("^(?:{pattern})$"))
}

fn shapes(plan: &Plan) -> Vec<(Regex, Shape)> {
    let mut shapes = Vec::new();
    let mut add = |pattern: &str, shape: Shape| {
        // Patterns of a profile were checked when it was read; one that does not compile hides nothing.
        if let Ok(regex) = Regex::new(pattern) {
            shapes.push((regex, shape));
        }
    };
    for (at, pattern) in plan.profile.strip.iter().enumerate() {
        add(&pattern.value, Shape::Fixed(format!("<wrap:{}>", at + 1)));
    }
    for (name, pattern) in &plan.profile.redact {
        // Only the value of that member: a shape such as an id of any form would else be found in everything.
        let Ok(whole) = anchored(&pattern.value) else { continue };
        let key = Json::from(name).to_string();
        let member = format!(r#"({}\s*:\s*)("(?:[^"\\]|\\.)*"|[^\s",}}\]]+)"#, regex_lite::escape(&key));
        add(&member, Shape::Member(whole, format!("<{name}>")));
    }
    add("hcm-[0-9a-hjkmnp-tv-z]{8}", Shape::Numbered("marker"));
    add(r"127\.0\.0\.1:[0-9]{2,5}", Shape::Fixed("127.0.0.1:<port>".to_owned()));
    shapes
}
