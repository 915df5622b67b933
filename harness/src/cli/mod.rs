//! The command line: arguments in, reports and an exit code out.

mod args;
mod check;
mod exit;
mod explain;
mod faults;
mod files;
mod hidden;
mod hosts;
mod judge;
mod list;
mod output;
mod pool;
mod print;
mod run;
mod schema;
mod select;
mod self_test;
mod serve;
mod show;
mod snapshots;
mod suite;
mod traces;

use std::env;
use std::hash::{BuildHasher as _, RandomState};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser as _;

use args::{Cli, Command};
use exit::Failure;

pub use hidden::route;
pub use suite::{Transcript, reference_transcripts};

/// Runs the command line of this process.
#[must_use]
pub fn main() -> ExitCode {
    if let Some(code) = route() {
        return code;
    }
    let result = match Cli::parse().command {
        Command::Run(args) => run::run(&args),
        Command::Record(args) => run::record(&args),
        Command::Judge(args) => judge::judge(&args),
        Command::SelfTest(args) => self_test::self_test(&args),
        Command::Serve(args) => serve::serve(&args),
        Command::Show(args) => show::show(&args),
        Command::List(args) => list::list(&args),
        Command::Explain(args) => explain::explain(&args),
        Command::Check(args) => check::check(&args),
        Command::Schema(args) => schema::schema(&args),
    };
    match result {
        Ok(exit) => exit.into(),
        Err(failure) => {
            output::complain(&failure.to_string());
            failure.exit().into()
        }
    }
}

/// The running program, which is also relay, supervisor and reference host.
fn self_exe() -> Result<PathBuf, Failure> {
    env::current_exe()
        .map_err(|error| Failure::Harness(anyhow::Error::new(error).context("cannot find this program")))
}

/// A seed that nobody can guess: the standard library seeds its hashers from the system.
fn random_seed() -> u64 {
    RandomState::new().hash_one(std::process::id())
}
