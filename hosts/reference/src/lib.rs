//! A small, correct MCP host, with named faults.
//!
//! It is the host that hopcheck checks itself with: without a fault it must pass everything that applies to it, and with a fault exactly the checks
//! that the fault is about must fail. It shares no code with hopcheck, so that a misunderstanding cannot be on both sides.
//!
//! A run is one loop: `host` connects the `server`s, offers their tools under published names (`directory`), asks the `model` (`dialogue`), takes
//! tool uses through the gates (`door`, `schema`, `gate`, `console`), makes the calls (`flight`) and tells the results (`told`). All waiting is in
//! `reactor`; every lie is named in [`fault`].
//!
//! # Command line
//!
//! ```text
//! --config FILE [--fault NAME] --prompt TEXT     one prompt, nobody to ask, one line of JSON with the result
//! --config FILE [--fault NAME] --control         prompts, questions and answers as lines of JSON on the standard streams
//! --version
//! ```
//!
//! # Config file
//!
//! ```json
//! {
//!   "model": {"api": "anthropic-messages", "base_url": "http://127.0.0.1:8080", "key": "k"},
//!   "servers": {"orders": {"command": "/bin/orders", "args": [], "env": {}, "cwd": "/tmp"}},
//!   "permissions": {"deny": ["orders/refund"], "ask": [], "allow": ["orders/*"], "default": "ask"},
//!   "limits": {"start_ms": 10000, "call_ms": 60000},
//!   "schema_gate": true,
//!   "protocol": "auto"
//! }
//! ```
//!
//! A rule is `SERVER/TOOL`, split at the first slash, or `{"server": …, "tool": …}`; `*` stands for all names. Tools under a deny rule are not shown to
//! the model. The schema gate knows the dialects of JSON Schema from draft 4 to 2020-12, and takes 2020-12 where a schema names none.

mod arguments;
mod bend;
mod bounds;
mod cli;
mod config;
mod console;
mod dialogue;
mod directory;
mod door;
mod error;
pub mod fault;
mod flight;
mod gate;
mod host;
mod json;
mod legacy;
mod list;
mod model;
mod modern;
mod name;
mod plain;
mod process;
mod reach;
mod reactor;
mod rpc;
mod schema;
mod server;
mod told;
mod tool;

use std::io::{self, Write};
use std::process::ExitCode;

use crate::cli::{Options, Task};
use crate::error::Error;
use crate::host::Host;

/// Runs the host with the given arguments, which do not include the program name.
pub fn main(args: Vec<String>) -> ExitCode {
    match run(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            note(&error.to_string());
            ExitCode::from(error.exit_code())
        }
    }
}

fn run(args: Vec<String>) -> Result<(), Error> {
    match cli::parse(args)? {
        Task::Version => {
            Ok(writeln!(io::stdout().lock(), "hopcheck-reference-host {}", env!("CARGO_PKG_VERSION"))?)
        }
        Task::Run(Options { config, lies, mode, prompt }) => {
            let mut host = Host::new(config::load(&config)?, mode, lies)?;
            let outcome = host.run(prompt);
            // Whatever happened, nothing may be left behind.
            host.shut_down();
            outcome
        }
    }
}

/// Writes one line to the standard error output.
fn note(text: &str) {
    // Nobody is told when there is nobody to tell.
    let _unheard = writeln!(io::stderr().lock(), "{text}");
}
