//! Events as lines.

use std::collections::HashMap;

use super::line::{Arrow, Line};
use super::model::{self, Conversation};
use super::placeholder::Placeholders;
use crate::host::profile::DriveKind;
use crate::json::{Json, Text};
use crate::plan::Plan;
use crate::trace::Trace;
use crate::trace::event::{Event, Kind, Payload};

/// Members of a result that the engine adds and that say nothing about the host.
const ENGINE_MEMBERS: [&str; 4] = ["_meta", "resultType", "ttlMs", "cacheScope"];

/// Writes the events of one trace.
pub(super) struct Writer<'t> {
    plan: &'t Plan,
    hide: Placeholders,
    conversation: Conversation,
    /// Requests of both sides by event number: method.
    methods: HashMap<u32, String>,
    /// Number of each connection among those of its server, by host run, server and connection.
    ordinals: HashMap<(u32, String, u32), usize>,
    /// Servers that have more than one connection in some host run.
    several: Vec<String>,
    /// The `_meta` of the requests on a connection so far: the last value of each member.
    meta: HashMap<(String, u32), Vec<(Text, Json)>>,
}

impl<'t> Writer<'t> {
    pub(super) fn new(plan: &'t Plan, trace: &Trace) -> Self {
        let mut methods = HashMap::new();
        let mut ordinals = HashMap::new();
        let mut counts: HashMap<(u32, String), usize> = HashMap::new();
        let mut several = Vec::new();
        for event in &trace.events {
            if let (Some(server), Some(conn)) = (&event.server, event.conn) {
                ordinals.entry((event.run, server.clone(), conn)).or_insert_with(|| {
                    let count = counts.entry((event.run, server.clone())).or_default();
                    *count += 1;
                    if *count > 1 {
                        several.push(server.clone());
                    }
                    *count
                });
            }
            if matches!(event.kind, Kind::ToServer | Kind::ToHost)
                && let Some(method) = event.json().and_then(|json| json.str("method").map(str::to_owned))
            {
                methods.insert(event.n, method);
            }
        }
        Self {
            plan,
            hide: Placeholders::new(plan, trace),
            conversation: Conversation::default(),
            methods,
            ordinals,
            several,
            meta: HashMap::new(),
        }
    }

    /// A new host run begins with nothing said.
    pub(super) fn begin_run(&mut self) {
        self.hide.begin_run();
        self.conversation = Conversation::default();
        self.meta.clear();
    }

    /// The lines of an event that has a place in the order.
    pub(super) fn event(&mut self, event: &Event) -> Vec<Line> {
        match event.kind {
            Kind::ModelRequest => self.model_request(event),
            Kind::ModelReply => model::reply(event, self.plan, &mut self.hide),
            Kind::ModelNoise => {
                let reason = self.hide.text(event.data.str("reason").unwrap_or_default());
                vec![Line::new(event.n, "model", Arrow::Back, "noise").rest(reason)]
            }
            Kind::Prompt => {
                let text = self.hide.text(&quoted(&payload(event)));
                vec![Line::new(event.n, "user", Arrow::Away, "prompt").rest(text)]
            }
            Kind::Question => {
                let name = event.data.str("name").unwrap_or_default();
                let input = event.data.str("input").unwrap_or_default();
                let text = self.hide.text(&one_line(&format!("{name} {input}")));
                let subject = event.data.get("use").and_then(Json::as_i64).map(|at| format!("<use:{}>", at + 1));
                vec![
                    Line::new(event.n, "user", Arrow::Away, "ask").subject(subject.unwrap_or_default()).rest(text),
                ]
            }
            Kind::Answer => {
                let answer = event.data.str("answer").unwrap_or_default();
                vec![Line::new(event.n, "user", Arrow::Back, "answer").rest(answer)]
            }
            Kind::Interrupt => vec![Line::new(event.n, "user", Arrow::Away, "interrupt")],
            Kind::Change | Kind::Release | Kind::Quiet | Kind::Overdue => vec![harness(event)],
            Kind::ServerStart => vec![self.server_start(event)],
            Kind::ToServer => self.wire(event, Arrow::Away),
            Kind::ToHost => self.wire(event, Arrow::Back),
            _ => Vec::new(),
        }
    }

