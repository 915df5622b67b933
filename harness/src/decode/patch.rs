//! Changes to a tree: cases of scenarios, variants and versions of profiles.
//!
//! `unset` comes first; then `set` merges tables key by key and replaces all else. Places are kept, so a mistake in a
//! change is reported at the change.

use super::{Data, Member, Reporter, Value, suggest};
use crate::diagnostic::Spanned;

/// Applies the `unset` and `set` of a table.
pub fn apply(root: &mut Value, changes: &Value, out: &mut Reporter) {
    for path in changes.list("unset") {
        unset(root, path, out);
    }
    if let Some(set) = changes.get("set") {
        merge(root, set, out);
    }
}

fn unset(root: &mut Value, path: &Value, out: &mut Reporter) {
    let Some(text) = path.as_str() else { return };
    let mut segments = split(text);
    let Some(last) = segments.pop() else { return };
    let nothing = |out: &mut Reporter| {
        // A syntax error may have swallowed the place.
        if out.is_damaged() {
            return;
        }
        out.error(path.span.clone(), format!("nothing to unset at `{text}`"))
            .label("this path leads nowhere")
            .help("a path is made of keys, indexes from 0 and names of items, such as `step.0.told`");
    };
    let mut value = root;
    for segment in segments {
        value = match find(value, &segment) {
            Some(value) => value,
            None => return nothing(out),
        };
    }
    match &mut value.data {
        Data::Table(members) => {
            let before = members.len();
            members.retain(|member| member.key.value != last);
            if members.len() == before {
                nothing(out);
            }
        }
        Data::Array(items) => match index_of(items, &last) {
            Some(at) => {
                items.remove(at);
            }
            None => nothing(out),
        },
        Data::Broken => {}
        _ => nothing(out),
    }
}

/// Splits at dots; a segment that has dots itself stands in quotes.
fn split(path: &str) -> Vec<String> {
    let mut segments = vec![String::new()];
    let mut quote = None;
    for char in path.chars() {
        match (char, quote) {
            (c, Some(open)) if c == open => quote = None,
            ('"' | '\'', None) => quote = Some(char),
            ('.', None) => segments.push(String::new()),
            _ => {
                if let Some(segment) = segments.last_mut() {
                    segment.push(char);
                }
            }
        }
    }
    segments
}

fn find<'a>(value: &'a mut Value, segment: &str) -> Option<&'a mut Value> {
    match &mut value.data {
        Data::Table(members) => {
            members.iter_mut().find(|member| member.key.value == segment).map(|member| &mut member.value)
        }
        Data::Array(items) => index_of(items, segment).map(|at| &mut items[at]),
        _ => None,
    }
}

/// The item of that index, or else of that `name`.
fn index_of(items: &[Value], segment: &str) -> Option<usize> {
    match segment.parse::<usize>() {
        Ok(index) if index < items.len() => Some(index),
        _ => items.iter().position(|item| item_name(item) == Some(segment)),
    }
}

fn item_name(item: &Value) -> Option<&str> {
    item.get("name").and_then(Value::as_str)
}

fn merge(base: &mut Value, change: &Value, out: &mut Reporter) {
    match (&mut base.data, &change.data) {
        (Data::Table(members), Data::Table(changes)) => {
            for change in changes {
                merge_member(members, change, out);
            }
        }
        (Data::Array(items), Data::Table(changes)) => {
            for change in changes {
                match index_of(items, &change.key.value) {
                    Some(at) => merge(&mut items[at], &change.value, out),
                    None => report_item(items, &change.key, out),
                }
            }
        }
        _ => *base = change.clone(),
    }
}

fn merge_member(members: &mut Vec<Member>, change: &Member, out: &mut Reporter) {
    let Some(member) = members.iter_mut().find(|member| member.key.value == change.key.value) else {
        members.push(change.clone());
        return;
    };
    merge(&mut member.value, &change.value, out);
    if !matches!(change.value.data, Data::Table(_)) {
        member.key.span = change.key.span.clone();
    }
}

fn report_item(items: &[Value], key: &Spanned<String>, out: &mut Reporter) {
    if out.is_damaged() {
        return;
    }
    let names: Vec<&str> = items.iter().filter_map(item_name).collect();
    let known = match (items.len(), names.is_empty()) {
        (0, _) => "the list is empty".to_owned(),
        (1, true) => "the list has one item, with index 0".to_owned(),
        (count, true) => format!("the list has {count} items, with indexes 0 to {}", count - 1),
        (_, false) => format!("the items are {}", super::keys::quoted(names.iter().copied())),
    };
    let wording =
        out.error(key.span.clone(), format!("no item `{}` in this list", key.value)).label("no such item");
    match suggest(&key.value, names) {
        Some(name) => wording.help(format!("did you mean `{name}`?")),
        None => wording.help(known),
    };
}
