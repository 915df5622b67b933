//! Connections, their lines, and requests beside their responses.

use crate::json::Json;
use crate::rpc::{self, Message};
use crate::trace::event::{Event, Kind};

/// Who wrote a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Host,
    Server,
}

/// One message on a connection. A batch is opened: each of its messages is a line of its own with the same event.
pub(crate) struct Line<'a> {
    pub(crate) event: &'a Event,
    pub(crate) side: Side,
    pub(crate) message: Message,
}

/// A request of the host with what answered it.
pub(crate) struct Rpc<'a> {
    pub(crate) event: &'a Event,
    pub(crate) id: Json,
    pub(crate) method: String,
    pub(crate) params: Option<Json>,
    /// Answers with its id, in order; more than one only where the script says so.
    pub(crate) answers: Vec<Answer<'a>>,
}

/// A response of the server.
pub(crate) struct Answer<'a> {
    pub(crate) event: &'a Event,
    /// The result, or the error object.
    pub(crate) body: Result<Json, Json>,
}

/// A connection between host and one server.
pub(crate) struct Conn<'a> {
    pub(crate) server: &'a str,
    pub(crate) number: u32,
    /// All its events: lines, process events, ends.
    pub(crate) events: Vec<&'a Event>,
    /// Its messages in both directions.
    pub(crate) lines: Vec<Line<'a>>,
    /// The requests of the host.
    pub(crate) rpcs: Vec<Rpc<'a>>,
    /// Which of them wait for an answer, oldest first.
    waiting: Vec<usize>,
}

impl<'a> Rpc<'a> {
    /// The first answer.
    pub(crate) fn answer(&self) -> Option<&Answer<'a>> {
        self.answers.first()
    }

    /// The result, where the first answer is one.
    pub(crate) fn result(&self) -> Option<(&'a Event, &Json)> {
        let answer = self.answer()?;
        answer.body.as_ref().ok().map(|result| (answer.event, result))
    }

    /// The error object, where the first answer is one.
    pub(crate) fn error(&self) -> Option<(&'a Event, &Json)> {
        let answer = self.answer()?;
        answer.body.as_ref().err().map(|error| (answer.event, error))
    }

    /// The member of the params.
    pub(crate) fn param(&self, key: &str) -> Option<&Json> {
        self.params.as_ref().and_then(|params| params.get(key))
    }

    /// Whether the first answer is a tool result that says it is an error.
    pub(crate) fn is_tool_error(&self) -> bool {
        self.result().is_some_and(|(_, result)| result.get("isError").and_then(Json::as_bool) == Some(true))
    }

    /// The type of the result, where it names one that no revision has (2026-07-28, `basic/index#resulttype`).
    pub(crate) fn unknown_type(&self) -> Option<&str> {
        let (_, result) = self.result()?;
        result.str("resultType").filter(|kind| !["complete", "input_required", "task"].contains(kind))
    }

    /// Whether the answer asks for input before it can be complete (2026-07-28, multi round-trip requests).
    pub(crate) fn is_input_required(&self) -> bool {
        self.result().is_some_and(|(_, result)| result.str("resultType") == Some("input_required"))
    }
}

impl<'a> Conn<'a> {
    /// Messages of the host.
    pub(crate) fn host_lines(&self) -> impl Iterator<Item = &Line<'a>> {
        self.lines.iter().filter(|line| line.side == Side::Host)
    }

    /// The first event of a kind.
    pub(crate) fn first(&self, kind: Kind) -> Option<&'a Event> {
        self.events.iter().copied().find(|event| event.kind == kind)
    }

    /// The `initialize` request.
    pub(crate) fn initialize(&self) -> Option<&Rpc<'a>> {
        self.rpcs.iter().find(|rpc| rpc.method == "initialize")
    }

    /// The requests that begin a list: those without a cursor.
    pub(crate) fn walks(&self) -> impl Iterator<Item = &Rpc<'a>> {
        self.rpcs.iter().filter(|rpc| rpc.method == "tools/list" && rpc.param("cursor").is_none())
    }

    /// The `notifications/initialized` of the host.
    pub(crate) fn initialized(&self) -> Option<&'a Event> {
        let is = |line: &&Line<'a>| matches!(&line.message, Message::Notification { method, .. } if method == "notifications/initialized");
        self.host_lines().find(is).map(|line| line.event)
    }

    /// The event after which nothing more can be expected of the connection: the host closed or signalled it, or the
    /// server went away.
    pub(crate) fn end(&self) -> Option<&'a Event> {
        self.events.iter().copied().find(|event| {
            matches!(event.kind, Kind::WireEof | Kind::WireClosed | Kind::ServerSignal | Kind::ServerExit)
        })
    }

    /// The event by which the server's side broke off: its output was closed or its process ended before the host
    /// closed its input.
    pub(crate) fn broken(&self) -> Option<&'a Event> {
        let end = self.end()?;
        let by_server = match end.kind {
            Kind::WireClosed => end.data.str("by") != Some("host"),
            Kind::ServerExit => true,
            _ => false,
        };
        by_server.then_some(end)
    }
}

/// Groups the events of a run into connections.
pub(super) fn connections<'a>(events: &[&'a Event]) -> Vec<Conn<'a>> {
    let mut conns: Vec<Conn<'a>> = Vec::new();
    for &event in events {
        let (Some(server), Some(number)) = (event.server.as_deref(), event.conn) else {
            continue;
        };
        let at =
            conns.iter().position(|conn| conn.number == number && conn.server == server).unwrap_or_else(|| {
                conns.push(Conn {
                    server,
                    number,
                    events: Vec::new(),
                    lines: Vec::new(),
                    rpcs: Vec::new(),
                    waiting: Vec::new(),
                });
                conns.len() - 1
            });
        let conn = &mut conns[at];
        conn.events.push(event);
        let side = match event.kind {
            Kind::ToServer => Side::Host,
            Kind::ToHost => Side::Server,
            _ => continue,
        };
        // A payload that was cut cannot be parsed, which is our doing and nobody's fault.
        let Some(bytes) = event.bytes() else { continue };
        match rpc::parse(bytes) {
            Message::Batch(items) => items.into_iter().for_each(|message| conn.take(event, side, message)),
            message => conn.take(event, side, message),
        }
    }
    conns
}

impl<'a> Conn<'a> {
    fn take(&mut self, event: &'a Event, side: Side, message: Message) {
        match (side, &message) {
            (Side::Host, Message::Request { id, method, params }) => {
                self.waiting.push(self.rpcs.len());
                self.rpcs.push(Rpc {
                    event,
                    id: id.clone(),
                    method: method.clone(),
                    params: params.clone(),
                    answers: Vec::new(),
                });
            }
            (Side::Server, Message::Result { id, result }) => self.answered(event, id, Ok(result.clone())),
            (Side::Server, Message::Error { id, error }) => self.answered(event, id, Err(error.clone())),
            _ => {}
        }
        self.lines.push(Line { event, side, message });
    }

    /// Gives a response to the request of its id: the oldest that waits, else the last that was answered.
    fn answered(&mut self, event: &'a Event, id: &Json, body: Result<Json, Json>) {
        let is_same = |at: usize| rpc::same_id(&self.rpcs[at].id, id);
        let at = match self.waiting.iter().position(|&at| is_same(at)) {
            Some(place) => Some(self.waiting.remove(place)),
            None => (0..self.rpcs.len()).rfind(|&at| is_same(at)),
        };
        if let Some(at) = at {
            self.rpcs[at].answers.push(Answer { event, body });
        }
    }
}
