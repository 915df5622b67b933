//! Schemas of the TOML formats, from their tables of keys.

use std::ptr;

use super::parts::{any_of, defined, described, has, keyword, list, map, typed, words};
use crate::decode::keys::{Choice, Condition, Key, KeyTable, Kind, Required};
use crate::json::Json;

/// The schema of a file whose top level is this table.
pub(super) fn file(table: &'static KeyTable) -> Json {
    let mut defs = Definitions::default();
    let mut schema = defs.table(table);
    schema.set("$defs", Json::object(defs.known.into_iter().map(|def| (def.name, def.schema))));
    schema
}

/// The same for a scenario, whose base is complete only where there are no cases to complete it.
pub(super) fn scenario(table: &'static KeyTable) -> Json {
    let whole = file(table);
    let mut schema = Json::empty();
    for (name, value) in whole.members() {
        if name == "required" {
            // Not a plain `anyOf`: this way an editor names the key that is missing.
            schema.set("if", keyword("not", has(["case"])));
            schema.set("then", keyword("required", value.clone()));
        } else {
            schema.set(&name.to_lossy(), value.clone());
        }
    }
    schema
}

/// A table under `$defs`.
struct Definition {
    table: &'static KeyTable,
    name: String,
    schema: Json,
}

/// The tables that were met, in the order in which the file's keys lead to them.
#[derive(Default)]
struct Definitions {
    known: Vec<Definition>,
}

impl Definitions {
    /// A reference to a table that the key `key` leads to.
    fn reference(&mut self, table: &'static KeyTable, key: &str) -> Json {
        if let Some(known) = self.known.iter().find(|known| ptr::eq(known.table, table)) {
            return defined(&known.name);
        }
        let name = self.name(table, key);
        let at = self.known.len();
        // The place is taken before the table is described, because a table may hold itself.
        self.known.push(Definition { table, name: name.clone(), schema: Json::Null });
        let schema = self.table(table);
        let mut titled = Json::object([("title", title(table))]);
        for (keyword, value) in schema.members() {
            titled.set(&keyword.to_lossy(), value.clone());
        }
        self.known[at].schema = titled;
        defined(&name)
    }

    /// The table's noun as a name, told apart by the key where two tables have the same noun.
    fn name(&self, table: &KeyTable, key: &str) -> String {
        let plain = |text: &str| text.to_lowercase().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        let noun = plain(&title(table));
        let is_taken = |name: &str| self.known.iter().any(|known| known.name == name);
        let mut name = noun.clone();
        let mut count = 1;
        while is_taken(&name) {
            name = if count == 1 { format!("{noun}-of-{}", plain(key)) } else { format!("{noun}-{count}") };
            count += 1;
        }
        name
    }

    fn table(&mut self, table: &'static KeyTable) -> Json {
        let keys: Vec<&Key> = table.all().filter(|key| !is_later(key)).collect();
        let mut schema = typed("object");
        let properties = keys.iter().map(|key| (key.name, described(key.doc, self.value(&key.kind, key.name))));
        schema.set("properties", Json::object(properties.collect::<Vec<_>>()));
        let always = keys.iter().filter(|key| key.required == Required::Required && key.unless.is_none());
        let required: Vec<&str> = always.map(|key| key.name).collect();
        if !required.is_empty() {
            schema.set("required", Json::array(required));
        }
        let mut all = conditional(&keys);
        if let Some(choice) = &table.choice {
            let exists = |name: &&str| keys.iter().any(|key| key.name == *name);
            let choices = choice.keys.iter().copied().filter(exists).map(|name| has([name]));
            schema.set("oneOf", Json::array(choices));
            all.extend(company(&keys, choice));
        }
        if !all.is_empty() {
            schema.set("allOf", all);
        }
        schema.set("additionalProperties", false);
        schema
    }

