//! Requirements: what has a check, joined with what the specification asks.

use std::sync::LazyLock;

use crate::catalogue::{self, Entry};
use crate::check::finding::Level;
use crate::check::registry;

/// A requirement of this project, of the specification, or of both.
#[derive(Clone, Debug)]
pub struct Requirement {
    /// Its id.
    pub id: String,
    /// How much it binds.
    pub level: Level,
    /// What it asks, in one sentence.
    pub summary: String,
    /// Its check, where it has one.
    pub check: Option<&'static registry::Requirement>,
    /// Its entry in the catalogue, where the specification asks for it.
    pub catalogued: Option<&'static Entry>,
}

/// All requirements, those of this project first, each part in order of ids.
#[must_use]
pub fn all() -> &'static [Requirement] {
    static ALL: LazyLock<Vec<Requirement>> = LazyLock::new(|| {
        let mut all: Vec<Requirement> = registry::REQUIREMENTS
            .iter()
            .map(|check| Requirement {
                id: check.id.to_owned(),
                level: check.level,
                summary: check.summary.to_owned(),
                check: Some(check),
                catalogued: catalogue::find(check.id),
            })
            .collect();
        let unjudged = catalogue::entries().values().filter(|entry| registry::find(&entry.id).is_none());
        all.extend(unjudged.map(|entry| Requirement {
            id: entry.id.clone(),
            level: entry.level(),
            summary: entry.summary.clone(),
            check: None,
            catalogued: Some(entry),
        }));
        all.sort_by(|a, b| (a.catalogued.is_some(), &a.id).cmp(&(b.catalogued.is_some(), &b.id)));
        all
    });
    &ALL
}

/// Whether a requirement has this id.
#[must_use]
pub fn is_known(id: &str) -> bool {
    registry::find(id).is_some() || catalogue::find(id).is_some()
}

impl Requirement {
    /// Whether there is a check of it.
    #[must_use]
    pub const fn judged(&self) -> bool {
        self.check.is_some()
    }

    /// The lane that shows it.
    #[must_use]
    pub fn vantage(&self) -> &str {
        match (self.check, self.catalogued) {
            (Some(check), _) => check.vantage.as_str(),
            (None, Some(entry)) => &entry.observable,
            (None, None) => "",
        }
    }

    /// The only host that it speaks of.
    #[must_use]
    pub fn host(&self) -> Option<&'static str> {
        self.check.and_then(|check| check.host)
    }

    /// What it rests on.
    #[must_use]
    pub fn see(&self) -> &'static [&'static str] {
        self.check.map_or(&[], |check| check.see)
    }

    /// The level in each revision that has it, where the specification asks for it.
    #[must_use]
    pub fn levels(&self) -> Vec<(&'static str, Level)> {
        let Some(entry) = self.catalogued else { return Vec::new() };
        entry.revisions.iter().map(|revision| (revision.as_str(), entry.level_in(revision))).collect()
    }
}
