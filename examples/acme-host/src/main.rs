//! Acme's agent: a small MCP host. It has one user message, talks to its model and its servers until the model is done, and
//! prints what the model said.
//!
//! It knows nothing of hopcheck. What it is told wrong on purpose is in [`fault`], so that its tests can be seen to fail.

mod config;
mod fault;
mod gate;
mod http;
mod model;
mod names;
mod server;

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::{env, error, io};

use serde_json::{Value, json};

use config::Config;
use fault::Fault;
use gate::Gate;
use model::{Model, ToolUse};
use server::Server;

/// Anything that ends the conversation.
type Failure = Box<dyn error::Error>;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let ended = match arguments.as_slice() {
        ["--version"] => writeln!(io::stdout(), "acme-host {}", env!("CARGO_PKG_VERSION")).map_err(Failure::from),
        ["--config", file, "--prompt", prompt] => converse(Path::new(file), prompt),
        _ => Err("usage: acme-host --config FILE --prompt TEXT".into()),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            // There is nowhere left to complain to.
            let _ = writeln!(io::stderr(), "acme-host: {failure}");
            ExitCode::FAILURE
        }
    }
}

/// The conversation, from the first message to the last.
fn converse(file: &Path, prompt: &str) -> Result<(), Failure> {
    let config = Config::read(file)?;
    let fault = Fault::from_environment()?;
    let gate = Gate::new(&config, fault);
    let mut host = Host { servers: connect(&config), gate, fault };
    let mut model = Model::new(config.model_url, config.model_key);
    model.user(prompt);
    loop {
        let reply = model.ask(&host.offer())?;
        if !reply.text.is_empty() {
            writeln!(io::stdout(), "{}", reply.text)?;
        }
        if reply.uses.is_empty() {
            break;
        }
        let results = reply.uses.iter().map(|one| host.result(one)).collect();
        model.tool_results(results);
    }
    for server in host.servers {
        server.stop();
    }
    Ok(())
}

/// Starts all servers. One that does not work leaves the others alone.
fn connect(config: &Config) -> Vec<Server> {
    let mut servers = Vec::new();
    for entry in &config.servers {
        match Server::start(entry) {
            Ok(server) => servers.push(server),
            Err(failure) => {
                let _ = writeln!(io::stderr(), "acme-host: server {}: {failure}", entry.key);
            }
        }
    }
    servers
}

/// The servers, and what stands before them.
struct Host {
    servers: Vec<Server>,
    gate: Gate,
    fault: Option<Fault>,
}

impl Host {
    /// The tools as the model sees them.
    fn offer(&mut self) -> Vec<Value> {
        let mut offer = Vec::new();
        for server in &mut self.servers {
            server.refresh();
            for tool in &server.tools {
                if self.gate.hides(&server.key, &tool.name) {
                    continue;
                }
                let mut entry = json!({
                    "name": names::published(&server.key, &tool.name),
                    "input_schema": tool.input_schema,
                });
                if let Some(description) = &tool.description {
                    entry["description"] = json!(description);
                }
                offer.push(entry);
            }
        }
        offer
    }

    /// What the model is told of one tool use.
    fn result(&mut self, one: &ToolUse) -> Value {
        let (content, is_error) = match self.call(one) {
            Ok(result) => {
                let is_error = result["isError"] == json!(true);
                (model::content(&result), is_error)
            }
            Err(failure) => (json!([{ "type": "text", "text": failure.to_string() }]), true),
        };
        let is_error = is_error && self.fault != Some(Fault::ForgetsErrors);
        json!({ "type": "tool_result", "tool_use_id": one.id, "content": content, "is_error": is_error })
    }

    fn call(&mut self, one: &ToolUse) -> Result<Value, Failure> {
        let found = self.servers.iter_mut().find_map(|server| {
            let tool = server.tools.iter().find(|tool| names::published(&server.key, &tool.name) == one.name)?;
            let name = tool.name.clone();
            Some((server, name))
        });
        let (server, name) = found.ok_or_else(|| format!("there is no tool {}", one.name))?;
        if !self.gate.allows(&server.key, &name) {
            return Err(format!("the user does not allow {}", one.name).into());
        }
        if !one.input.is_object() {
            return Err(format!("the arguments of {} are no object", one.name).into());
        }
        let wire_name = if self.fault == Some(Fault::PublishedNameOnTheWire) { &one.name } else { &name };
        server.request("tools/call", json!({ "name": wire_name, "arguments": one.input }))
    }
}
