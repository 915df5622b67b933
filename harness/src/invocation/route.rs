//! Subcommands that a program which runs plans starts itself with. They are decided before arguments are parsed: a relay
//! must be up at once.

use std::env;
use std::process::ExitCode;

use crate::{stage, wire};

/// Does the work of a hidden subcommand, where the process was started for one.
///
/// A program that runs plans through this library must call this first: it is its own relay and supervisor.
/// [`Suite::main`](crate::Suite::main) does.
#[must_use]
pub fn route() -> Option<ExitCode> {
    let mut args = env::args_os().skip(1).map(|arg| arg.to_string_lossy().into_owned());
    let name = args.next()?;
    match name.as_str() {
        "__relay" => Some(wire::relay::main(&args.collect::<Vec<_>>())),
        "__stage" => Some(stage::supervisor::main(&args.collect::<Vec<_>>())),
        _ => None,
    }
}
