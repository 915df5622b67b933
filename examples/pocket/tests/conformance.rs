//! The conformance tests of Pocket: `cargo test` runs each scenario as a test.

use std::process::{Command, ExitCode};

use hopcheck::driver::{Host, HostError, OfferedTool, Setup, Told, ToolUse, User};
use pocket::Agent;
use serde_json::json;

/// Pocket, as hopcheck drives it.
#[derive(Default)]
struct Pocket(Agent);

impl Host for Pocket {
    fn start(&mut self, setup: &Setup) -> Result<(), HostError> {
        for server in &setup.servers {
            let mut command = Command::new(&server.command);
            command.args(&server.args).envs(server.env.clone());
            // An application goes on without a server that does not start.
            let _ = self.0.connect(&server.name, command);
        }
        Ok(())
    }

    fn tools(&mut self) -> Result<Vec<OfferedTool>, HostError> {
        let offered = |tool: pocket::Tool| {
            let schema = tool.schema.to_string();
            Ok(OfferedTool::new(tool.name).describe(tool.description).schema_text(&schema)?)
        };
        self.0.tools().into_iter().map(offered).collect()
    }

    fn call(&mut self, tool_use: &ToolUse, _user: &dyn User) -> Result<Told, HostError> {
        let outcome = self.0.use_tool(&tool_use.name, &tool_use.input_text());
        Told::result_text(&json!({ "content": outcome.content, "isError": outcome.failed }).to_string())
    }

    fn stop(&mut self) -> Result<(), HostError> {
        self.0.close();
        Ok(())
    }
}

fn main() -> ExitCode {
    hopcheck::Suite::new()
        .host_file("conformance/pocket.toml")
        .host(env!("CARGO_PKG_VERSION"), Pocket::default)
        .main()
}
