//! What a host answers when a server asks: pings, methods that nobody knows, and what the host said of itself
//! (`basic/utilities/ping`, `basic/lifecycle#capability-negotiation`).

use super::conns;
use crate::check::sheet::{Sheet, Tally};
use crate::check::view::{Conn, Line, Side, View, after};
use crate::json::Json;
use crate::rpc::{self, Message};
use crate::trace::event::Event;

const METHOD_NOT_FOUND: i64 = -32601;

/// Requests that a host may know.
const KNOWN: [&str; 8] = [
    "ping",
    "roots/list",
    "sampling/createMessage",
    "elicitation/create",
    "tasks/get",
    "tasks/result",
    "tasks/list",
    "tasks/cancel",
];

pub(super) fn check(view: &View<'_>, sheet: &mut Sheet<'_>) {
    let mut pings = Tally::default();
    let mut unknown = Tally::default();
    let mut declared = Tally::default();
    for conn in conns(view) {
        for line in conn.lines.iter().filter(|line| line.side == Side::Server) {
            let Message::Request { id, method, .. } = &line.message else { continue };
            let reaction = reaction(conn, line.event, id);
            match method.as_str() {
                "ping" => ping(line.event, &reaction, &mut pings),
                "roots/list" => roots(conn, line.event, &reaction, &mut declared),
                method if !KNOWN.contains(&method) => refused(method, line.event, &reaction, &mut unknown),
                _ => {}
            }
        }
    }
    sheet.close("ping.responds", pings, "every ping was answered");
    sheet.close(
        "base.unknown-server-request.method-not-found",
        unknown,
        "unknown requests were answered with -32601",
    );
    sheet.close("lifecycle.capabilities.truthful", declared, "the host serves what it declares");
}

/// What followed a request of the server.
enum Reaction<'a> {
    Result(&'a Event),
    Error {
        event: &'a Event,
        code: Option<i64>,
    },
    /// The host went on talking and never answered; one of its later messages.
    Ignored(&'a Event),
    /// A connection that ended meanwhile says nothing.
    Unknown,
}

fn reaction<'a>(conn: &Conn<'a>, asked: &Event, wanted: &Json) -> Reaction<'a> {
    let answers = |line: &&Line<'a>| match &line.message {
        Message::Result { id, .. } | Message::Error { id, .. } => {
            rpc::same_id(id, wanted) && !after(asked, line.event)
        }
        _ => false,
    };
    match conn.host_lines().find(answers) {
        Some(Line { event, message: Message::Error { error, .. }, .. }) => {
            Reaction::Error { event, code: error.get("code").and_then(Json::as_i64) }
        }
        Some(answer) => Reaction::Result(answer.event),
        None => match conn.host_lines().find(|line| after(line.event, asked)) {
            Some(later) => Reaction::Ignored(later.event),
            None => Reaction::Unknown,
        },
    }
}

fn ping(asked: &Event, reaction: &Reaction<'_>, tally: &mut Tally) {
    match reaction {
        Reaction::Result(event) => tally.holds([asked, event]),
        Reaction::Error { event, .. } => tally.fails("a ping was answered with an error", [asked, event]),
        Reaction::Ignored(later) => tally.fails("a ping was not answered", [asked, later]),
        Reaction::Unknown => {}
    }
}

fn refused(method: &str, asked: &Event, reaction: &Reaction<'_>, tally: &mut Tally) {
    match reaction {
        Reaction::Error { event, code: Some(METHOD_NOT_FOUND) } => tally.holds([asked, event]),
        Reaction::Error { event, .. } | Reaction::Result(event) => {
            tally.fails(format!("the unknown request `{method}` was not answered with -32601"), [asked, event]);
        }
        Reaction::Ignored(later) => {
            tally.fails(format!("the unknown request `{method}` was not answered"), [asked, later]);
        }
        Reaction::Unknown => {}
    }
}

/// Roots are declared and served, or neither.
fn roots(conn: &Conn<'_>, asked: &Event, reaction: &Reaction<'_>, tally: &mut Tally) {
    let Some(init) = conn.initialize() else { return };
    let declared = init.param("capabilities").is_some_and(|capabilities| capabilities.get("roots").is_some());
    let evidence = |event| [init.event, asked, event];
    match (declared, reaction) {
        (true, Reaction::Result(event)) | (false, Reaction::Error { event, code: Some(METHOD_NOT_FOUND) }) => {
            tally.holds(evidence(event))
        }
        (true, Reaction::Error { event, code: Some(METHOD_NOT_FOUND) }) => {
            tally.fails("the host declares roots and does not know `roots/list`", evidence(event));
        }
        (true, Reaction::Ignored(later)) => {
            tally.fails("the host declares roots and did not answer `roots/list`", evidence(later));
        }
        // Any other error may have its reasons, and to serve more than was declared is no lie.
        _ => {}
    }
}
