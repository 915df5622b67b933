//! `scenarios/tutorial/all-keys.toml` has every key that a scenario can have.

use std::collections::BTreeSet;

use crate::decode::keys::{Key, KeyTable, Kind};
use crate::decode::{Data, Reporter, Value, syntax};
use crate::diagnostic::Source;
use crate::scenario::keys;

const TUTORIAL: &str = include_str!("../../../scenarios/tutorial/all-keys.toml");

/// A key by its place in memory: one that two tables share is explained once.
type Place = usize;

fn place(key: &'static Key) -> Place {
    std::ptr::from_ref(key).addr()
}

/// All tables that a file can have, with their own keys and those of the tables that they include.
fn tables(table: &'static KeyTable, found: &mut Vec<&'static KeyTable>) {
    if found.iter().any(|known| std::ptr::eq(*known, table)) {
        return;
    }
    found.push(table);
    table.all().for_each(|key| nested(&key.kind, found));
}

fn nested(kind: &'static Kind, found: &mut Vec<&'static KeyTable>) {
    match kind {
        Kind::Table(table) | Kind::Tables(table) => tables(table, found),
        Kind::List(kind) | Kind::Map(kind) => nested(kind, found),
        Kind::OneOf(kinds) => kinds.iter().for_each(|kind| nested(kind, found)),
        _ => {}
    }
}

/// The keys that a value has, at the table that it is.
fn seen(value: &Value, table: &'static KeyTable, found: &mut BTreeSet<Place>) {
    for member in value.members() {
        let key =
            table.find(&member.key.value).unwrap_or_else(|| panic!("{} in {}", member.key.value, table.noun));
        found.insert(place(key));
        inside(&member.value, &key.kind, found);
    }
}

fn inside(value: &Value, kind: &'static Kind, found: &mut BTreeSet<Place>) {
    match (kind, &value.data) {
        (Kind::Table(table), Data::Table(_)) => seen(value, table, found),
        (Kind::Tables(table), _) => value.items().iter().for_each(|item| seen(item, table, found)),
        (Kind::List(kind), _) => value.items().iter().for_each(|item| inside(item, kind, found)),
        (Kind::Map(kind), _) => value.members().iter().for_each(|member| inside(&member.value, kind, found)),
        (Kind::OneOf(kinds), _) => kinds.iter().for_each(|kind| inside(value, kind, found)),
        _ => {}
    }
}

/// The tables are the same for decoder, schema and tutorial, so a key that is new is missing here until it is explained.
#[test]
fn every_key_is_in_the_tutorial() {
    let source = Source::new("scenarios/tutorial/all-keys.toml", TUTORIAL);
    let root = syntax::read(&source, &mut Reporter::new(&source));
    let mut live = BTreeSet::new();
    seen(&root, &keys::FILE, &mut live);
    let mut known = Vec::new();
    tables(&keys::FILE, &mut known);
    assert!(known.len() > 20, "{} tables", known.len());
    let all = known.iter().flat_map(|table| table.all().map(move |key| (*table, key)));
    let missing: Vec<String> = all
        .filter(|(_, key)| !matches!(key.kind, Kind::Later) && !live.contains(&place(key)))
        .map(|(table, key)| format!("`{}` of {}", key.name, table.noun))
        .collect();
    assert_eq!(missing, [""; 0]);
}

/// What a key means is said in a comment above its first line, or above the block of lines in which that stands.
#[test]
fn every_key_of_the_tutorial_is_explained() {
    let (mut explained, mut known) = (false, BTreeSet::new());
    for (number, line) in TUTORIAL.lines().enumerate() {
        let text = line.trim();
        match text.chars().next() {
            None => explained = false,
            Some('#') => explained = true,
            // Headers and brackets open or close what the comments around them speak of.
            Some('[' | ']' | '{' | '}') => {}
            Some(_) => {
                let key = text.split([' ', '=']).next().unwrap();
                assert!(explained || known.contains(key), "line {}: {text}", number + 1);
                known.insert(key);
            }
        }
    }
    assert!(known.len() > 50, "{known:?}");
}
