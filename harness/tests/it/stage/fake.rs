//! What fake hosts do.

use std::env;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use hopcheck::json::Json;

/// No test of its own: the entry of this program when it plays a host.
#[test]
fn host() {
    let Ok(part) = env::var("HOPCHECK_FAKE") else { return };
    let config = std::fs::read(format!("{}/config.json", env::var("HOME").unwrap())).unwrap();
    let config = Json::parse(config).unwrap();
    let code = match part.as_str() {
        "polite" => polite(&config),
        "order" => order(&config),
        "busy" => busy(&config),
        "nothing" => 0,
        "seven" => 7,
        "names-parent" => names_parent(),
        "hang" => hang(),
        "hang-later" => hang_later(&config),
        "flood" => flood(),
        "flood-wire" => flood_wire(&config),
        "chatter" => chatter(&config),
        "deaf" => deaf(&config),
        "daemon" => leave("(sleep 600 &) & exec sleep 600"),
        "stubborn" => leave("trap '' TERM INT HUP; while :; do sleep 600; done"),
        "stray-server" => stray_server(&config),
        "signals" => signals(&config),
        "kills" => kills(&config),
        "reacts" => reacts(&config),
        "knocks" => knocks(&config),
        "control" => control(&config),
        hostile => crate::stress::fake::play(hostile, &config),
    };
    std::process::exit(code);
}

/// Says who started it.
fn names_parent() -> i32 {
    println!("parent {}", std::os::unix::process::parent_id());
    0
}

/// A server of the configuration, started as a host does.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) input: Option<ChildStdin>,
    pub(crate) output: BufReader<ChildStdout>,
}

impl Server {
    pub(crate) fn start(config: &Json) -> Self {
        let (_, entry) = &config.get("servers").unwrap().members()[0];
        let mut command = Command::new(entry.str("command").unwrap());
        command.args(entry.get("args").unwrap().items().iter().map(|arg| arg.as_str().unwrap()));
        for (name, value) in entry.get("env").unwrap().members() {
            command.env(name.as_str().unwrap(), value.as_str().unwrap());
        }
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self { input: child.stdin.take(), output, child }
    }

    pub(crate) fn say(&mut self, line: &str) {
        self.input.as_mut().unwrap().write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    pub(crate) fn hear(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line
    }

    pub(crate) fn connect(config: &Json) -> Self {
        let mut server = Self::start(config);
        server.say(
            r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"fake","version":"1"}}}"#,
        );
        server.hear();
        server.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        server
    }

    pub(crate) fn close(mut self) -> Option<i32> {
        self.input = None;
        self.child.wait().unwrap().code()
    }
}

/// The model, asked as a host does.
pub(crate) struct Model {
    pub(crate) stream: BufReader<TcpStream>,
    pub(crate) authority: String,
    pub(crate) base: String,
    pub(crate) messages: Vec<String>,
}

