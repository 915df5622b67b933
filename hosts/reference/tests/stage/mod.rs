//! The stage: a config, a scripted model on loopback, a host process, and what all of them saw.

pub(crate) mod server;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde_json::{Value, json};

/// The model APIs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Api {
    Anthropic,
    Responses,
}

/// A piece of a scripted reply.
pub(crate) enum Say {
    Text(String),
    Call { id: String, name: String, input: String },
}

/// Final text.
pub(crate) fn say(text: &str) -> Say {
    Say::Text(text.to_owned())
}

/// A tool use; over the Responses API the name is `NAMESPACE/NAME`.
pub(crate) fn call(id: &str, name: &str, input: &str) -> Say {
    Say::Call { id: id.to_owned(), name: name.to_owned(), input: input.to_owned() }
}

/// A run that has not been started.
pub(crate) struct Stage {
    api: Api,
    folder: PathBuf,
    servers: serde_json::Map<String, Value>,
    allow: Vec<String>,
    deny: Vec<String>,
    limits: Value,
    answers: Vec<String>,
    prompts: Vec<String>,
    fault: Option<String>,
}

impl Stage {
    pub(crate) fn new(api: Api) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("refhost-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir(&folder).expect("a temporary folder");
        Self {
            api,
            folder,
            servers: serde_json::Map::new(),
            allow: Vec::new(),
            deny: Vec::new(),
            limits: json!({}),
            answers: Vec::new(),
            prompts: Vec::new(),
            fault: None,
        }
    }

    /// Adds a server that behaves as told; without a behaviour its program does not exist.
    pub(crate) fn server(mut self, name: &str, behaviour: &str) -> Self {
        let entry = if behaviour.is_empty() {
            json!({"command": "/nowhere/at/all"})
        } else {
            let log = self.folder.join(name);
            json!({"command": std::env::current_exe().expect("a path"), "args": ["server", behaviour, log]})
        };
        self.servers.insert(name.to_owned(), entry);
        self
    }

    pub(crate) fn allow(mut self, rule: &str) -> Self {
        self.allow.push(rule.to_owned());
        self
    }

    pub(crate) fn deny(mut self, rule: &str) -> Self {
        self.deny.push(rule.to_owned());
        self
    }

    pub(crate) fn limits(mut self, start: u64, call: u64) -> Self {
        self.limits = json!({"start_ms": start, "call_ms": call});
        self
    }

    /// Answers to questions, in order; the run then has a control channel.
    pub(crate) fn answers(mut self, answers: &[&str]) -> Self {
        self.answers = answers.iter().map(|answer| (*answer).to_owned()).collect();
        self.prompts(&["go"])
    }

    /// Prompts over the control channel.
    pub(crate) fn prompts(mut self, prompts: &[&str]) -> Self {
        self.prompts = prompts.iter().map(|prompt| (*prompt).to_owned()).collect();
        self
    }

    pub(crate) fn fault(mut self, name: &str) -> Self {
        self.fault = Some(name.to_owned());
        self
    }

    /// Runs the host against a model that gives these replies, one for each request.
    pub(crate) fn run(self, replies: Vec<Vec<Say>>) -> Run {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address");
        let api = match self.api {
            Api::Anthropic => "anthropic-messages",
            Api::Responses => "openai-responses",
        };
        let config = json!({
            "model": {"api": api, "base_url": format!("http://{address}"), "key": "k"},
            "servers": self.servers,
            "permissions": {"allow": self.allow, "deny": self.deny},
            "limits": self.limits,
        });
        let file = self.folder.join("config.json");
        std::fs::write(&file, config.to_string()).expect("a config file");
        let mut host = Command::new(std::env::current_exe().expect("a path"));
        host.arg("host").arg("--config").arg(&file);
        host.args(self.fault.iter().flat_map(|name| ["--fault", name]));
        host.args(if self.prompts.is_empty() { &["--prompt", "go"][..] } else { &["--control"] });
        host.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let api = self.api;
        let model = thread::spawn(move || serve_model(&listener, api, replies));
        let mut host = host.spawn().expect("the host starts");
        let mut stdin = host.stdin.take().expect("its input");
        let stdout = BufReader::new(host.stdout.take().expect("its output"));
        let mut answers = self.answers.iter();
        let mut prompts = self.prompts.iter();
        let mut prompt = |stdin: &mut Option<_>| match (prompts.next(), stdin) {
            (Some(text), Some(pipe)) => {
                let line = json!({"type": "user", "message": {"role": "user", "content": text}});
                let pipe: &mut std::process::ChildStdin = pipe;
                writeln!(pipe, "{line}").expect("the host listens");
            }
            (_, stdin) => *stdin = None,
        };
        let mut stdin = Some({
            stdin.flush().expect("the host listens");
            stdin
        });
        prompt(&mut stdin);
        let mut output = Vec::new();
        for line in stdout.lines() {
            let line = line.expect("a line");
            let message: Value = serde_json::from_str(&line).expect("the host writes JSON");
            if message["type"] == "control_request" {
                let answer: Value =
                    answers.next().map_or(Value::Null, |answer| serde_json::from_str(answer).expect("JSON"));
                let response =
                    json!({"subtype": "success", "request_id": message["request_id"], "response": answer});
                if let Some(pipe) = &mut stdin {
                    writeln!(pipe, "{}", json!({"type": "control_response", "response": response}))
                        .expect("the host listens");
                }
            }
            if message["type"] == "result" {
                prompt(&mut stdin);
            }
            output.push(line);
        }
        let mut errors = String::new();
        host.stderr.take().expect("its errors").read_to_string(&mut errors).expect("text");
        let status = host.wait().expect("the host ends").code();
        // A connection without a request ends the model, if it still listens.
        drop(TcpStream::connect(address));
        let requests = model.join().expect("the model ends");
        Run { folder: self.folder, requests, output, errors, status }
    }
}

