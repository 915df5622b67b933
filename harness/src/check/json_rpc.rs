//! `hop.json-rpc`: well-formed envelopes, ids by the rule of the revision, and one answer to each request. hopcheck's own
//! messages are held to the same rule: what its scripts did not order is a fault of the harness.

use super::catalogue::base::{envelopes, in_flight, in_session, unique};
use super::catalogue::per_conn;
use super::sheet::{Sheet, Tally};
use super::view::{Conn, Line, Side, View, after, reacts};
use crate::json::Json;
use crate::plan::Plan;
use crate::revision::Era;
use crate::rpc::{self, Message};
use crate::server::script::{Action, Rule};
use crate::trace::Trace;
use crate::trace::event::{Event, Kind};

pub(super) fn check(view: &View<'_>, sheet: &mut Sheet<'_>) {
    let mut tally = envelopes(view);
    tally.absorb(match view.plan.key.revision.era() {
        Era::Legacy => unique(view, in_session),
        Era::Modern => unique(view, in_flight),
    });
    tally.absorb(per_conn(view, |conn, tally| {
        // What a modern server asks is none of its rights, and an answer to it is judged apart.
        if view.plan.key.revision.era() == Era::Legacy {
            asked(conn).for_each(|(id, request)| answered(conn, id, request, tally));
        }
        unasked(conn, tally);
    }));
    sheet.close(
        "hop.json-rpc",
        tally,
        "every message is well-formed, ids follow the rule of the revision, and each request has one answer",
    );
}

/// The requests of the server.
fn asked<'v, 'a>(conn: &'v Conn<'a>) -> impl Iterator<Item = (&'v Json, &'a Event)> {
    conn.lines.iter().filter(|line| line.side == Side::Server).filter_map(|line| match &line.message {
        Message::Request { id, .. } => Some((id, line.event)),
        _ => None,
    })
}

/// The answers of the host with an id.
fn answers<'v, 'a>(conn: &'v Conn<'a>, wanted: &'v Json) -> impl Iterator<Item = &'a Event> + use<'v, 'a> {
    conn.host_lines().filter_map(move |line| match &line.message {
        Message::Result { id, .. } | Message::Error { id, .. } if rpc::same_id(id, wanted) => Some(line.event),
        _ => None,
    })
}

/// One answer to a request of the server, unless the server took it back or the connection ended with it open. That a
/// request was read is shown by what the host reacted to behind it.
fn answered(conn: &Conn<'_>, id: &Json, request: &Event, tally: &mut Tally) {
    let given: Vec<_> = answers(conn, id).filter(|answer| after(answer, request)).collect();
    match given[..] {
        [] => {
            let later = conn.lines.iter().find(|line| {
                line.side == Side::Server
                    && after(line.event, request)
                    && conn.host_lines().any(|own| reacts(own.event, line.event))
            });
            if let (Some(later), false) = (later, is_taken_back(conn, id, request)) {
                let reason =
                    format!("a request of `{}` was never answered, and what came behind it was", conn.server);
                tally.fails(reason, [request, later.event]);
            }
        }
        [answer] => tally.holds([request, answer]),
        [first, second, ..] => {
            let reason = format!("a request of `{}` was answered more than once", conn.server);
            tally.fails(reason, [request, first, second]);
        }
    }
}

fn is_taken_back(conn: &Conn<'_>, id: &Json, request: &Event) -> bool {
    conn.lines.iter().any(|line| {
        let cancels = matches!(&line.message, Message::Notification { method, params: Some(params) }
            if method == "notifications/cancelled" && params.get("requestId").is_some_and(|of| rpc::same_id(of, id)));
        cancels && line.side == Side::Server && after(line.event, request)
    })
}

/// An answer to nothing. An error without an id answers what could not be read.
fn unasked(conn: &Conn<'_>, tally: &mut Tally) {
    for line in conn.host_lines() {
        let (Message::Result { id, .. } | Message::Error { id, .. }) = &line.message else { continue };
        let known = asked(conn).any(|(of, request)| rpc::same_id(of, id) && !after(request, line.event));
        if *id != Json::Null && !known {
            tally.fails(format!("`{}` was sent an answer to no request of its", conn.server), [line.event]);
        }
    }
}

/// What of hopcheck's own messages no script ordered: a reason why the trace says nothing about the host.
#[must_use]
pub(super) fn own_fault(plan: &Plan, trace: &Trace) -> Option<String> {
    let view = View::new(plan, trace);
    view.runs.iter().flat_map(|run| &run.conns).find_map(|conn| {
        let rules = plan.servers.iter().find(|server| server.key == conn.server)?.script.on.as_slice();
        malformed(conn).or_else(|| wrong_answer(conn, rules)).map(|(what, event)| {
            format!(
                "hopcheck itself sent `{}` of `{}` wrong: {what} (event {})",
                short(event),
                conn.server,
                event.n
            )
        })
    })
}

/// A line that is not well-formed, but for those that a script wrote as they are.
fn malformed<'a>(conn: &Conn<'a>) -> Option<(String, &'a Event)> {
    let lines = conn.events.iter().copied().filter(|event| event.kind == Kind::ToHost);
    let ours = lines.filter(|event| event.data.get("raw").and_then(Json::as_bool) != Some(true));
    ours.into_iter().find_map(|event| Some((rpc::violations(event.bytes()?).into_iter().next()?, event)))
}

