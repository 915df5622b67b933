//! `base.*`: envelopes, ids, responses and encoding (`basic/index`, all revisions; `basic/messages` in 2024-11-05).

use std::collections::HashMap;

use super::{conns, per_conn, per_line, per_request};
use crate::check::arguments::brief;
use crate::check::sheet::{Sheet, Tally};
use crate::check::view::{Conn, Rpc, Side, View, after};
use crate::json::Json;
use crate::revision::{Era, Revision};
use crate::rpc::{self, Message};
use crate::trace::event::{Event, Kind};

pub(super) fn check(view: &View<'_>, sheet: &mut Sheet<'_>) {
    sheet.close("base.jsonrpc.valid-2-0", envelopes(view), "every message is JSON-RPC 2.0");
    let ids = per_request(view, |rpc, tally| {
        if rpc::is_id(&rpc.id) {
            tally.holds([rpc.event]);
        } else {
            tally.fails(format!("the request `{}` has the id {}", rpc.method, brief(&rpc.id)), [rpc.event]);
        }
    });
    sheet.close("base.request.id-string-or-integer", ids, "every request id is a string or an integer");
    let ids = per_request(view, |rpc, tally| match rpc.id {
        Json::Null => tally.fails(format!("the request `{}` has the id null", rpc.method), [rpc.event]),
        _ => tally.holds([rpc.event]),
    });
    sheet.close("base.request.id-not-null", ids, "no request id is null");
    sheet.close("base.request.id-unique-in-session", unique(view, in_session), "no request id was used twice");
    sheet.close("base.request.id-unique-in-flight", unique(view, in_flight), "no waiting request shared its id");
    sheet.close("base.response.id-echo", echoed_ids(view), "every response repeats the id of its request");
    sheet.close(
        "base.response.result-xor-error",
        result_xor_error(view),
        "every response is a result or an error",
    );
    let notified = per_line(view, |line, tally| match &line.message {
        Message::Notification { .. } => tally.holds([line.event]),
        Message::Request { method, .. } if method.starts_with("notifications/") => {
            tally.fails(format!("`{method}` has an id"), [line.event]);
        }
        _ => {}
    });
    sheet.close("base.notification.no-id", notified, "no notification has an id");
    sheet.close("base.notification.no-response", no_response(view), "no notification was answered");
    let sent = per_line(view, |line, tally| match &line.message {
        Message::Request { .. } | Message::Notification { .. } => tally.holds([line.event]),
        Message::Result { .. } | Message::Error { .. } => tally.fails("the host sent a response", [line.event]),
        Message::Batch(_) | Message::Malformed(_) => {}
    });
    sheet.close("base.client-sends-no-responses", sent, "the host sent requests and notifications only");
    let single = per_event(view, |event, json, tally| match json {
        Json::Array(_) => tally.fails("the host sent a batch", [event]),
        _ => tally.holds([event]),
    });
    sheet.close("base.batch.none-sent", single, "every message was sent alone");
    sheet.close("base.encoding.utf8", encoding(view), "messages are encoded in UTF-8");
    let shapes = per_request(view, |rpc, tally| match shape(view.plan.key.revision, rpc) {
        Some(reason) => tally.fails(reason, [rpc.event]),
        None => tally.holds([rpc.event]),
    });
    sheet.close(
        "base.request.method-and-params-shape",
        shapes,
        "every request has a method and params of its revision",
    );
}

/// Facts about every whole line of the host that is JSON.
fn per_event(view: &View<'_>, mut fact: impl FnMut(&Event, &Json, &mut Tally)) -> Tally {
    per_conn(view, |conn, tally| {
        for event in whole_lines(conn) {
            if let Some(json) = event.json() {
                fact(event, &json, tally);
            }
        }
    })
}

/// The lines of the host that have an end. A line that was cut short when the host went away is no message.
pub(super) fn whole_lines<'v, 'a>(conn: &'v Conn<'a>) -> impl Iterator<Item = &'a Event> + use<'v, 'a> {
    let lines =
        conn.events.iter().copied().filter(|event| event.kind == Kind::ToServer && event.bytes().is_some());
    lines.filter(|event| event.data.str("end") != Some("eof"))
}

pub(in crate::check) fn envelopes(view: &View<'_>) -> Tally {
    per_conn(view, |conn, tally| {
        for event in whole_lines(conn) {
            let violations = rpc::violations(event.bytes().unwrap_or_default());
            match violations.into_iter().next() {
                Some(violation) => tally.fails(violation, [event]),
                None => tally.holds([event]),
            }
        }
    })
}

/// Pairs of requests with the same id that the rule forbids; each connection with two requests is a subject.
pub(in crate::check) fn unique(view: &View<'_>, forbidden: fn(&Rpc<'_>, &Rpc<'_>) -> bool) -> Tally {
    per_conn(view, |conn, tally| {
        // A host may send thousands of requests, of which hardly two have the same id.
        let mut buckets: HashMap<String, Vec<&Rpc<'_>>> = HashMap::new();
        for (at, second) in conn.rpcs.iter().enumerate() {
            let bucket = buckets.entry(rpc::id_bucket(&second.id)).or_default();
            let shared =
                bucket.iter().find(|first| rpc::same_id(&first.id, &second.id) && forbidden(first, second));
            match shared {
                Some(first) => {
                    let reason =
                        format!("`{}` and `{}` share the id {}", first.method, second.method, brief(&first.id));
                    tally.fails(reason, [first.event, second.event]);
                }
                None if at == 0 => {}
                None => tally.holds([conn.rpcs[0].event, second.event]),
            }
            bucket.push(second);
        }
    })
}

