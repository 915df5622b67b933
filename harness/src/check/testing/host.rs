//! A correct host, as small as it can be: it opens, lists, offers, checks, asks, calls and tells.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::tape::Tape;
use crate::check::schema;
use crate::director::{Direction, Director, Load};
use crate::json::Json;
use crate::model::{Engine, Ours, Prompts, Role, api};
use crate::plan::{Plan, Published};
use crate::revision::{Era, Revision};
use crate::scenario::ast::{Answer, ToolRef, UseKind};
use crate::server::{Act, Cause, Server};
use crate::trace::event::{Event, Kind};

/// What a correct host may do or leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::check) enum Habits {
    /// It puts the model's id of a tool use on the wire.
    SendsIds,
    /// It does not, so calls are joined in other ways.
    KeepsIds,
}

/// One configured server with its connection.
pub(super) struct Link {
    pub(super) key: String,
    conn: u32,
    server: Server,
    next_id: i64,
    pub(super) tools: Vec<Json>,
    alive: bool,
    /// Whether it was good enough once to be opened again.
    was_listed: bool,
    /// The events of its requests, by id.
    requests: HashMap<String, u32>,
    /// Whether its list has changed since it was last asked for, and whether a change was followed in this turn.
    changed: bool,
    followed: bool,
    listing: bool,
}

pub(super) struct Host<'p> {
    pub(super) plan: &'p Plan,
    habits: Habits,
    role: Role,
    tape: Tape,
    pub(super) links: Vec<Link>,
    pub(super) history: Vec<Json>,
    /// What searches have found.
    pub(super) found: Vec<ToolRef>,
    director: Director<'p>,
    /// Events that the director has seen.
    shown: usize,
    /// The time, which passes only when somebody waits.
    now: Instant,
    /// Connections so far.
    conns: u32,
    /// The user has interrupted the turn.
    interrupted: bool,
    /// What servers said, with the index of each, until somebody takes it.
    inbox: Vec<(usize, Json)>,
}

/// What a call came to.
pub(super) enum Told {
    Result(Json),
    Refused(String),
    /// A search found this tool, or none.
    Found(Option<ToolRef>),
}

/// All host runs of a plan.
pub(super) fn play(plan: &Plan, habits: Habits) -> Vec<Event> {
    let mut roles = vec![Role::Main];
    if plan.runs > 1 {
        roles.push(Role::Second);
    }
    if plan.twin_rules.is_some() {
        roles.push(Role::Twin);
    }
    let mut tape = Tape::default();
    for (at, role) in roles.into_iter().enumerate() {
        tape.run = u32::try_from(at).unwrap() + 1;
        let mut host = Host {
            plan,
            habits,
            role,
            shown: tape.events.len(),
            tape,
            links: Vec::new(),
            history: Vec::new(),
            director: Director::new(plan),
            now: Instant::now(),
            conns: 0,
            interrupted: false,
            found: Vec::new(),
            inbox: Vec::new(),
        };
        host.run();
        tape = host.tape;
    }
    tape.events
}

/// A host that does nothing.
pub(super) fn idle() -> Vec<Event> {
    let mut tape = Tape { run: 1, ..Tape::default() };
    tape.fact(Kind::RunStart, None, Json::object([("role", "main"), ("isolation", "none")]));
    tape.fact(Kind::HostStart, None, Json::empty());
    tape.fact(Kind::HostExit, None, Json::object([("code", 0)]));
    tape.fact(Kind::Gone, None, Json::object([("survivors", 0)]));
    tape.fact(Kind::RunEnd, None, Json::object([("reason", "exit")]));
    tape.events
}

