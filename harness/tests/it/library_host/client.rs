//! A small MCP client over standard streams: blocking, with a thread that reads, and nothing of hopcheck but its JSON.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use hopcheck::driver::ServerSetup;
use hopcheck::json::Json;
use hopcheck::revision::{Era, Revision};

/// The newest version that the client speaks.
const NEWEST: &str = "2025-11-25";
const SPOKEN: [&str; 2] = [NEWEST, "2025-06-18"];

/// The version without a handshake.
const MODERN: &str = "2026-07-28";

/// How long a request may take that the scenario sets no limit for; a server that never answers is none of its faults.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long a server may take to end by itself.
const PARTING: Duration = Duration::from_secs(2);

/// Why a request has no result.
pub(super) enum Failed {
    /// The server answered with an error.
    Rpc(String),
    /// It did not answer in time.
    TimedOut,
    /// It is gone.
    Gone,
}

impl Failed {
    pub(super) fn text(&self) -> String {
        match self {
            Self::Rpc(message) => message.clone(),
            Self::TimedOut => "the tool did not answer in time".to_owned(),
            Self::Gone => "the server is gone".to_owned(),
        }
    }
}

pub(super) struct Client {
    child: Child,
    input: Arc<Mutex<Option<ChildStdin>>>,
    responses: Receiver<Json>,
    /// Responses that came before anybody waited for them.
    early: Vec<Json>,
    era: Era,
    /// Whether the server declares tools; another has none to list.
    has_tools: bool,
    /// Set when the server announced that its list changed.
    changed: Arc<AtomicBool>,
    last: i64,
}

impl Client {
    pub(super) fn connect(
        server: &ServerSetup,
        revision: Revision,
        limit: Option<Duration>,
    ) -> Result<Self, Failed> {
        let mut child = Command::new(&server.command)
            .args(&server.args)
            .envs(server.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|_| Failed::Gone)?;
        let input = Arc::new(Mutex::new(child.stdin.take()));
        let era = revision.era();
        let (sender, responses) = channel();
        let changed = Arc::new(AtomicBool::new(false));
        let reader = Reader { era, input: Arc::clone(&input), sender, changed: Arc::clone(&changed) };
        let output = child.stdout.take().unwrap();
        thread::spawn(move || reader.read(output));
        let mut client =
            Self { child, input, responses, early: Vec::new(), era, has_tools: false, changed, last: 0 };
        let opened = match era {
            Era::Legacy => client.shake_hands(limit),
            Era::Modern => client.discover(limit),
        };
        match opened {
            Ok(()) => Ok(client),
            Err(failed) => {
                client.close();
                Err(failed)
            }
        }
    }

    fn shake_hands(&mut self, limit: Option<Duration>) -> Result<(), Failed> {
        let params = Json::object([
            ("protocolVersion", Json::from(NEWEST)),
            ("capabilities", Json::empty()),
            ("clientInfo", client_info()),
        ]);
        let answer = self.request("initialize", params, limit)?;
        if !answer.str("protocolVersion").is_some_and(|version| SPOKEN.contains(&version)) {
            return Err(Failed::Rpc("no common version".to_owned()));
        }
        self.has_tools = answer.at(&["capabilities", "tools"]).is_some();
        self.notify("notifications/initialized", None);
        Ok(())
    }

    /// Without a handshake, a server says what it is when it is asked, and announces changes to who listens.
    fn discover(&mut self, limit: Option<Duration>) -> Result<(), Failed> {
        let answer = self.request("server/discover", Json::empty(), limit)?;
        let versions = answer.get("supportedVersions").map(Json::items).unwrap_or_default();
        if !versions.iter().any(|version| version.as_str() == Some(MODERN)) {
            return Err(Failed::Rpc("no common version".to_owned()));
        }
        let tools = answer.at(&["capabilities", "tools"]);
        self.has_tools = tools.is_some();
        if tools.and_then(|tools| tools.get("listChanged")).and_then(Json::as_bool) == Some(true) {
            let wanted = Json::object([("toolsListChanged", true)]);
            // Its response comes when the server has no more to say, so nobody waits for it.
            self.send("subscriptions/listen", Json::object([("notifications", wanted)]));
        }
        Ok(())
    }

    pub(super) const fn has_tools(&self) -> bool {
        self.has_tools
    }

    /// Whether the list was announced to have changed since this was last asked.
    pub(super) fn has_changed(&self) -> bool {
        self.changed.swap(false, Ordering::SeqCst)
    }

    /// One page of the tools.
    pub(super) fn page(&mut self, cursor: Option<&Json>) -> Result<Json, Failed> {
        let params = cursor.map_or_else(Json::empty, |cursor| Json::object([("cursor", cursor.clone())]));
        self.request("tools/list", params, None)
    }

    /// Sends a call, and gives its id.
    pub(super) fn start_call(&mut self, name: &str, input: Option<Json>) -> Result<i64, Failed> {
        let mut params = Json::object([("name", name)]);
        if let Some(input) = input {
            params.set("arguments", input);
        }
        self.send("tools/call", params).ok_or(Failed::Gone)
    }

