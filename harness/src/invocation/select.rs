//! From scenario arguments to scenarios.

use std::path::Path;
use std::sync::Arc;

use super::{Failure, Host, files};
use crate::diagnostic::{Diagnostic, Source, did_you_mean};
use crate::library::{self, Builtin};
use crate::plan::semantic_errors;
use crate::scenario::ast::Scenario;
use crate::scenario::{self, Library};

/// The scenarios that the arguments name; all built-in ones where there are none.
///
/// # Errors
/// An argument that matches nothing, and everything that is wrong with the files.
pub fn scenarios(arguments: &[String]) -> Result<Vec<Arc<Scenario>>, Failure> {
    let (paths, filters): (Vec<&String>, Vec<&String>) =
        arguments.iter().partition(|argument| files::is_path(argument));
    let mut errors = Vec::new();
    let mut chosen: Vec<Arc<Scenario>> = Vec::new();
    if arguments.is_empty() || !filters.is_empty() {
        let known = builtin(&mut errors);
        if let Some(filter) = filters.iter().find(|filter| !known.iter().any(|one| matches(one, filter))) {
            return Err(unknown(filter, &known));
        }
        chosen.extend(
            known
                .into_iter()
                .filter(|one| filters.is_empty() || filters.iter().any(|filter| matches(one, filter))),
        );
    }
    for path in paths {
        chosen.extend(read(&files::read(Path::new(path))?, &mut errors));
    }
    if errors.is_empty() { Ok(chosen) } else { Err(Failure::Files(errors)) }
}

/// All built-in scenarios, in order of their ids.
pub fn builtin(errors: &mut Vec<Diagnostic>) -> Vec<Arc<Scenario>> {
    library::scenarios().iter().flat_map(|source| read(source, errors)).collect()
}

/// The scenarios of one file: its folder is the area, its stem the name.
pub fn read(source: &Arc<Source>, errors: &mut Vec<Diagnostic>) -> Vec<Arc<Scenario>> {
    let (area, name) = place(Path::new(&source.name));
    match scenario::parse(source, &area, &name, &Beside(source)) {
        Ok(scenarios) => {
            // Cases of one file repeat what is wrong with their base.
            for error in scenarios.iter().flat_map(semantic_errors) {
                if !errors.contains(&error) {
                    errors.push(error);
                }
            }
            scenarios.into_iter().map(Arc::new).collect()
        }
        Err(found) => {
            errors.extend(found);
            Vec::new()
        }
    }
}

/// Scenarios that are written for a host whose name is almost that of a known one. Any other name may be that of a host
/// that this invocation knows nothing of.
#[must_use]
pub fn misspelt_hosts(scenarios: &[Arc<Scenario>], hosts: &[Host]) -> Vec<Diagnostic> {
    let given = hosts.iter().map(|host| host.profile.name.as_str());
    let builtin = library::profiles().iter().map(|(name, _)| name.as_str());
    let known: Vec<&str> = given.chain(builtin).collect();
    let mut errors: Vec<Diagnostic> = Vec::new();
    for scenario in scenarios {
        let natives = scenario.natives.iter().map(|native| &native.host);
        for host in scenario.hosts.iter().chain(natives).filter(|host| !known.contains(&host.value.as_str())) {
            let Some(close) = did_you_mean(&host.value, known.iter().copied()) else { continue };
            let title = format!("unknown host `{}`", host.value);
            let error = Diagnostic::error(&scenario.source, host.span.clone(), title)
                .label("no profile has this name")
                .help(format!("did you mean `{close}`?"));
            // Cases of one file repeat it.
            if !errors.contains(&error) {
                errors.push(error);
            }
        }
    }
    errors
}

/// The area and the name that a scenario has by the path of its file.
fn place(path: &Path) -> (String, String) {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let folder = path.parent().and_then(Path::file_name).map(|folder| folder.to_string_lossy());
    // A file in the current folder has no area of its own.
    (folder.as_deref().unwrap_or("local").to_owned(), name.into_owned())
}

/// The arguments as names: `AREA`, `AREA/NAME` or `AREA/NAME[CASE]`, where files are named like built-in scenarios.
#[must_use]
pub fn names(arguments: &[String]) -> Vec<String> {
    let name = |argument: &String| {
        if files::is_path(argument) {
            let (area, name) = place(Path::new(argument));
            format!("{area}/{name}")
        } else {
            argument.trim_end_matches('/').to_owned()
        }
    };
    arguments.iter().map(name).collect()
}

/// The built-in library, with scripts that lie beside a scenario file as `servers/NAME.toml` or in `../servers`.
struct Beside<'a>(&'a Source);

impl Beside<'_> {
    fn find(&self, name: &str) -> Option<Arc<Source>> {
        let folder = Path::new(&self.0.name).parent()?;
        [folder.join("servers"), folder.join("../servers")]
            .iter()
            .map(|folder| folder.join(format!("{name}.toml")))
            .find(|path| path.is_file())
            .and_then(|path| files::read(&path).ok())
    }
}

impl Library for Beside<'_> {
    fn script(&self, name: &str) -> Option<Arc<Source>> {
        // Built-in sources have names that are no files of the user's.
        let builtin = Builtin.script(name);
        if library::scenarios().iter().any(|known| std::ptr::eq(Arc::as_ptr(known), self.0)) {
            return builtin;
        }
        self.find(name).or(builtin)
    }

    fn script_names(&self) -> Vec<String> {
        Builtin.script_names()
    }

    fn is_requirement(&self, id: &str) -> bool {
        Builtin.is_requirement(id)
    }

    fn requirement_ids(&self) -> Vec<String> {
        Builtin.requirement_ids()
    }
}

/// The server script that a scenario file means by a name.
#[must_use]
pub fn script(scenario: &Source, name: &str) -> Option<Arc<Source>> {
    Beside(scenario).script(name)
}

/// Whether a scenario answers to `AREA`, `AREA/NAME` or `AREA/NAME[CASE]`.
#[must_use]
pub fn matches(scenario: &Scenario, filter: &str) -> bool {
    let id = &scenario.id;
    let filter = filter.trim_end_matches('/');
    filter == id.area || filter == format!("{}/{}", id.area, id.name) || filter == id.to_string()
}

/// What a user is told whose word no scenario answers to.
#[must_use]
pub fn unknown(filter: &str, known: &[Arc<Scenario>]) -> Failure {
    let ids: Vec<String> = known.iter().map(|scenario| scenario.id.to_string()).collect();
    let areas = known.iter().map(|scenario| scenario.id.area.as_str());
    let help = match did_you_mean(filter, ids.iter().map(String::as_str).chain(areas)) {
        Some(close) => format!("did you mean `{close}`?"),
        None => "`hopcheck list scenarios` lists them all".to_owned(),
    };
    Failure::Usage(format!("no scenario `{filter}`: {help}"))
}
