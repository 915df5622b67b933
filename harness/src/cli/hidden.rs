//! Subcommands that hopcheck starts itself with: the hosts that it carries, beside those of every program that runs plans.

use std::env;
use std::io::Write as _;
use std::process::ExitCode;

use crate::invocation;

/// Does the work of a hidden subcommand, where the process was started for one.
///
/// A program that runs the built-in hosts through this library must call this first: it is also these hosts.
#[must_use]
pub fn route() -> Option<ExitCode> {
    if let Some(code) = invocation::route::route() {
        return Some(code);
    }
    let mut args = env::args_os().skip(1).map(|arg| arg.to_string_lossy().into_owned());
    let name = args.next()?;
    let rest: Vec<String> = args.collect();
    match name.as_str() {
        "__reference-host" => Some(hopcheck_reference_host::main(rest)),
        "__null-host" => Some(null_host(&rest)),
        _ => None,
    }
}

/// The host that does nothing and says that all is well.
fn null_host(args: &[String]) -> ExitCode {
    if args.first().is_some_and(|arg| arg == "--version") {
        // The caller reads it or does not.
        let _ = writeln!(std::io::stdout(), "null-host {}", env!("CARGO_PKG_VERSION"));
    }
    ExitCode::SUCCESS
}
