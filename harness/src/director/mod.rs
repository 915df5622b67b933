//! What the harness does while a run is going on, decided from what was recorded.
//!
//! The director is a pure state machine. It is shown every event of a host run and tells what is to be done next and when
//! it wants to be asked again. It reads no clock and does nothing itself: the recorder loop carries out what it says.
//!
//! Three things are waited for: that all uses of a step are in flight, that calls are cancelled, that a list is asked for
//! again. Each wait ends with the event, or after a quiet time that the scenario declares, since what is waited for may
//! never come. A wait that ended without its event leaves an event of its own in the trace.

mod calls;
mod lists;
mod patience;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::time::Instant;

use calls::{Calls, Late};
use lists::Lists;
use patience::Patience;

use crate::json::Json;
use crate::plan::{Cue, CueAct, Moment, Plan};
use crate::rpc::{self, Message};
use crate::scenario::ast::{Change, Order, Release};
use crate::trace::event::{Event, Kind};

pub(crate) use calls::CallKey;
pub(crate) use patience::Load;

/// Something to be done now.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Direction<'p> {
    /// The user interrupts.
    Interrupt {
        /// The step that says so.
        step: usize,
    },
    /// The tools of a server change.
    Change {
        /// The step that says so.
        step: usize,
        /// The change.
        change: &'p Change,
    },
    /// Held replies go: those to these calls in this order, then all others that are held under the name.
    Release {
        /// The step that says so.
        step: usize,
        /// The name and the order.
        release: &'p Release,
        /// The calls.
        calls: Vec<CallKey>,
    },
    /// A quiet time is over.
    Quiet {
        /// The step that declares it.
        step: usize,
        /// What was waited for.
        waited_for: &'static str,
        /// How long it was, in milliseconds.
        ms: u32,
    },
    /// A result was not told in the time that its bound allows.
    Overdue {
        /// The index of the use.
        index: usize,
        /// That time, in milliseconds.
        ms: u32,
    },
}

/// A result that has a bound is told within this multiple of the limit for one call, counted from the reply that uses the
/// tool: a host needs time of its own, and some round their limits up to whole seconds.
pub(crate) const CALL_LIMITS: u32 = 4;

/// The acts of a plan, on their way.
pub(crate) struct Director<'p> {
    plan: &'p Plan,
    /// The turn of the last reply.
    turn: Option<usize>,
    calls: Calls,
    lists: Lists,
    /// What waits for its turn, oldest first.
    due: VecDeque<&'p Cue>,
    running: Option<Running<'p>>,
    /// Releases whose cue is over while calls of its step are still to come: these are not held up any more.
    open: Vec<(usize, &'p Release)>,
    /// The use whose result is to be told in time.
    bound: Option<(usize, Patience)>,
}

/// A cue that has begun.
struct Running<'p> {
    cue: &'p Cue,
    next: usize,
    wait: Option<Wait>,
}

/// What a cue waits for.
struct Wait {
    what: Awaited,
    patience: Patience,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Awaited {
    /// So many calls in flight.
    Calls(usize),
    /// The cancellation of these calls.
    Cancelled(Vec<CallKey>),
    /// A whole list of this server.
    Refresh(String),
}

impl Awaited {
    const fn as_str(&self) -> &'static str {
        match self {
            Self::Calls(_) => "calls",
            Self::Cancelled(_) => "cancelled",
            Self::Refresh(_) => "refresh",
        }
    }
}

impl<'p> Director<'p> {
    /// For one host run of a plan.
    pub(crate) fn new(plan: &'p Plan) -> Self {
        Self {
            plan,
            turn: None,
            calls: Calls::default(),
            lists: Lists::default(),
            due: VecDeque::new(),
            running: None,
            open: Vec::new(),
            bound: None,
        }
    }

    /// Whether the conversation is held up: neither a reply of the model nor a message of the user goes out.
    pub(crate) fn holds(&self) -> bool {
        let waits_for_calls =
            |running: &Running<'_>| matches!(&running.wait, Some(Wait { what: Awaited::Calls(_), .. }));
        !self.due.is_empty() || self.running.as_ref().is_some_and(|running| !waits_for_calls(running))
    }

