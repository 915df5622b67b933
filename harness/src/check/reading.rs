//! What a tool result says to the model, seen through the wrapping of the host.
//!
//! Hosts put results into JSON strings, add lines of their own, or join blocks. None of that is a fault, so a result is
//! read twice: as it stands after the profile's patterns are cut, and as the strings of all JSON that is found in it.

use regex_lite::Regex;

use crate::json::{Json, NumberModel};
use crate::model::{Part, ToolResult};
use crate::plan::Plan;

/// Starts of JSON that are tried in one text, so that a text of brackets costs no quadratic time.
const MOST_STARTS: usize = 64;

/// JSON in a string in JSON, at most this deep.
const MOST_LAYERS: usize = 4;

/// Longer texts are compared by their markers only: hosts may cut what is long.
const LONG: usize = 16 * 1024;

/// The patterns of a profile that are cut from results.
pub(crate) fn strips(plan: &Plan) -> Vec<Regex> {
    plan.profile.strip.iter().filter_map(|pattern| Regex::new(&pattern.value).ok()).collect()
}

/// A tool result, read.
pub(crate) struct Reading {
    /// The text after the profile's patterns are cut.
    text: String,
    /// All strings in the JSON of the text, in order.
    decoded: String,
    /// All JSON values that were found, outermost first.
    values: Vec<Json>,
    /// Whether there is an image.
    pub(crate) image: bool,
}

impl Reading {
    pub(crate) fn new(result: &ToolResult, strips: &[Regex]) -> Self {
        let mut text = result.text();
        for strip in strips {
            text = strip.replace_all(&text, "").into_owned();
        }
        let mut values = embedded(&text);
        // Other parts stand as JSON in the request itself.
        values.extend(result.parts.iter().filter_map(|part| match part {
            Part::Other(json) => Some(json.clone()),
            Part::Text(_) | Part::Image(_) => None,
        }));
        let mut strings = Vec::new();
        let mut layer = values.clone();
        for _ in 0..MOST_LAYERS {
            let mut inner = Vec::new();
            for value in &layer {
                value.walk(&mut |value| {
                    if let Json::String(string) = value {
                        let string = string.to_lossy();
                        inner.extend(embedded(&string));
                        strings.push(string.into_owned());
                    }
                });
            }
            values.extend(inner.iter().cloned());
            layer = inner;
        }
        let image = result.parts.iter().any(|part| matches!(part, Part::Image(_)));
        Self { text, decoded: strings.join("\n"), values, image }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Whether all texts are said, in this order, in one of the two readings.
    pub(crate) fn says<'t>(&self, texts: impl IntoIterator<Item = &'t str> + Clone) -> bool {
        in_order(&self.text, texts.clone()) || in_order(&self.decoded, texts)
    }

    /// Whether an equal JSON value is found, on its own or inside another.
    pub(crate) fn holds(&self, wanted: &Json) -> bool {
        let mut found = false;
        for value in &self.values {
            value.walk(&mut |value| found |= value.equals(wanted, NumberModel::Decimal));
        }
        found
    }

    /// The error flag that the text itself carries in the wrapping of the host, as `isError` or `is_error`.
    pub(crate) fn flag(&self) -> Option<bool> {
        let flags =
            ["isError", "is_error"].iter().flat_map(|key| self.values.iter().map(move |value| value.get(key)));
        flags.flatten().find_map(Json::as_bool)
    }
}

/// The text blocks of a tool result on the wire.
pub(crate) fn blocks(result: &Json) -> Vec<&str> {
    let content = result.get("content").map(Json::items).unwrap_or_default();
    content
        .iter()
        .filter(|block| block.str("type") == Some("text"))
        .filter_map(|block| block.str("text"))
        .collect()
}

