//! Values with a little grammar of their own: revisions and counts.

use super::ast::{CountExpectation, CountRange, Counted, Revisions};
use crate::decode::{Reporter, Value, keys::quoted, suggest};
use crate::revision::Revision;

/// `revisions`.
pub(super) fn revisions(value: Option<&Value>, out: &mut Reporter) -> Revisions {
    let Some(value) = value else { return Revisions::Eras };
    let Some(text) = value.as_str() else {
        return Revisions::List(value.items().iter().filter_map(|item| revision(item, 0, out)).collect());
    };
    match text {
        "eras" | "" => Revisions::Eras,
        "all" => Revisions::All,
        _ if text.starts_with(">=") => revision(value, 2, out).map_or(Revisions::Eras, Revisions::AtLeast),
        _ if text.starts_with("<=") => revision(value, 2, out).map_or(Revisions::Eras, Revisions::AtMost),
        _ => Revisions::List(revision(value, 0, out).into_iter().collect()),
    }
}

/// The revision that a string names after its first `skip` bytes.
fn revision(value: &Value, skip: usize, out: &mut Reporter) -> Option<Revision> {
    let text = value.as_str()?.get(skip..)?.trim();
    let revision = Revision::parse(text);
    if revision.is_none() && !text.is_empty() {
        let known = Revision::ALL.map(Revision::as_str);
        let wording = out
            .error(value.span.clone(), format!("unknown revision `{text}`"))
            .label("no published revision of the specification");
        match suggest(text, known) {
            Some(close) => wording.help(format!("did you mean `{close}`?")),
            None => wording.help(format!("revisions are {}; or write `eras` or `all`", quoted(known))),
        };
    }
    revision
}

/// `[expect]`.
pub(super) fn counts(table: &Value, out: &mut Reporter) -> Vec<CountExpectation> {
    let count = |(what, value): (Counted, &Value)| {
        Some(CountExpectation { span: value.span.clone(), what, range: range(value, out)? })
    };
    table
        .members()
        .iter()
        .filter_map(|member| {
            let what = Counted::ALL.into_iter().find(|what| what.as_str() == member.key.value)?;
            Some((what, &member.value))
        })
        .filter_map(count)
        .collect()
}

pub(super) fn range(value: &Value, out: &mut Reporter) -> Option<CountRange> {
    if let Some(number) = value.as_integer() {
        return Some(CountRange { min: number, max: number });
    }
    let text = value.as_str()?;
    let number = |text: &str| text.trim().parse::<u32>().ok();
    let range = || {
        if let Some(rest) = text.strip_prefix("<=") {
            return Some(CountRange { min: 0, max: number(rest)? });
        }
        if let Some(rest) = text.strip_prefix(">=") {
            return Some(CountRange { min: number(rest)?, max: u32::MAX });
        }
        let (min, max) = text.split_once("..=")?;
        Some(CountRange { min: number(min)?, max: number(max)? }).filter(|range| range.min <= range.max)
    };
    let range = range();
    if range.is_none() {
        out.error(value.span.clone(), format!("`{text}` is no count"))
            .label("expected a number or a range")
            .help("write `3`, `\"<=4\"`, `\">=1\"` or `\"1..=3\"`");
    }
    range
}