pub(in crate::check) fn in_session(_: &Rpc<'_>, _: &Rpc<'_>) -> bool {
    true
}

pub(in crate::check) fn in_flight(first: &Rpc<'_>, second: &Rpc<'_>) -> bool {
    first.answer().is_none_or(|answer| after(answer.event, second.event))
}

/// The requests of the server that stand before a response of the host with the same id.
fn echoed_ids(view: &View<'_>) -> Tally {
    per_conn(view, |conn, tally| {
        for (id, event) in responses(conn) {
            match asked(conn, id, event) {
                Some(request) => tally.holds([request, event]),
                // An error without an id answers what could not be read.
                None if *id == Json::Null => {}
                None => tally.fails(format!("no request of the server has the id {}", brief(id)), [event]),
            }
        }
    })
}

fn responses<'v>(conn: &'v Conn<'_>) -> impl Iterator<Item = (&'v Json, &'v Event)> {
    conn.host_lines().filter_map(|line| match &line.message {
        Message::Result { id, .. } | Message::Error { id, .. } => Some((id, line.event)),
        _ => None,
    })
}

fn asked<'a>(conn: &Conn<'a>, wanted: &Json, before: &Event) -> Option<&'a Event> {
    let from_server = conn.lines.iter().filter(|line| line.side == Side::Server && !after(line.event, before));
    let same = |line: &&crate::check::view::Line<'_>| matches!(&line.message, Message::Request { id, .. } if rpc::same_id(id, wanted));
    from_server.into_iter().find(same).map(|line| line.event)
}

fn result_xor_error(view: &View<'_>) -> Tally {
    per_event(view, |event, json, tally| {
        if json.get("method").is_some() {
            return;
        }
        match (json.get("result"), json.get("error")) {
            (Some(_), Some(_)) => tally.fails("a response has both a result and an error", [event]),
            (Some(_), None) | (None, Some(_)) => tally.holds([event]),
            (None, None) => {}
        }
    })
}

/// Notifications of the server, each with a later message of the host that shows that it was read.
fn no_response(view: &View<'_>) -> Tally {
    per_conn(view, |conn, tally| {
        let notified: Vec<_> = conn
            .lines
            .iter()
            .filter(|line| line.side == Side::Server && matches!(line.message, Message::Notification { .. }))
            .map(|line| line.event)
            .collect();
        let Some(first) = notified.first() else { return };
        let unasked = responses(conn).find(|(id, event)| after(event, first) && asked(conn, id, event).is_none());
        if let Some((_, event)) = unasked {
            return tally.fails("a response followed a notification", [*first, event]);
        }
        for notified in &notified {
            if let Some(later) = conn.host_lines().find(|line| after(line.event, notified)) {
                tally.holds([*notified, later.event]);
            }
        }
    })
}

/// Only a line with characters outside ASCII shows an encoding.
fn encoding(view: &View<'_>) -> Tally {
    let mut tally = Tally::default();
    for event in conns(view).flat_map(whole_lines) {
        let bytes = event.bytes().unwrap_or_default();
        match str::from_utf8(bytes) {
            Err(_) => tally.fails("a message is not encoded in UTF-8", [event]),
            Ok(text) if !text.is_ascii() => tally.holds([event]),
            Ok(_) => {}
        }
    }
    tally
}

const FEATURES: [&str; 9] = [
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "prompts/list",
    "prompts/get",
    "completion/complete",
    // The probe of a host that speaks both eras; to a legacy server it is just an unknown method.
    "server/discover",
];
const LEGACY: [&str; 5] =
    ["initialize", "ping", "resources/subscribe", "resources/unsubscribe", "logging/setLevel"];
const TASKS: [&str; 5] = ["tasks/get", "tasks/result", "tasks/list", "tasks/cancel", "tasks/update"];
/// `initialize` is here because a host that speaks only the legacy era cannot know better.
const MODERN: [&str; 2] = ["subscriptions/listen", "initialize"];

/// What of a request is not of the revision (`schema.ts#ClientRequest`).
fn shape(revision: Revision, rpc: &Rpc<'_>) -> Option<String> {
    let method = rpc.method.as_str();
    let known = FEATURES.contains(&method)
        || match revision.era() {
            Era::Legacy => {
                LEGACY.contains(&method) || (revision == Revision::V2025_11_25 && TASKS.contains(&method))
            }
            Era::Modern => MODERN.contains(&method) || TASKS.contains(&method),
        };
    if !known {
        return Some(format!("`{method}` is no method of {revision}"));
    }
    if rpc.params.as_ref().is_some_and(|params| !params.is_object()) {
        return Some(format!("the params of `{method}` are no object"));
    }
    let is_string = |key: &str| matches!(rpc.param(key), Some(Json::String(_)));
    match method {
        "tools/call" if !is_string("name") => Some("`tools/call` has no name".to_owned()),
        "tools/call" if rpc.param("arguments").is_some_and(|arguments| !arguments.is_object()) => {
            Some("the arguments of `tools/call` are no object".to_owned())
        }
        "tools/list" if rpc.param("cursor").is_some() && !is_string("cursor") => {
            Some("the cursor of `tools/list` is no string".to_owned())
        }
        "initialize" if !is_string("protocolVersion") => Some("`initialize` has no protocolVersion".to_owned()),
        _ => None,
    }
}
