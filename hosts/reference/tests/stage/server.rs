//! A scripted server: `server BEHAVIOUR LOG`. It logs every line that it gets.

use std::fs::OpenOptions;
use std::io::{self, BufRead, Write};
use std::process::ExitCode;

use serde_json::{Value, json};

/// Serves until the end of the input.
pub(crate) fn serve(args: &[String]) -> ExitCode {
    let [behaviour, log] = args else {
        return ExitCode::from(2);
    };
    let mut log = OpenOptions::new().create(true).append(true).open(log).expect("a log");
    let mut server = Server { behaviour: behaviour.clone(), grown: false, subscription: Value::Null };
    for line in io::stdin().lock().lines() {
        let line = line.expect("a line");
        writeln!(log, "{line}").expect("a log");
        let message: Value = serde_json::from_str(&line).expect("JSON");
        if message["id"].is_null() || behaviour == "mute" {
            continue;
        }
        server.answer(&message, &line);
    }
    ExitCode::SUCCESS
}

struct Server {
    behaviour: String,
    grown: bool,
    subscription: Value,
}

impl Server {
    fn answer(&mut self, message: &Value, line: &str) {
        let modern = self.behaviour == "modern";
        let id = &message["id"];
        let capabilities = json!({"tools": {"listChanged": true}});
        let version = if modern || self.behaviour == "legacy" { "2025-11-25" } else { &self.behaviour };
        let result = match message["method"].as_str().unwrap_or_default() {
            "server/discover" if modern => {
                json!({"supportedVersions": ["2026-07-28"], "capabilities": capabilities, "resultType": "complete"})
            }
            "initialize" if !modern => {
                write(&json!({"jsonrpc": "2.0", "id": "early", "method": "ping"}));
                json!({"protocolVersion": version, "capabilities": capabilities, "serverInfo": {"name": "s", "version": "1"}})
            }
            "subscriptions/listen" if modern => {
                self.subscription = id.clone();
                return;
            }
            "tools/list" => self.list(&message["params"]["cursor"]),
            "tools/call" => match self.call(message["params"]["name"].as_str().unwrap_or_default(), line) {
                Some(result) => result,
                None => return,
            },
            _ => {
                write(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "unknown"}}));
                return;
            }
        };
        write(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
    }

    fn list(&self, cursor: &Value) -> Value {
        let tool =
            |name: &str| json!({"name": name, "inputSchema": {"type": "object", "additionalProperties": true}});
        if cursor.is_null() {
            let text = json!({"type": "object", "properties": {"text": {"type": "string"}}});
            return json!({"tools": [{"name": "echo", "description": "Echoes.", "inputSchema": text}, {"name": "no_schema"}, tool("any")], "nextCursor": ""});
        }
        let mut tools: Vec<_> = ["fail", "crash", "slow", "grow", "twice"].map(tool).into();
        if self.grown {
            tools.push(tool("grown"));
        }
        json!({"tools": tools})
    }

    fn call(&mut self, tool: &str, line: &str) -> Option<Value> {
        let text = match tool {
            "fail" => {
                return Some(json!({"content": [{"type": "text", "text": "it went wrong"}], "isError": true}));
            }
            "twice" if !line.contains("\"requestState\":\"ä=\"") => {
                return Some(json!({"resultType": "input_required", "requestState": "ä="}));
            }
            "crash" => std::process::exit(3),
            "slow" => return None,
            "grow" => {
                self.grown = true;
                let meta = json!({"io.modelcontextprotocol/subscriptionId": self.subscription});
                write(
                    &json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": {"_meta": meta}}),
                );
                "grown".to_owned()
            }
            _ => {
                let arguments = line
                    .split("\"arguments\":")
                    .nth(1)
                    .and_then(|rest| rest.split(",\"_meta\"").next()?.split(",\"requestState\"").next());
                format!("{tool} {}", arguments.unwrap_or_default())
            }
        };
        Some(json!({"content": [{"type": "text", "text": text}]}))
    }
}

fn write(message: &Value) {
    let mut out = io::stdout().lock();
    writeln!(out, "{message}").expect("the host reads");
    out.flush().expect("the host reads");
}
