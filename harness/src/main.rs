//! The command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    hopcheck::cli::main()
}