/// Whether a reading contains the content of a tool result: its text blocks in order, or its structured form.
pub(crate) fn contains(reading: &Reading, result: &Json) -> bool {
    let blocks = blocks(result);
    let wanted: Vec<String> = blocks
        .iter()
        .flat_map(|block| if block.len() > LONG { super::view::markers(block) } else { vec![(*block).to_owned()] })
        .collect();
    let structured = result.get("structuredContent");
    // Where there is no text, saying none of it is no sign of what else there is.
    if (!blocks.is_empty() || structured.is_none()) && reading.says(wanted.iter().map(String::as_str)) {
        return true;
    }
    // A block that is JSON may be written anew by the host.
    let as_json = |block: &&str| Json::parse(block.as_bytes()).is_ok_and(|json| reading.holds(&json));
    if !blocks.is_empty() && blocks.iter().all(as_json) {
        return true;
    }
    structured.is_some_and(|structured| reading.holds(structured))
}

fn in_order<'t>(text: &str, wanted: impl IntoIterator<Item = &'t str>) -> bool {
    let mut rest = text;
    for wanted in wanted {
        let wanted = wanted.trim();
        match rest.find(wanted) {
            Some(at) => rest = &rest[at + wanted.len()..],
            None => return false,
        }
    }
    true
}

/// The JSON objects and arrays in a text; the whole text where it is JSON of any kind.
fn embedded(text: &str) -> Vec<Json> {
    if let Ok(whole) = Json::parse(text.trim().as_bytes()) {
        return vec![whole];
    }
    let mut found = Vec::new();
    let (mut at, mut starts) = (0, 0);
    while let Some(start) = text[at..].find(['{', '[']).map(|offset| at + offset) {
        starts += 1;
        if starts > MOST_STARTS {
            break;
        }
        let end = closing(&text.as_bytes()[start..]).map(|len| start + len);
        match end.and_then(|end| Some((end, Json::parse(&text.as_bytes()[start..end]).ok()?))) {
            Some((end, json)) => {
                found.push(json);
                at = end;
            }
            None => at = start + 1,
        }
    }
    found
}

/// The length of the bracketed value at the start, with its closing bracket.
fn closing(bytes: &[u8]) -> Option<usize> {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => depth += 1,
            b'}' | b']' if !in_string => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Reading {
        let parts = vec![Part::Text(text.to_owned())];
        Reading::new(&ToolResult { id: "a".to_owned(), is_error: None, parts }, &[])
    }

    fn json(text: &str) -> Json {
        Json::parse(text).unwrap()
    }

    #[test]
    fn json_is_found_in_any_wrapping() {
        let wanted = json(r#"{"a":1}"#);
        for text in [
            r#"{"a":1}"#,
            r#"Output: {"a": 1.0}"#,
            r#"[{"type":"text","text":"{\"a\":1}"}]"#,
            r#"Wall time: 1 [x] {"output":"{\"b\":{\"a\":1}}"}"#,
            r#""{\"a\":1}""#,
        ] {
            assert!(read(text).holds(&wanted), "{text}");
        }
        for text in ["", r#"{"a":2}"#, r#"{"a":1,"b":2}"#, "{ {", r#""a":1"#] {
            assert!(!read(text).holds(&wanted), "{text}");
        }
    }

    #[test]
    fn texts_are_found_in_order() {
        assert!(read("one\ntwo").says(["one", "two"]));
        assert!(!read("one\ntwo").says(["two", "one"]));
        assert!(read(r#"[{"text":"o\"ne"},{"text":"two"}]"#).says(["o\"ne", "two"]));
    }

    #[test]
    fn a_host_may_write_json_anew_but_not_change_it() {
        let result = json(r#"{"content":[{"type":"text","text":"{\"a\":1, \"b\":2}"}]}"#);
        assert!(contains(&read(r#"{"b":2,"a":1}"#), &result));
        assert!(!contains(&read(r#"{"b":2,"a":3}"#), &result));
        let structured = json(r#"{"content":[{"type":"text","text":"x"}],"structuredContent":{"a":1}}"#);
        assert!(contains(&read(r#"{"a":1}"#), &structured));
    }

    #[test]
    fn brackets_cost_no_quadratic_time() {
        assert!(!read(&"[".repeat(200_000)).holds(&json("[1]")));
    }

    #[test]
    fn the_flag_may_stand_in_the_text() {
        assert_eq!(read(r#"{"isError":true}"#).flag(), Some(true));
        assert_eq!(read("failed").flag(), None);
    }
}
