//! The command line: arguments in, reports and an exit code out.

mod args;
mod baseline;
mod check;
mod exit;
mod explain;
mod faults;
mod hidden;
mod judge;
mod list;
mod output;
mod print;
mod run;
mod schema;
mod self_test;
mod serve;
mod show;
mod transcripts;

use std::process::ExitCode;

use clap::Parser as _;

use args::{Cli, Command};
use exit::Exit;

pub use hidden::route;
pub use transcripts::{Transcript, reference_transcripts};

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
        Command::Baseline(args) => baseline::baseline(&args),
        Command::Schema(args) => schema::schema(&args),
    };
    match result {
        Ok(exit) => exit.into(),
        Err(failure) => {
            for error in failure.diagnostics() {
                output::err(&format!("{}\n\n", error.render_styled()));
            }
            output::complain(&failure.to_string());
            Exit::from(&failure).into()
        }
    }
}