    /// The result of a call that was sent.
    pub(super) fn finish_call(&mut self, id: i64, limit: Option<Duration>) -> Result<Json, Failed> {
        self.wait(id, "tools/call", limit)
    }

    fn request(&mut self, method: &str, params: Json, limit: Option<Duration>) -> Result<Json, Failed> {
        let id = self.send(method, params).ok_or(Failed::Gone)?;
        self.wait(id, method, limit)
    }

    fn wait(&mut self, id: i64, method: &str, limit: Option<Duration>) -> Result<Json, Failed> {
        let is_it = |response: &Json| response.get("id").and_then(Json::as_i64) == Some(id);
        let deadline = Instant::now() + limit.unwrap_or(PATIENCE);
        let response = loop {
            if let Some(at) = self.early.iter().position(is_it) {
                break self.early.remove(at);
            }
            match self.responses.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(response) => self.early.push(response),
                Err(RecvTimeoutError::Disconnected) => return Err(Failed::Gone),
                Err(RecvTimeoutError::Timeout) => {
                    if method != "initialize" {
                        let params = Json::object([("requestId", Json::from(id)), ("reason", "too slow".into())]);
                        self.notify("notifications/cancelled", Some(params));
                    }
                    return Err(Failed::TimedOut);
                }
            }
        };
        match (response.get("result"), response.get("error")) {
            (Some(result), _) => match result.str("resultType") {
                None | Some("complete") => Ok(result.clone()),
                Some(other) => Err(Failed::Rpc(format!("a result of type {other}, which is not understood"))),
            },
            (None, error) => {
                let message = error.and_then(|error| error.str("message")).unwrap_or("an error");
                Err(Failed::Rpc(message.to_owned()))
            }
        }
    }

    /// Sends a request, and gives its id unless the server is gone.
    fn send(&mut self, method: &str, mut params: Json) -> Option<i64> {
        if self.era == Era::Modern {
            params.set(
                "_meta",
                Json::object([
                    ("io.modelcontextprotocol/protocolVersion", Json::from(MODERN)),
                    ("io.modelcontextprotocol/clientInfo", client_info()),
                    ("io.modelcontextprotocol/clientCapabilities", Json::empty()),
                ]),
            );
        }
        self.last += 1;
        let request = Json::object([
            ("jsonrpc", Json::from("2.0")),
            ("id", self.last.into()),
            ("method", method.into()),
            ("params", params),
        ]);
        say(&self.input, &request).then_some(self.last)
    }

    fn notify(&self, method: &str, params: Option<Json>) {
        let mut message = Json::object([("jsonrpc", "2.0"), ("method", method)]);
        if let Some(params) = params {
            message.set("params", params);
        }
        say(&self.input, &message);
    }

    /// Leaves the server without a word, as a lie.
    pub(super) fn forget(self) {
        std::mem::forget(self);
    }

    /// Closes the server's input, and kills it where that is not enough.
    pub(super) fn close(mut self) {
        drop(self.input.lock().unwrap().take());
        // The reader ends with the server's output.
        while self.responses.recv_timeout(PARTING).is_ok() {}
        let _ = self.child.kill();
        self.child.wait().unwrap();
    }
}

fn client_info() -> Json {
    Json::object([("name", "witness"), ("version", "1.0.0")])
}

/// Writes a message; says whether there is somebody to read it.
fn say(input: &Mutex<Option<ChildStdin>>, message: &Json) -> bool {
    let mut input = input.lock().unwrap();
    input.as_mut().is_some_and(|input| input.write_all(format!("{message}\n").as_bytes()).is_ok())
}

struct Reader {
    era: Era,
    input: Arc<Mutex<Option<ChildStdin>>>,
    sender: Sender<Json>,
    changed: Arc<AtomicBool>,
}

impl Reader {
    fn read(&self, output: ChildStdout) {
        for line in BufReader::new(output).split(b'\n').map_while(Result::ok) {
            // A line that is no message is none of ours to mend.
            let Ok(message) = Json::parse(line) else { continue };
            match (message.str("method"), message.get("id")) {
                // Without a handshake there are no requests of the server, and so no responses to them.
                (Some(_), Some(_)) if self.era == Era::Modern => {}
                (Some(method), Some(id)) => self.answer(method, id),
                (Some("notifications/tools/list_changed"), None) => self.changed.store(true, Ordering::SeqCst),
                (Some(_), None) => {}
                (None, _) => {
                    if self.sender.send(message).is_err() {
                        return;
                    }
                }
            }
        }
    }

    fn answer(&self, method: &str, id: &Json) {
        let mut response = Json::object([("jsonrpc", Json::from("2.0")), ("id", id.clone())]);
        if method == "ping" {
            response.set("result", Json::empty());
        } else {
            let error = [("code", Json::from(-32601)), ("message", format!("no method {method}").into())];
            response.set("error", Json::object(error));
        }
        say(&self.input, &response);
    }
}
