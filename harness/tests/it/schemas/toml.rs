//! The schemas of the TOML formats: they say of a file's shape what the decoder says.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;

use hopcheck::decode::keys::KeyTable;
use hopcheck::decode::{Data, Reporter, Value, shape, syntax};
use hopcheck::diagnostic::Source;
use hopcheck::schema::Schema;
use hopcheck::{baseline, host, library, scenario, server};
use serde_json::Value as Json;

use super::{folder, problems, validator};

/// The kinds of TOML files: schema, table of keys, folder of wrong files.
fn formats() -> [(Schema, &'static KeyTable, &'static str); 4] {
    [
        (Schema::Scenario, &scenario::keys::FILE, "scenario"),
        (Schema::Server, &server::decode::keys::SCRIPT, "server"),
        (Schema::Profile, &host::decode::keys::PROFILE, "profile"),
        (Schema::Baseline, &baseline::keys::BASELINE, "baseline"),
    ]
}

/// All committed files of a format.
fn committed(schema: Schema) -> Vec<Arc<Source>> {
    let named = |files: &[(String, Arc<Source>)]| files.iter().map(|(_, source)| Arc::clone(source)).collect();
    match schema {
        Schema::Scenario => library::scenarios().to_vec(),
        Schema::Server => named(library::scripts()),
        Schema::Profile => named(library::profiles()),
        Schema::Baseline => baselines(),
        Schema::Trace | Schema::Report | Schema::Driver => Vec::new(),
    }
}

/// Good baselines, for nothing else than to be one.
fn baselines() -> Vec<Arc<Source>> {
    let mut paths: Vec<_> =
        fs::read_dir(folder().join("tests/baselines")).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let source =
        |path: &std::path::PathBuf| Source::new(path.display().to_string(), fs::read_to_string(path).unwrap());
    let sources: Vec<_> = paths.iter().map(source).collect();
    for source in &sources {
        baseline::decode::parse(source).unwrap_or_else(|errors| panic!("{}", errors[0]));
    }
    sources
}

/// The tree, where the file has no syntax errors.
fn read(source: &Arc<Source>) -> Option<Value> {
    let mut out = Reporter::new(source);
    let root = syntax::read(source, &mut out);
    out.is_empty().then_some(root)
}

/// The tree as an editor's validator sees it: dates are strings there.
fn as_json(value: &Value) -> Json {
    match &value.data {
        Data::String(text) | Data::Date(text) => text.as_str().into(),
        Data::Integer(text) | Data::Float(text) => {
            serde_json::from_str(text).unwrap_or_else(|_| Json::from(f64::MAX))
        }
        Data::Bool(value) => (*value).into(),
        Data::Array(items) => items.iter().map(as_json).collect(),
        Data::Table(members) => {
            members.iter().map(|member| (member.key.value.clone(), as_json(&member.value))).collect()
        }
        Data::Broken => Json::Null,
    }
}

/// What only the text of a string tells, or a date in a payload: no matter of shape.
const CONTENT: [&str; 5] = [
    "is not a regular expression",
    "is not a template",
    "is not valid JSON",
    "a date in a JSON payload",
    "a number that JSON cannot write",
];

/// What the decoder says of the shape of the file as it stands.
fn mistakes(root: &Value, table: &'static KeyTable) -> Vec<String> {
    let mut out = Reporter::new(&Source::new("t.toml", ""));
    shape::check(root, table, &mut out);
    let titles = out.finish(()).err().unwrap_or_default().into_iter().map(|found| found.title);
    titles
        .filter(|title| !CONTENT.iter().any(|content| title.contains(content)))
        // Cases may bring what the base lacks.
        .filter(|title| !(root.get("case").is_some() && title.starts_with("a scenario without")))
        .collect()
}

#[test]
fn every_committed_file_is_accepted() {
    for (schema, ..) in formats() {
        let validator = validator(schema);
        let files = committed(schema);
        assert!(files.len() > 2, "{schema}");
        for source in files {
            let problems = problems(&validator, &as_json(&read(&source).unwrap()));
            assert!(problems.is_empty(), "{}: {problems:#?}", source.name);
        }
    }
}

/// Wrong files whose only mistakes of shape stand in changes, which are free objects to a schema.
const IN_CHANGES: [&str; 1] = ["scenario/mistake-in-a-case"];

