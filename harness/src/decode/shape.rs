//! Compares a tree with a table of keys: everything that can be said without knowing the rest of the file.

use super::inside::span_inside;
use super::keys::{Key, KeyTable, Kind, Required, Words, quoted};
use super::{Data, Member, Reporter, Value, payload, suggest};

/// Reports all mistakes of shape in a table and below it.
pub fn check(value: &Value, table: &'static KeyTable, out: &mut Reporter) {
    let members = value.members();
    let mut suggested = Vec::new();
    for member in members {
        match table.find(&member.key.value) {
            Some(key) => check_value(key.name, &member.value, &key.kind, Some(member), out),
            None => suggested.extend(report_unknown(member, table, out)),
        }
    }
    let chosen = check_choice(value, table, &suggested, out);
    for key in table.all() {
        match value.member(key.name) {
            Some(member) => {
                check_company(member, key, chosen, out);
                check_place(value, member, key, out);
            }
            None if suggested.contains(&key.name) => {}
            None => check_missing(value, key, table, out),
        }
    }
}

fn report_unknown(member: &Member, table: &KeyTable, out: &mut Reporter) -> Option<&'static str> {
    let word = &member.key.value;
    let known = || table.all().map(|key| key.name);
    let close = suggest(word, known());
    let wording = out
        .error(member.key.span.clone(), format!("unknown key `{word}`"))
        .label(format!("not a key of {}", table.noun));
    match close {
        Some(name) => wording.help(format!("did you mean `{name}`?")),
        None => {
            wording.help(format!("{} has {}", table.noun, quoted(known().filter(|name| !is_later(table, name)))))
        }
    };
    close
}

/// Reports none or several of keys that exclude each other; returns the one.
fn check_choice<'a>(
    value: &'a Value,
    table: &KeyTable,
    suggested: &[&str],
    out: &mut Reporter,
) -> Option<&'a str> {
    let choice = table.choice.as_ref()?;
    let mut chosen = value.members().iter().filter(|member| choice.keys.contains(&member.key.value.as_str()));
    let Some(first) = chosen.next() else {
        if !suggested.iter().any(|name| choice.keys.contains(name)) && !out.is_damaged() {
            out.error(value.span.clone(), format!("{} without {}", table.noun, with_article(choice.word)))
                .label(format!("no {} here", choice.word))
                .help(format!(
                    "give it one of {}",
                    quoted(choice.keys.iter().copied().filter(|name| !is_later(table, name)))
                ));
        }
        return None;
    };
    for extra in chosen {
        out.error(
            extra.key.span.clone(),
            format!("a second {} `{}` in {}", choice.word, extra.key.value, table.noun),
        )
        .label(format!("the first is `{}`", first.key.value))
        .help(choice.help);
    }
    Some(&first.key.value)
}

fn check_company(member: &Member, key: &Key, chosen: Option<&str>, out: &mut Reporter) {
    let Some(chosen) = chosen else { return };
    if key.only_with.is_empty() || key.only_with.contains(&chosen) {
        return;
    }
    out.error(member.key.span.clone(), format!("`{}` does not go with `{chosen}`", key.name))
        .label(format!("goes with {} only", quoted(key.only_with.iter().copied())))
        .help(format!("`{}`: {}", key.name, key.doc));
}

fn check_place(value: &Value, member: &Member, key: &Key, out: &mut Reporter) {
    if let Some(condition) = key.unless.filter(|condition| condition.holds(value)) {
        out.error(member.key.span.clone(), format!("`{}` is out of place", key.name))
            .label(condition.why)
            .help("remove it");
    }
}

fn check_missing(value: &Value, key: &Key, table: &KeyTable, out: &mut Reporter) {
    // In a file with syntax errors the key may be there, only unreadable.
    if key.required == Required::Optional || out.is_damaged() {
        return;
    }
    if key.unless.is_some_and(|condition| condition.holds(value)) {
        return;
    }
    out.error(value.span.clone(), format!("{} without `{}`", table.noun, key.name))
        .label(format!("`{}` is missing", key.name))
        .help(format!("`{}`: {}", key.name, key.doc));
}

fn check_value(name: &str, value: &Value, kind: &Kind, member: Option<&Member>, out: &mut Reporter) {
    if matches!(value.data, Data::Broken) {
        return;
    }
    if matches!(kind, Kind::Later) {
        let span = member.map_or(&value.span, |member| &member.key.span).clone();
        out.error(span, format!("`{name}` is not supported yet in this version")).label("part of a later version");
        return;
    }
    if !accepts(kind, value) {
        report_type(name, value, kind, out);
        return;
    }
    match kind {
        Kind::NonEmpty if value.as_str() == Some("") => {
            out.error(value.span.clone(), format!("`{name}` is empty")).label("expected some text");
        }
        Kind::Regex => check_regex(name, value, out),
        Kind::Template => check_template(name, value, out),
        Kind::Flag if value.as_bool() == Some(false) => {
            out.error(value.span.clone(), format!("`{name}` can only be `true`"))
                .label("leave the key out instead");
        }
        Kind::Integer(min, max) => check_range(name, value, *min, *max, out),
        Kind::Word(words) => check_word(name, value, words, out),
        Kind::List(item) => value.items().iter().for_each(|value| check_value(name, value, item, None, out)),
        Kind::Table(table) => check(value, table, out),
        Kind::Tables(table) => check_tables(name, value, table, out),
        Kind::Map(item) => {
            for member in value.members() {
                check_value(&member.key.value, &member.value, item, Some(member), out);
            }
        }
        Kind::Json | Kind::JsonTable => payload::check(name, value, out),
        Kind::JsonOrAbsent if value.as_str() != Some("absent") => payload::check(name, value, out),
        Kind::OneOf(kinds) => {
            if let Some(kind) = kinds.iter().find(|kind| accepts(kind, value)) {
                check_value(name, value, kind, member, out);
            }
        }
        _ => {}
    }
}

