//! As much JSON Schema as naming the rule that an argument breaks needs: no references, no composition.

use regex_lite::Regex;

use crate::json::{Json, NumberModel};
use crate::plan::Plan;
use crate::scenario::ast::ToolRef;

/// The input schema of a planned tool.
pub(super) fn of<'a>(plan: &'a Plan, tool: &ToolRef) -> Option<&'a Json> {
    let server = plan.servers.iter().find(|server| server.key == tool.server)?;
    server.script.tools.iter().find(|known| known.name == tool.tool)?.input_schema.as_ref()
}

/// The keyword that `value` breaks first, in document order of the value.
pub(super) fn violation(schema: &Json, value: &Json) -> Option<&'static str> {
    own_violation(schema, value).or_else(|| match value {
        Json::Object(members) => members.iter().find_map(|(key, member)| {
            let key = key.as_str()?;
            match schema.at(&["properties", key]) {
                Some(inner) => violation(inner, member),
                None => match schema.get("additionalProperties") {
                    Some(Json::Bool(false)) => Some("additionalProperties"),
                    Some(inner) => violation(inner, member),
                    None => None,
                },
            }
        }),
        Json::Array(items) => {
            let inner = schema.get("items")?;
            items.iter().find_map(|item| violation(inner, item))
        }
        _ => None,
    })
}

/// The keyword that the value itself breaks, whatever is inside it.
fn own_violation(schema: &Json, value: &Json) -> Option<&'static str> {
    if !schema.get("type").is_none_or(|types| has_type(types, value)) {
        return Some("type");
    }
    if schema.get("enum").is_some_and(|allowed| !allowed.items().iter().any(|one| same(one, value))) {
        return Some("enum");
    }
    if schema.get("const").is_some_and(|only| !same(only, value)) {
        return Some("const");
    }
    match value {
        Json::Object(_) => object_violation(schema, value),
        Json::Array(items) => array_violation(schema, items),
        Json::String(text) => string_violation(schema, &text.to_lossy()),
        Json::Number(number) => number_violation(schema, number.as_f64()),
        Json::Null | Json::Bool(_) => None,
    }
}

fn object_violation(schema: &Json, value: &Json) -> Option<&'static str> {
    let required = schema.get("required").map(Json::items).unwrap_or_default();
    if required.iter().filter_map(Json::as_str).any(|key| value.get(key).is_none()) {
        return Some("required");
    }
    bound(schema, value.members().len() as f64, [("minProperties", Side::Least), ("maxProperties", Side::Most)])
}

fn array_violation(schema: &Json, items: &[Json]) -> Option<&'static str> {
    let repeated = || items.iter().enumerate().any(|(at, item)| items[..at].iter().any(|other| same(other, item)));
    if schema.get("uniqueItems") == Some(&Json::Bool(true)) && repeated() {
        return Some("uniqueItems");
    }
    bound(schema, items.len() as f64, [("minItems", Side::Least), ("maxItems", Side::Most)])
}

fn string_violation(schema: &Json, text: &str) -> Option<&'static str> {
    let pattern = schema.str("pattern").and_then(|pattern| Regex::new(pattern).ok());
    if pattern.is_some_and(|pattern| !pattern.is_match(text)) {
        return Some("pattern");
    }
    bound(schema, text.chars().count() as f64, [("minLength", Side::Least), ("maxLength", Side::Most)])
}

fn number_violation(schema: &Json, value: f64) -> Option<&'static str> {
    let limits = [
        ("minimum", Side::Least),
        ("maximum", Side::Most),
        ("exclusiveMinimum", Side::Above),
        ("exclusiveMaximum", Side::Below),
    ];
    let step = limit(schema, "multipleOf").filter(|step| *step != 0.0);
    bound(schema, value, limits)
        .or_else(|| (step? != 0.0 && (value / step?).fract() != 0.0).then_some("multipleOf"))
}

#[derive(Clone, Copy)]
enum Side {
    Least,
    Most,
    Above,
    Below,
}

