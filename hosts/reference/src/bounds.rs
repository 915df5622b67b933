//! What it may cost to judge by a schema. A short schema can stand for more work than a machine can do, and a server may have written it.

use std::collections::HashMap;

use serde_json::Value;

/// A schema of a megabyte stays far below this; one that doubles at each level soon does not.
const MOST_STEPS: u64 = 1_000_000;

/// Whether judging one value by the schema takes a bounded number of steps.
pub(crate) fn are_kept(schema: &Value) -> bool {
    Count { root: schema, references: HashMap::new() }.steps(schema) <= MOST_STEPS
}

struct Count<'a> {
    root: &'a Value,
    /// The steps behind each reference; one step for those that are being counted, because a circle ends with the value that is judged.
    references: HashMap<&'a str, u64>,
}

impl<'a> Count<'a> {
    fn steps(&mut self, schema: &'a Value) -> u64 {
        match schema {
            Value::Object(members) => members.iter().fold(1, |sum, (key, value)| {
                let more = match value {
                    Value::String(target) if key == "$ref" => self.behind(target),
                    // Definitions cost nothing until something refers to them.
                    _ if key == "$defs" || key == "definitions" => 0,
                    value => self.steps(value),
                };
                sum.saturating_add(more)
            }),
            Value::Array(items) => items.iter().fold(1, |sum, item| sum.saturating_add(self.steps(item))),
            _ => 1,
        }
    }

    fn behind(&mut self, target: &'a str) -> u64 {
        if let Some(steps) = self.references.get(target) {
            return *steps;
        }
        self.references.insert(target, 1);
        let schema = target.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
        let steps = schema.map_or(1, |schema| self.steps(schema));
        self.references.insert(target, steps);
        steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(schema: &str, kept: bool) {
        assert_eq!(are_kept(&serde_json::from_str(schema).unwrap()), kept, "{schema}");
    }

    #[test]
    fn ordinary_schemas_are_cheap() {
        check(r#"{"type":"object","properties":{"a":{"enum":[1,2,3]}}}"#, true);
        check(r##"{"properties":{"a":{"$ref":"#"},"b":{"$ref":"#/properties/a"}}}"##, true);
        check(r##"{"$ref":"#/nowhere"}"##, true);
    }

    #[test]
    fn a_schema_that_doubles_at_each_level_is_not() {
        let level = |n: usize| {
            format!(r##""l{n}":{{"anyOf":[{{"$ref":"#/$defs/l{}"}},{{"$ref":"#/$defs/l{}"}}]}}"##, n + 1, n + 1)
        };
        let levels: Vec<_> = (0..40).map(level).collect();
        check(
            &format!(r##"{{"type":"object","$ref":"#/$defs/l0","$defs":{{{},"l40":{{}}}}}}"##, levels.join(",")),
            false,
        );
    }
}