fn report_type(name: &str, value: &Value, kind: &Kind, out: &mut Reporter) {
    let wording = out.error(value.span.clone(), format!("wrong type for `{name}`")).label(format!(
        "found {}, expected {}",
        value.type_name(),
        expected(kind)
    ));
    match (kind, &value.data) {
        (Kind::Tables(_), Data::Table(_)) => {
            wording.help(format!("write `{name} = [{{ … }}]`, or a header with double brackets"));
        }
        (Kind::JsonTable, Data::String(_)) => {
            wording.help(format!("JSON text goes into `{name}_json`"));
        }
        (Kind::List(_), Data::String(text)) => {
            wording.help(format!("put it into a list: `{name} = [\"{text}\"]`"));
        }
        _ => {}
    }
}

fn check_tables(name: &str, value: &Value, table: &'static KeyTable, out: &mut Reporter) {
    if value.items().is_empty() {
        out.error(value.span.clone(), format!("`{name}` is an empty list")).label("expected at least one table");
    }
    for item in value.items() {
        check_value(name, item, &Kind::Table(table), None, out);
    }
}

fn check_regex(name: &str, value: &Value, out: &mut Reporter) {
    if let Some(Err(error)) = value.as_str().map(regex_lite::Regex::new) {
        out.error(value.span.clone(), format!("`{name}` is not a regular expression")).label(error.to_string());
    }
}

fn check_template(name: &str, value: &Value, out: &mut Reporter) {
    let Some(text) = value.as_str() else { return };
    let Err(error) = minijinja::Environment::new().template_from_str(text).map(drop) else { return };
    let line = error.line().unwrap_or(1).saturating_sub(1);
    let start: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    let end = text[start..].find('\n').map_or(text.len(), |length| start + length);
    let span = span_inside(&out.source().text, &value.span, text, start..end);
    out.error(span, format!("`{name}` is not a template"))
        .label(error.detail().unwrap_or("does not parse"))
        .help("templates are minijinja: `{{ name }}`, `{% if … %}`; a literal `{{` is written `{{ '{{' }}`");
}

fn check_range(name: &str, value: &Value, min: i64, max: i64, out: &mut Reporter) {
    if value.as_integer::<i64>().is_some_and(|number| (min..=max).contains(&number)) {
        return;
    }
    let range = if max >= i64::from(u32::MAX) { format!("{min} or more") } else { format!("from {min} to {max}") };
    out.error(value.span.clone(), format!("`{name}` is out of range")).label(format!("must be {range}"));
}

fn check_word(name: &str, value: &Value, words: &Words, out: &mut Reporter) {
    let Some(word) = value.as_str() else { return };
    let known = (words.known)();
    if known.contains(&word) {
        return;
    }
    if words.later.contains(&word) {
        out.error(value.span.clone(), format!("`{word}` is not supported yet in this version"))
            .label("part of a later version")
            .help(format!("`{name}` can be {}", quoted(known)));
        return;
    }
    let wording = out
        .error(value.span.clone(), format!("unknown word `{word}` for `{name}`"))
        .label(format!("expected {}", one_of(&known)));
    if let Some(close) = suggest(word, known) {
        wording.help(format!("did you mean `{close}`?"));
    }
}

/// Whether the type of the value fits.
fn accepts(kind: &Kind, value: &Value) -> bool {
    match kind {
        Kind::Text | Kind::NonEmpty | Kind::Regex | Kind::Template | Kind::Word(_) => {
            matches!(value.data, Data::String(_))
        }
        Kind::Bool | Kind::Flag => matches!(value.data, Data::Bool(_)),
        Kind::Integer(..) => matches!(value.data, Data::Integer(_)),
        Kind::List(_) | Kind::Tables(_) => matches!(value.data, Data::Array(_)),
        Kind::Table(_) | Kind::Map(_) | Kind::JsonTable | Kind::Changes => matches!(value.data, Data::Table(_)),
        Kind::Json | Kind::JsonOrAbsent | Kind::Later => true,
        Kind::OneOf(kinds) => kinds.iter().any(|kind| accepts(kind, value)),
    }
}

/// The expected type, for messages.
fn expected(kind: &Kind) -> String {
    match kind {
        Kind::Text | Kind::NonEmpty => "a string".to_owned(),
        Kind::Regex => "a string with a regular expression".to_owned(),
        Kind::Template => "a string with a template".to_owned(),
        Kind::Word(words) => one_of(&(words.known)()),
        Kind::Bool => "`true` or `false`".to_owned(),
        Kind::Flag => "`true`".to_owned(),
        Kind::Integer(..) => "an integer".to_owned(),
        Kind::List(_) => "a list".to_owned(),
        Kind::Tables(_) => "a list of tables".to_owned(),
        Kind::Table(_) | Kind::Map(_) | Kind::JsonTable | Kind::Changes => "a table".to_owned(),
        Kind::Json | Kind::JsonOrAbsent | Kind::Later => "JSON".to_owned(),
        Kind::OneOf(kinds) => kinds.iter().map(expected).collect::<Vec<_>>().join(" or "),
    }
}

fn is_later(table: &KeyTable, name: &str) -> bool {
    table.find(name).is_some_and(|key| matches!(key.kind, Kind::Later))
}

fn one_of(words: &[&'static str]) -> String {
    let list = quoted(words.iter().copied());
    if words.len() > 1 { format!("one of {list}") } else { list }
}

fn with_article(word: &str) -> String {
    let article = if word.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    format!("{article} {word}")
}
