//! The requirement catalogue: what the specification asks of a host.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use toml::de::{DeTable, DeValue};

use crate::embedded;

/// How much a requirement binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// An upper-case MUST of the specification, or a constraint of its schema.
    Must,
    /// An upper-case SHOULD.
    Should,
    /// A MAY.
    May,
    /// A promise of this project (`hop.*`, `expect.*`, some claims).
    Invariant,
    /// What a host documents or claims of itself.
    Policy,
    /// Recorded, never failed.
    Trait,
}

impl Level {
    /// All, the most binding first.
    pub const ALL: [Self; 6] = [Self::Must, Self::Should, Self::May, Self::Invariant, Self::Policy, Self::Trait];

    /// Its word in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Must => "must",
            Self::Should => "should",
            Self::May => "may",
            Self::Invariant => "invariant",
            Self::Policy => "policy",
            Self::Trait => "trait",
        }
    }

    /// Whether a failure fails the run.
    #[must_use]
    pub const fn fails(self) -> bool {
        matches!(self, Self::Must | Self::Invariant | Self::Policy)
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// One requirement of the specification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its id.
    pub id: String,
    /// The strongest level that the text gives it, over the revisions.
    pub stated: String,
    /// What makes it bind: `bcp14`, `schema`, `lowercase`, `implied` or `guidance`.
    pub keyword: String,
    /// The part of the specification.
    pub area: String,
    /// The requirement in a sentence.
    pub summary: String,
    /// The lane that shows it: `wire`, `model`, `process`; `ui` or `no` where none does.
    pub observable: String,
    /// The revisions that have it.
    pub revisions: Vec<String>,
    /// The level in a revision, where it is not [`Entry::stated`].
    pub level_in: BTreeMap<String, String>,
    /// What differs between revisions.
    pub revision_note: Option<String>,
    /// The place in the specification, by revision.
    pub source: BTreeMap<String, String>,
}

impl Entry {
    /// The level at which it is judged: only upper-case keywords and schema constraints bind.
    #[must_use]
    pub fn level(&self) -> Level {
        level(&self.keyword, &self.stated)
    }

    /// The level in one revision.
    #[must_use]
    pub fn level_in(&self, revision: &str) -> Level {
        level(&self.keyword, self.level_in.get(revision).unwrap_or(&self.stated))
    }
}

fn level(keyword: &str, stated: &str) -> Level {
    match (keyword, stated) {
        ("bcp14" | "schema", "must") => Level::Must,
        ("bcp14" | "schema", "should") => Level::Should,
        ("bcp14" | "schema", "may") => Level::May,
        _ => Level::Trait,
    }
}

/// All entries, by id.
#[must_use]
pub fn entries() -> &'static BTreeMap<String, Entry> {
    static ENTRIES: LazyLock<BTreeMap<String, Entry>> = LazyLock::new(|| parse(&embedded::requirements().text));
    &ENTRIES
}

/// The entry of that id.
#[must_use]
pub fn find(id: &str) -> Option<&'static Entry> {
    entries().get(id)
}

/// Reads the catalogue. It is ours and checked by a test, so what is missing reads as empty.
fn parse(text: &str) -> BTreeMap<String, Entry> {
    let (root, _) = DeTable::parse_recoverable(text);
    let root = root.into_inner();
    let Some(DeValue::Array(list)) = root.get("requirement").map(toml::Spanned::get_ref) else {
        return BTreeMap::new();
    };
    list.iter()
        .filter_map(|item| item.get_ref().as_table())
        .map(entry)
        .map(|entry| (entry.id.clone(), entry))
        .collect()
}

fn entry(table: &DeTable<'_>) -> Entry {
    let text = |key: &str| table.get(key).and_then(|value| value.get_ref().as_str());
    let list = |key: &str| -> Vec<String> {
        let items = table.get(key).and_then(|value| value.get_ref().as_array());
        items.into_iter().flatten().filter_map(|item| item.get_ref().as_str().map(str::to_owned)).collect()
    };
    let map = |key: &str| -> BTreeMap<String, String> {
        let members = table.get(key).and_then(|value| value.get_ref().as_table());
        let member = |(key, value): (&toml::Spanned<_>, &toml::Spanned<DeValue<'_>>)| {
            let key: &std::borrow::Cow<'_, str> = key.get_ref();
            Some((key.to_string(), value.get_ref().as_str()?.to_owned()))
        };
        members.into_iter().flatten().filter_map(member).collect()
    };
    let owned = |key: &str| text(key).unwrap_or_default().to_owned();
    Entry {
        id: owned("id"),
        stated: owned("level"),
        keyword: owned("keyword"),
        area: owned("area"),
        summary: owned("summary"),
        observable: owned("observable"),
        revisions: list("revisions"),
        level_in: map("level_in"),
        revision_note: text("revision_note").map(str::to_owned),
        source: map("source"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_says_what_it_is() {
        assert!(entries().len() > 300, "{}", entries().len());
        for entry in entries().values() {
            assert!(!entry.summary.is_empty() && !entry.revisions.is_empty(), "{entry:?}");
            assert!(["must", "should", "may"].contains(&entry.stated.as_str()), "{entry:?}");
            for revision in &entry.revisions {
                assert!(entry.source.contains_key(revision), "{}: no source in {revision}", entry.id);
            }
        }
    }

    #[test]
    fn only_keywords_and_the_schema_bind() {
        assert_eq!(level("bcp14", "must"), Level::Must);
        assert_eq!(level("schema", "should"), Level::Should);
        assert_eq!(level("implied", "must"), Level::Trait);
        assert_eq!(level("lowercase", "must"), Level::Trait);
    }
}
