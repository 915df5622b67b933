//! Calls that nobody waits for any more: the user interrupted, or the host lost its patience.

use super::{Conn, Emitted, Rpc, Run, after};
use crate::json::Json;
use crate::rpc::{self, Message};
use crate::trace::event::{Event, Kind};

impl<'a> Conn<'a> {
    /// The cancellations of the host, with the ids that they name.
    pub(crate) fn cancellations<'v>(&'v self) -> impl Iterator<Item = (&'v Json, &'a Event)> + use<'v, 'a> {
        self.host_lines().filter_map(|line| match &line.message {
            Message::Notification { method, params } if method == "notifications/cancelled" => {
                Some((params.as_ref()?.get("requestId")?, line.event))
            }
            _ => None,
        })
    }

    /// The cancellation of a request.
    pub(crate) fn cancellation(&self, call: &Rpc<'_>) -> Option<&'a Event> {
        let names = |(id, event): &(&Json, &Event)| rpc::same_id(id, &call.id) && event.n > call.event.n;
        self.cancellations().find(names).map(|(_, event)| event)
    }
}

impl<'a> Run<'a> {
    /// The user's interruption of the step that a use belongs to.
    pub(crate) fn interruption(&self, used: &Emitted<'_>) -> Option<&'a Event> {
        self.of(Kind::Interrupt).find(|event| event.step.is_some_and(|step| step as usize == used.planned.step))
    }

    /// The event by which a call was given up before its answer.
    pub(crate) fn given_up(&self, used: &Emitted<'_>, conn: &Conn<'a>, call: &Rpc<'_>) -> Option<&'a Event> {
        let unanswered = |event: &&Event| call.answer().is_none_or(|answer| !after(event, answer.event));
        self.interruption(used).filter(unanswered).or_else(|| conn.cancellation(call).filter(unanswered))
    }

    /// Whether a call was given up, at whatever time: what is told of it is then the host's own business.
    pub(crate) fn is_abandoned(&self, used: &Emitted<'_>, conn: &Conn<'_>, call: &Rpc<'_>) -> bool {
        self.interruption(used).is_some() || conn.cancellation(call).is_some()
    }

    /// The last call of a use, of several under a licence the one that counts. Nothing where it was given up, or where its answer
    /// came after the model had been told something else.
    pub(crate) fn settled_call<'r>(&'r self, used: &'r Emitted<'a>) -> Option<(&'r Conn<'a>, &'r Rpc<'a>)> {
        let (conn, call) = self.calls(used).last()?;
        let told = self.told(used).map(|told| told.exchange.event);
        let is_late = call.answer().zip(told).is_some_and(|(answer, told)| after(answer.event, told));
        (!is_late && !self.is_abandoned(used, conn, call)).then_some((conn, call))
    }
}
