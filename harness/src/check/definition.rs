//! What of a tool's definition reaches the model.
//!
//! Hosts write schemas anew for their model API, which is nobody's duty to leave undone. A model that is not shown a
//! parameter, or is shown one that is not there, fills in the wrong arguments.

use std::collections::BTreeSet;

use crate::json::{Json, NumberModel};

/// What a model that is shown `given` in the place of `listed` gets wrong, as a phrase; nothing where it can fill in the
/// same arguments.
pub(super) fn lost(listed: &Json, given: &Json) -> Option<String> {
    let names = |schema: &Json| -> BTreeSet<String> {
        let members = schema.get("properties").map(Json::members).unwrap_or_default();
        members.iter().map(|(name, _)| name.to_lossy().into_owned()).collect()
    };
    let required = |schema: &Json| -> BTreeSet<String> {
        let items = schema.get("required").map(Json::items).unwrap_or_default();
        items.iter().filter_map(Json::as_str).map(str::to_owned).collect()
    };
    let (wanted, shown) = (names(listed), names(given));
    let missing = || wanted.difference(&shown).next().map(|name| format!("no parameter `{name}`"));
    let extra =
        || shown.difference(&wanted).next().map(|name| format!("a parameter `{name}` that it does not have"));
    let demanded = required(listed);
    let demands = required(given);
    let forgotten =
        || demanded.difference(&demands).next().map(|name| format!("`{name}` as an optional parameter"));
    let invented = || demands.difference(&demanded).next().map(|name| format!("`{name}` as a required parameter"));
    missing().or_else(extra).or_else(forgotten).or_else(invented)
}

/// How a schema that is shown differs from the one that was listed: keywords that are gone, that are new, and that have
/// another value, each once.
pub(super) fn difference(listed: &Json, given: &Json) -> String {
    let mut changes = Changes::default();
    compare(listed, given, "schema", &mut changes);
    let part = |words: &BTreeSet<String>, lead: &str| {
        (!words.is_empty()).then(|| format!("{lead} {}", words.iter().cloned().collect::<Vec<_>>().join(", ")))
    };
    let parts = [
        part(&changes.gone, "without"),
        part(&changes.new, "with"),
        part(&changes.changed, "with another value of"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "as listed".to_owned() } else { parts.join("; ") }
}

#[derive(Default)]
struct Changes {
    gone: BTreeSet<String>,
    new: BTreeSet<String>,
    changed: BTreeSet<String>,
}

/// Keywords under which names stand that are no keywords.
const NAMED: [&str; 5] = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

fn compare(listed: &Json, given: &Json, keyword: &str, changes: &mut Changes) {
    match (listed, given) {
        (Json::Object(wanted), Json::Object(shown)) => {
            let word = |key: &str| if NAMED.contains(&keyword) { keyword.to_owned() } else { key.to_owned() };
            for (key, value) in wanted {
                let key = key.to_lossy();
                match given.get(&key) {
                    Some(other) => {
                        let inner = if NAMED.contains(&keyword) { "schema" } else { &key };
                        compare(value, other, inner, changes);
                    }
                    None => {
                        changes.gone.insert(word(&key));
                    }
                }
            }
            for (key, _) in shown.iter().filter(|(key, _)| listed.get(&key.to_lossy()).is_none()) {
                changes.new.insert(word(&key.to_lossy()));
            }
        }
        (Json::Array(wanted), Json::Array(shown)) if wanted.len() == shown.len() => {
            for (value, other) in wanted.iter().zip(shown) {
                compare(value, other, keyword, changes);
            }
        }
        _ if listed.equals(given, NumberModel::Decimal) => {}
        _ => {
            changes.changed.insert(keyword.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTED: &str = r#"{"type":"object","properties":{"id":{"type":"string","pattern":"^[A-Z]$"},"n":{"type":"integer","minimum":1}},"required":["id"]}"#;

    #[track_caller]
    fn check(given: &str, expected_lost: Option<&str>, expected_difference: &str) {
        let (listed, given) = (Json::parse(LISTED).unwrap(), Json::parse(given).unwrap());
        assert_eq!(lost(&listed, &given).as_deref(), expected_lost);
        assert_eq!(difference(&listed, &given), expected_difference);
    }

    #[test]
    fn a_parameter_counts_and_a_keyword_is_recorded() {
        check(LISTED, None, "as listed");
        check(
            r#"{"required":["id"],"properties":{"n":{"minimum":1.0,"type":"integer"},"id":{"type":"string"}},"type":"object"}"#,
            None,
            "without pattern",
        );
        check(
            r#"{"type":"object","properties":{"id":{"type":"string","pattern":"^[A-Z]$"}},"required":["id"]}"#,
            Some("no parameter `n`"),
            "without properties",
        );
        check(
            r#"{"type":"object","properties":{"id":{"type":"string","pattern":"^[A-Z]$"},"n":{"type":"string","minimum":1},"x":{}},"required":["id"],"title":"T"}"#,
            Some("a parameter `x` that it does not have"),
            "with properties, title; with another value of type",
        );
        check(
            r#"{"type":"object","properties":{"id":{"type":"string","pattern":"^[A-Z]$"},"n":{"type":"integer","minimum":1}}}"#,
            Some("`id` as an optional parameter"),
            "without required",
        );
        check(
            r#"{"type":"object","properties":{"id":{"type":"string","pattern":"^[A-Z]$"},"n":{"type":"integer","minimum":1}},"required":["id","n"]}"#,
            Some("`n` as a required parameter"),
            "with another value of required",
        );
    }
}
