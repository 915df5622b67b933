//! A quick yes for plain schemas.
//!
//! Compiling a schema means to load the meta-schemas of its dialect, which takes longer than all the rest of a short run. Most tools have schemas
//! that anybody can read at a glance, and most arguments match. This module says yes to those, and knows nothing else: whatever it does not
//! plainly see goes to the real validator, and so does everything that does not match.

use regex_lite::Regex;
use serde_json::{Map, Value};

/// Whether `value` plainly matches `schema`. False means only that it could not be seen here.
pub(crate) fn matches(schema: &Value, value: &Value) -> bool {
    let Value::Object(keywords) = schema else {
        return false;
    };
    keywords.iter().all(|(keyword, operand)| holds(keyword, operand, keywords, value))
}

fn holds(keyword: &str, operand: &Value, schema: &Map<String, Value>, value: &Value) -> bool {
    match (keyword, operand) {
        ("title" | "description" | "$comment", Value::String(_)) | ("default", _) => true,
        ("type", Value::String(name)) => has_type(value, name),
        ("type", Value::Array(names)) => {
            let known = names.iter().all(Value::is_string);
            known && names.iter().filter_map(Value::as_str).any(|name| has_type(value, name))
        }
        ("enum", Value::Array(options)) => value.is_string() && options.contains(value),
        ("pattern", Value::String(pattern)) => match value {
            Value::String(text) => {
                is_simple(pattern) && Regex::new(pattern).is_ok_and(|regex| regex.is_match(text))
            }
            _ => false,
        },
        ("properties", Value::Object(properties)) => {
            let Value::Object(members) = value else {
                return false;
            };
            properties.iter().all(|(name, schema)| match members.get(name) {
                Some(member) => matches(schema, member),
                // A property that is not there is not judged, but its schema must still be one.
                None => schema.is_object(),
            })
        }
        ("required", Value::Array(names)) => {
            let Value::Object(members) = value else {
                return false;
            };
            names.iter().all(|name| name.as_str().is_some_and(|name| members.contains_key(name)))
        }
        ("additionalProperties", Value::Bool(true)) => true,
        ("additionalProperties", Value::Bool(false)) => {
            let (Value::Object(members), Some(Value::Object(known))) = (value, schema.get("properties")) else {
                return value.as_object().is_some_and(Map::is_empty);
            };
            members.keys().all(|name| known.contains_key(name))
        }
        ("items", Value::Object(_)) => {
            value.as_array().is_some_and(|items| items.iter().all(|item| matches(operand, item)))
        }
        _ => false,
    }
}

fn has_type(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        // Whether 1.0 is an integer is a question for the real validator.
        "integer" => value.is_i64() || value.is_u64(),
        _ => false,
    }
}

/// Whether a pattern means the same in every dialect of regular expressions: literals, classes of them, digits, repetition and anchors.
fn is_simple(pattern: &str) -> bool {
    let rest = pattern.replace("\\d", "");
    rest.chars().all(|c| c.is_ascii_alphanumeric() || "^$[]{}-_,+*".contains(c)) && !rest.contains("--")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ORDER: &str = r#"{"type":"object","description":"d","properties":{"id":{"type":"string","pattern":"^[A-Z]-\\d{4}$"},
        "n":{"type":["integer","null"]},"tags":{"type":"array","items":{"enum":["a","b"]}},"odd":{"minLength":3}},
        "required":["id"],"additionalProperties":false}"#;

    /// A plain yes must be the yes of the real validator; the other way round is a matter of speed only.
    #[track_caller]
    fn check(schema: &str, value: &str, plain: bool) {
        let (schema, value) = (serde_json::from_str(schema).unwrap(), serde_json::from_str(value).unwrap());
        assert_eq!(matches(&schema, &value), plain, "{value} against {schema}");
        if plain {
            assert!(jsonschema::is_valid(&schema, &value), "{value} against {schema}");
        }
    }

    #[test]
    fn plain_schemas_are_read_at_a_glance() {
        check(ORDER, r#"{"id":"A-1042"}"#, true);
        check(ORDER, r#"{"id":"A-1042","n":null,"tags":["a","b"]}"#, true);
        check(ORDER, r#"{"id":"A-1042","n":7}"#, true);
        check(r#"{"type":"object"}"#, r#"{"any":[1.5,null]}"#, true);
        check(r#"{"type":"object","additionalProperties":false}"#, "{}", true);
    }

    #[test]
    fn all_else_is_left_to_the_validator() {
        for value in [
            "{}",
            r#"{"id":"1042"}"#,
            r#"{"id":7}"#,
            r#"{"id":"A-1042","n":1.0}"#,
            r#"{"id":"A-1042","x":1}"#,
            r#"{"id":"A-1042","odd":"abc"}"#,
            "[]",
        ] {
            check(ORDER, value, false);
        }
        for schema in [
            "true",
            r#"{"$ref":"x"}"#,
            r#"{"not":{}}"#,
            r#"{"type":"thing"}"#,
            r#"{"required":[1]}"#,
            r#"{"properties":{"a":7}}"#,
            r#"{"additionalProperties":false,"patternProperties":{}}"#,
        ] {
            check(schema, "{}", false);
        }
        check(r#"{"pattern":"^(?=a)"}"#, "\"a\"", false);
        check(r#"{"pattern":"\\p{L}"}"#, "\"a\"", false);
    }
}
