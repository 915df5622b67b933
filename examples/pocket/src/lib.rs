//! Pocket, an agent framework that fits into one: it connects MCP servers, and an application with a model in it asks
//! for their tools and uses them. It is an example of what hopcheck tests, so it shares nothing with hopcheck.

mod server;

use std::collections::BTreeMap;
use std::io;
use std::process::Command;

use serde_json::Value;

use server::Server;

/// A tool, as the application gives it to its model.
#[derive(Clone, Debug)]
pub struct Tool {
    /// The name for the model: `SERVER_TOOL`.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The schema of its arguments.
    pub schema: Value,
}

/// What the application tells its model of a tool use.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Content blocks, in the form of MCP.
    pub content: Vec<Value>,
    /// Whether it failed.
    pub failed: bool,
}

/// The servers of an application, and what they offer.
#[derive(Debug, Default)]
pub struct Agent {
    servers: Vec<Server>,
    /// The server and the registered name behind each name for the model.
    known: BTreeMap<String, (usize, String)>,
}

impl Agent {
    /// Starts a server and makes it known under this name.
    ///
    /// # Errors
    /// A program that does not start, or that does not open as the protocol says.
    pub fn connect(&mut self, name: &str, command: Command) -> io::Result<()> {
        self.servers.push(Server::open(name, command)?);
        Ok(())
    }

    /// The tools of all servers, as they are now. A server that cannot be asked has none.
    pub fn tools(&mut self) -> Vec<Tool> {
        self.known.clear();
        let mut tools = Vec::new();
        for (at, server) in self.servers.iter_mut().enumerate() {
            for (registered, tool) in server.tools() {
                self.known.insert(tool.name.clone(), (at, registered));
                tools.push(tool);
            }
        }
        tools
    }

    /// Uses a tool, with the arguments as the model wrote them.
    pub fn use_tool(&mut self, name: &str, arguments: &str) -> Outcome {
        let Some((at, registered)) = self.known.get(name) else {
            return Outcome::failed(format!("there is no tool {name}"));
        };
        let arguments = if arguments.is_empty() { "{}" } else { arguments };
        match serde_json::from_str(arguments) {
            Ok(Value::Object(arguments)) => self.servers[*at].call(registered, arguments),
            Ok(_) => Outcome::failed("the arguments are no object".to_owned()),
            Err(error) => Outcome::failed(format!("the arguments are no JSON: {error}")),
        }
    }

    /// Closes all servers, and waits for them to end.
    pub fn close(&mut self) {
        self.known.clear();
        self.servers.drain(..).for_each(Server::close);
    }
}

impl Outcome {
    pub(crate) fn failed(text: String) -> Self {
        Self { content: vec![serde_json::json!({ "type": "text", "text": text })], failed: true }
    }
}
