//! What the real model APIs refuse, as data. A lenient mock cannot see a host that offers tools which its model's API
//! would never take, or that breaks the conversation's form.

use std::collections::HashSet;

use crate::host::profile::ApiName;
use crate::json::Json;

use super::types::Violation;
use super::{anthropic, responses};

/// A rule of a real model API.
pub struct Rule {
    /// Its id, such as `anthropic.tool-name`.
    pub id: &'static str,
    /// The API.
    pub api: ApiName,
    /// Where the rule is known from: a page of the documentation, or the API's own words in refusals.
    pub source: &'static str,
    /// Says what breaks the rule, once for each place, in the manner of the API's own messages.
    pub(super) check: fn(&Json) -> Vec<String>,
}

impl Rule {
    /// What in a request body, whole or reduced, breaks the rule.
    #[must_use]
    pub fn broken_by(&self, body: &Json) -> Vec<String> {
        (self.check)(body)
    }
}

/// The rules of an API.
#[must_use]
pub fn rules(api: ApiName) -> &'static [Rule] {
    match api {
        ApiName::AnthropicMessages => anthropic::RULES,
        ApiName::OpenaiResponses => responses::RULES,
        ApiName::Synthetic => &[],
    }
}

/// What of a request the real API would refuse.
pub(super) fn violations(api: ApiName, body: &Json) -> Vec<Violation> {
    rules(api)
        .iter()
        .flat_map(|rule| rule.broken_by(body).into_iter().map(|what| Violation { rule: rule.id, what }))
        .collect()
}

/// Whether a text has 1 to `most` characters, all of them ASCII letters, digits or one of `also`.
pub(super) fn is_name(text: &str, also: &[u8], most: usize) -> bool {
    (1..=most).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || also.contains(&byte))
}

/// Those that occur more than once, each named once, in order.
pub(super) fn repeated<T: Eq + std::hash::Hash + Copy>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut seen = HashSet::new();
    let mut twice = Vec::new();
    for item in items {
        if !seen.insert(item) && !twice.contains(&item) {
            twice.push(item);
        }
    }
    twice
}

/// The root keywords of a schema that are in `unwanted`.
pub(super) fn root_keywords<'a>(schema: &Json, unwanted: &[&'a str]) -> Vec<&'a str> {
    unwanted.iter().copied().filter(|keyword| schema.get(keyword).is_some()).collect()
}

/// Whether a schema is for values of that type, alone or among others.
pub(super) fn has_type(schema: &Json, name: &str) -> bool {
    match schema.get("type") {
        Some(Json::Array(names)) => names.iter().any(|one| one.as_str() == Some(name)),
        other => other.and_then(Json::as_str) == Some(name),
    }
}

/// Visits a schema and all schemas in it, with the path to each.
pub(super) fn walk_schema<'a>(schema: &'a Json, path: &str, visit: &mut impl FnMut(&str, &'a Json)) {
    visit(path, schema);
    for (key, member) in schema.members() {
        let Some(key) = key.as_str() else { continue };
        let at = || if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
        match key {
            "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas" => {
                for (name, nested) in member.members() {
                    walk_schema(nested, &format!("{}.{}", at(), name.to_lossy()), visit);
                }
            }
            "anyOf" | "oneOf" | "allOf" | "prefixItems" => {
                for (index, nested) in member.items().iter().enumerate() {
                    walk_schema(nested, &format!("{}.{index}", at()), visit);
                }
            }
            "items" | "additionalProperties" | "not" | "if" | "then" | "else" | "contains"
                if member.is_object() =>
            {
                walk_schema(member, &at(), visit);
            }
            _ => {}
        }
    }
}