    /// The schema of what a key takes.
    fn value(&mut self, kind: &'static Kind, key: &str) -> Json {
        match kind {
            // Patterns are not those of JavaScript, which the format `regex` means.
            Kind::Text | Kind::Regex | Kind::Template => typed("string"),
            Kind::NonEmpty => {
                let mut schema = typed("string");
                schema.set("minLength", 1);
                schema
            }
            Kind::Bool => typed("boolean"),
            Kind::Flag => keyword("const", true),
            Kind::Integer(min, max) => integer(*min, *max),
            Kind::Word(closed) => words((closed.known)()),
            Kind::List(item) => list(self.value(item, key)),
            Kind::Table(table) => self.reference(table, key),
            Kind::Tables(table) => {
                let mut schema = list(self.reference(table, key));
                schema.set("minItems", 1);
                schema
            }
            Kind::Map(item) => map(self.value(item, key)),
            Kind::Json => json(),
            Kind::JsonOrAbsent => any_of(vec![keyword("const", "absent"), json()]),
            Kind::JsonTable | Kind::Changes => typed("object"),
            Kind::OneOf(kinds) => any_of(kinds.iter().map(|kind| self.value(kind, key)).collect()),
            // Left out of its table already; in a list of kinds, nothing fits it.
            Kind::Later => keyword("not", Json::empty()),
        }
    }
}

/// A key that this version refuses is better not offered by an editor.
fn is_later(key: &Key) -> bool {
    matches!(key.kind, Kind::Later)
}

/// The keys that are out of place under a condition, those of the same condition together.
fn conditional(keys: &[&Key]) -> Vec<Json> {
    let mut groups: Vec<(&Condition, Vec<&Key>)> = Vec::new();
    for key in keys {
        let Some(condition) = key.unless else { continue };
        match groups.iter_mut().find(|(known, _)| ptr::eq(*known, condition)) {
            Some((_, group)) => group.push(key),
            None => groups.push((condition, vec![key])),
        }
    }
    let one = |(condition, group): (&Condition, Vec<&Key>)| {
        let nothing = group.iter().map(|key| (key.name, Json::from(false)));
        let mut rule = Json::object([
            ("if", leads(condition, condition.path)),
            ("then", keyword("properties", Json::object(nothing))),
        ]);
        let required: Vec<&str> =
            group.iter().filter(|key| key.required == Required::Required).map(|key| key.name).collect();
        if !required.is_empty() {
            rule.set("else", has(required));
        }
        rule
    };
    groups.into_iter().map(one).collect()
}

/// A table in which the path leads to one of the words of a condition, or a list in which it does so everywhere.
fn leads(condition: &Condition, path: &[&str]) -> Json {
    let Some((name, rest)) = path.split_first() else { return words(condition.words.iter().copied()) };
    let inner = leads(condition, rest);
    // What is followed through a list has tables in it, and at least one.
    let value = if rest.is_empty() {
        inner
    } else {
        let mut items = typed("array");
        items.set("minItems", 1);
        items.set("items", inner);
        items
    };
    let mut schema = has([*name]);
    schema.set("properties", Json::object([(*name, value)]));
    schema
}

/// The keys that go with some of the choice only, those of the same company together.
fn company(keys: &[&Key], choice: &Choice) -> Vec<Json> {
    let mut groups: Vec<(&[&str], Vec<&str>)> = Vec::new();
    for key in keys.iter().filter(|key| !key.only_with.is_empty()) {
        match groups.iter_mut().find(|(with, _)| *with == key.only_with) {
            Some((_, names)) => names.push(key.name),
            None => groups.push((key.only_with, vec![key.name])),
        }
    }
    let one_of = |names: &[&str]| any_of(names.iter().map(|name| has([*name])).collect());
    groups
        .into_iter()
        // What goes with every choice needs no saying: one of them is there.
        .filter(|(with, _)| !choice.keys.iter().all(|name| with.contains(name)))
        .map(|(with, names)| Json::object([("if", one_of(&names)), ("then", one_of(with))]))
        .collect()
}

/// TOML has no larger numbers than the bounds that are left out.
fn integer(min: i64, max: i64) -> Json {
    let mut schema = typed("integer");
    if min > i64::MIN {
        schema.set("minimum", min);
    }
    if max < i64::MAX {
        schema.set("maximum", max);
    }
    schema
}

/// What is JSON on the wire, all but `null`, which TOML cannot write but in a string.
fn json() -> Json {
    keyword("type", Json::array(["object", "array", "string", "number", "boolean"]))
}

/// The noun without its article and its backticks.
fn title(table: &KeyTable) -> String {
    let noun = table.noun.replace('`', "");
    let bare = noun.strip_prefix("a ").or_else(|| noun.strip_prefix("an ")).unwrap_or(&noun);
    bare.to_owned()
}
