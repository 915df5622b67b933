//! One line of a transcript, and how lines are aligned.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

/// Least width of the column for methods and the like.
const WORD: usize = 12;
/// Least width of the column for `<use:1>` and `<id:3>`.
const SUBJECT: usize = 7;
/// Longest text of one line, in characters; what is longer is cut and hashed.
const LONGEST: usize = 600;

/// One line of a transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The number of the event that it shows.
    pub event: u32,
    /// `model`, `user`, `host` or the key of a server.
    pub lane: String,
    /// The direction.
    pub arrow: Arrow,
    /// What is sent: a method, `tool_use`, `exit`.
    pub word: String,
    /// The placeholder of the id, or nothing.
    pub subject: String,
    /// Everything else.
    pub rest: String,
}

/// Where a line points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Arrow {
    /// Away from the model.
    Away,
    /// Back to the model.
    Back,
    /// Nowhere: a fact about a process.
    Fact,
    /// A heading between two host runs.
    Heading,
}

impl Arrow {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Away => "->",
            Self::Back => "<-",
            Self::Fact => "--",
            Self::Heading => "##",
        }
    }
}

impl Line {
    pub(super) fn new(event: u32, lane: impl Into<String>, arrow: Arrow, word: impl Into<String>) -> Self {
        Self { event, lane: lane.into(), arrow, word: word.into(), subject: String::new(), rest: String::new() }
    }

    pub(super) fn heading(event: u32, text: String) -> Self {
        Self::new(event, "", Arrow::Heading, text)
    }

    pub(super) fn subject(mut self, subject: impl Into<String>) -> Self {
        self.subject = subject.into();
        self
    }

    /// Volatile values must be hidden before, since a cut text is hashed.
    pub(super) fn rest(mut self, rest: impl Into<String>) -> Self {
        self.rest = cut(rest.into());
        self
    }

    /// The same line, that often.
    pub(super) fn times(mut self, count: usize) -> Self {
        let space = if self.rest.is_empty() { "" } else { " " };
        self.rest.push_str(&format!("{space}({count} times)"));
        self
    }

    /// Everything but the number, for sorting.
    pub(super) fn without_number(&self) -> (String, Arrow, String, String, String) {
        (self.lane.clone(), self.arrow, self.word.clone(), self.subject.clone(), self.rest.clone())
    }

    /// The line, with its lane padded to `width`.
    #[must_use]
    pub fn render(&self, width: usize) -> String {
        if self.arrow == Arrow::Heading {
            return format!("## {}", self.word);
        }
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = write!(
            out,
            "{:width$} {}  {:WORD$} {:SUBJECT$} {}",
            self.lane,
            self.arrow.as_str(),
            self.word,
            self.subject,
            self.rest
        );
        out.truncate(out.trim_end().len());
        out
    }
}

fn cut(text: String) -> String {
    let Some((at, _)) = text.char_indices().nth(LONGEST) else { return text };
    let hash = Sha256::digest(text.as_bytes());
    let hash: String = hash.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
    format!("{}… ({} bytes, sha256 {hash})", &text[..at], text.len())
}

/// The width of the lane column.
#[must_use]
pub(crate) fn lane_width(lines: &[Line]) -> usize {
    lines.iter().map(|line| line.lane.chars().count()).max().unwrap_or(0)
}

/// All lines, aligned.
pub(super) fn text(lines: &[Line]) -> String {
    let width = lane_width(lines);
    lines.iter().fold(String::new(), |mut out, line| {
        out.push_str(&line.render(width));
        out.push('\n');
        out
    })
}