    /// When it wants to be asked again, whatever happens.
    pub(crate) fn timer(&self) -> Option<Instant> {
        let wait = self.running.as_ref().and_then(|running| running.wait.as_ref()).map(|wait| wait.patience.end());
        wait.into_iter().chain(self.bound.as_ref().map(|(_, patience)| patience.end())).min()
    }

    /// Takes in an event.
    pub(crate) fn see(&mut self, event: &Event, now: Instant) {
        match event.kind {
            Kind::ModelRequest => self.asked(event),
            Kind::ModelReply => self.replied(event, now),
            // Without cues nothing depends on the wires, and their lines need not be read.
            Kind::ToServer if !self.plan.cues.is_empty() => self.heard(event, now),
            Kind::ToHost if !self.plan.cues.is_empty() => self.answered(event),
            // A turn that ends without its calls will not come to have them in flight.
            Kind::Prompt => self.give_up_calls(),
            Kind::HostExit | Kind::RunEnd => {
                self.due.clear();
                self.running = None;
                self.open.clear();
                self.bound = None;
            }
            _ => {}
        }
    }

    /// What is to be done next. To be asked until there is nothing.
    pub(crate) fn next(&mut self, now: Instant, load: impl Fn() -> Load) -> Option<Direction<'p>> {
        if let Some(direction) = self.let_through().or_else(|| self.overdue(now, &load)) {
            return Some(direction);
        }
        loop {
            if self.running.is_none() {
                let cue = self.due.pop_front()?;
                self.running = Some(Running { cue, next: 0, wait: None });
            }
            let running = self.running.as_mut()?;
            if let Some(wait) = &mut running.wait {
                let come = match &wait.what {
                    Awaited::Calls(number) => self.calls.arrived() >= *number,
                    Awaited::Cancelled(calls) => self.calls.all_cancelled(calls),
                    Awaited::Refresh(server) => self.lists.is_complete(server),
                };
                if !come {
                    if !wait.patience.is_over(now, &load) {
                        return None;
                    }
                    let (step, waited_for) = (running.cue.step, wait.what.as_str());
                    let ms = wait.patience.settle();
                    running.wait = None;
                    return Some(Direction::Quiet { step, waited_for, ms });
                }
                running.wait = None;
            }
            let Some(act) = running.cue.acts.get(running.next) else {
                self.finish();
                continue;
            };
            running.next += 1;
            let step = running.cue.step;
            match act {
                CueAct::Interrupt => return Some(Direction::Interrupt { step }),
                CueAct::Release(release) => {
                    let calls = self.calls.open(release.order);
                    return Some(Direction::Release { step, release, calls });
                }
                CueAct::Change(change) => {
                    self.lists.begin(&change.server.value);
                    let what = Awaited::Refresh(change.server.value.clone());
                    running.wait = Some(Wait { what, patience: Patience::new(now, change.settle) });
                    return Some(Direction::Change { step, change });
                }
                CueAct::AwaitCancelled { settle } => {
                    let what = Awaited::Cancelled(self.calls.open(Order::Forward));
                    running.wait = Some(Wait { what, patience: Patience::new(now, *settle) });
                }
            }
        }
    }

    /// A cue is over. What it let go stays open for the calls of its step that are still to come.
    fn finish(&mut self) {
        let Some(Running { cue, .. }) = self.running.take() else { return };
        let Moment::InFlight { calls, .. } = cue.moment else { return };
        if self.calls.arrived() < calls {
            self.open.extend(cue.acts.iter().filter_map(|act| match act {
                CueAct::Release(release) => Some((cue.step, release)),
                _ => None,
            }));
        }
    }

    /// Lets the replies go to calls that came after their release.
    fn let_through(&mut self) -> Option<Direction<'p>> {
        let (step, release) = *self.open.first()?;
        let calls = self.calls.take_late()?;
        Some(Direction::Release { step, release, calls })
    }

    fn overdue(&mut self, now: Instant, load: &impl Fn() -> Load) -> Option<Direction<'p>> {
        let (_, patience) = self.bound.as_mut()?;
        if !patience.is_over(now, load) {
            return None;
        }
        let (index, patience) = self.bound.take()?;
        Some(Direction::Overdue { index, ms: patience.settle() })
    }

    /// The use of a turn whose result has a bound, where the host was given a limit.
    fn bound(&self, turn: usize, now: Instant) -> Option<(usize, Patience)> {
        let limit = self.plan.scenario.limits.call?.saturating_mul(CALL_LIMITS);
        let has_bound = |&&at: &&usize| self.plan.uses[at].told.as_ref().is_some_and(|told| told.before.is_some());
        let index = self.plan.turns.get(turn)?.uses.iter().find(has_bound)?;
        Some((*index, Patience::new(now, limit)))
    }

    fn asked(&mut self, event: &Event) {
        let Some(turn) = main_turn(event) else { return };
        if self.turn.is_some_and(|last| turn <= last) || is_repeated(event) {
            return;
        }
        self.give_up_calls();
        self.open.clear();
        self.bound = None;
        let of_turn = |cue: &&Cue| cue.turn == turn && cue.moment == Moment::BeforeReply;
        self.due.extend(self.plan.cues.iter().filter(of_turn));
    }

    fn replied(&mut self, event: &Event, now: Instant) {
        let Some(turn) = main_turn(event) else { return };
        if self.turn.is_some_and(|last| turn <= last) {
            return;
        }
        self.turn = Some(turn);
        self.calls.forget();
        self.bound = self.bound(turn, now);
        for cue in self.plan.cues.iter().filter(|cue| cue.turn == turn) {
            if let Moment::InFlight { calls, settle } = cue.moment {
                let wait = Wait { what: Awaited::Calls(calls), patience: Patience::new(now, settle) };
                self.running = Some(Running { cue, next: 0, wait: Some(wait) });
            }
        }
    }

    fn heard(&mut self, event: &Event, now: Instant) {
        let (Some(server), Some(conn), Some(bytes)) = (&event.server, event.conn, event.bytes()) else { return };
        let late = if self.open.is_empty() { Late::No } else { Late::Yes };
        each(rpc::parse(bytes), &mut |message| match message {
            Message::Request { id, method, .. } if method == "tools/call" => {
                self.calls.add(CallKey { server: server.clone(), conn, id }, event.n, late);
                self.calm(|what| matches!(what, Awaited::Calls(_)), now);
            }
            Message::Request { method, params, .. } if method == "tools/list" => {
                let cursor = params.as_ref().and_then(|params| params.get("cursor"));
                self.lists.ask(server, event.n, cursor.is_some());
                self.calm(|what| matches!(what, Awaited::Refresh(of) if of == server), now);
            }
            Message::Notification { method, params } if method == "notifications/cancelled" => {
                if let Some(id) = params.as_ref().and_then(|params| params.get("requestId")) {
                    self.calls.cancel(server, conn, id);
                }
            }
            _ => {}
        });
    }

    fn answered(&mut self, event: &Event) {
        let (Some(cause), Some(bytes)) = (event.cause, event.bytes()) else { return };
        self.calls.answer(cause);
        if self.lists.waits_for(cause)
            && let Message::Result { result, .. } = rpc::parse(bytes)
        {
            self.lists.answer(cause, result.get("nextCursor").is_some());
        }
    }

    /// Something came that shows that more may come: the quiet time begins anew.
    fn calm(&mut self, concerns: impl Fn(&Awaited) -> bool, now: Instant) {
        if let Some(Running { wait: Some(wait), .. }) = &mut self.running
            && concerns(&wait.what)
        {
            wait.patience.renew(now);
        }
    }

    /// Forgets the cue that still waits for its calls.
    fn give_up_calls(&mut self) {
        if !self.holds() {
            self.running = None;
        }
    }
}

fn each(message: Message, take: &mut impl FnMut(Message)) {
    match message {
        Message::Batch(items) => items.into_iter().for_each(|item| each(item, take)),
        other => take(other),
    }
}

/// The turn that a main-line event is about.
fn main_turn(event: &Event) -> Option<usize> {
    let is_main = event.data.get("main").and_then(Json::as_bool) == Some(true);
    let turn = event.data.get("turn").and_then(Json::as_i64)?;
    usize::try_from(turn).ok().filter(|_| is_main)
}

fn is_repeated(event: &Event) -> bool {
    event.data.get("repeated").and_then(Json::as_bool) == Some(true)
}
