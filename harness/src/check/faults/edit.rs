//! What all faults are made of: finding a subject, and changing one thing.

use std::collections::BTreeMap;

pub(in crate::check) use crate::check::view::Hop;
use crate::check::view::{Conn, Emitted, Rpc, Run, View};
use crate::json::Json;
use crate::plan::Plan;
use crate::trace::Trace;
use crate::trace::event::{Event, Kind, Payload};

/// The first hop of a judged run that fits, handed to `lie`.
pub(in crate::check) fn hop(
    plan: &Plan,
    trace: &Trace,
    fits: impl Fn(&Hop<'_, '_>) -> bool,
    lie: impl FnOnce(&Hop<'_, '_>, &mut Tape) -> Option<()>,
) -> Option<Trace> {
    let view = View::new(plan, trace);
    let hop = view.judged().flat_map(Run::hops).find(|hop| fits(hop))?;
    let mut tape = Tape::new(trace);
    lie(&hop, &mut tape)?;
    Some(tape.trace())
}

/// The first emitted use of a judged run that fits, handed to `lie`.
pub(in crate::check) fn emitted(
    plan: &Plan,
    trace: &Trace,
    fits: impl Fn(&Run<'_>, &Emitted<'_>) -> bool,
    lie: impl FnOnce(&Run<'_>, &Emitted<'_>, &mut Tape) -> Option<()>,
) -> Option<Trace> {
    let view = View::new(plan, trace);
    let (run, used) = view
        .judged()
        .flat_map(|run| run.uses.iter().map(move |used| (run, used)))
        .find(|(run, used)| fits(run, used))?;
    let mut tape = Tape::new(trace);
    lie(run, used, &mut tape)?;
    Some(tape.trace())
}

/// The first request of a judged run that fits, handed to `lie`.
pub(in crate::check) fn request(
    plan: &Plan,
    trace: &Trace,
    fits: impl Fn(&Conn<'_>, &Rpc<'_>) -> bool,
    lie: impl FnOnce(&Conn<'_>, &Rpc<'_>, &mut Tape) -> Option<()>,
) -> Option<Trace> {
    let view = View::new(plan, trace);
    let (conn, rpc) = view.judged().flat_map(|run| run.rpcs()).find(|(conn, rpc)| fits(conn, rpc))?;
    let mut tape = Tape::new(trace);
    lie(conn, rpc, &mut tape)?;
    Some(tape.trace())
}

/// A trace that is being changed. Numbers stay those of the original until it is done.
pub(in crate::check) struct Tape {
    original: Trace,
    /// The events in their new order.
    events: Vec<Event>,
}

impl Tape {
    pub(in crate::check) fn new(trace: &Trace) -> Self {
        let mut events = trace.events.clone();
        // Room for further turns of the recorder loop between any two.
        events.iter_mut().for_each(|event| event.tick *= 4);
        Self { original: trace.clone(), events }
    }

    /// The changed trace, numbered anew.
    pub(in crate::check) fn trace(mut self) -> Trace {
        let mut numbers = BTreeMap::new();
        for (at, event) in self.events.iter_mut().enumerate() {
            let number = u32::try_from(at + 1).unwrap_or(u32::MAX);
            // A copy has the number of what it was copied from; the original keeps what points at it.
            numbers.entry(event.n).or_insert(number);
            event.n = number;
        }
        for event in &mut self.events {
            event.cause = event.cause.and_then(|cause| numbers.get(&cause).copied());
        }
        self.original.events = self.events;
        self.original
    }

    fn place(&self, n: u32) -> Option<usize> {
        self.events.iter().position(|event| event.n == n)
    }

    /// Changes an event.
    pub(in crate::check) fn event(&mut self, n: u32, change: impl FnOnce(&mut Event)) -> Option<()> {
        let at = self.place(n)?;
        change(&mut self.events[at]);
        Some(())
    }

    /// Changes an event and all behind it.
    pub(in crate::check) fn all_after(&mut self, n: u32, mut change: impl FnMut(&mut Event)) -> Option<()> {
        let at = self.place(n)?;
        self.events[at..].iter_mut().for_each(&mut change);
        Some(())
    }

