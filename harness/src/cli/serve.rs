//! `hopcheck serve`: a scripted server for any client.

use std::io;
use std::path::Path;

use super::args::ServeArgs;
use super::exit::Exit;
use crate::diagnostic::did_you_mean;
use crate::invocation::{Failure, files, random_seed};
use crate::library::Builtin;
use crate::revision::Revision;
use crate::scenario::Library as _;
use crate::server::{self, Server};

/// Serves until the input ends, and exits as the script says.
pub(super) fn serve(args: &ServeArgs) -> Result<Exit, Failure> {
    let source = if files::is_path(&args.script) {
        files::read(Path::new(&args.script))?
    } else {
        Builtin.script(&args.script).ok_or_else(|| unknown(&args.script))?
    };
    let script = server::decode::parse(&source).map_err(Failure::Files)?;
    let revision = args.revision.unwrap_or(Revision::V2026_07_28);
    let name = script.name.clone();
    let mut server = Server::new(&name, script, revision, Vec::new(), random_seed());
    let code = server::serve(&mut server, io::stdin().lock(), io::stdout().lock(), io::stderr().lock())
        .map_err(|error| Failure::harness("cannot serve", error))?;
    if code == 0 {
        return Ok(Exit::Expected);
    }
    // The script ends the process with a code of its own, which is none of ours.
    std::process::exit(code)
}

fn unknown(name: &str) -> Failure {
    let known = Builtin.script_names();
    let help = match did_you_mean(name, known.iter().map(String::as_str)) {
        Some(close) => format!("did you mean `{close}`?"),
        None => format!("there are {}", known.join(", ")),
    };
    Failure::Usage(format!("no server script `{name}`: {help}"))
}