    /// The line of an event of the closing set.
    pub(super) fn closing(&self, event: &Event) -> Option<Line> {
        let fact = |lane: String, word: &str| Line::new(event.n, lane, Arrow::Fact, word);
        let line = match event.kind {
            Kind::WireEof => fact(self.lane(event), "eof"),
            Kind::ServerExit | Kind::HostExit => {
                let how = match (event.data.get("code"), event.data.str("signal").or(event.data.str("thread"))) {
                    (_, Some(word)) => word.to_owned(),
                    (Some(code), None) => code.to_string(),
                    (None, None) => String::new(),
                };
                let by = event.data.str("by").map(|by| format!(" by {by}")).unwrap_or_default();
                fact(self.lane(event), "exit").rest(format!("{how}{by}"))
            }
            Kind::ServerSignal => {
                fact(self.lane(event), "signal").rest(event.data.str("signal").unwrap_or_default())
            }
            Kind::Survivor => fact("host".to_owned(), "survivor"),
            Kind::Deadline => {
                fact("harness".to_owned(), "deadline").rest(event.data.str("phase").unwrap_or_default())
            }
            Kind::Interrupted => fact("harness".to_owned(), "interrupted"),
            Kind::Dropped => {
                fact("harness".to_owned(), "dropped").rest(event.data.str("stream").unwrap_or_default())
            }
            Kind::Failed => {
                fact("harness".to_owned(), "failed").rest(event.data.str("message").unwrap_or_default())
            }
            _ => return None,
        };
        Some(line)
    }

    fn model_request(&mut self, event: &Event) -> Vec<Line> {
        let api = crate::model::api(self.plan.profile.model.api);
        match event.json().and_then(|body| api.parse(&body).ok()) {
            Some(request) => self.conversation.request(event, &request, self.plan, &mut self.hide),
            None => vec![Line::new(event.n, "model", Arrow::Back, "request").rest("unreadable")],
        }
    }

    fn server_start(&self, event: &Event) -> Line {
        let line = Line::new(event.n, self.lane(event), Arrow::Fact, "start");
        let names = |key: &str| -> Vec<String> {
            let mut names: Vec<String> = event
                .data
                .get(key)
                .map(Json::items)
                .unwrap_or_default()
                .iter()
                .filter_map(|name| name.as_str().map(str::to_owned))
                .collect();
            names.sort();
            names
        };
        let mut facts = Vec::new();
        // What a library hands on is the environment of the test program, which is nobody's choice.
        let drive = self.plan.profile.drives.get(self.plan.drive);
        if drive.is_none_or(|drive| drive.kind != DriveKind::InProcess) {
            facts.push(format!("env [{}]", names("env").join(" ")));
        }
        let canaries = names("canaries");
        if !canaries.is_empty() {
            facts.push(format!("canaries [{}]", canaries.join(" ")));
        }
        line.rest(facts.join(" "))
    }

    fn wire(&mut self, event: &Event, arrow: Arrow) -> Vec<Line> {
        match event.json() {
            Some(Json::Array(batch)) if !batch.is_empty() => {
                batch.iter().map(|message| self.message(event, message, arrow)).collect()
            }
            Some(message) if message.is_object() => vec![self.message(event, &message, arrow)],
            _ => {
                let word = if event.data.get("raw").is_some() { "raw" } else { "no-json" };
                let text = self.hide.text(&quoted(&payload(event)));
                vec![Line::new(event.n, self.lane(event), arrow, word).rest(text)]
            }
        }
    }