/// What was seen in a run.
pub(crate) struct Run {
    folder: PathBuf,
    /// The bodies of the model requests.
    pub(crate) requests: Vec<String>,
    /// The lines on the standard output of the host.
    pub(crate) output: Vec<String>,
    pub(crate) errors: String,
    pub(crate) status: Option<i32>,
}

impl Run {
    #[track_caller]
    pub(crate) fn ends_well(&self, text: &str) {
        let result = self.output.last().map(String::as_str).unwrap_or_default();
        assert!(result.contains(r#""subtype":"success""#) && result.contains(text), "{result} {}", self.errors);
        assert_eq!(self.status, Some(0));
    }

    /// The lines that the server got.
    fn log(&self, server: &str) -> Vec<String> {
        std::fs::read_to_string(self.folder.join(server)).unwrap_or_default().lines().map(str::to_owned).collect()
    }

    /// The methods that the server got.
    pub(crate) fn methods(&self, server: &str) -> Vec<String> {
        let method = |line: &String| {
            serde_json::from_str::<Value>(line).expect("JSON")["method"].as_str().unwrap_or("response").to_owned()
        };
        self.log(server).iter().map(method).collect()
    }

    /// The lines with this method.
    pub(crate) fn lines(&self, server: &str, method: &str) -> Vec<String> {
        let wanted = format!("\"method\":\"{method}\"");
        self.log(server).into_iter().filter(|line| line.contains(&wanted)).collect()
    }

    /// The only line with this method, or the first.
    #[track_caller]
    pub(crate) fn line(&self, server: &str, method: &str) -> String {
        self.lines(server, method).into_iter().next().unwrap_or_else(|| panic!("no {method}"))
    }

    /// The tools of a model request, as text.
    #[track_caller]
    pub(crate) fn tools(&self, request: usize) -> &str {
        let body = &self.requests[request];
        let from = body.find("\"tools\":").expect("tools");
        let to = body.find("\"messages\":").or_else(|| body.find("\"input\":")).expect("messages");
        &body[from..to]
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let _gone = std::fs::remove_dir_all(&self.folder);
    }
}

/// Answers requests until the replies are used up, and once more with 404.
fn serve_model(listener: &TcpListener, api: Api, replies: Vec<Vec<Say>>) -> Vec<String> {
    let mut requests = Vec::new();
    let mut replies = replies.into_iter();
    while let Ok((stream, _)) = listener.accept() {
        let mut reader = BufReader::new(stream);
        let mut served = false;
        while let Some(body) = read_request(&mut reader) {
            served = true;
            requests.push(body);
            let response = match replies.next() {
                Some(reply) => {
                    let events = events(api, &reply);
                    format!(
                        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: {}\r\n\r\n{events}",
                        events.len()
                    )
                }
                None => "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\ngone".to_owned(),
            };
            if reader.get_mut().write_all(response.as_bytes()).is_err() {
                break;
            }
        }
        if !served {
            break;
        }
    }
    requests
}

fn read_request(reader: &mut BufReader<TcpStream>) -> Option<String> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if let Some(value) = line.strip_prefix("Content-Length: ") {
            length = value.trim().parse().ok()?;
        }
        if line == "\r\n" {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    String::from_utf8(body).ok()
}

fn events(api: Api, reply: &[Say]) -> String {
    let mut events = Vec::new();
    for (index, piece) in reply.iter().enumerate() {
        match (api, piece) {
            (Api::Anthropic, Say::Text(text)) => {
                events.push(json!({"type": "content_block_start", "index": index, "content_block": {"type": "text", "text": ""}}));
                events.push(json!({"type": "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": text}}));
            }
            (Api::Anthropic, Say::Call { id, name, input }) => {
                events.push(json!({"type": "content_block_start", "index": index, "content_block": {"type": "tool_use", "id": id, "name": name, "input": {}}}));
                events.push(json!({"type": "content_block_delta", "index": index, "delta": {"type": "input_json_delta", "partial_json": input}}));
            }
            (Api::Responses, Say::Text(text)) => {
                let item = json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]});
                events.push(json!({"type": "response.output_item.done", "item": item}));
            }
            (Api::Responses, Say::Call { id, name, input }) => {
                let (namespace, name) = name.split_once('/').unwrap_or(("", name));
                let item = json!({"type": "function_call", "call_id": id, "namespace": namespace, "name": name, "arguments": input});
                events.push(json!({"type": "response.output_item.done", "item": item}));
            }
        }
    }
    events.push(match api {
        Api::Anthropic => json!({"type": "message_stop"}),
        Api::Responses => json!({"type": "response.completed", "response": {}}),
    });
    events
        .iter()
        .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default()))
        .collect()
}
