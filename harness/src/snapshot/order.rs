//! The canonical order of events: host run, model step, then server, connection, sequence.
//!
//! Order of recording is a fact only within one stream. Across streams it depends on who was scheduled first, so a
//! transcript orders by what the host did, not by when it was seen:
//!
//! * a *phase* begins with each main-line request to the model. What was written before a request is recorded before it,
//!   so the phase of an event is a fact;
//! * in a phase come the model, the user, what the harness did, then the servers by key and connection;
//! * an answer stands under its request, however many calls were in flight;
//! * ends of streams and processes are a set at the end of the run.

use std::collections::HashMap;

use crate::trace::Trace;
use crate::trace::event::{Event, Kind};

/// One host run of a trace.
pub(super) struct Run<'t> {
    /// Its number.
    pub(super) number: u32,
    /// `main`, `second` or `twin`.
    pub(super) role: String,
    /// The number of its first event.
    pub(super) start: u32,
    /// Events in canonical order.
    pub(super) ordered: Vec<&'t Event>,
    /// Ends of streams and processes, in no order.
    pub(super) closing: Vec<&'t Event>,
}

/// Where an event belongs; compared member by member.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Place<'t> {
    phase: u32,
    block: Block,
    server: &'t str,
    conn: u32,
    /// The event that opened the exchange.
    root: u32,
    n: u32,
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Block {
    Model,
    User,
    Harness,
    Wire,
}

/// Splits a trace into its host runs and orders each.
pub(super) fn runs(trace: &Trace) -> Vec<Run<'_>> {
    let mut numbers: Vec<u32> = trace.events.iter().map(|event| event.run).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
        .into_iter()
        .map(|number| {
            let events: Vec<&Event> = trace.events.iter().filter(|event| event.run == number).collect();
            run(number, &events)
        })
        .collect()
}

fn run<'t>(number: u32, events: &[&'t Event]) -> Run<'t> {
    let mut phase = 0;
    let mut ordered: Vec<(Place<'t>, &'t Event)> = Vec::new();
    let mut closing = Vec::new();
    let mut roots: HashMap<u32, (u32, u32)> = HashMap::new();
    let mut role = String::from("main");
    for event in events {
        let main = event.data.get("main").and_then(crate::json::Json::as_bool).unwrap_or(false);
        if event.kind == Kind::ModelRequest && main {
            phase += 1;
        }
        let block = match event.kind {
            // Side requests are titles, classifiers and the like: nothing says when they come.
            Kind::ModelRequest | Kind::ModelReply if !main => continue,
            Kind::ModelRequest | Kind::ModelReply | Kind::ModelNoise => Block::Model,
            Kind::Prompt | Kind::Question | Kind::Answer | Kind::Interrupt => Block::User,
            Kind::Change | Kind::Release | Kind::Quiet | Kind::Overdue => Block::Harness,
            Kind::ToServer | Kind::ToHost | Kind::ServerStart => Block::Wire,
            Kind::RunStart => {
                event.data.str("role").unwrap_or("main").clone_into(&mut role);
                continue;
            }
            _ => {
                closing.push(*event);
                continue;
            }
        };
        let answered = event.cause.and_then(|cause| roots.get(&cause).copied());
        let (root_phase, root) = match (event.kind, answered) {
            (Kind::ToHost, Some(root)) => root,
            // Nobody asked for it: it may come between any two messages, so it goes behind them.
            (Kind::ToHost, None) => (phase, u32::MAX),
            (Kind::ServerStart, _) => (phase, 0),
            _ => (phase, event.n),
        };
        roots.insert(event.n, (root_phase, root));
        // An answer in a later phase than its request was held: it stays where it was sent.
        let root = if root_phase == phase { root } else { event.n };
        let place = Place {
            phase,
            block,
            server: event.server.as_deref().unwrap_or(""),
            conn: event.conn.unwrap_or(0),
            root,
            n: event.n,
        };
        ordered.push((place, event));
    }
    ordered.sort_by(|a, b| a.0.cmp(&b.0));
    Run {
        number,
        role,
        start: events.first().map_or(0, |event| event.n),
        ordered: ordered.into_iter().map(|(_, event)| event).collect(),
        closing,
    }
}
