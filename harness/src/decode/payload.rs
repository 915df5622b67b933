//! Values that are JSON on the wire.
//!
//! A TOML value is converted with its member order and number text. A string is JSON text, and an error in it points
//! at its real line and column.

use super::inside::char_inside;
use super::{Data, Reporter, Value};
use crate::json::{Json, ParseError, Text};

/// Reports everything in a payload that is no JSON.
pub fn check(name: &str, value: &Value, out: &mut Reporter) {
    match &value.data {
        Data::String(text) => {
            if let Err(error) = Json::parse(text) {
                report_text(name, value, text, &error, out);
            }
        }
        _ => check_inside(value, out),
    }
}

/// The payload, where it is JSON.
#[must_use]
pub fn json(value: &Value) -> Option<Json> {
    match &value.data {
        Data::String(text) => Json::parse(text).ok(),
        _ => convert(value),
    }
}

/// A TOML value as JSON: a string is a string here.
fn convert(value: &Value) -> Option<Json> {
    match &value.data {
        Data::String(text) => Some(text.into()),
        Data::Integer(text) | Data::Float(text) => number(text),
        Data::Bool(value) => Some((*value).into()),
        Data::Array(items) => items.iter().map(convert).collect::<Option<Vec<_>>>().map(Json::Array),
        Data::Table(members) => members
            .iter()
            .map(|member| Some((Text::from(&member.key.value), convert(&member.value)?)))
            .collect::<Option<Vec<_>>>()
            .map(Json::Object),
        Data::Date(_) | Data::Broken => None,
    }
}

fn number(text: &str) -> Option<Json> {
    Json::parse(text).ok().filter(|json| matches!(json, Json::Number(_)))
}

fn check_inside(value: &Value, out: &mut Reporter) {
    match &value.data {
        Data::Date(text) => {
            out.error(value.span.clone(), "a date in a JSON payload")
                .label("JSON has no dates")
                .help(format!("write it as a string: \"{text}\""));
        }
        Data::Integer(text) | Data::Float(text) if number(text).is_none() => {
            out.error(value.span.clone(), "a number that JSON cannot write")
                .label("no JSON number")
                .help("write a finite decimal number, or a string");
        }
        Data::Array(items) => items.iter().for_each(|item| check_inside(item, out)),
        Data::Table(members) => members.iter().for_each(|member| check_inside(&member.value, out)),
        _ => {}
    }
}

fn report_text(name: &str, value: &Value, text: &str, error: &ParseError, out: &mut Reporter) {
    let span = char_inside(&out.source().text, &value.span, text, error.offset);
    let wording = out.error(span, format!("`{name}` is not valid JSON")).label(error.reason);
    // Someone who writes a word without any JSON punctuation means a string.
    if !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || " -_.,!?".contains(c)) {
        wording.help(format!("a JSON string needs quotes of its own: '\"{text}\"'"));
    }
}
