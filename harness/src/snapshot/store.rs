//! What an invocation gave against what was accepted. The folder itself is read and written by the command line.
//!
//! An invocation speaks of the files that its plans would have, and of nothing else: see [`Scope`]. A plan that ended in
//! an error, or that never ran, says nothing about its file.

use std::collections::BTreeMap;

use super::file::{Sections, unwrap};
use crate::plan::{PlanKey, Planned, Select, SelectRevisions};
use crate::revision::{Revision, Transport};

/// What came of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Got {
    /// Nothing yet; where it stays so, the run ended in an error or never began.
    Nothing,
    /// It does not apply.
    NotApplicable,
    /// A transcript.
    Transcript(String),
}

/// The part of a folder that an invocation speaks of.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// The hosts, as in file names.
    pub hosts: Vec<String>,
    /// `AREA`, `AREA/NAME` or `AREA/NAME[CASE]`; empty means all scenarios.
    pub scenarios: Vec<String>,
    /// Only the sections of this revision; else whole files.
    pub revision: Option<Revision>,
    /// Only the sections of this transport; else whole files.
    pub transport: Option<Transport>,
}

impl Scope {
    /// What a selection of plans narrows. The revisions that are chosen by default are no narrowing: what a host no
    /// longer has, or a scenario no longer asks for, is stale.
    #[must_use]
    pub fn of(hosts: Vec<String>, scenarios: Vec<String>, select: &Select) -> Self {
        let revision = match select.revisions {
            SelectRevisions::One(revision) => Some(revision),
            SelectRevisions::Default | SelectRevisions::All => None,
        };
        Self { hosts, scenarios, revision, transport: select.transport }
    }

    /// Whether a file, by its name `HOST/AREA/NAME[CASE]`, is one that the invocation speaks of.
    #[must_use]
    pub fn has_file(&self, name: &str) -> bool {
        let Some((host, scenario)) = name.split_once('/') else { return false };
        let selected = |filter: &String| {
            scenario
                .strip_prefix(filter.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '[']))
        };
        self.hosts.iter().any(|known| known == host)
            && (self.scenarios.is_empty() || self.scenarios.iter().any(selected))
    }

    fn has_section(&self, (revision, transport): (Revision, Transport)) -> bool {
        self.revision.is_none_or(|only| only == revision) && self.transport.is_none_or(|only| only == transport)
    }
}

/// The transcripts of an invocation, by file and by revision and transport.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    files: BTreeMap<String, BTreeMap<(Revision, Transport), Got>>,
}

/// Why plans cannot be told apart in a folder.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// Two plans with one name.
    #[error("two scenarios or hosts are called `{name}`; their transcripts need names of their own")]
    Twice {
        /// `HOST/AREA/NAME[CASE]`.
        name: String,
    },
    /// A name that would leave the folder.
    #[error("`{name}` cannot name a file: rename the scenario or its folder")]
    Name {
        /// `HOST/AREA/NAME[CASE]`.
        name: String,
    },
}

impl Ledger {
    /// A ledger that waits for the transcripts of these plans.
    ///
    /// # Errors
    /// A name that two plans share, or that is none for a file.
    pub fn new<'p>(plans: impl IntoIterator<Item = &'p Planned>) -> Result<Self, LedgerError> {
        let mut ledger = Self::default();
        for planned in plans {
            let (got, key) = match planned {
                Planned::Run(plan) => (Got::Nothing, &plan.key),
                Planned::NotApplicable { key, .. } => (Got::NotApplicable, key),
            };
            let name = name(key);
            if !is_safe(&name) {
                return Err(LedgerError::Name { name });
            }
            let file = ledger.files.entry(name.clone()).or_default();
            if file.insert((key.revision, key.transport), got).is_some() {
                return Err(LedgerError::Twice { name });
            }
        }
        Ok(ledger)
    }

    /// The plan of this key was run to its end.
    pub fn add(&mut self, key: &PlanKey, transcript: String) {
        let file = self.files.entry(name(key)).or_default();
        file.insert((key.revision, key.transport), Got::Transcript(transcript));
    }

    /// The names of all files that the plans would have.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// What is to be said of the file of this name, whose text is `accepted`.
    #[must_use]
    pub fn compare(&self, scope: &Scope, name: &str, accepted: Option<&str>) -> Standing {
        let mut sections = Sections::default();
        for (pair, got) in self.files.get(name).into_iter().flatten() {
            match got {
                Got::Nothing => return Standing::Unknown,
                Got::NotApplicable => {}
                Got::Transcript(text) => {
                    sections.0.insert(*pair, text.clone());
                }
            }
        }
        let accepted = accepted.map(unwrap);
        if let Some(text) = accepted {
            let known = Sections::parse(text).0;
            sections.0.extend(known.into_iter().filter(|(pair, _)| !scope.has_section(*pair)));
        }
        let contents = sections.render();
        match accepted {
            None if sections.0.is_empty() => Standing::Nothing,
            None => Standing::New { contents },
            Some(_) if sections.0.is_empty() => Standing::Stale,
            Some(accepted) if accepted == contents.trim_end() => Standing::Same,
            Some(accepted) => Standing::Drift { accepted: accepted.to_owned(), contents },
        }
    }
}

/// How a file stands to what was accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// No file, and nothing that should be in one.
    Nothing,
    /// A run of it ended in an error or never began.
    Unknown,
    /// As accepted.
    Same,
    /// There is no accepted file.
    New {
        /// What would be in it.
        contents: String,
    },
    /// Not as accepted.
    Drift {
        /// What is in the file.
        accepted: String,
        /// What would be in it now.
        contents: String,
    },
    /// Nothing gives this file any more.
    Stale,
}

/// `HOST/AREA/NAME[CASE]`, the path of its file without the ending.
#[must_use]
pub fn name(key: &PlanKey) -> String {
    format!("{}/{}", key.host_file_name(), key.scenario)
}

/// Whether a name stays in its folder: host, area and file, none of which means another folder.
fn is_safe(name: &str) -> bool {
    let parts: Vec<&str> = name.split('/').collect();
    let plain = |part: &&str| !matches!(*part, "" | "." | "..") && !part.contains(['\\', '\0', '\n', '\r']);
    parts.len() == 3 && parts.iter().all(plain)
}

/// The lines that differ, with three lines around them, as `diff -u` shows them.
#[must_use]
pub fn diff(accepted: &str, contents: &str) -> String {
    let (old, new) = (format!("{}\n", accepted.trim_end()), format!("{}\n", contents.trim_end()));
    similar::TextDiff::from_lines(&old, &new)
        .unified_diff()
        .context_radius(3)
        .header("accepted", "this run")
        .to_string()
}

#[cfg(test)]
mod tests;
