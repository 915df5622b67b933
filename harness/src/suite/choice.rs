//! Which scenarios a suite has.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use libtest_mimic::Arguments;

use super::place::Place;
use crate::diagnostic::Diagnostic;
use crate::invocation::{Failure, files, select};
use crate::library;
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

/// How much of a suite is looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// All of it.
    Whole,
    /// The file that one test comes from, as `AREA/NAME`: `cargo nextest` starts a process for each test, and most of its time
    /// would go into files that it has no use for. Whoever lists the tests has looked at all of it.
    File(String),
}

impl Extent {
    /// What `arguments` can run.
    pub(super) fn of(arguments: &Arguments) -> Self {
        match &arguments.filter {
            Some(name) if arguments.exact && !arguments.list => {
                Self::File(name.split(['[', '@']).next().unwrap_or(name).to_owned())
            }
            _ => Self::Whole,
        }
    }

    fn has(&self, path: &Path) -> bool {
        match self {
            Self::Whole => true,
            Self::File(id) => path.with_extension("").ends_with(id),
        }
    }
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
    pub(super) fn all(&self, place: &Place, extent: &Extent) -> Result<Vec<Arc<Scenario>>, Failure> {
        let mut errors: Vec<Diagnostic> = Vec::new();
        let builtin = match self.builtin {
            Builtin::With => library::scenarios(),
            Builtin::Without => &[],
        };
        let builtin = builtin.iter().filter(|source| extent.has(Path::new(&source.name)));
        let mut all: Vec<Arc<Scenario>> = builtin.flat_map(|source| select::read(source, &mut errors)).collect();
        for folder in &self.folders {
            for path in toml_below(&place.path(folder))?.into_iter().filter(|path| extent.has(path)) {
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
    pub(super) fn choose(&self, all: &[Arc<Scenario>], extent: &Extent) -> Result<Vec<Chosen>, Failure> {
        let words = self.only.iter().chain(self.excluded.iter().map(|(word, _)| word));
        for word in words.filter(|_| *extent == Extent::Whole) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_test_needs_one_file() {
        let of = |arguments: &[&str]| Extent::of(&Arguments::from_iter([&["test"], arguments].concat()));
        let file = of(&["call/lookup[case]@2025-11-25+stdio", "--exact", "--nocapture"]);
        assert_eq!(file, Extent::File("call/lookup".to_owned()));
        assert!(file.has(Path::new("scenarios/call/lookup.toml")));
        assert!(!file.has(Path::new("scenarios/call/lookup-twice.toml")));
        assert!(!file.has(Path::new("scenarios/recall/lookup.toml")));
        for all in [&["call/lookup@x"][..], &["--exact"], &["x", "--exact", "--list"]] {
            assert_eq!(of(all), Extent::Whole);
        }
    }

    #[test]
    fn words_that_no_scenario_answers_to_are_told() {
        let place = Place::of(Path::new("target/debug/deps/t"));
        let choice = Choice { only: vec!["call/lokup".to_owned()], ..Choice::default() };
        let all = choice.all(&place, &Extent::Whole).unwrap();
        let failure = choice.choose(&all, &Extent::Whole).unwrap_err().to_string();
        assert!(failure.contains("did you mean `call/lookup`?"), "{failure}");
        let choice = Choice {
            only: vec!["call".to_owned()],
            excluded: vec![("call/twice".to_owned(), "slow".to_owned())],
            ..choice
        };
        let chosen = choice.choose(&all, &Extent::Whole).unwrap();
        assert!(chosen.iter().all(|chosen| chosen.scenario.id.area == "call"));
        let excluded: Vec<_> = chosen.iter().filter(|chosen| chosen.excluded.is_some()).collect();
        assert_eq!((excluded.len(), excluded[0].scenario.id.name.as_str()), (1, "twice"));
    }

    #[test]
    fn scenarios_of_ones_own_are_beside_the_others_and_never_in_their_place() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let text = library::scenarios().iter().find(|file| file.name.ends_with("call/lookup.toml")).unwrap();
        write("shop/lookup.toml", &text.text);
        write("servers/none.toml", "tool = 1");
        let place = Place { package: folder.path().to_owned(), target: PathBuf::new(), traces: PathBuf::new() };
        let choice = Choice { folders: vec![PathBuf::from(".")], ..Choice::default() };
        let all = choice.all(&place, &Extent::Whole).unwrap();
        let own: Vec<String> =
            all.iter().map(|one| one.id.to_string()).filter(|id| id.starts_with("shop")).collect();
        assert_eq!(own, ["shop/lookup"]);
        let alone = Choice { builtin: Builtin::Without, ..choice.clone() };
        assert_eq!(alone.all(&place, &Extent::Whole).unwrap().len(), 1);
        write("call/lookup.toml", &text.text);
        let failure = choice.all(&place, &Extent::Whole).unwrap_err().to_string();
        assert!(failure.contains("two scenarios are called call/lookup"), "{failure}");
    }
}
