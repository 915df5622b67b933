//! Which scenarios a suite has.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::place::Place;
use crate::diagnostic::Diagnostic;
use crate::invocation::{Failure, files, select};
use crate::scenario::ast::Scenario;

/// The folder beside scenarios that holds server scripts.
const SERVERS: &str = "servers";

/// Which scenarios a suite has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Choice {
    /// Whether those of hopcheck are among them.
    pub(super) builtin: Builtin,
    /// Folders with others.
    pub(super) folders: Vec<PathBuf>,
    /// The only ones; empty means all.
    pub(super) only: Vec<String>,
    /// Those that are not run, with the reason.
    pub(super) excluded: Vec<(String, String)>,
}

/// Whether the scenarios of hopcheck are in a suite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Builtin {
    #[default]
    With,
    Without,
}

/// A scenario of a suite.
#[derive(Clone, Debug)]
pub(super) struct Chosen {
    pub(super) scenario: Arc<Scenario>,
    /// Why it is not run, where it is not.
    pub(super) excluded: Option<String>,
}

impl Choice {
    /// Reads all scenarios, also those that `only` leaves out: their files are wrong all the same, and a baseline may name
    /// them.
    ///
    /// # Errors
    /// A folder that cannot be read, everything that is wrong with the files, two scenarios of one name.
    pub(super) fn all(&self, place: &Place) -> Result<Vec<Arc<Scenario>>, Failure> {
        let mut errors: Vec<Diagnostic> = Vec::new();
        let mut all = match self.builtin {
            Builtin::With => select::builtin(&mut errors),
            Builtin::Without => Vec::new(),
        };
        for folder in &self.folders {
            for path in toml_below(&place.path(folder))? {
                for scenario in select::read(&files::read(&path)?, &mut errors) {
                    if let Some(other) = all.iter().find(|other| other.id == scenario.id) {
                        return Err(Failure::Usage(format!(
                            "two scenarios are called {}: {} and {}",
                            scenario.id, other.source.name, scenario.source.name
                        )));
                    }
                    all.push(scenario);
                }
            }
        }
        if errors.is_empty() { Ok(all) } else { Err(Failure::Files(errors)) }
    }

    /// Those that the suite has.
    ///
    /// # Errors
    /// A word of `only` or `exclude` that no scenario answers to (usage).
    pub(super) fn choose(&self, all: &[Arc<Scenario>]) -> Result<Vec<Chosen>, Failure> {
        let words = self.only.iter().chain(self.excluded.iter().map(|(word, _)| word));
        for word in words {
            if !all.iter().any(|scenario| select::matches(scenario, word)) {
                return Err(select::unknown(word, all));
            }
        }
        let chosen = all
            .iter()
            .filter(|one| self.only.is_empty() || self.only.iter().any(|word| select::matches(one, word)))
            .map(|scenario| Chosen {
                scenario: Arc::clone(scenario),
                excluded: self
                    .excluded
                    .iter()
                    .find(|(word, _)| select::matches(scenario, word))
                    .map(|(_, reason)| reason.clone()),
            });
        Ok(chosen.collect())
    }
}

/// The scenario files below a folder, in order of their paths.
fn toml_below(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let unreadable = |cause| Failure::Usage(format!("cannot read the folder {}: {cause}", folder.display()));
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_dir() {
            if path.file_name().is_none_or(|name| name != SERVERS) {
                found.extend(toml_below(&path)?);
            }
        } else if path.extension().is_some_and(|end| end == "toml") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
