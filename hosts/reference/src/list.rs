//! One walk over the pages of `tools/list`.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use serde_json::value::RawValue;

use crate::fault::{Fault, Lies};
use crate::json::{self, Members, quote};
use crate::modern::{self, ResultType};
use crate::tool::Tool;

/// More pages than this are no list any more.
const MOST_PAGES: usize = 1000;

/// The state of a walk.
pub(crate) struct Listing {
    /// The request whose answer is awaited.
    pub(crate) id: u64,
    /// When the walk is given up.
    pub(crate) until: Instant,
    /// What the pages so far have listed, each name once.
    pub(crate) tools: Vec<Tool>,
    /// How many entries no model could use.
    pub(crate) left_out: usize,
    names: HashSet<String>,
    /// The cursors that were followed, as JSON text.
    followed: HashSet<String>,
    /// How long the pages so far may be kept, when the server said so.
    pub(crate) fresh_for: Option<Duration>,
    /// The walk has begun anew once, after a page was refused.
    pub(crate) second_try: bool,
    lies: Lies,
}

/// What to do after a page.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum After {
    /// Ask for the page behind this cursor, which is JSON text.
    Follow(String),
    /// The list is complete.
    Complete,
    /// The page is no page.
    Invalid,
}

impl Listing {
    /// A walk whose first request has the given id.
    pub(crate) fn new(id: u64, until: Instant, lies: Lies) -> Self {
        Self {
            id,
            until,
            tools: Vec::new(),
            left_out: 0,
            names: HashSet::new(),
            followed: HashSet::new(),
            fresh_for: None,
            second_try: false,
            lies,
        }
    }

    /// Whether the answer that is awaited is not the first page.
    pub(crate) fn has_followed(&self) -> bool {
        !self.followed.is_empty()
    }

    /// Takes one page in.
    pub(crate) fn take(&mut self, page: &RawValue) -> After {
        let Some(page) = Members::of(page) else {
            return After::Invalid;
        };
        if modern::result_type(&page) != ResultType::Complete {
            return After::Invalid;
        }
        let Some(entries) = page.get("tools").and_then(json::elements) else {
            return After::Invalid;
        };
        for entry in entries {
            let Some(tool) = Tool::parse(entry, self.lies) else {
                if self.lies.tell(Fault::SpoiledByOneEntry) {
                    return After::Invalid;
                }
                self.left_out += 1;
                continue;
            };
            let name =
                if self.lies.tell(Fault::IgnoreCase) { tool.name.to_lowercase() } else { tool.name.clone() };
            if self.names.insert(name) {
                self.tools.push(tool);
            }
        }
        let ttl = page
            .get("ttlMs")
            .and_then(|ttl| ttl.get().parse().ok())
            .filter(|ttl| *ttl > 0)
            .map(Duration::from_millis);
        self.fresh_for = [self.fresh_for, ttl].into_iter().flatten().min();
        let Some(cursor) = page.get("nextCursor").filter(|cursor| cursor.get().starts_with('"')) else {
            return After::Complete;
        };
        // A cursor that comes back would lead round in a circle. An empty one is as good as any other.
        if self.lies.tell(Fault::StopAtFirstPage)
            || (self.lies.tell(Fault::StopAtEmptyCursor) && cursor.get() == "\"\"")
            || self.followed.len() >= MOST_PAGES
            || !self.followed.insert(cursor.get().to_owned())
        {
            return After::Complete;
        }
        if self.lies.tell(Fault::ReencodeCursor) {
            return After::Follow(reencoded(cursor));
        }
        After::Follow(cursor.get().to_owned())
    }
}

/// The lie about cursors: it is taken for a piece of a URL.
fn reencoded(cursor: &RawValue) -> String {
    let text = json::string(cursor).unwrap_or_default();
    let mut encoded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() {
            encoded.push(byte.into());
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    if encoded == text {
        encoded.push_str("%00");
    }
    quote(&encoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Serves `pages` (cursor asked for, answer) and returns the cursors asked for and the names found.
    fn walk(pages: &[(&str, &str)]) -> (Vec<String>, Vec<String>) {
        let mut listing = Listing::new(1, Instant::now(), Lies::default());
        let mut asked = Vec::new();
        let mut cursor = String::new();
        loop {
            let (_, page) = pages.iter().find(|(at, _)| *at == cursor).expect("an unknown cursor was asked for");
            let page: Box<RawValue> = serde_json::from_str(page).unwrap();
            match listing.take(&page) {
                After::Follow(next) => {
                    asked.push(next.clone());
                    cursor = next;
                }
                After::Complete => break,
                After::Invalid => panic!("an invalid page"),
            }
        }
        (asked, listing.tools.into_iter().map(|tool| tool.name).collect())
    }

    fn tool(name: &str) -> String {
        format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}}}}"#)
    }

    #[test]
    fn cursors_are_followed_byte_for_byte() {
        let (asked, names) = walk(&[
            ("", &format!(r#"{{"tools":[{}],"nextCursor":""}}"#, tool("a"))),
            (r#""""#, &format!(r#"{{"tools":[{}],"nextCursor":"\u00e4/+="}}"#, tool("b"))),
            (r#""\u00e4/+=""#, &format!(r#"{{"tools":[{},7,{}],"nextCursor":null}}"#, tool("a"), tool("c"))),
        ]);
        assert_eq!(asked, [r#""""#, r#""\u00e4/+=""#]);
        assert_eq!(names, ["a", "b", "c"]);
    }

    #[test]
    fn a_cursor_that_comes_back_ends_the_walk() {
        let page = format!(r#"{{"tools":[{}],"nextCursor":"same"}}"#, tool("a"));
        let (asked, names) = walk(&[("", &page), (r#""same""#, &page)]);
        assert_eq!(asked, [r#""same""#]);
        assert_eq!(names, ["a"]);
    }

    #[test]
    fn a_page_without_tools_is_no_page() {
        let mut listing = Listing::new(1, Instant::now(), Lies::default());
        for page in [
            "{}",
            "[]",
            r#"{"tools":{}}"#,
            r#"{"tools":[],"resultType":"input_required"}"#,
            r#"{"tools":[],"resultType":"odd"}"#,
        ] {
            assert_eq!(listing.take(serde_json::from_str(page).unwrap()), After::Invalid, "{page}");
        }
        assert_eq!(
            listing.take(serde_json::from_str(r#"{"tools":[],"resultType":"complete"}"#).unwrap()),
            After::Complete
        );
    }
}
