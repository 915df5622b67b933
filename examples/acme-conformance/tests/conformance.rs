//! Acme's agent, as a model and MCP servers see it.

use std::process::ExitCode;

fn main() -> ExitCode {
    hopcheck::Suite::new()
        .host_file("conformance/acme.toml")
        .bin_of("acme-host")
        .scenarios("conformance/scenarios")
        .baseline("conformance/known.toml")
        .main()
}