impl Model {
    pub(crate) fn new(config: &Json) -> Self {
        let url = config.str("url").unwrap().strip_prefix("http://").unwrap();
        let (authority, base) = url.split_once('/').unwrap();
        let prompt = Json::from(config.str("prompt").unwrap_or_default());
        Self {
            stream: BufReader::new(TcpStream::connect(authority).unwrap()),
            authority: authority.to_owned(),
            base: format!("/{base}"),
            messages: vec![format!(r#"{{"role":"user","content":{prompt}}}"#)],
        }
    }

    pub(crate) fn send(&mut self, method: &str, path: &str, body: &str) -> String {
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\ncontent-length: {}\r\n\r\n",
            self.authority,
            body.len()
        );
        self.stream.get_mut().write_all([head.as_bytes(), body.as_bytes()].concat().as_slice()).unwrap();
        let mut len = 0;
        loop {
            let mut line = String::new();
            self.stream.read_line(&mut line).unwrap();
            if let Some(value) = line.strip_prefix("content-length: ") {
                len = value.trim().parse().unwrap();
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut body = vec![0; if method == "HEAD" { 0 } else { len }];
        self.stream.read_exact(&mut body).unwrap();
        String::from_utf8(body).unwrap()
    }

    /// Asks with a number that the trace keeps.
    pub(crate) fn ask(&mut self, number: u32) -> String {
        let tools = r#"[{"name":"mcp__orders__lookup_order","description":"","input_schema":{"type":"object"}}]"#;
        let messages = self.messages.join(",");
        let body = format!(
            r#"{{"model":"m","max_tokens":{number},"stream":true,"messages":[{messages}],"tools":{tools}}}"#
        );
        let path = format!("{}/v1/messages", self.base);
        self.send("POST", &path, &body)
    }
}

/// The id of the tool use in a stream of events.
pub(crate) fn tool_use(events: &str) -> Option<String> {
    let data = events.lines().filter_map(|line| line.strip_prefix("data: "));
    let blocks = data.filter_map(|data| Json::parse(data).ok()?.get("content_block").cloned());
    blocks
        .filter(|block| block.str("type") == Some("tool_use"))
        .find_map(|block| block.str("id").map(str::to_owned))
}

/// One conversation, as it should be.
pub(crate) fn polite(config: &Json) -> i32 {
    let mut server = Server::connect(config);
    server.say(r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#);
    server.hear();
    let mut model = Model::new(config);
    let id = tool_use(&model.ask(100)).unwrap();
    server.say(
        r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"lookup_order","arguments":{"order_id":"A-1"}}}"#,
    );
    let response = Json::parse(server.hear()).unwrap();
    let content = response.at(&["result", "content"]).unwrap();
    model.messages.push(format!(
        r#"{{"role":"assistant","content":[{{"type":"tool_use","id":"{id}","name":"mcp__orders__lookup_order","input":{{"order_id":"A-1"}}}}]}}"#
    ));
    model.messages.push(format!(
        r#"{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}","content":{content}}}]}}"#
    ));
    model.ask(100);
    println!("out");
    eprintln!("err");
    server.close().unwrap()
}

/// Lines that nobody answers, each before a model request.
fn order(config: &Json) -> i32 {
    let mut server = Server::connect(config);
    let mut model = Model::new(config);
    for number in 1..=1000 {
        server.say(&format!(r#"{{"jsonrpc":"2.0","method":"notifications/fake","params":{{"n":{number}}}}}"#));
        model.ask(number);
    }
    server.close().unwrap()
}

/// The same beside threads that leave no core idle.
fn busy(config: &Json) -> i32 {
    for _ in 0..2 {
        std::thread::spawn(|| {
            loop {
                std::hint::black_box(0_u64);
            }
        });
    }
    order(config)
}

pub(crate) fn hang() -> i32 {
    loop {
        std::thread::park();
    }
}

fn hang_later(config: &Json) -> i32 {
    let _server = Server::connect(config);
    Model::new(config).ask(1);
    hang()
}

fn flood() -> i32 {
    let block = vec![b'x'; 1 << 20];
    let mut out = std::io::stdout().lock();
    let mut err = std::io::stderr().lock();
    for _ in 0..25 {
        out.write_all(&block).unwrap();
        out.write_all(b"\n").unwrap();
        // Without a line feed anywhere.
        err.write_all(&block).unwrap();
    }
    0
}

fn flood_wire(config: &Json) -> i32 {
    let mut server = Server::connect(config);
    let block = "x".repeat(1 << 20);
    for _ in 0..200 {
        server.say(&block);
    }
    server.close().unwrap_or(1)
}

/// Asks the same thing again and again.
fn chatter(config: &Json) -> i32 {
    let mut server = Server::connect(config);
    for id in 10.. {
        server.say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#));
        server.hear();
    }
    0
}

/// Asks for much and reads nothing.
fn deaf(config: &Json) -> i32 {
    let mut server = Server::connect(config);
    for id in 0..5000 {
        server.say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#));
    }
    Model::new(config).ask(1);
    0
}

#[expect(clippy::zombie_processes, reason = "what is left behind is the point")]
fn leave(script: &str) -> i32 {
    let silent = Stdio::null;
    // A session of its own, as daemons have.
    let mut child = Command::new("setsid");
    child.args(["/bin/sh", "-c", script]).stdin(silent()).stdout(silent()).stderr(silent()).spawn().unwrap();
    0
}

/// Leaves a server behind, and another holder of the pipe that keeps it from seeing the end.
#[expect(clippy::zombie_processes, reason = "what is left behind is the point")]
fn stray_server(config: &Json) -> i32 {
    let mut server = Server::connect(config);
    server.say(r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#);
    server.hear();
    let keeper = server.input.take().unwrap();
    Command::new("setsid").args(["/bin/sleep", "600"]).stdin(Stdio::null()).stdout(keeper).spawn().unwrap();
    0
}

fn signals(config: &Json) -> i32 {
    let mut server = Server::connect(config);
    let pid = server.child.id().to_string();
    Command::new("kill").args(["-TERM", &pid]).status().unwrap();
    let status = server.child.wait().unwrap();
    assert_eq!(server.hear(), "", "the end of output");
    std::os::unix::process::ExitStatusExt::signal(&status).unwrap_or_default()
}

fn kills(config: &Json) -> i32 {
    let mut server = Server::connect(config);
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    assert_eq!(server.hear(), "", "the end of output");
    0
}

/// Calls, and sends a signal as soon as the server is gone.
fn reacts(config: &Json) -> i32 {
    let mut server = Server::connect(config);
    server.say(r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"lookup_order"}}"#);
    assert_eq!(server.hear(), "", "the end of output");
    let pid = server.child.id().to_string();
    Command::new("kill").args(["-TERM", &pid]).status().unwrap();
    Model::new(config).ask(1);
    server.child.wait().unwrap().code().unwrap()
}

/// Goes to places where nothing is.
fn knocks(config: &Json) -> i32 {
    let mut model = Model::new(config);
    let base = model.base.clone();
    assert_eq!(model.send("HEAD", &base, "").len(), 0);
    model = Model::new(config);
    model.send("POST", "/guess/v1/messages", "{}");
    model.send("POST", &format!("{base}/v1/nothing"), "{}");
    model.send("POST", &format!("{base}/v1/messages"), "{");
    model.authority = "evil.example".to_owned();
    model.send("POST", &format!("{base}/v1/messages"), "{}");
    0
}

/// A host that asks its user.
fn control(config: &Json) -> i32 {
    let mut lines = std::io::stdin().lines();
    let prompt = Json::parse(lines.next().unwrap().unwrap()).unwrap();
    let mut model = Model::new(config);
    let content = prompt.at(&["message", "content"]).unwrap();
    model.messages = vec![format!(r#"{{"role":"user","content":{content}}}"#)];
    let id = tool_use(&model.ask(1)).unwrap();
    println!(
        r#"{{"type":"control_request","request_id":"q1","request":{{"subtype":"can_use_tool","tool_name":"mcp__orders__lookup_order","input":{{"n":1.0}},"tool_use_id":"{id}"}}}}"#
    );
    let answer = Json::parse(lines.next().unwrap().unwrap()).unwrap();
    let allowed = answer.pointer("/response/response/behavior").and_then(Json::as_str) == Some("allow");
    println!(r#"{{"type":"result","subtype":"success"}}"#);
    assert!(lines.next().is_none());
    i32::from(!allowed)
}
