//! The place of a part of a string.

use std::ops::Range;

use crate::diagnostic::Span;

/// Where a byte range of a decoded string stands in its file. Where escapes make that unclear, the whole string.
#[must_use]
pub fn span_inside(file: &str, span: &Span, decoded: &str, part: Range<usize>) -> Span {
    let raw = file.get(span.clone()).unwrap_or_default();
    let delimiter = ["'''", "\"\"\"", "'", "\""].into_iter().find(|mark| raw.starts_with(mark)).unwrap_or("");
    let mut start = delimiter.len();
    if delimiter.len() == 3 {
        // TOML drops a newline that follows the opening delimiter.
        start += ["\r\n", "\n"].into_iter().find(|end| raw[start..].starts_with(end)).map_or(0, str::len);
    }
    if delimiter.is_empty() || !raw[start..].starts_with(decoded) {
        return span.clone();
    }
    let at = span.start + start;
    at + part.start..at + part.end
}

/// The character at an offset; at the end of a string its closing delimiter.
#[must_use]
pub fn char_inside(file: &str, span: &Span, decoded: &str, offset: usize) -> Span {
    let found = span_inside(file, span, decoded, offset..offset);
    if !found.is_empty() {
        return found;
    }
    let width = file.get(found.start..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
    found.start..found.start + width
}
