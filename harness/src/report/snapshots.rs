//! What became of transcripts that are held against accepted ones.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Color, Style};

use super::Detail;
use super::text::{plain, styled};
use crate::json::Json;
use crate::snapshot::store;

/// The transcripts of an invocation against the accepted ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshots {
    /// Files that are as accepted.
    pub same: usize,
    /// Files that were not compared, since a run of theirs ended in an error.
    pub unknown: Vec<String>,
    /// Files that are not as accepted.
    pub changes: Vec<Change>,
    /// Why what differs could not be laid beside the accepted files.
    pub unwritten: Option<String>,
    /// What was done with the changes.
    pub mode: SnapshotMode,
}

/// What is done with changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SnapshotMode {
    /// They fail.
    #[default]
    Compare,
    /// They are what the user wants: the files are rewritten.
    Accept,
}

/// One file that is not as accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// `HOST/AREA/NAME[CASE]`.
    pub name: String,
    /// Its path.
    pub file: String,
    /// What is the matter.
    pub kind: ChangeKind,
}

/// How a file differs from what was accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    /// There was no accepted file.
    New,
    /// The transcript is another one.
    Drift {
        /// The accepted contents.
        accepted: String,
        /// Those of this run.
        contents: String,
    },
    /// No scenario gives this file any more.
    Stale,
}

impl ChangeKind {
    /// All words.
    pub const WORDS: [&str; 3] = ["new", "drift", "stale"];

    /// Its word in reports.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::New => Self::WORDS[0],
            Self::Drift { .. } => Self::WORDS[1],
            Self::Stale => Self::WORDS[2],
        }
    }

    fn sentence(&self, mode: SnapshotMode) -> &'static str {
        match (self, mode) {
            (Self::New, SnapshotMode::Compare) => {
                "has no accepted transcript yet; --accept makes this one the first"
            }
            (Self::New, SnapshotMode::Accept) => "accepted, the first",
            (Self::Drift { .. }, SnapshotMode::Compare) => "differs from what was accepted",
            (Self::Drift { .. }, SnapshotMode::Accept) => "accepted anew",
            (Self::Stale, SnapshotMode::Compare) => "is stale: no scenario of this run gives it",
            (Self::Stale, SnapshotMode::Accept) => "removed: no scenario of this run gives it",
        }
    }
}

impl Snapshots {
    /// Whether something is not as accepted.
    #[must_use]
    pub fn drifted(&self) -> bool {
        self.mode == SnapshotMode::Compare && !self.changes.is_empty()
    }

    /// Every change, with the lines that differ.
    #[must_use]
    pub fn details(&self, detail: Detail) -> String {
        let most = match detail {
            Detail::First(most) => most,
            Detail::All => self.changes.len(),
        };
        let word = match self.mode {
            SnapshotMode::Compare => styled(colour(AnsiColor::Red).bold(), "snapshot"),
            SnapshotMode::Accept => styled(Style::new().bold(), "snapshot"),
        };
        let mut out = String::new();
        for change in self.changes.iter().take(most) {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "\n{word}: {} {}", plain(&change.file), change.kind.sentence(self.mode));
            if let ChangeKind::Drift { accepted, contents } = &change.kind {
                for line in store::diff(accepted, contents).lines() {
                    let _ = writeln!(out, "  {}", styled(line_style(line), plain(line)));
                }
            }
        }
        if self.changes.len() > most {
            let more = self.changes.len() - most;
            let _ = writeln!(out, "\n{more} more snapshots are not shown; --verbose shows all");
        }
        out
    }

    /// One line that counts.
    #[must_use]
    pub fn summary(&self) -> String {
        let count = |word| self.changes.iter().filter(|change| change.kind.as_str() == word).count();
        let mut counts = vec![(self.same, "as accepted")];
        counts.extend(ChangeKind::WORDS.map(|word| (count(word), word)));
        counts.push((self.unknown.len(), "not compared, for a run of theirs is in error"));
        let counts: Vec<String> = counts
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, word)| format!("{count} {word}"))
            .collect();
        let counts = if counts.is_empty() { "none".to_owned() } else { counts.join(", ") };
        let end = match self.mode {
            SnapshotMode::Accept if !self.changes.is_empty() => "; all changes are accepted",
            _ => "",
        };
        format!("snapshots: {counts}{end}\n")
    }

    /// The same for programs.
    #[must_use]
    pub fn json(&self) -> Json {
        let change = |change: &Change| {
            Json::object([
                ("name", Json::from(change.name.as_str())),
                ("file", Json::from(change.file.as_str())),
                ("change", Json::from(change.kind.as_str())),
                (
                    "diff",
                    match &change.kind {
                        ChangeKind::Drift { accepted, contents } => Json::from(store::diff(accepted, contents)),
                        ChangeKind::New | ChangeKind::Stale => Json::Null,
                    },
                ),
            ])
        };
        Json::object([
            ("same", Json::from(self.same)),
            ("accepted", Json::from(self.mode == SnapshotMode::Accept)),
            ("changes", Json::array(self.changes.iter().map(change))),
            ("unknown", Json::array(self.unknown.iter().map(String::as_str))),
        ])
    }
}

fn line_style(line: &str) -> Style {
    match line.as_bytes().first() {
        Some(b'+') => colour(AnsiColor::Green),
        Some(b'-') => colour(AnsiColor::Red),
        _ => Style::new().dimmed(),
    }
}

const fn colour(colour: AnsiColor) -> Style {
    Style::new().fg_color(Some(Color::Ansi(colour)))
}