    fn message(&mut self, event: &Event, message: &Json, arrow: Arrow) -> Line {
        let server = event.server.clone().unwrap_or_default();
        let conn = event.conn.unwrap_or(0);
        let line = |word: &str| Line::new(event.n, self.lane(event), arrow, word);
        let (line, rest) = if let Some(method) = message.str("method") {
            (line(method), self.params(event, method, message.get("params"), arrow))
        } else if let Some(error) = message.get("error") {
            let code = error.get("code").map_or_else(|| "no code".to_owned(), Json::to_string);
            let text = error.str("message").map(quoted).unwrap_or_default();
            let data = error.get("data").map(|data| format!(" {data}")).unwrap_or_default();
            (line("error"), format!("{code} {text}{data}"))
        } else if let Some(result) = message.get("result") {
            let method = event.cause.and_then(|cause| self.methods.get(&cause)).map_or("", String::as_str);
            (line("result"), self.result(method, result))
        } else {
            (line("message"), message.to_string())
        };
        // Ids of our own requests are script, not choice; they are shown as they are.
        let ours = message.get("method").is_some() == (arrow == Arrow::Back);
        let subject = match message.get("id") {
            Some(id) if ours => id.to_string(),
            Some(id) => self.hide.id(&server, conn, id),
            None => String::new(),
        };
        line.subject(subject).rest(self.hide.text(&one_line(&rest)))
    }

    /// A result by the method that it answers. What our own engine adds is left out.
    fn result(&self, method: &str, result: &Json) -> String {
        match method {
            "tools/call" => call_result(result),
            "tools/list" => list_result(result),
            // All revisions of an era look alike where a host does the same in all of them.
            "initialize" => match result.str("protocolVersion") {
                Some(agreed) if agreed == self.plan.key.revision.as_str() => "<revision>".to_owned(),
                agreed => agreed.unwrap_or_default().to_owned(),
            },
            "server/discover" => String::new(),
            _ => without_engine_members(result).to_string(),
        }
    }

    /// The parameters of a request or notification, with what repeats on every request shown once per connection.
    fn params(&mut self, event: &Event, method: &str, params: Option<&Json>, arrow: Arrow) -> String {
        let Some(params) = params else { return String::new() };
        let mut shown = params.clone();
        if let Json::Object(members) = &mut shown {
            members.retain(|(key, _)| key != "_meta");
            if let (Some((_, id)), Arrow::Away) = (members.iter_mut().find(|(key, _)| key == "requestId"), arrow) {
                let (server, conn) = (event.server.as_deref().unwrap_or(""), event.conn.unwrap_or(0));
                *id = Json::from(self.hide.id(server, conn, id));
            }
            for (_, value) in members.iter_mut().filter(|(key, _)| key == "clientInfo") {
                hide_version(value);
            }
        }
        let meta = match (params.get("_meta"), arrow) {
            (Some(meta), Arrow::Away) => self.news(event, meta),
            _ => String::new(),
        };
        let text = match (method, shown.str("name")) {
            ("tools/call", Some(name)) => {
                let arguments = shown.get("arguments").map_or_else(|| "no arguments".to_owned(), Json::to_string);
                format!("{} {arguments}", one_line(name))
            }
            _ if shown == Json::empty() => String::new(),
            _ => shown.to_string(),
        };
        format!("{text}{meta}").trim_start().to_owned()
    }

    /// The members of a `_meta` that were not the same in an earlier request of the connection.
    fn news(&mut self, event: &Event, meta: &Json) -> String {
        let key = (event.server.clone().unwrap_or_default(), event.conn.unwrap_or(0));
        let said = self.meta.entry(key).or_default();
        let mut news = Vec::new();
        for (name, value) in stable_meta(meta) {
            match said.iter_mut().find(|(known, _)| *known == name) {
                Some((_, last)) if *last == value => continue,
                Some((_, last)) => *last = value.clone(),
                None => said.push((name.clone(), value.clone())),
            }
            news.push((name, value));
        }
        if news.is_empty() { String::new() } else { format!(" _meta {}", Json::Object(news)) }
    }

    /// The server's key, with the number of the connection where there are several.
    fn lane(&self, event: &Event) -> String {
        let Some(server) = &event.server else { return "host".to_owned() };
        let ordinal = event.conn.and_then(|conn| self.ordinals.get(&(event.run, server.clone(), conn))).copied();
        match ordinal {
            Some(ordinal) if self.several.contains(server) => format!("{server}#{ordinal}"),
            _ => server.clone(),
        }
    }
}

