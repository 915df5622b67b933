//! One server: its process and its messages.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Map, Value, json};

use crate::{Outcome, Tool};

/// The version of the protocol that is spoken.
const VERSION: &str = "2025-11-25";

#[derive(Debug)]
pub(crate) struct Server {
    name: String,
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    has_tools: bool,
    last: u64,
}

/// Why a request has no result.
enum Failed {
    /// The server's error.
    Answer(String),
    /// The pipe is broken.
    Gone,
}

impl Server {
    pub(crate) fn open(name: &str, mut command: Command) -> io::Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let output = BufReader::new(output.ok_or(io::ErrorKind::BrokenPipe)?);
        let name = name.to_owned();
        let mut server = Self { name, child, input, output, has_tools: false, last: 0 };
        match server.shake_hands() {
            Ok(()) => Ok(server),
            Err(failed) => {
                server.close();
                Err(io::Error::other(failed.text()))
            }
        }
    }

    fn shake_hands(&mut self) -> Result<(), Failed> {
        let client = json!({ "name": "pocket", "version": env!("CARGO_PKG_VERSION") });
        let params = json!({ "protocolVersion": VERSION, "capabilities": {}, "clientInfo": client });
        let answer = self.request("initialize", params)?;
        if answer["protocolVersion"] != VERSION {
            return Err(Failed::Answer("the server speaks another version".to_owned()));
        }
        self.has_tools = answer["capabilities"]["tools"].is_object();
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
    }

    /// The tools with their registered names. Those without a schema are no use to a model.
    pub(crate) fn tools(&mut self) -> Vec<(String, Tool)> {
        let mut tools = Vec::new();
        let mut cursors: Vec<Value> = Vec::new();
        while self.has_tools {
            let params = cursors.last().map_or_else(|| json!({}), |cursor| json!({ "cursor": cursor }));
            let Ok(page) = self.request("tools/list", params) else { break };
            for entry in page["tools"].as_array().into_iter().flatten() {
                let (Some(name), Value::Object(schema)) = (entry["name"].as_str(), &entry["inputSchema"]) else {
                    continue;
                };
                let tool = Tool {
                    name: format!("{}_{}", plain(&self.name), plain(name)),
                    description: entry["description"].as_str().unwrap_or_default().to_owned(),
                    schema: Value::Object(schema.clone()),
                };
                tools.push((name.to_owned(), tool));
            }
            match &page["nextCursor"] {
                // A server that goes in circles has nothing more to say.
                cursor @ Value::String(_) if !cursors.contains(cursor) => cursors.push(cursor.clone()),
                _ => break,
            }
        }
        tools
    }

    pub(crate) fn call(&mut self, name: &str, arguments: Map<String, Value>) -> Outcome {
        match self.request("tools/call", json!({ "name": name, "arguments": arguments })) {
            Ok(result) => {
                let mut content = result["content"].as_array().cloned().unwrap_or_default();
                if let (true, Some(structured)) = (content.is_empty(), result.get("structuredContent")) {
                    content.push(json!({ "type": "text", "text": structured.to_string() }));
                }
                Outcome { content, failed: result["isError"] == true }
            }
            Err(failed) => Outcome::failed(failed.text()),
        }
    }

    /// Closes the server's input, which tells it to end.
    pub(crate) fn close(mut self) {
        self.input = None;
        // Whether it ends well is its own business.
        let _ = self.child.wait();
    }

    fn request(&mut self, method: &str, params: Value) -> Result<Value, Failed> {
        self.last += 1;
        let id = self.last;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        loop {
            let mut message = self.receive()?;
            match (message["method"].as_str(), message.get("id")) {
                (Some("ping"), Some(id)) => self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": {} }))?,
                (Some(method), Some(id)) => {
                    let error = json!({ "code": -32601, "message": format!("no method {method}") });
                    self.send(&json!({ "jsonrpc": "2.0", "id": id, "error": error }))?;
                }
                (None, Some(answered)) if *answered == id => {
                    return match message.get("error") {
                        Some(error) => {
                            Err(Failed::Answer(error["message"].as_str().unwrap_or("an error").to_owned()))
                        }
                        None => Ok(message["result"].take()),
                    };
                }
                // A notification, or an answer to nothing.
                _ => {}
            }
        }
    }

    fn send(&mut self, message: &Value) -> Result<(), Failed> {
        let input = self.input.as_mut().ok_or(Failed::Gone)?;
        input.write_all(format!("{message}\n").as_bytes()).map_err(|_| Failed::Gone)
    }

    fn receive(&mut self) -> Result<Value, Failed> {
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line).map_err(|_| Failed::Gone)? == 0 {
                return Err(Failed::Gone);
            }
            if let Ok(message) = serde_json::from_str(&line) {
                return Ok(message);
            }
        }
    }
}

impl Failed {
    fn text(self) -> String {
        match self {
            Self::Answer(message) => message,
            Self::Gone => "the server is gone".to_owned(),
        }
    }
}

/// A name as models take it.
fn plain(name: &str) -> String {
    name.replace(|char: char| !char.is_ascii_alphanumeric() && char != '_' && char != '-', "_")
}