/// An answer to no request, or a second one to the same, where no rule orders a copy or another id.
fn wrong_answer<'a>(conn: &Conn<'a>, rules: &[Rule]) -> Option<(String, &'a Event)> {
    let orders = |fits: fn(&Action) -> bool| rules.iter().flat_map(|rule| &rule.actions).any(fits);
    if orders(|action| matches!(action, Action::Id(_) | Action::Duplicate(_) | Action::Raw(_))) {
        return None;
    }
    let answers =
        conn.lines.iter().filter(|line| line.side == Side::Server).filter_map(|line| match &line.message {
            Message::Result { id, .. } | Message::Error { id, .. } => Some((id, line)),
            _ => None,
        });
    let mut open: Vec<&Json> = Vec::new();
    let mut all: Vec<(&Line<'_>, &'a Event)> = conn.host_lines().map(|line| (line, line.event)).collect();
    all.extend(answers.map(|(_, line)| (line, line.event)));
    all.sort_by_key(|(_, event)| event.n);
    for (line, event) in all {
        match (&line.message, line.side) {
            (Message::Request { id, .. }, Side::Host) => open.push(id),
            // What could not be read is answered without an id.
            (Message::Error { id: Json::Null, .. }, Side::Server) => {}
            (Message::Result { id, .. } | Message::Error { id, .. }, Side::Server) => {
                match open.iter().position(|of| rpc::same_id(of, id)) {
                    Some(at) => drop(open.remove(at)),
                    None => return Some(("it answers nothing that is open".to_owned(), event)),
                }
            }
            _ => {}
        }
    }
    None
}

/// The beginning of a line.
fn short(event: &Event) -> String {
    const MOST: usize = 60;
    String::from_utf8_lossy(event.bytes().unwrap_or_default()).chars().take(MOST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::testing::{Habits, plan_of, profile, record};

    const CALL: &str = r#"
title = "One call"
[server.orders]
script = "orders"
[[step]]
call = "orders/lookup_order"
with = { order_id = "A-1042" }
"#;

    #[track_caller]
    fn check(change: impl Fn(&mut Vec<Event>), expected: Option<&str>) {
        let plan = plan_of(CALL, &profile("reference", None), "2025-11-25");
        let mut trace = record(&plan, Habits::SendsIds);
        change(&mut trace.events);
        let fault = own_fault(&plan, &trace);
        match expected {
            None => assert_eq!(fault, None),
            Some(words) => assert!(fault.as_deref().is_some_and(|fault| fault.contains(words)), "{fault:?}"),
        }
    }

    fn last_answer(events: &mut [Event]) -> &mut Event {
        events.iter_mut().rfind(|event| event.kind == Kind::ToHost).unwrap()
    }

    fn rewritten(event: &mut Event, from: &str, to: &str) {
        let text = String::from_utf8(event.bytes().unwrap().to_vec()).unwrap().replacen(from, to, 1);
        event.payload = Some(crate::trace::event::Payload::Whole(text.into_bytes()));
    }

    #[test]
    fn messages_of_the_harness_are_held_to_the_rule() {
        check(|_| (), None);
        check(|events| rewritten(last_answer(events), "\"2.0\"", "\"1.0\""), Some("`jsonrpc` is not \"2.0\""));
        check(
            |events| rewritten(last_answer(events), "\"id\":", "\"id\":77"),
            Some("it answers nothing that is open"),
        );
        check(
            |events| {
                let at = events.iter().rposition(|event| event.kind == Kind::ToHost).unwrap();
                let mut copy = events[at].clone();
                copy.n += 1;
                events.insert(at + 1, copy);
            },
            Some("it answers nothing that is open"),
        );
        // What a script wrote as it is may be anything.
        check(
            |events| {
                let answer = last_answer(events);
                rewritten(answer, "\"2.0\"", "\"1.0\"");
                answer.data = Json::object([("raw", true)]);
            },
            None,
        );
    }
}