fn bound<const N: usize>(schema: &Json, value: f64, limits: [(&'static str, Side); N]) -> Option<&'static str> {
    limits.into_iter().find_map(|(keyword, side)| {
        let limit = limit(schema, keyword)?;
        let broken = match side {
            Side::Least => value < limit,
            Side::Most => value > limit,
            Side::Above => value <= limit,
            Side::Below => value >= limit,
        };
        broken.then_some(keyword)
    })
}

fn limit(schema: &Json, keyword: &str) -> Option<f64> {
    match schema.get(keyword)? {
        Json::Number(number) => Some(number.as_f64()),
        _ => None,
    }
}

fn same(a: &Json, b: &Json) -> bool {
    a.equals(b, NumberModel::Decimal)
}

fn has_type(types: &Json, value: &Json) -> bool {
    let one = |name: &Json| match (name.as_str(), value) {
        (Some("null"), Json::Null)
        | (Some("boolean"), Json::Bool(_))
        | (Some("number"), Json::Number(_))
        | (Some("string"), Json::String(_))
        | (Some("array"), Json::Array(_))
        | (Some("object"), Json::Object(_)) => true,
        (Some("integer"), Json::Number(number)) => number.as_f64().fract() == 0.0,
        _ => false,
    };
    match types {
        Json::Array(any) => any.iter().any(one),
        single => one(single),
    }
}

/// Whether `sent` is `wanted` with values converted to the types that the schema names, and nothing else.
pub(super) fn coerces(schema: &Json, wanted: &Json, sent: &Json) -> bool {
    if same(wanted, sent) {
        return true;
    }
    match (wanted, sent) {
        (Json::Object(a), Json::Object(b)) => {
            let inner = |key: &str| schema.at(&["properties", key]).unwrap_or(&Json::Null);
            a.len() == b.len()
                && a.iter().all(|(key, value)| {
                    let other = b.iter().find(|(other, _)| other == key).map(|(_, value)| value);
                    key.as_str().zip(other).is_some_and(|(key, other)| coerces(inner(key), value, other))
                })
        }
        (Json::Array(a), Json::Array(b)) => {
            let inner = schema.get("items").unwrap_or(&Json::Null);
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| coerces(inner, a, b))
        }
        _ => schema.get("type").is_some_and(|types| has_type(types, sent)) && plain(wanted) == plain(sent),
    }
}

/// A scalar as the text that a conversion between types keeps.
fn plain(json: &Json) -> Option<String> {
    match json {
        Json::String(text) => text.as_str().map(str::to_owned),
        Json::Number(_) | Json::Bool(_) => Some(json.to_string()),
        Json::Null | Json::Array(_) | Json::Object(_) => None,
    }
    .filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Json {
        Json::parse(text).unwrap()
    }

    #[test]
    fn the_broken_keyword_is_named() {
        let schema = json(
            r#"{"type":"object","required":["id"],"additionalProperties":false,"properties":{
                "id":{"type":"string","pattern":"^[A-Z]-\\d+$","maxLength":6},
                "n":{"type":"integer","minimum":1,"exclusiveMaximum":9},
                "kind":{"enum":["a","b"]},
                "list":{"type":"array","items":{"type":"number"},"minItems":1,"uniqueItems":true},
                "any":{"type":["string","null"]}}}"#,
        );
        for (value, expected) in [
            (r#"{"id":"A-1","n":1.0,"kind":"a","list":[1],"any":null}"#, None),
            ("[]", Some("type")),
            ("{}", Some("required")),
            (r#"{"id":7}"#, Some("type")),
            (r#"{"id":"a"}"#, Some("pattern")),
            (r#"{"id":"A-12345"}"#, Some("maxLength")),
            (r#"{"id":"A-1","n":0}"#, Some("minimum")),
            (r#"{"id":"A-1","n":9}"#, Some("exclusiveMaximum")),
            (r#"{"id":"A-1","n":1.5}"#, Some("type")),
            (r#"{"id":"A-1","kind":"c"}"#, Some("enum")),
            (r#"{"id":"A-1","list":[]}"#, Some("minItems")),
            (r#"{"id":"A-1","list":[1,1.0]}"#, Some("uniqueItems")),
            (r#"{"id":"A-1","list":["x"]}"#, Some("type")),
            (r#"{"id":"A-1","x":1}"#, Some("additionalProperties")),
        ] {
            assert_eq!(violation(&schema, &json(value)), expected, "{value}");
        }
    }

    #[test]
    fn coercion_converts_types_and_nothing_else() {
        let schema = json(r#"{"properties":{"n":{"type":"integer"},"s":{"type":"string"}}}"#);
        let check = |wanted, sent| coerces(&schema, &json(wanted), &json(sent));
        assert!(check(r#"{"n":"7","s":1}"#, r#"{"n":7,"s":"1"}"#));
        assert!(!check(r#"{"n":"7"}"#, r#"{"n":8}"#));
        assert!(!check(r#"{"n":7}"#, r#"{"n":"7"}"#));
        assert!(!check(r#"{"n":"7"}"#, "{}"));
    }
}