#[test]
fn every_mistake_of_shape_is_refused() {
    for (schema, table, kind) in formats() {
        let validator = validator(schema);
        let mut refused = 0;
        for entry in fs::read_dir(folder().join("tests/corpus").join(kind)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|end| end != "toml") {
                continue;
            }
            let name = format!("{kind}/{}", path.file_stem().unwrap().display());
            let Some(root) = read(&Source::new(name.clone(), fs::read_to_string(&path).unwrap())) else {
                continue;
            };
            let mistakes = mistakes(&root, table);
            assert_eq!(validator.is_valid(&as_json(&root)), mistakes.is_empty(), "{name}: {mistakes:?}");
            refused += usize::from(!mistakes.is_empty());
            // The same said by the diagnostics that a user reads, in case both look at the wrong table.
            let shown = fs::read_to_string(path.with_extension("err")).unwrap();
            let is_shape = ["error: unknown key", "error: wrong type", "error: unknown word", "without `"]
                .iter()
                .any(|sign| shown.lines().any(|line| line.starts_with("error") && line.contains(sign)));
            assert!(!is_shape || !mistakes.is_empty() || IN_CHANGES.contains(&name.as_str()), "{name}: {shown}");
        }
        assert!(refused >= 5, "{kind}: only {refused} files are refused");
    }
}

/// Decoder and schema must say the same of any file, so each committed file is broken in every place, in turn.
#[test]
fn decoder_and_schema_agree_on_broken_files() {
    for (schema, table, _) in formats() {
        let validator = validator(schema);
        let mut seen = BTreeSet::new();
        let mut broken = 0;
        for source in committed(schema) {
            let root = read(&source).unwrap();
            for (what, root) in break_everywhere(&root, "", &mut |path| seen.insert(path.to_owned())) {
                let mistakes = mistakes(&root, table);
                let accepted = validator.is_valid(&as_json(&root));
                assert_eq!(accepted, mistakes.is_empty(), "{} with {what}: {mistakes:?}", source.name);
                broken += usize::from(!accepted);
            }
        }
        assert!(broken > 100, "{schema}: only {broken} variants are wrong");
    }
}

/// All copies of a value with one thing wrong in it, and what is wrong. Tables with the same path and keys are broken
/// once over all files, which is what `is_new` tells.
fn break_everywhere(value: &Value, path: &str, is_new: &mut dyn FnMut(&str) -> bool) -> Vec<(String, Value)> {
    let mut out = Vec::new();
    let members = value.members();
    let keys: Vec<&str> = members.iter().map(|member| member.key.value.as_str()).collect();
    if is_new(&format!("{path} {keys:?}")) {
        // The top level of a file is a table, whatever is in it.
        if !path.is_empty() {
            out.extend(other_values().map(|data| (format!("{path} = {data:?}"), with(value, data))));
        }
        for (at, member) in members.iter().enumerate() {
            let (mut less, mut renamed) = (members.to_vec(), members.to_vec());
            less.remove(at);
            renamed[at].key.value.push_str("_x");
            out.push((format!("{path} without `{}`", member.key.value), with(value, Data::Table(less))));
            out.push((
                format!("{path} with another name for `{}`", member.key.value),
                with(value, Data::Table(renamed)),
            ));
        }
    }
    for (at, member) in members.iter().enumerate() {
        for (what, broken) in break_everywhere(&member.value, &format!("{path}.{}", member.key.value), is_new) {
            let mut members = members.to_vec();
            members[at].value = broken;
            out.push((what, with(value, Data::Table(members))));
        }
    }
    for (at, item) in value.items().iter().enumerate() {
        for (what, broken) in break_everywhere(item, &format!("{path}[]"), is_new) {
            let mut items = value.items().to_vec();
            items[at] = broken;
            out.push((what, with(value, Data::Array(items))));
        }
    }
    out
}

/// One of each type, and what stands at the edge of it. An integral float is not among them: to JSON Schema it is an
/// integer, to the decoder it is none.
fn other_values() -> [Data; 8] {
    [
        Data::String(String::new()),
        Data::String("some-word".to_owned()),
        Data::Integer("0".to_owned()),
        Data::Integer("-7".to_owned()),
        Data::Float("1.5".to_owned()),
        Data::Bool(false),
        Data::Array(Vec::new()),
        Data::Table(Vec::new()),
    ]
}

fn with(value: &Value, data: Data) -> Value {
    Value { data, span: value.span.clone() }
}