    /// Changes the payload of an event, which is JSON.
    pub(in crate::check) fn json(&mut self, n: u32, change: impl FnOnce(&mut Json)) -> Option<()> {
        let at = self.place(n)?;
        let mut json = self.events[at].json()?;
        change(&mut json);
        self.events[at].payload = Some(Payload::Whole(json.to_bytes()));
        Some(())
    }

    pub(in crate::check) fn drop_all(&mut self, numbers: &[u32]) {
        self.events.retain(|event| !numbers.contains(&event.n));
    }

    /// Puts an event before another, in a turn of its own.
    pub(in crate::check) fn before(&mut self, n: u32, mut event: Event) -> Option<()> {
        let at = self.place(n)?;
        event.tick = self.events[at].tick.saturating_sub(1);
        self.events.insert(at, event);
        Some(())
    }

    /// Puts an event after another, in a turn of its own.
    pub(in crate::check) fn after(&mut self, n: u32, mut event: Event) -> Option<()> {
        let at = self.place(n)?;
        event.tick = self.events[at].tick + 1;
        // What else happened in that turn stays in front.
        let rest = self.events[at..].iter().take_while(|other| other.tick < event.tick).count();
        self.events.insert(at + rest, event);
        Some(())
    }

    /// Moves an event before another.
    pub(in crate::check) fn move_before(&mut self, n: u32, other: u32) -> Option<()> {
        let event = self.events.remove(self.place(n)?);
        self.before(other, event)
    }

    /// Moves an event after another.
    pub(in crate::check) fn move_after(&mut self, n: u32, other: u32) -> Option<()> {
        let event = self.events.remove(self.place(n)?);
        self.after(other, event)
    }

    /// Gives every event a turn of its own.
    #[cfg(test)]
    pub(in crate::check) fn spread(&mut self) {
        self.events.iter_mut().zip(1..).for_each(|(event, tick)| event.tick = tick);
    }

    /// A copy of an event.
    pub(in crate::check) fn copy(&self, n: u32) -> Option<Event> {
        Some(self.events[self.place(n)?].clone())
    }

    /// A line of the host like the one that `like` is, with another message.
    pub(in crate::check) fn line(&self, like: u32, message: &str) -> Option<Event> {
        let mut event = self.copy(like)?;
        event.kind = Kind::ToServer;
        event.cause = None;
        event.payload = Some(Payload::Whole(message.as_bytes().to_vec()));
        event.data = Json::object([("end", "lf")]);
        Some(event)
    }
}

/// The member at a path, to be changed.
pub(in crate::check) fn at_mut<'j>(json: &'j mut Json, path: &[&str]) -> Option<&'j mut Json> {
    path.iter().try_fold(json, |value, key| match value {
        Json::Object(members) => members.iter_mut().rev().find(|(name, _)| name == key).map(|(_, value)| value),
        Json::Array(items) => items.get_mut(key.parse::<usize>().ok()?),
        _ => None,
    })
}

pub(in crate::check) fn remove(json: &mut Json, key: &str) {
    if let Json::Object(members) = json {
        members.retain(|(name, _)| name != key);
    }
}

/// Every array in a value, innermost last.
pub(in crate::check) fn arrays(json: &mut Json, change: &mut impl FnMut(&mut Vec<Json>)) {
    match json {
        Json::Array(items) => {
            change(items);
            items.iter_mut().for_each(|item| arrays(item, change));
        }
        Json::Object(members) => members.iter_mut().for_each(|(_, value)| arrays(value, change)),
        _ => {}
    }
}

/// Whether an item of a model request is the result of a use, in either API.
pub(in crate::check) fn is_result(item: &Json, id: &str) -> bool {
    item.str("tool_use_id") == Some(id)
        || (item.str("call_id") == Some(id) && item.str("type").is_some_and(|kind| kind.ends_with("_output")))
}

/// Every string of a value.
pub(in crate::check) fn strings(json: &mut Json, change: &mut impl FnMut(&str) -> Option<String>) {
    match json {
        Json::String(text) => {
            if let Some(changed) = text.as_str().and_then(change) {
                *text = changed.into();
            }
        }
        Json::Array(items) => items.iter_mut().for_each(|item| strings(item, change)),
        Json::Object(members) => members.iter_mut().for_each(|(_, value)| strings(value, change)),
        Json::Null | Json::Bool(_) | Json::Number(_) => {}
    }
}
