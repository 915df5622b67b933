//! Text to tree: all syntax errors at once, members in file order, numbers as written.

use std::ops::Range;
use std::sync::Arc;

use toml::de::{DeInteger, DeTable, DeValue};

use super::{Data, Member, Reporter, Value};
use crate::diagnostic::{Source, Spanned};

/// Reads a file. Whatever a syntax error touched becomes [`Data::Broken`].
#[must_use]
pub fn read(source: &Arc<Source>, out: &mut Reporter) -> Value {
    let (table, errors) = DeTable::parse_recoverable(&source.text);
    let mut damage = Vec::with_capacity(errors.len());
    let mut repeated = 0..0;
    for error in errors {
        let span = error.span().unwrap_or(0..0);
        damage.push(span.clone());
        if error.message() != DUPLICATE {
            report(&source.text, span, error.message(), out);
        } else if !repeated.contains(&span.start) {
            repeated = report_duplicate(&source.text, span, out);
        }
    }
    if !damage.is_empty() {
        out.set_damaged();
    }
    Reader { text: &source.text, damage }.table(table.get_ref(), 0..0)
}

const DUPLICATE: &str = "duplicate key";

fn report(text: &str, span: Range<usize>, message: &str, out: &mut Reporter) {
    if !message.starts_with("string values must be quoted") {
        out.error(span, format!("invalid TOML: {message}"));
    } else if span.is_empty() {
        out.error(span, "a key without a value").label("expected a value");
    } else {
        let word = text.get(span.clone()).unwrap_or_default();
        out.error(span, "a string without quotes").label("expected a value").help(format!("write `\"{word}\"`"));
    }
}

/// Reports a duplicate key; of a table header the range of its keys, each of which the parser reports again.
fn report_duplicate(text: &str, span: Range<usize>, out: &mut Reporter) -> Range<usize> {
    let word = text.get(span.clone()).unwrap_or_default();
    let wording = out.error(span.clone(), format!("duplicate key `{word}`")).label("this key is already there");
    let line = text.get(..span.start).and_then(|before| before.rsplit('\n').next()).unwrap_or_default();
    if line.trim_start().starts_with('[') {
        wording.help("put the keys of both under one header; a list of tables is written `[[…]]`");
        let end = text.get(span.end..).and_then(|rest| rest.find("\n[")).map_or(text.len(), |at| span.end + at);
        return span.end..end;
    }
    wording.help("keep one of the two");
    0..0
}

struct Reader<'a> {
    text: &'a str,
    damage: Vec<Range<usize>>,
}

impl Reader<'_> {
    fn table(&self, table: &DeTable<'_>, span: Range<usize>) -> Value {
        let mut members: Vec<Member> = table
            .iter()
            .map(|(key, value)| Member {
                key: Spanned::new(key.get_ref().to_string(), key.span()),
                value: self.value(value.get_ref(), value.span()),
            })
            .collect();
        // The parser's map is alphabetical; payloads are sent in the order in which they were written.
        members.sort_by_key(|member| member.key.span.start);
        Value { data: Data::Table(members), span }
    }

    fn value(&self, value: &DeValue<'_>, span: Range<usize>) -> Value {
        let data = match value {
            // The header of an unclosed `[table` swallows what follows.
            DeValue::Table(_) if self.text[span.clone()].starts_with('[') && self.is_damaged(&span) => {
                Data::Broken
            }
            DeValue::Table(table) => return self.table(table, span),
            DeValue::Array(items) => {
                Data::Array(items.iter().map(|item| self.value(item.get_ref(), item.span())).collect())
            }
            _ if self.is_damaged(&span) => Data::Broken,
            DeValue::String(text) => Data::String(text.to_string()),
            DeValue::Integer(number) => Data::Integer(integer(number)),
            DeValue::Float(number) => Data::Float(number.as_str().trim_start_matches('+').to_owned()),
            DeValue::Boolean(value) => Data::Bool(*value),
            DeValue::Datetime(_) => Data::Date(self.text.get(span.clone()).unwrap_or_default().to_owned()),
        };
        Value { data, span }
    }

    /// The recovering parser puts a zero of no length where a value is missing.
    fn is_damaged(&self, span: &Range<usize>) -> bool {
        span.is_empty()
            || self.damage.iter().any(|damage| {
                (damage.start < span.end && span.start < damage.end)
                    || (damage.is_empty() && (span.start..=span.end).contains(&damage.start))
            })
    }
}

/// The decimal text; empty for a hexadecimal, octal or binary number of more than 128 bits.
fn integer(number: &DeInteger<'_>) -> String {
    match number.radix() {
        10 => number.as_str().trim_start_matches('+').to_owned(),
        radix => i128::from_str_radix(number.as_str(), radix).map(|value| value.to_string()).unwrap_or_default(),
    }
}
