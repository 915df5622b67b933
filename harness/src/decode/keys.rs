//! Tables of keys: the one description of a file format, as data.
//!
//! The shape pass, did-you-mean, the JSON Schema and the tutorial all come from here.

use super::value::{Data, Value};

/// The keys that a table may have.
pub struct KeyTable {
    /// What the table is, with an article: `a step`.
    pub noun: &'static str,
    /// Its own keys.
    pub keys: &'static [Key],
    /// Tables whose keys it has as well.
    pub includes: &'static [&'static KeyTable],
    /// Keys of which it has exactly one.
    pub choice: Option<Choice>,
}

/// Keys that exclude each other, one of them required.
pub struct Choice {
    /// What such a key is called: `verb`.
    pub word: &'static str,
    /// The keys.
    pub keys: &'static [&'static str],
    /// What to do when there are two.
    pub help: &'static str,
}

/// One key.
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// What it means, as a fragment.
    pub doc: &'static str,
    /// Whether it may be left out.
    pub required: Required,
    /// The keys of the table's choice that it goes with; empty means any.
    pub only_with: &'static [&'static str],
    /// When it is out of place. A required key is required at all other times.
    pub unless: Option<&'static Condition>,
}

/// What another value says, and why a key is out of place then.
pub struct Condition {
    /// The names that lead to the value. On the way through a list, all its items must lead to such a value.
    pub path: &'static [&'static str],
    /// The words that it may be.
    pub words: &'static [&'static str],
    /// Why a key is out of place then, as a sentence without its end.
    pub why: &'static str,
}

/// Whether a key may be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Required {
    /// It may not. A list of tables has at least one.
    Required,
    /// It may.
    Optional,
}

/// What a key takes.
#[derive(Clone, Copy)]
pub enum Kind {
    /// A string.
    Text,
    /// A string with something in it.
    NonEmpty,
    /// A string that is a regular expression.
    Regex,
    /// A string that is a template.
    Template,
    /// `true` or `false`.
    Bool,
    /// `true`; its opposite is to leave the key out.
    Flag,
    /// An integer from the first number to the second, both included.
    Integer(i64, i64),
    /// A word of a closed list.
    Word(&'static Words),
    /// A list.
    List(&'static Kind),
    /// A table.
    Table(&'static KeyTable),
    /// A list of tables.
    Tables(&'static KeyTable),
    /// A table with free keys.
    Map(&'static Kind),
    /// A value that is JSON on the wire: a TOML value, or a string with JSON in it.
    Json,
    /// The same, or the word `absent`.
    JsonOrAbsent,
    /// A TOML table that is a JSON object on the wire.
    JsonTable,
    /// What fits the type of the value.
    OneOf(&'static [Kind]),
    /// Changes to other keys, which are checked where they are applied.
    Changes,
    /// Part of the format, but not of this version.
    Later,
}

/// A closed list of words.
pub struct Words {
    /// The words.
    pub known: fn() -> Vec<&'static str>,
    /// Words of the format that this version does not have yet.
    pub later: &'static [&'static str],
}

impl KeyTable {
    /// All keys, those of included tables after its own.
    pub fn all(&self) -> impl Iterator<Item = &'static Key> {
        self.keys.iter().chain(self.includes.iter().flat_map(|table| table.keys))
    }

    /// The key of that name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&'static Key> {
        self.all().find(|key| key.name == name)
    }
}

impl Key {
    /// A key that may be left out.
    #[must_use]
    pub const fn new(name: &'static str, kind: Kind, doc: &'static str) -> Self {
        Self { name, kind, doc, required: Required::Optional, only_with: &[], unless: None }
    }

    /// A key of the format that this version does not have yet.
    #[must_use]
    pub const fn later(name: &'static str) -> Self {
        Self::new(name, Kind::Later, "not supported yet in this version")
    }

    /// The same key, required.
    #[must_use]
    pub const fn required(mut self) -> Self {
        self.required = Required::Required;
        self
    }

    /// The same key, out of place under a condition.
    #[must_use]
    pub const fn unless(mut self, condition: &'static Condition) -> Self {
        self.unless = Some(condition);
        self
    }

    /// The same key, for some keys of the choice only.
    #[must_use]
    pub const fn only_with(mut self, keys: &'static [&'static str]) -> Self {
        self.only_with = keys;
        self
    }
}

impl Condition {
    /// Whether it holds in a table.
    #[must_use]
    pub fn holds(&self, table: &Value) -> bool {
        self.leads(table, self.path)
    }

    fn leads(&self, value: &Value, path: &[&str]) -> bool {
        let Some((name, rest)) = path.split_first() else {
            return value.as_str().is_some_and(|word| self.words.contains(&word));
        };
        match value.get(name) {
            None => false,
            Some(Value { data: Data::Array(items), .. }) => {
                !items.is_empty() && items.iter().all(|item| self.leads(item, rest))
            }
            Some(next) => self.leads(next, rest),
        }
    }
}

impl Kind {
    /// A list of strings with something in them.
    pub const NAMES: Self = Self::List(&Self::NonEmpty);
    /// One such string or several.
    pub const ONE_OR_MORE: Self = Self::OneOf(&[Self::NonEmpty, Self::NAMES]);
    /// A number that fits 32 bits and is not zero.
    pub const POSITIVE: Self = Self::Integer(1, u32::MAX as i64);
}

/// Words in backticks, joined for a sentence.
#[must_use]
pub fn quoted<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}
