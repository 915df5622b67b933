use std::sync::Arc;

use proptest::prelude::*;

use super::keys::{KeyTable, Kind};
use super::{FileKind, Reporter, Value, kind_of, patch, payload, syntax};
use crate::diagnostic::Source;
use crate::json::Json;
use crate::{host, scenario, server};

struct Empty;

impl scenario::Library for Empty {
    fn script(&self, _: &str) -> Option<Arc<Source>> {
        None
    }
    fn script_names(&self) -> Vec<String> {
        Vec::new()
    }
    fn is_requirement(&self, _: &str) -> bool {
        true
    }
    fn requirement_ids(&self) -> Vec<String> {
        Vec::new()
    }
}

fn tree(text: &str) -> Value {
    let source = Source::new("t.toml", text);
    let mut out = Reporter::new(&source);
    let root = syntax::read(&source, &mut out);
    out.finish(root).unwrap()
}

/// A tree without its places.
fn plain(value: &Value) -> Json {
    payload::json(value).unwrap()
}

#[track_caller]
fn check_payload(toml: &str, expected: &str) {
    let root = tree(&format!("x = {toml}\n"));
    assert_eq!(payload::json(root.get("x").unwrap()).unwrap().to_string(), expected, "{toml}");
}

#[test]
fn payloads_keep_order_and_number_text() {
    check_payload("{ b = 1, a = 2, c.z = 3, c.y = 4 }", r#"{"b":1,"a":2,"c":{"z":3,"y":4}}"#);
    check_payload("[1.0, 1e2, -0.0, +1, -7, 1_000, 6.022e+23]", "[1.0,1e2,-0.0,1,-7,1000,6.022e+23]");
    check_payload("[0x1F, 0o17, 0b101, 0xffff_ffff_ffff_ffff]", "[31,15,5,18446744073709551615]");
    check_payload("[123456789012345678901234567890]", "[123456789012345678901234567890]");
    check_payload(r#"["a\tb", 'c\d', true, {}]"#, r#"["a\tb","c\\d",true,{}]"#);
    check_payload(r#"'{"n": 1.50, "n": null}'"#, r#"{"n":1.50,"n":null}"#);
}

#[test]
fn errors_inside_strings_have_their_place() {
    let check = |toml: &str, line: usize, column: usize| {
        let source = Source::new("t.toml", format!("x = {toml}\n"));
        let mut out = Reporter::new(&source);
        let root = syntax::read(&source, &mut out);
        payload::check("x", root.get("x").unwrap(), &mut out);
        let found = out.finish(()).unwrap_err();
        assert_eq!(found.len(), 1);
        assert_eq!(source.position(found[0].span.start), (line, column), "{toml}");
    };
    check("'{\"é\": ?}'", 1, 12);
    check("'''{\"a\": ?}'''", 1, 14);
    check("'''\n{\n  ?\n}\n'''", 3, 3);
    check("'''\r\n{\r\n  ?\r\n}\r\n'''", 3, 3);
    check("\"[1, ?]\"", 1, 10);
    check("\"[\\\"a\\\", ?]\"", 1, 5);
    check("''", 1, 6);
}

#[test]
fn kinds_show_in_the_content() {
    let check = |text: &str, kind| assert_eq!(kind_of(&Source::new("t.toml", text)), kind, "{text}");
    check("title = \"x\"\n[[step]]\n", FileKind::Scenario);
    check("[[case]]\n", FileKind::Scenario);
    check("[[tool]]\nname = \"x\"\n", FileKind::Server);
    check("info = {}\n", FileKind::Server);
    check("name = \"x\"\nbin = {}\n", FileKind::Profile);
    check("[[drive]]\n", FileKind::Profile);
    check("host = \"x\"\n[[known]]\n", FileKind::Baseline);
    check("", FileKind::Scenario);
    check("= broken", FileKind::Scenario);
}

fn patched(base: &str, changes: &str) -> Json {
    let mut root = tree(base);
    let changes = tree(changes);
    let source = Source::new("t.toml", "");
    let mut out = Reporter::new(&source);
    patch::apply(&mut root, &changes, &mut out);
    out.finish(()).unwrap();
    plain(&root)
}

#[test]
fn changes_follow_the_rules_of_cases() {
    let check = |base: &str, changes: &str, expected: &str| {
        assert_eq!(patched(base, changes).to_string(), expected, "{changes}");
    };
    check("a = { b = 1, c = 2 }", "set.a.c = 3\nset.a.d = 4", r#"{"a":{"b":1,"c":3,"d":4}}"#);
    check("a = [1, 2]", "set.a = [3]", r#"{"a":[3]}"#);
    check("a = [{ x = 1 }, { x = 2 }]", "set.a.1.x = 3", r#"{"a":[{"x":1},{"x":3}]}"#);
    check("a = [{ name = \"n\" }]", "set.a.n.x = 3", r#"{"a":[{"name":"n","x":3}]}"#);
    check("a = [[1, 2]]", "set.a.0.1 = 3", r#"{"a":[[1,3]]}"#);
    check("a = { b = 1 }", "unset = [\"a.b\"]\nset.a.b.c = 2", r#"{"a":{"b":{"c":2}}}"#);
    check("a.\"b.c\" = 1", "unset = [\"a.'b.c'\"]", r#"{"a":{}}"#);
    check("a = [1, 2, 3]", "unset = [\"a.1\"]", r#"{"a":[1,3]}"#);
}

const SCENARIO: &str = r#"title = "x"
requirements = ["hop.order"]
[server.orders]
[[server.orders.tool]]
name = "lookup_order"
input_schema = '''{"type":"object"}'''
[[step]]
call = "orders/lookup_order"
with = { a = 1 }
told = { text = ["a"], any = [{ is_error = true }] }
[[step]]
say = "y"
[[case]]
name = "c"
set.step.0.with.b = 2
"#;

fn decode_all(text: &str) {
    let source = Source::new("t.toml", text);
    let mut found = scenario::parse(&source, "a", "t", &Empty).err().unwrap_or_default();
    found.extend(server::decode::parse(&source).err().unwrap_or_default());
    found.extend(host::decode::parse(&source, Some("v"), Some("1.0")).err().unwrap_or_default());
    for diagnostic in found {
        assert!(!diagnostic.render_plain().is_empty());
    }
}

proptest! {
    #[test]
    fn any_text_is_decoded_or_refused(text in any::<String>()) {
        decode_all(&text);
    }

    #[test]
    fn texts_of_toml_pieces_are_decoded_or_refused(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "[", "]", "[[", "]]", "{", "}", "=", ".", ",", "\n", "\r\n", "'''", "\"\"\"", "'", "\"", "#", " ", "\\",
            "step", "case", "set", "unset", "name", "server", "tool", "on", "do", "drive", "variant", "when", "é",
            "1", "1.5", "0x", "true", "inf", "2026-07-28", "call = \"a/b\"\n", "[[step]]\n", "[[case]]\n",
        ]), 0..40)
    ) {
        decode_all(&pieces.concat());
    }

    #[test]
    fn damaged_files_are_decoded_or_refused(
        at in 0..SCENARIO.len(),
        cut in 0_usize..30,
        put in "[\\[\\]{}='\"a.\n]{0,3}",
    ) {
        let end = (at + cut).min(SCENARIO.len());
        decode_all(&format!("{}{put}{}", &SCENARIO[..at], &SCENARIO[end..]));
    }

    /// A change of one key is what an editor would have typed there.
    #[test]
    fn a_set_key_equals_an_edit(
        values in prop::collection::btree_map("[a-e]", 0_u8..9, 1..5),
        pick in any::<prop::sample::Index>(),
        new in 10_u8..99,
        index in 0_usize..2,
    ) {
        let keys: Vec<&String> = values.keys().collect();
        let key = keys[pick.index(keys.len())].clone();
        let render = |edit: Option<usize>| {
            let item = |at: usize| {
                let members: Vec<String> = values
                    .iter()
                    .map(|(name, value)| {
                        let value = if edit == Some(at) && *name == key { new } else { *value };
                        format!("{name} = {value}")
                    })
                    .collect();
                format!("{{ {} }}", members.join(", "))
            };
            format!("t.list = [{}, {}]\n", item(0), item(1))
        };
        let by_case = patched(&render(None), &format!("set.t.list.{index}.{key} = {new}"));
        prop_assert_eq!(by_case, plain(&tree(&render(Some(index)))));
    }

    #[test]
    fn an_unset_key_equals_a_deleted_line(count in 1_usize..6, pick in any::<prop::sample::Index>()) {
        let gone = pick.index(count);
        let line = |at: usize| format!("k{at} = {at}\n");
        let all: String = (0..count).map(line).collect();
        let edited: String = (0..count).filter(|at| *at != gone).map(line).collect();
        prop_assert_eq!(patched(&all, &format!("unset = [\"k{gone}\"]")), plain(&tree(&edited)));
    }
}

/// Visits a table of keys and all tables below it, each once.
fn walk(table: &'static KeyTable, seen: &mut Vec<*const KeyTable>) {
    if seen.contains(&std::ptr::from_ref(table)) {
        return;
    }
    seen.push(table);
    let names: Vec<&str> = table.all().map(|key| key.name).collect();
    for (at, name) in names.iter().enumerate() {
        assert!(!names[..at].contains(name), "{} has `{name}` twice", table.noun);
    }
    let chosen = table.choice.as_ref().map_or(&[][..], |choice| choice.keys);
    assert!(chosen.iter().all(|name| names.contains(name)), "{}: {chosen:?}", table.noun);
    for key in table.all() {
        assert!(!key.doc.is_empty() && !key.doc.ends_with('.'), "{}: `{}`", table.noun, key.name);
        if table.choice.is_some() {
            assert!(key.only_with.iter().all(|verb| chosen.contains(verb)), "{}: `{}`", table.noun, key.name);
        }
        walk_kind(&key.kind, seen);
    }
}

fn walk_kind(kind: &'static Kind, seen: &mut Vec<*const KeyTable>) {
    match kind {
        Kind::Table(table) | Kind::Tables(table) => walk(table, seen),
        Kind::List(kind) | Kind::Map(kind) => walk_kind(kind, seen),
        Kind::OneOf(kinds) => kinds.iter().for_each(|kind| walk_kind(kind, seen)),
        Kind::Word(words) => {
            let known = (words.known)();
            assert!(words.later.iter().all(|word| !known.contains(word)), "{known:?}");
        }
        _ => {}
    }
}

#[test]
fn tables_of_keys_are_consistent() {
    let mut seen = Vec::new();
    for table in [&scenario::keys::SCENARIO, &scenario::keys::CASES] {
        walk(table, &mut seen);
    }
    walk(&server::decode::keys::SCRIPT, &mut seen);
    walk(&host::decode::keys::PROFILE, &mut seen);
    assert!(seen.len() > 30, "{}", seen.len());
}

#[test]
fn deep_nesting_is_refused() {
    for text in [format!("a{} = 1\n", ".a".repeat(50_000)), format!("a = {}", "[".repeat(50_000))] {
        decode_all(&text);
        decode_all(&format!("[[case]]\nset.{text}"));
    }
}