/// What the harness did by order of a step.
fn harness(event: &Event) -> Line {
    let line = Line::new(event.n, "harness", Arrow::Fact, event.kind.as_str());
    let word = |name: &str| event.data.str(name).unwrap_or_default();
    let names = |name: &str, sign: &str| -> Vec<String> {
        let names = event.data.get(name).map(Json::items).unwrap_or_default();
        names.iter().filter_map(Json::as_str).map(|name| format!(" {sign}{name}")).collect()
    };
    match event.kind {
        Kind::Release => line.rest(format!("{} {}", word("hold"), word("order"))),
        Kind::Quiet => line.rest(format!("no {}", word("for"))),
        Kind::Change => {
            let server = event.server.as_deref().unwrap_or_default();
            let edit = [names("add", "+"), names("remove", "-"), names("replace", "~")].concat().concat();
            let announced = match event.data.get("announce").and_then(Json::as_i64) {
                Some(0) | None => "not announced".to_owned(),
                Some(1) => "announced".to_owned(),
                Some(times) => format!("announced {times} times"),
            };
            line.rest(format!("{server}{edit}, {announced}"))
        }
        _ => line,
    }
}

/// `_meta` of a host's request without what differs from request to request.
fn stable_meta(meta: &Json) -> Vec<(Text, Json)> {
    let mut members = meta.members().to_vec();
    for (key, value) in &mut members {
        if key == "progressToken" && matches!(value, Json::String(_) | Json::Number(_)) {
            *value = Json::from("<token>");
        }
        if key == "io.modelcontextprotocol/clientInfo" {
            hide_version(value);
        }
    }
    members
}

fn hide_version(info: &mut Json) {
    if let Json::Object(members) = info {
        for (_, value) in members.iter_mut().filter(|(key, _)| key == "version") {
            *value = Placeholders::version(value);
        }
    }
}

/// The names of a page, and the way to the next.
fn list_result(result: &Json) -> String {
    let tools = result.get("tools").map(Json::items).unwrap_or_default();
    let names: Vec<&str> = tools.iter().filter_map(|tool| tool.str("name")).collect();
    let next = result.get("nextCursor").map(|next| format!(" nextCursor={next}")).unwrap_or_default();
    format!("[{}]{next}", names.join(" "))
}

fn call_result(result: &Json) -> String {
    let mut words = Vec::new();
    if let Some(kind) = result.str("resultType").filter(|kind| *kind != "complete") {
        words.push(kind.to_owned());
    }
    if let Some(flag) = result.get("isError") {
        words.push(format!("isError={flag}"));
    }
    for block in result.get("content").map(Json::items).unwrap_or_default() {
        words.push(match (block.str("type"), block.str("text")) {
            (Some("text"), Some(text)) => quoted(text),
            _ => block.to_string(),
        });
    }
    if let Some(structured) = result.get("structuredContent") {
        words.push(format!("structured {structured}"));
    }
    words.join(" ")
}

fn without_engine_members(result: &Json) -> Json {
    match result {
        Json::Object(members) => Json::Object(
            members.iter().filter(|(key, _)| ENGINE_MEMBERS.iter().all(|hidden| key != hidden)).cloned().collect(),
        ),
        other => other.clone(),
    }
}

/// Text that is JSON as it is, other text as a JSON string: always one line, and never mistaken for each other.
pub(super) fn quoted(text: &str) -> String {
    match Json::parse(text) {
        Ok(Json::Object(_) | Json::Array(_)) => one_line(text),
        _ => one_line(&Json::from(text).to_string()),
    }
}

/// The text with control characters escaped.
pub(super) fn one_line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            out.extend(character.escape_default());
        } else {
            out.push(character);
        }
    }
    out
}

fn payload(event: &Event) -> String {
    match &event.payload {
        Some(Payload::Whole(bytes)) => String::from_utf8_lossy(bytes).into_owned(),
        Some(Payload::Cut { head, len, sha256 }) => {
            format!("{}… ({len} bytes, sha256 {sha256})", String::from_utf8_lossy(head))
        }
        None => String::new(),
    }
}