impl Host<'_> {
    fn run(&mut self) {
        let start = Json::object([("role", self.role.as_str()), ("isolation", "none")]);
        self.tape.fact(Kind::RunStart, None, start);
        self.tape.fact(Kind::HostStart, None, Json::empty());
        self.tape.tick();
        for at in 0..self.plan.servers.len() {
            self.configure(at);
        }
        let keys = self.plan.servers.iter().map(|server| server.key.as_str());
        let words = format!("configured: {}", keys.collect::<Vec<_>>().join(", "));
        self.tape.write(Kind::HostOut, None, None, Some(words.into_bytes()), Json::Null);
        let stopped = self.converse();
        for at in 0..self.links.len() {
            self.close(at);
        }
        let exit = match stopped {
            Some(signal) => Json::object([("signal", signal)]),
            None => Json::object([("code", 0)]),
        };
        self.tape.fact(Kind::HostExit, None, exit);
        self.tape.fact(Kind::Gone, None, Json::object([("survivors", 0)]));
        self.tape.fact(Kind::RunEnd, None, Json::object([("reason", "exit")]));
    }

    fn configure(&mut self, at: usize) {
        let planned = &self.plan.servers[at];
        let (key, revision) = (&planned.key, self.plan.key.revision);
        let server = Server::new(key, planned.script.clone(), revision, planned.words.clone(), self.plan.key.seed);
        self.links.push(Link {
            key: key.clone(),
            conn: 0,
            server,
            next_id: 1,
            tools: Vec::new(),
            alive: false,
            was_listed: false,
            requests: HashMap::new(),
            changed: false,
            followed: false,
            listing: false,
        });
        if self.can_start(at) {
            self.open(at);
        } else {
            let words = format!("server {}: cannot be started", self.plan.servers[at].key);
            self.tape.write(Kind::HostErr, None, None, Some(words.into_bytes()), Json::Null);
        }
    }

    /// Whether the words of the host, where it has some for the server, leave it something to be started by.
    fn can_start(&self, at: usize) -> bool {
        let key = &self.plan.servers[at].key;
        let Some(native) = self.plan.native().filter(|native| native.entries.iter().any(|(of, _)| of == key))
        else {
            return true;
        };
        let connected = native.expect.as_ref().and_then(|expect| expect.connected.as_ref());
        connected.is_none_or(|keys| keys.iter().any(|known| known.value == *key))
    }

    fn open(&mut self, at: usize) {
        let planned = &self.plan.servers[at];
        let (key, revision) = (&planned.key, self.plan.key.revision);
        self.conns += 1;
        let conn = self.conns;
        let start = Json::object([
            ("pid", Json::from(100 + conn)),
            ("canaries", Json::array([planned.canary().as_str()])),
        ]);
        self.tape.fact(Kind::ServerStart, Some((key, conn)), start);
        let link = &mut self.links[at];
        (link.conn, link.alive) = (conn, true);
        link.requests.clear();
        let acts = link.server.open(conn);
        self.perform(at, acts);
        let welcome = match revision.era() {
            Era::Legacy => self.shake_hands(at),
            Era::Modern => self.request(at, "server/discover", Json::empty()).and_then(Result::ok),
        };
        match welcome {
            Some(welcome) if welcome.at(&["capabilities", "tools"]).is_some() => {
                let changes = welcome.at(&["capabilities", "tools", "listChanged"]) == Some(&true.into());
                if changes && revision.era() == Era::Modern {
                    self.listen(at);
                }
                self.list(at);
            }
            Some(_) => {}
            None => self.close(at),
        }
    }

    /// The probe of a host of both eras, which a legacy server refuses, and the handshake; nothing where the server cannot
    /// be talked to.
    fn shake_hands(&mut self, at: usize) -> Option<Json> {
        self.request(at, "server/discover", Json::empty());
        let info = Json::object([("name", "simulated"), ("version", "1.0")]);
        let params = Json::object([
            ("protocolVersion", Json::from("2025-11-25")),
            ("capabilities", Json::empty()),
            ("clientInfo", info),
        ]);
        let welcome = self.request(at, "initialize", params)?.ok()?;
        Revision::parse(welcome.str("protocolVersion")?)?;
        self.line(at, &notification("notifications/initialized", None));
        Some(welcome)
    }

    /// Asks for word of changes. The answer comes when the stream ends, so nobody waits for it.
    fn listen(&mut self, at: usize) {
        let changes = Json::object([("toolsListChanged", true)]);
        let line = self.asking(at, "subscriptions/listen", Json::object([("notifications", changes)])).1;
        self.line(at, &line);
    }

    fn list(&mut self, at: usize) {
        self.links[at].was_listed = true;
        self.links[at].listing = true;
        let mut listed = Vec::new();
        let mut params = Json::empty();
        while let Some(Ok(page)) = self.request(at, "tools/list", params) {
            let tools = page.get("tools").map(Json::items).unwrap_or_default();
            let usable = |tool: &&Json| tool.at(&["inputSchema", "type"]).and_then(Json::as_str) == Some("object");
            listed.extend(tools.iter().filter(usable).cloned());
            let Some(cursor) = page.get("nextCursor") else { break };
            params = Json::object([("cursor", cursor.clone())]);
        }
        self.links[at].tools = listed;
        self.links[at].listing = false;
    }

    fn close(&mut self, at: usize) {
        let (key, conn) = (self.links[at].key.clone(), self.links[at].conn);
        if self.links[at].alive {
            self.tape.fact(Kind::WireEof, Some((&key, conn)), Json::Null);
            self.tape.fact(Kind::ServerExit, Some((&key, conn)), Json::object([("code", 0)]));
            self.links[at].alive = false;
        }
    }

    /// A request with its response; nothing where the server is gone.
    fn request(&mut self, at: usize, method: &str, params: Json) -> Option<Result<Json, Json>> {
        if !self.links[at].alive {
            return None;
        }
        let (id, line) = self.asking(at, method, params);
        let limit = self.plan.scenario.limits.call.unwrap_or(60_000);
        let patience = self.now + Duration::from_millis(limit.into());
        let is_answer = |message: &Json| message.get("id").and_then(Json::as_i64) == Some(id);
        self.line(at, &line);
        let answer = loop {
            if let Some(place) = self.inbox.iter().position(|(of, message)| *of == at && is_answer(message)) {
                break self.inbox.remove(place).1;
            }
            // Whoever waits lets time pass, and then something may be done that brings the answer.
            let timer = self.director.timer().filter(|timer| *timer < patience);
            self.now = self.now.max(timer.filter(|_| self.links[at].alive && !self.interrupted)?);
            self.direct();
        };
        Some(match (answer.get("result"), answer.get("error")) {
            (Some(result), _) => Ok(result.clone()),
            (None, error) => Err(error.cloned().unwrap_or(Json::Null)),
        })
    }

    /// The id and the line of the next request.
    fn asking(&mut self, at: usize, method: &str, mut params: Json) -> (i64, Json) {
        if self.plan.key.revision.era() == Era::Modern {
            let mut meta = params.get("_meta").cloned().unwrap_or_else(Json::empty);
            meta.set("io.modelcontextprotocol/protocolVersion", self.plan.key.revision.as_str());
            meta.set("io.modelcontextprotocol/clientCapabilities", Json::empty());
            let info = Json::object([("name", "simulated"), ("version", "1.0")]);
            meta.set("io.modelcontextprotocol/clientInfo", info);
            params.set("_meta", meta);
        }
        let id = self.links[at].next_id;
        self.links[at].next_id += 1;
        let line = Json::object([
            ("jsonrpc", Json::from("2.0")),
            ("id", id.into()),
            ("method", method.into()),
            ("params", params),
        ]);
        (id, line)
    }

    fn line(&mut self, at: usize, line: &Json) {
        self.tape.tick();
        let bytes = line.to_bytes();
        let link = &mut self.links[at];
        let (key, conn) = (link.key.clone(), link.conn);
        let end = Json::object([("end", "lf")]);
        let n = self.tape.write(Kind::ToServer, Some((&key, conn)), None, Some(bytes.clone()), end);
        if let Some(id) = line.get("id").filter(|_| line.get("method").is_some()) {
            self.links[at].requests.insert(id.to_string(), n);
        }
        let acts = self.links[at].server.line(conn, &bytes);
        let sent = self.perform(at, acts);
        self.hear_server(at, sent);
        self.direct();
    }

    /// Takes in what a server says: responses wait for whoever asked, all else is answered at once.
    fn hear_server(&mut self, at: usize, sent: Vec<Json>) {
        let (own, answers): (Vec<Json>, Vec<Json>) =
            sent.into_iter().partition(|message| message.get("method").is_some());
        self.inbox.extend(answers.into_iter().map(|message| (at, message)));
        own.iter().for_each(|message| self.answer(at, message));
    }

    /// Does what the director says.
    fn direct(&mut self) {
        loop {
            while let Some(event) = self.tape.events.get(self.shown) {
                self.director.see(event, self.now);
                self.shown += 1;
            }
            let Some(direction) = self.director.next(self.now, || Load::Calm) else { return };
            self.tape.tick();
            let acts: Vec<(usize, u32, Act)> = match direction {
                Direction::Interrupt { step } => {
                    self.tape.order(Kind::Interrupt, None, step, Json::Null);
                    self.interrupted = true;
                    Vec::new()
                }
                Direction::Quiet { step, waited_for, ms } => {
                    let data = Json::object([("for", Json::from(waited_for)), ("ms", ms.into())]);
                    self.tape.order(Kind::Quiet, None, step, data);
                    Vec::new()
                }
                Direction::Overdue { index, ms } => {
                    let data = Json::object([("use", Json::from(index)), ("ms", ms.into())]);
                    self.tape.order(Kind::Overdue, None, self.plan.uses[index].step, data);
                    Vec::new()
                }
                Direction::Change { step, change } => {
                    let key = change.server.value.as_str();
                    self.tape.order(Kind::Change, Some(key), step, Json::object([("announce", change.announce)]));
                    let at = self.links.iter().position(|link| link.key == key).unwrap();
                    let acts = self.links[at].server.change(&change.edit, change.announce);
                    acts.into_iter().map(|(conn, act)| (at, conn, act)).collect()
                }
                Direction::Release { step, release, calls } => {
                    let hold = release.hold.value.as_str();
                    self.tape.order(Kind::Release, None, step, Json::object([("hold", hold)]));
                    let mut acts = Vec::new();
                    for call in calls {
                        let at = self.links.iter().position(|link| link.key == call.server).unwrap();
                        let one = self.links[at].server.release_one(hold, call.conn, &call.id);
                        acts.extend(one.into_iter().map(|act| (at, call.conn, act)));
                    }
                    for (at, link) in self.links.iter_mut().enumerate() {
                        acts.extend(link.server.release(hold).into_iter().map(|(conn, act)| (at, conn, act)));
                    }
                    acts
                }
            };
            for (at, conn, act) in acts {
                assert_eq!(conn, self.links[at].conn, "a dead connection has nothing to say");
                let sent = self.perform(at, vec![act]);
                self.hear_server(at, sent);
            }
        }
    }

    /// Answers a request of the server, and reads a changed list again. In the modern era there are no such requests, and
    /// so no answers.
    fn answer(&mut self, at: usize, message: &Json) {
        if message.str("method") == Some("notifications/tools/list_changed") {
            // One change in a turn is followed at once; further ones can wait until the model is asked.
            let busy = self.links[at].listing;
            if std::mem::replace(&mut self.links[at].followed, true) || busy {
                self.links[at].changed = true;
            } else {
                self.list(at);
            }
        }
        let (Some(id), Some(method)) = (message.get("id"), message.str("method")) else { return };
        if self.plan.key.revision.era() == Era::Modern {
            return;
        }
        let error = || Json::object([("code", Json::from(-32601)), ("message", "Method not found".into())]);
        let body = if method == "ping" { ("result", Json::empty()) } else { ("error", error()) };
        self.line(at, &Json::object([("jsonrpc", Json::from("2.0")), ("id", id.clone()), body]));
    }

    fn perform(&mut self, at: usize, acts: Vec<Act>) -> Vec<Json> {
        let (key, conn) = (self.links[at].key.clone(), self.links[at].conn);
        let mut sent = Vec::new();
        for act in acts {
            match act {
                Act::Send { line, cause } => {
                    let cause = match cause {
                        Cause::Request { id } => self.links[at].requests.get(&id.to_string()).copied(),
                        Cause::Other => None,
                    };
                    sent.extend(Json::parse(&line));
                    self.tape.write(Kind::ToHost, Some((&key, conn)), cause, Some(line), Json::Null);
                }
                Act::Stderr(text) => {
                    self.tape.write(Kind::ServerErr, Some((&key, conn)), None, Some(text), Json::Null);
                }
                Act::Exit(code) => self.server_ends(at, ("code", code.into())),
                Act::Kill(name) => self.server_ends(at, ("signal", name.into())),
                Act::Timer { token, .. } => {
                    self.tape.tick();
                    let acts = self.links[at].server.timer(conn, token);
                    sent.extend(self.perform(at, acts));
                }
                Act::Raw(bytes) => {
                    let line = bytes.strip_suffix(b"\n").unwrap_or(&bytes).to_vec();
                    let data = Json::object([("raw", true)]);
                    self.tape.write(Kind::ToHost, Some((&key, conn)), None, Some(line), data);
                }
                Act::CloseStdout => {
                    let by = Json::object([("by", "server")]);
                    self.tape.write(Kind::WireClosed, Some((&key, conn)), None, None, by);
                    self.links[at].alive = false;
                }
            }
        }
        sent
    }

    fn server_ends(&mut self, at: usize, how: (&str, Json)) {
        let (key, conn) = (self.links[at].key.clone(), self.links[at].conn);
        let data = Json::object([how, ("by", "script".into())]);
        self.tape.write(Kind::ServerExit, Some((&key, conn)), None, None, data);
        let by = Json::object([("by", "server")]);
        self.tape.write(Kind::WireClosed, Some((&key, conn)), None, None, by);
        self.links[at].alive = false;
    }

    /// Talks to the model until it has said its last word; a stop by signal gives the signal.
    fn converse(&mut self) -> Option<&'static str> {
        let mut engine = Engine::new(self.plan, self.tape.run, self.role);
        let api = api(self.plan.profile.model.api);
        let ours = Ours::of(self.plan);
        let mut prompts = self.plan.prompts.iter();
        self.say(prompts.next()?);
        loop {
            for at in 0..self.links.len() {
                self.links[at].followed = std::mem::take(&mut self.links[at].changed);
                if self.links[at].followed && self.links[at].alive {
                    self.list(at);
                }
            }
            let body = self.body();
            let answer = engine.answer(&body, &body.to_bytes());
            let mut data = Json::object([("main", answer.main)]);
            if let Some(turn) = answer.turn {
                data.set("turn", turn);
            }
            data.set("repeated", answer.repeated);
            data.set("prefix", answer.prefix);
            self.tape.tick();
            let reduced = api.reduce(&body, &ours.keep(Prompts::Reduce)).to_bytes();
            let n = self.tape.write(Kind::ModelRequest, None, None, Some(reduced), data.clone());
            self.direct();
            while self.director.holds() {
                self.now = self.director.timer().unwrap();
                self.direct();
            }
            if let Some(stop) = self.plan.stop.filter(|stop| Some(stop.turn) == answer.turn) {
                return Some(match stop.how {
                    crate::scenario::ast::Stop::Sigint => "SIGINT",
                    crate::scenario::ast::Stop::Sigterm => "SIGTERM",
                    _ => "SIGKILL",
                });
            }
            let reply = answer.reply.unwrap();
            let uses = answer.uses.iter().map(|used| {
                let mut entry = Json::object([
                    ("id", Json::from(&used.id)),
                    ("use", used.index.into()),
                    ("name", Json::from(&used.published.name)),
                    ("name_from", used.name_from.as_str().into()),
                    ("input", Json::from(&used.input)),
                ]);
                if let Some(namespace) = &used.published.namespace {
                    entry.set("namespace", namespace);
                }
                entry
            });
            data.set("uses", Json::array(uses));
            let searches = answer
                .searches
                .iter()
                .map(|search| Json::object([("id", Json::from(&search.id)), ("search", search.index.into())]));
            data.set("searches", Json::array(searches));
            self.tape.tick();
            self.tape.write(Kind::ModelReply, None, Some(n), Some(api.blocks(&reply).to_bytes()), data);
            if answer.uses.is_empty() && answer.searches.is_empty() {
                // Without tool uses the reply ends the turn of the user.
                let prompt = prompts.next()?;
                self.remember(&api.blocks(&reply), &[]);
                self.say(prompt);
                continue;
            }
            let searches = answer.searches.iter().map(|search| (search.id.clone(), self.search(search.index)));
            let mut told: Vec<_> = searches.collect();
            let uses = answer.uses.iter();
            told.extend(
                uses.map(|used| (used.id.clone(), self.hop(used.index, &used.id, &used.published, &used.input))),
            );
            self.remember(&api.blocks(&reply), &told);
            if std::mem::take(&mut self.interrupted) {
                let prompt = prompts.next()?;
                self.say(prompt);
            }
        }
    }

    /// A search, which finds what its server listed with a schema.
    fn search(&mut self, index: usize) -> Told {
        let tool = self.plan.searches[index].tool.clone();
        let listed = self.find(&tool).filter(|(_, entry)| entry.get("inputSchema").is_some());
        let found = listed.map(|_| tool);
        self.found.extend(found.clone());
        Told::Found(found)
    }

    /// The user says something.
    fn say(&mut self, prompt: &str) {
        self.tape.tick();
        self.tape.write(Kind::Prompt, None, None, Some(prompt.as_bytes().to_vec()), Json::Null);
        self.direct();
        self.hear(prompt);
    }

    /// One tool use, from shape over permission to the call.
    fn hop(&mut self, index: usize, id: &str, published: &Published, input: &str) -> Told {
        if self.interrupted {
            return Told::Refused("The user has interrupted the turn".to_owned());
        }
        let planned = &self.plan.uses[index];
        let Some((at, entry)) = self.find(&planned.tool) else {
            return Told::Refused(format!("No such tool: {published}"));
        };
        let input = if input.is_empty() { "{}" } else { input };
        let Some(input) = Json::parse(input).ok().filter(Json::is_object) else {
            return Told::Refused("InputValidationError: the arguments are no JSON object".to_owned());
        };
        let schema = entry.get("inputSchema").cloned().unwrap_or(Json::Null);
        if let Some(keyword) = schema::violation(&schema, &input) {
            return Told::Refused(format!("InputValidationError: {keyword}"));
        }
        match &planned.kind {
            UseKind::Deny { .. } if self.role != Role::Twin => {
                return Told::Refused("Permission denied".to_owned());
            }
            UseKind::Ask { answer } => {
                if !self.ask(index, id, published, &input, *answer) {
                    return Told::Refused("The user said no".to_owned());
                }
            }
            UseKind::Deny { .. } | UseKind::Call => {}
        }
        let mut params = Json::object([("name", Json::from(&planned.tool.tool)), ("arguments", input)]);
        if let (Habits::SendsIds, Some(pointer)) = (self.habits, &self.plan.profile.tool_use_id) {
            let key = pointer.trim_start_matches("/_meta/").replace("~1", "/");
            params.set("_meta", Json::object([(key.as_str(), id)]));
        }
        if !self.links[at].alive && self.links[at].was_listed {
            self.open(at);
        }
        match self.request(at, "tools/call", params) {
            Some(Ok(result)) => match result.str("resultType") {
                None | Some("complete") => Told::Result(result),
                Some(other) => Told::Refused(format!("Error: the result has the unknown type {other}")),
            },
            Some(Err(error)) => Told::Refused(format!("Error: {}", error.str("message").unwrap_or_default())),
            None if self.links[at].alive => {
                let id = self.links[at].next_id - 1;
                let params = Json::object([("requestId", id)]);
                self.line(at, &notification("notifications/cancelled", Some(params)));
                Told::Refused("Error: the call was given up".to_owned())
            }
            None => Told::Refused("Error: the server is gone".to_owned()),
        }
    }

    fn find(&self, tool: &ToolRef) -> Option<(usize, Json)> {
        let at = self.links.iter().position(|link| link.key == tool.server)?;
        let entry = self.links[at].tools.iter().find(|entry| entry.str("name") == Some(&tool.tool))?;
        Some((at, entry.clone()))
    }

    fn ask(&mut self, index: usize, id: &str, published: &Published, input: &Json, answer: Answer) -> bool {
        let data = Json::object([
            ("id", Json::from("q")),
            ("use", index.into()),
            ("tool_use", id.into()),
            ("name", Json::from(&published.name)),
            ("input", Json::from(input.to_string())),
        ]);
        let question = self.tape.fact(Kind::Question, None, data);
        let (word, allowed) = match answer {
            Answer::Allow => ("allow", true),
            Answer::Always => ("always", true),
            Answer::Deny => ("deny", false),
        };
        self.tape.tick();
        self.tape.write(Kind::Answer, None, Some(question), None, Json::object([("answer", word)]));
        allowed
    }
}

fn notification(method: &str, params: Option<Json>) -> Json {
    let mut line = Json::object([("jsonrpc", "2.0"), ("method", method)]);
    if let Some(params) = params {
        line.set("params", params);
    }
    line
}
