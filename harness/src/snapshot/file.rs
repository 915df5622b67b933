//! One file per scenario and host: a section for each distinct transcript, in the file format of `insta`.
//!
//! ```text
//! ---
//! source: hopcheck run
//! ---
//! # 2025-06-18+stdio 2025-11-25+stdio
//! model  <-  tools        [mcp__orders__create_note mcp__orders__lookup_order]
//!
//! # 2026-07-28+stdio
//! …
//! ```

use std::collections::BTreeMap;

use crate::revision::{Revision, Transport};

/// What the head of a file that hopcheck wrote says of its origin.
const ORIGIN: &str = "hopcheck run";

/// The transcripts of a scenario on a host, by the revision and transport that gave them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sections(pub BTreeMap<(Revision, Transport), String>);

impl Sections {
    /// The contents of the file. Equal transcripts share a section, which is headed by all that gave it.
    #[must_use]
    pub fn render(&self) -> String {
        let mut distinct: Vec<(Vec<String>, &str)> = Vec::new();
        for ((revision, transport), text) in &self.0 {
            let pair = format!("{revision}+{transport}");
            match distinct.iter_mut().find(|(_, known)| known == text) {
                Some((pairs, _)) => pairs.push(pair),
                None => distinct.push((vec![pair], text)),
            }
        }
        let sections = distinct.iter().map(|(pairs, text)| format!("# {}\n{text}", pairs.join(" ")));
        sections.collect::<Vec<_>>().join("\n")
    }

    /// Reads what `render` wrote. Lines before the first heading belong to nobody and are left out.
    #[must_use]
    pub fn parse(contents: &str) -> Self {
        let mut sections = Self::default();
        let mut pairs: Vec<(Revision, Transport)> = Vec::new();
        let mut text = String::new();
        for line in contents.lines() {
            match heading(line) {
                Some(next) => {
                    // The empty line before a heading is part of neither section.
                    if text == "\n" || text.ends_with("\n\n") {
                        text.pop();
                    }
                    sections.add(&pairs, &text);
                    pairs = next;
                    text.clear();
                }
                None => {
                    text.push_str(line);
                    text.push('\n');
                }
            }
        }
        sections.add(&pairs, &text);
        sections
    }

    fn add(&mut self, pairs: &[(Revision, Transport)], text: &str) {
        self.0.extend(pairs.iter().map(|pair| (*pair, text.to_owned())));
    }
}

/// `# REVISION+TRANSPORT …`; no line of a transcript looks like that.
fn heading(line: &str) -> Option<Vec<(Revision, Transport)>> {
    let pair = |word: &str| {
        let (revision, transport) = word.split_once('+')?;
        Some((Revision::parse(revision)?, Transport::parse(transport)?))
    };
    line.strip_prefix("# ")?.split(' ').map(pair).collect()
}

/// The text of a snapshot file with these contents.
#[must_use]
pub fn wrap(contents: &str) -> String {
    format!("---\nsource: {ORIGIN}\n---\n{}\n", contents.trim_end())
}

/// The contents of a snapshot file, without the head that `insta` gives it and without empty lines at its end.
#[must_use]
pub fn unwrap(text: &str) -> &str {
    let body =
        text.strip_prefix("---\n").and_then(|rest| rest.split_once("\n---\n")).map_or(text, |(_, body)| body);
    body.trim_end()
}
