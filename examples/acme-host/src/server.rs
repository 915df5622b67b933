//! An MCP server over stdio, in the revision 2025-11-25 or 2025-06-18.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::Failure;
use crate::config::Entry;

/// How long a server may take for an answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long it may take to end, once it has been told.
const GRACE: Duration = Duration::from_secs(2);
/// The revisions, the one that is asked for first.
const REVISIONS: [&str; 2] = ["2025-11-25", "2025-06-18"];

/// A server that is connected.
pub(crate) struct Server {
    pub(crate) key: String,
    pub(crate) tools: Vec<Tool>,
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    last_id: u64,
    /// Whether it has said that its list is another one now.
    changed: bool,
}

/// A tool as its server lists it.
pub(crate) struct Tool {
    pub(crate) name: String,
    pub(crate) description: Option<String>,
    pub(crate) input_schema: Value,
}

impl Server {
    /// Starts a server, shakes hands and asks for its tools.
    pub(crate) fn start(entry: &Entry) -> Result<Self, Failure> {
        let mut child = Command::new(&entry.command)
            .args(&entry.args)
            .envs(entry.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().ok_or("a server without standard output")?;
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let mut server =
            Self { key: entry.key.clone(), tools: Vec::new(), child, stdin, lines, last_id: 0, changed: false };
        match server.shake_hands().and_then(|()| server.list()) {
            Ok(()) => Ok(server),
            Err(failure) => {
                server.stop();
                Err(failure)
            }
        }
    }

    fn shake_hands(&mut self) -> Result<(), Failure> {
        let client = json!({ "name": "acme-host", "version": env!("CARGO_PKG_VERSION") });
        let hello = json!({ "protocolVersion": REVISIONS[0], "capabilities": {}, "clientInfo": client });
        let answer = self.request("initialize", hello)?;
        let revision = answer["protocolVersion"].as_str().unwrap_or_default();
        if !REVISIONS.contains(&revision) {
            return Err(format!("it speaks the revision {revision:?}").into());
        }
        self.changed = answer["capabilities"]["tools"].is_object();
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))
    }

    /// Asks for the tools again, where the server has said that they changed.
    pub(crate) fn refresh(&mut self) {
        // What was said while nobody asked for anything.
        while let Ok(line) = self.lines.try_recv() {
            let _ = self.incoming(&line);
        }
        // A server that does not answer keeps the tools that it had; a call will tell the model.
        let _ = self.list();
    }

    /// Reads the list, page by page, where there may be a new one.
    fn list(&mut self) -> Result<(), Failure> {
        if !self.changed {
            return Ok(());
        }
        self.changed = false;
        let mut tools = Vec::new();
        let mut cursor = Value::Null;
        loop {
            let params = if cursor.is_null() { json!({}) } else { json!({ "cursor": cursor }) };
            let page = self.request("tools/list", params)?;
            tools.extend(page["tools"].as_array().into_iter().flatten().filter_map(tool));
            cursor = page["nextCursor"].clone();
            if cursor.is_null() {
                break;
            }
        }
        self.tools = tools;
        Ok(())
    }

    /// Asks, and waits for the answer. What the server asks meanwhile is answered.
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Result<Value, Failure> {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        loop {
            let line = self.lines.recv_timeout(PATIENCE).map_err(|_| format!("no answer to {method}"))?;
            let Some(answer) = self.incoming(&line)? else { continue };
            if answer["id"] != json!(id) {
                continue;
            }
            if let Some(error) = answer.get("error") {
                return Err(format!("error {}: {}", error["code"], error["message"].as_str().unwrap_or("")).into());
            }
            return Ok(answer["result"].clone());
        }
    }

    /// Takes a line of the server; gives it back where it is an answer.
    fn incoming(&mut self, line: &str) -> Result<Option<Value>, Failure> {
        let Ok(message) = serde_json::from_str::<Value>(line) else { return Ok(None) };
        match (message["method"].as_str(), message.get("id")) {
            (Some("ping"), Some(id)) => self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": {} }))?,
            (Some(method), Some(id)) => {
                let error = json!({ "code": -32601, "message": format!("no method {method}") });
                self.send(&json!({ "jsonrpc": "2.0", "id": id, "error": error }))?;
            }
            (Some(method), None) => self.changed |= method == "notifications/tools/list_changed",
            (None, _) => return Ok(Some(message)),
        }
        Ok(None)
    }

    fn send(&mut self, message: &Value) -> Result<(), Failure> {
        let stdin = self.stdin.as_mut().ok_or("the server is stopped")?;
        writeln!(stdin, "{message}")?;
        Ok(stdin.flush()?)
    }

    /// Closes the server's input, and is less and less polite where it does not end by itself.
    pub(crate) fn stop(self) {
        let Self { mut child, stdin, .. } = self;
        drop(stdin);
        let pid = child.id().to_string();
        let (sender, ended) = mpsc::channel();
        thread::spawn(move || {
            // Whoever waits too long has stopped listening.
            let _ = sender.send(child.wait());
        });
        for signal in ["-TERM", "-KILL"] {
            if ended.recv_timeout(GRACE).is_ok() {
                return;
            }
            let _ = Command::new("kill").args([signal, &pid]).status();
        }
        let _ = ended.recv_timeout(GRACE);
    }
}

/// A tool that the model can be shown: it takes none without a schema.
fn tool(entry: &Value) -> Option<Tool> {
    Some(Tool {
        name: entry["name"].as_str()?.to_owned(),
        description: entry["description"].as_str().map(str::to_owned),
        input_schema: entry.get("inputSchema").filter(|schema| schema.is_object())?.clone(),
    })
}
