//! `hopcheck check`: everything that is wrong with files.

use std::sync::Arc;

use super::args::CheckArgs;
use super::exit::Exit;
use super::output;
use crate::decode::{FileKind, kind_of};
use crate::diagnostic::{Diagnostic, Source};
use crate::invocation::{Failure, files, select};
use crate::{baseline, host, server};

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
    match kind_of(source) {
        FileKind::Scenario => {
            let scenarios = select::read(source, &mut errors);
            errors.extend(select::misspelt_hosts(&scenarios, &[]));
        }
        FileKind::Server => errors.extend(server::decode::parse(source).err().unwrap_or_default()),
        FileKind::Baseline => errors.extend(baseline::decode::parse(source).err().unwrap_or_default()),
        FileKind::Profile => errors.extend(host::decode::parse(source, None, None).err().unwrap_or_default()),
    }
    errors
}
