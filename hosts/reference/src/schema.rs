//! Input schemas: which ones make a tool usable, and the door that arguments pass first.

use std::cell::OnceCell;

use jsonschema::Validator;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::bounds;
use crate::json::{self, Members};
use crate::plain;

/// The registered input schema of a tool: the text for the model, and a validator that is built when first needed.
pub(crate) struct InputSchema {
    text: String,
    validator: OnceCell<Option<Validator>>,
}

impl InputSchema {
    /// Takes the schema of a listed tool, or nothing when no model could be given it: it must be an object that describes an object, and
    /// everything that it refers to must be in it.
    pub(crate) fn usable(raw: &RawValue) -> Option<Self> {
        let members = Members::of(raw)?;
        if members.string("type").as_deref() != Some("object") {
            return None;
        }
        let schema = Self { text: raw.get().to_owned(), validator: OnceCell::new() };
        // A reference that leads outside is never followed. The tool would then stand for arguments that nobody can know.
        if schema.text.contains("\"$ref\"")
            && refers_outside(&serde_json::from_str(&schema.text).ok()?)
            && schema.validator().is_none()
        {
            return None;
        }
        Some(schema)
    }

    /// A schema that says nothing, for the lie that offers tools without one.
    pub(crate) fn anything() -> Self {
        Self { text: "{\"type\":\"object\"}".to_owned(), validator: OnceCell::new() }
    }

    /// The text as the server sent it.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Whether `arguments` match. A schema that cannot be compiled judges nothing.
    pub(crate) fn check(&self, arguments: &str) -> Result<(), String> {
        let value: Value = serde_json::from_str(arguments)
            .or_else(|_| serde_json::from_str(&json::without_lone_surrogates(arguments)))
            .map_err(|error| error.to_string())?;
        if self.validator.get().is_none() && self.value().is_some_and(|schema| plain::matches(&schema, &value)) {
            return Ok(());
        }
        let Some(validator) = self.validator() else {
            return Ok(());
        };
        let wrong: Vec<_> = validator
            .iter_errors(&value)
            .take(5)
            .map(|error| match error.instance_path().as_str() {
                "" => error.to_string(),
                path => format!("{path}: {error}"),
            })
            .collect();
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ")) }
    }

    /// The wrong reading of a schema: all that it names must be there.
    pub(crate) fn demand_all(&self, arguments: &str) -> Result<(), String> {
        let present = Members::parse(arguments).map_err(|error| error.to_string())?;
        let named =
            Members::parse(&self.text).ok().and_then(|schema| schema.get("properties").and_then(Members::of));
        let missing = named.into_iter().flat_map(|named| named.0).find(|(key, _)| present.get(key).is_none());
        missing.map_or(Ok(()), |(key, _)| Err(format!("{key} is missing")))
    }

    fn validator(&self) -> Option<&Validator> {
        let build = || {
            let schema = self.value()?;
            if !bounds::are_kept(&schema) {
                crate::note("a schema is too costly to judge by");
                return None;
            }
            let built = jsonschema::options().should_validate_formats(false).build(&schema);
            built.map_err(|error| crate::note(&format!("a schema cannot be compiled: {error}"))).ok()
        };
        self.validator.get_or_init(build).as_ref()
    }

    fn value(&self) -> Option<Value> {
        serde_json::from_str(&self.text).ok()
    }
}

/// Whether any `$ref` of the schema leads out of it.
fn refers_outside(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => members.iter().any(|(key, value)| match value {
            Value::String(target) if key == "$ref" => !target.starts_with('#'),
            other => refers_outside(other),
        }),
        Value::Array(items) => items.iter().any(refers_outside),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(text: &str) -> Option<InputSchema> {
        InputSchema::usable(serde_json::from_str(text).unwrap())
    }

    #[track_caller]
    fn check_usable(text: &str, expected: bool) {
        assert_eq!(schema(text).is_some(), expected, "{text}");
    }

    #[test]
    fn a_usable_schema_describes_an_object() {
        check_usable(r#"{"type":"object"}"#, true);
        check_usable(r#"{"type":"object","additionalProperties":false}"#, true);
        check_usable(
            r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/a"}},"$defs":{"a":{"type":"string"}}}"##,
            true,
        );
        check_usable("{}", false);
        check_usable("null", false);
        check_usable("\"object\"", false);
        check_usable(r#"{"type":"string"}"#, false);
        check_usable(r#"{"type":"object","properties":{"a":{"$ref":"http://127.0.0.1:9/a.json"}}}"#, false);
    }

    #[track_caller]
    fn check_gate(schema_text: &str, arguments: &str, passes: bool) {
        let verdict = schema(schema_text).unwrap().check(arguments);
        assert_eq!(verdict.is_ok(), passes, "{arguments} against {schema_text}: {verdict:?}");
    }

    #[test]
    fn the_gate_judges_shape() {
        const ORDER: &str = r#"{"type":"object","properties":{"id":{"type":"string","pattern":"^[A-Z]-\\d{4}$"},"n":{"type":["integer","null"]}},"required":["id"],"additionalProperties":false}"#;
        check_gate(ORDER, r#"{"id":"A-1042"}"#, true);
        check_gate(ORDER, r#"{"id":"A-1042","n":null}"#, true);
        check_gate(ORDER, r#"{"id":"A-1042","n":9007199254740993}"#, true);
        check_gate(ORDER, r#"{"id":"A-1042","n":1.5}"#, false);
        check_gate(ORDER, r#"{"id":"1042"}"#, false);
        check_gate(ORDER, "{}", false);
        check_gate(ORDER, r#"{"id":"A-1042","x":1}"#, false);
        check_gate(r#"{"type":"object","properties":{"a":{"type":"string"}}}"#, r#"{"a":"\ud83d"}"#, true);
    }

    #[test]
    fn formats_are_not_asserted() {
        check_gate(
            r#"{"type":"object","properties":{"d":{"type":"string","format":"date"}}}"#,
            r#"{"d":"soon"}"#,
            true,
        );
    }

    #[test]
    fn a_schema_that_cannot_be_compiled_judges_nothing() {
        check_gate(r#"{"type":"object","properties":{"a":{"type":"string","pattern":"("}}}"#, r#"{"a":1}"#, true);
        check_gate(r#"{"type":"object","properties":7}"#, r#"{"a":1}"#, true);
    }

    #[test]
    fn a_schema_that_refers_to_itself_ends() {
        check_gate(r##"{"type":"object","properties":{"a":{"$ref":"#"}}}"##, r#"{"a":{"a":{"a":{}}}}"#, true);
        check_gate(r##"{"type":"object","allOf":[{"$ref":"#"}]}"##, "{}", true);
    }
}
