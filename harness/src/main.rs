//! The command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().collect();
    // Helper processes come first: they must start fast.
    match args.get(1).map(String::as_str) {
        Some("__relay") => hopcheck::wire::relay::main(&args[2..]),
        Some("__stage") => hopcheck::stage::supervisor::main(&args[2..]),
        _ => ExitCode::SUCCESS,
    }
}
