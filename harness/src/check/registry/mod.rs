//! What this crate judges: one table of requirements, each with its level and where it holds.

mod catalogue;
mod own;

use super::finding::Level;
use super::table::{joined, rows};
use crate::revision::Revision;

/// A requirement that has a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// Its id, dot separated by area.
    pub id: &'static str,
    /// How much it binds. Rules of the specification that are implied, in lower case or guidance are traits.
    pub level: Level,
    /// What it asks, in one sentence.
    pub summary: &'static str,
    /// What it rests on: ids of the catalogue, or documents.
    pub see: &'static [&'static str],
    /// The oldest and the newest revision in which it holds.
    pub revisions: (Revision, Revision),
    /// The lane that shows it.
    pub vantage: Vantage,
    /// The only host that it speaks of, by profile name.
    pub host: Option<&'static str>,
}

/// Where a requirement shows itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Vantage {
    /// Between host and servers.
    Wire,
    /// Between host and model.
    Model,
    /// In processes, their ends and their streams.
    Process,
    /// Between several lanes.
    Hop,
}

impl Vantage {
    /// Its word in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Wire => "wire",
            Self::Model => "model",
            Self::Process => "process",
            Self::Hop => "hop",
        }
    }
}

impl Requirement {
    /// Whether it holds in a revision.
    #[must_use]
    pub fn holds_in(&self, revision: Revision) -> bool {
        (self.revisions.0..=self.revisions.1).contains(&revision)
    }

    /// Why it does not speak of a host in a revision, where it does not.
    #[must_use]
    pub fn not_applicable(&self, host: &str, revision: Revision) -> Option<String> {
        if !self.holds_in(revision) {
            return Some(format!("`{}` does not hold in revision {revision}", self.id));
        }
        let other = self.host.filter(|only| *only != host)?;
        Some(format!("`{}` speaks of {other} only", self.id))
    }
}

const TABLES: &[&[Requirement]] = &[own::INVARIANTS, own::EXPECTATIONS, own::CLAIMS, catalogue::RULES];

/// All requirements that have a check, the project's own first.
pub static REQUIREMENTS: &[Requirement] = &joined::<Requirement, { rows(TABLES) }>(TABLES);

/// The requirement of that id.
#[must_use]
pub fn find(id: &str) -> Option<&'static Requirement> {
    REQUIREMENTS.iter().find(|requirement| requirement.id == id)
}

const ALL: (Revision, Revision) = (Revision::V2024_11_05, Revision::V2026_07_28);
const LEGACY: (Revision, Revision) = (Revision::V2024_11_05, Revision::V2025_11_25);
const MODERN: (Revision, Revision) = (Revision::V2026_07_28, Revision::V2026_07_28);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_unique_and_sentences_end() {
        let mut ids: Vec<&str> = REQUIREMENTS.iter().map(|requirement| requirement.id).collect();
        ids.sort_unstable();
        let count = ids.len();
        ids.dedup();
        assert_eq!(ids.len(), count);
        for requirement in REQUIREMENTS {
            assert!(requirement.summary.ends_with('.'), "{}", requirement.id);
        }
    }

    #[test]
    fn a_rule_of_the_modern_era_does_not_hold_before() {
        let rule = find("modern.meta.protocol-version").unwrap();
        assert_eq!(rule.not_applicable("reference", Revision::V2026_07_28), None);
        assert!(rule.not_applicable("reference", Revision::V2025_11_25).unwrap().contains("2025-11-25"));
    }
}
