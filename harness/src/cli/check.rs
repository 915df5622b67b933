//! `hopcheck check`: everything that is wrong with files.

use std::path::Path;
use std::sync::Arc;

use toml::de::DeTable;

use super::args::CheckArgs;
use super::exit::Exit;
use super::output;
use crate::diagnostic::{Diagnostic, Source};
use crate::invocation::{Failure, files, select};
use crate::{baseline, host, server};

/// Kinds of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Scenario,
    Script,
    Profile,
    Baseline,
}

/// Checks each file and goes on to the next, whatever is wrong.
pub(super) fn check(args: &CheckArgs) -> Result<Exit, Failure> {
    let mut exit = Exit::Expected;
    for path in &args.files {
        let source = match files::read(path) {
            Ok(source) => source,
            Err(failure) => {
                output::complain(&failure.to_string());
                exit = Exit::Usage;
                continue;
            }
        };
        let errors = errors(&source);
        for error in &errors {
            output::err(&format!("{}\n\n", error.render_styled()));
        }
        if errors.is_empty() {
            output::out(&format!("ok {}\n", source.name))?;
        } else {
            exit = Exit::Usage;
        }
    }
    Ok(exit)
}

fn errors(source: &Arc<Source>) -> Vec<Diagnostic> {
    let mut errors = Vec::new();
    match kind(source) {
        Kind::Scenario => {
            let scenarios = select::read(source, &mut errors);
            errors.extend(select::misspelt_hosts(&scenarios, &[]));
        }
        Kind::Script => errors.extend(server::decode::parse(source).err().unwrap_or_default()),
        Kind::Baseline => errors.extend(baseline::decode::parse(source).err().unwrap_or_default()),
        Kind::Profile => errors.extend(host::decode::parse(source, None, None).err().unwrap_or_default()),
    }
    errors
}

/// What a file means to be, by the keys that only one kind has, else by its folder.
fn kind(source: &Source) -> Kind {
    let (root, _) = DeTable::parse_recoverable(&source.text);
    let has = |keys: &[&str]| keys.iter().any(|key| root.get_ref().contains_key(*key));
    let folder = Path::new(&source.name).parent().and_then(Path::file_name);
    if has(&["step", "case", "requirements", "title"]) && !has(&["bin", "drive", "claims"]) {
        Kind::Scenario
    } else if has(&["known"]) && !has(&["bin", "drive", "claims"]) {
        Kind::Baseline
    } else if has(&["bin", "drive", "claims", "model"]) || folder.is_some_and(|name| name == "profiles") {
        Kind::Profile
    } else if has(&["tool", "info", "pages", "on"]) || folder.is_some_and(|name| name == "servers") {
        Kind::Script
    } else {
        Kind::Scenario
    }
}
