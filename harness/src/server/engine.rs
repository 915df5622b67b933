//! One scripted server over all its connections: the events that reach it and the acts that it answers with.

use std::collections::{BTreeMap, VecDeque};

use super::act::{Act, Cause, Work};
use super::conn::{Conn, Output, Stage};
use super::dispatch::side_acts;
use super::edit::Edit;
use super::offer::Offer;
use super::reply;
use super::rules::{Event, Rules};
use super::script::{Action, On, Script, Tool};
use super::subscription;
use crate::json::Json;
use crate::revision::{Era, Revision};

/// One configured server over all its connections within one host run.
///
/// It does no input or output and reads no clock: the caller tells it what happened and carries out the acts, in order.
/// It speaks exactly one revision, whatever the host asks for.
#[derive(Clone, Debug)]
pub struct Server {
    pub(super) offer: Offer,
    pub(super) rules: Rules,
    pub(super) conns: BTreeMap<u32, Conn>,
    /// Processes so far: which generation the next one is of.
    opened: u32,
    /// The changes from outside so far.
    changes: Vec<Edit>,
    held: Vec<Held>,
    timers: BTreeMap<u64, (u32, VecDeque<Work>)>,
    next_token: u64,
}

/// A reply that waits for its name to be released.
#[derive(Clone, Debug)]
struct Held {
    name: String,
    conn: u32,
    to: Json,
    work: VecDeque<Work>,
}

impl Server {
    /// A server that nobody is connected to yet.
    ///
    /// `key` is its name in the host's configuration, `words` are registered tool names with the word that is appended
    /// to the description as ` [hc:WORD]`, and markers are derived from `seed`.
    #[must_use]
    pub fn new(key: &str, script: Script, revision: Revision, words: Vec<(String, String)>, seed: u64) -> Self {
        Self {
            rules: Rules::new(script.on.clone()),
            offer: Offer { key: key.to_owned(), script, revision, words, seed },
            conns: BTreeMap::new(),
            opened: 0,
            changes: Vec::new(),
            held: Vec::new(),
            timers: BTreeMap::new(),
            next_token: 1,
        }
    }

    /// A server process was started, or a connection opened where there is no process.
    pub fn open(&mut self, conn: u32) -> Vec<Act> {
        self.forget(conn);
        self.connect(conn);
        let work = self.happen(conn, Event::bare(On::Spawn));
        self.perform(conn, work)
    }

    /// One line from the host, without its end.
    pub fn line(&mut self, conn: u32, line: &[u8]) -> Vec<Act> {
        if self.conn(conn).output == Output::Gone {
            return Vec::new();
        }
        let work = self.read(conn, line);
        self.perform(conn, work)
    }

    /// The host closed the server's standard input: the process exits with 0, unless the script says otherwise.
    pub fn eof(&mut self, conn: u32) -> Vec<Act> {
        self.end(conn, On::Eof, Act::Exit(0))
    }

    /// The host sent a signal, named like `SIGTERM`: the process dies of it, unless the script says otherwise.
    pub fn signal(&mut self, conn: u32, name: &str) -> Vec<Act> {
        self.end(conn, On::Signal, Act::Kill(name.to_owned()))
    }

    /// The connection is gone. Rules for this event are counted, but nothing can be written any more.
    pub fn closed(&mut self, conn: u32) {
        if self.conn(conn).output != Output::Gone {
            self.forget(conn);
        }
        self.rules.fire(conn, Event::bare(On::Closed));
        self.conn(conn).output = Output::Gone;
    }

    /// Continues after [`Act::Timer`]. A token that is unknown or was spent gives nothing.
    pub fn timer(&mut self, conn: u32, token: u64) -> Vec<Act> {
        match self.timers.remove(&token) {
            Some((owner, work)) if owner == conn => self.perform(conn, work),
            _ => Vec::new(),
        }
    }

    /// Lets the replies go that are held under a name, in the order in which they were held, over all connections.
    /// Nothing is remembered for replies that are held later.
    pub fn release(&mut self, name: &str) -> Vec<(u32, Act)> {
        let mut acts = Vec::new();
        for held in self.take_held(|held| held.name == name) {
            let done = self.perform(held.conn, held.work);
            acts.extend(done.into_iter().map(|act| (held.conn, act)));
        }
        acts
    }

    /// Lets one reply go that is held under a name: the one to this request.
    pub fn release_one(&mut self, name: &str, conn: u32, id: &Json) -> Vec<Act> {
        let mut acts = Vec::new();
        let is_it = |held: &Held| held.name == name && held.conn == conn && crate::rpc::same_id(&held.to, id);
        for held in self.take_held(is_it) {
            acts.extend(self.perform(held.conn, held.work));
        }
        acts
    }

    /// The tools change from outside, on the connections that are open and on those to come, and so many notifications
    /// say so on each connection that may carry them. A modern server has nobody to tell where nobody listens.
    pub fn change(&mut self, edit: &Edit, announcements: u32) -> Vec<(u32, Act)> {
        self.changes.push(edit.clone());
        let mut acts = Vec::new();
        let numbers: Vec<u32> = self.conns.keys().copied().collect();
        for at in numbers {
            let conn = self.conn(at);
            edit.apply(&mut conn.tools);
            if conn.stage < Stage::Connected || conn.output != Output::Open {
                continue;
            }
            for _ in 0..announcements {
                let mut told = Vec::new();
                self.notify(at, subscription::TOOLS_CHANGED, None, &mut told);
                acts.extend(told.into_iter().map(|act| (at, act)));
            }
        }
        acts
    }

    /// The connection; one that was never opened is taken as just opened.
    pub(super) fn conn(&mut self, at: u32) -> &mut Conn {
        if !self.conns.contains_key(&at) {
            self.connect(at);
        }
        self.conns.entry(at).or_default()
    }

    /// A connection of the next process.
    fn connect(&mut self, at: u32) {
        self.opened += 1;
        let tools = self.tools_of(self.opened);
        self.conns.insert(at, Conn::new(tools));
    }

    /// What a process offers: the tools of the script, what its generation makes of them, and all changes so far.
    fn tools_of(&self, process: u32) -> Vec<Tool> {
        let script = &self.offer.script;
        let mut tools = script.tools.clone();
        let grown = script.generations.iter().filter(|generation| generation.from <= process);
        grown.map(|generation| &generation.edit).chain(&self.changes).for_each(|edit| edit.apply(&mut tools));
        tools
    }

    /// The host gave up on a request: what would answer it is dropped, held or delayed, and a subscription ends
    /// (`basic/utilities/cancellation#behavior-requirements`; 2026-07-28: `basic/patterns/cancellation`).
    pub(super) fn cancel(&mut self, at: u32, id: &Json) {
        self.take_held(|held| held.conn == at && crate::rpc::same_id(&held.to, id));
        for (_, work) in self.timers.values_mut().filter(|(owner, _)| *owner == at) {
            work.retain(|work| !work.answers(id));
        }
        self.unlisten(at, id);
    }

    fn unlisten(&mut self, at: u32, id: &Json) {
        self.conn(at).subscriptions.retain(|subscription| !crate::rpc::same_id(&subscription.id, id));
    }

    /// An event that ends the process by default.
    fn end(&mut self, at: u32, on: On, default: Act) -> Vec<Act> {
        if self.conn(at).output == Output::Gone {
            return Vec::new();
        }
        let actions = self.rules.fire(at, Event::bare(on));
        let stays = actions.iter().any(|action| matches!(action, Action::Ignore | Action::Silence));
        let mut work = side_acts(actions);
        if !stays {
            // After an exit of the script this one is not reached.
            work.push_back(Work::Do(default));
        }
        self.perform(at, work)
    }

    /// Carries out work up to its first wait.
    fn perform(&mut self, at: u32, mut work: VecDeque<Work>) -> Vec<Act> {
        let mut acts = Vec::new();
        while let Some(next) = work.pop_front() {
            if self.conn(at).output == Output::Gone {
                break;
            }
            match next {
                Work::Wait(after_ms) if !work.is_empty() => {
                    acts.push(self.postpone(at, after_ms, work));
                    break;
                }
                Work::Wait(_) => {}
                Work::Apart(rest) => acts.extend(self.perform(at, rest)),
                Work::Do(act) => self.act(at, act, &mut acts),
                Work::Answer { to, message } => self.send(at, &message, Cause::Request { id: to }, &mut acts),
                Work::Complain { message } => self.send(at, &message, Cause::Other, &mut acts),
                Work::Notify { method, params } => self.notify(at, &method, params, &mut acts),
                Work::Ask { method, params } => {
                    let id = self.conn(at).ask(&method);
                    self.send(at, &reply::call(Some(id), &method, params), Cause::Other, &mut acts);
                }
                Work::Listen(subscription) => {
                    let params = subscription.acknowledgement();
                    self.unlisten(at, &subscription.id);
                    self.conn(at).subscriptions.push(subscription);
                    let message = reply::call(None, subscription::ACKNOWLEDGED, Some(params));
                    self.send(at, &message, Cause::Other, &mut acts);
                }
                Work::Unlisten { id } => self.unlisten(at, &id),
                Work::Hold { name, to, work } => self.held.push(Held { name, conn: at, to, work }),
                Work::Release(name) => {
                    // What a script lets go on one connection cannot be written from the acts of another.
                    let released = self.take_held(|held| held.conn == at && held.name == name);
                    for held in released.into_iter().rev() {
                        held.work.into_iter().rev().for_each(|held| work.push_front(held));
                    }
                }
            }
        }
        acts
    }

    fn act(&mut self, at: u32, act: Act, acts: &mut Vec<Act>) {
        let conn = self.conn(at);
        match &act {
            Act::Exit(_) | Act::Kill(_) => {
                conn.output = Output::Gone;
                self.forget(at);
            }
            Act::CloseStdout => conn.output = Output::Closed,
            Act::Raw(_) | Act::Send { .. } if conn.output == Output::Closed => return,
            _ => {}
        }
        acts.push(act);
    }

    fn send(&mut self, at: u32, message: &Json, cause: Cause, acts: &mut Vec<Act>) {
        self.act(at, Act::Send { line: message.to_bytes(), cause }, acts);
    }

    /// A notification. A modern server sends a change only where it was asked for, once per subscription and tagged
    /// (`basic/patterns/subscriptions#receiving-notifications`); everything else goes out as the script has it.
    fn notify(&mut self, at: u32, method: &str, params: Option<Json>, acts: &mut Vec<Act>) {
        if self.offer.revision.era() == Era::Legacy || !subscription::is_change(method) {
            return self.send(at, &reply::call(None, method, params), Cause::Other, acts);
        }
        let wanted = |subscription: &&subscription::Subscription| subscription.wants(method, params.as_ref());
        let tag = |subscription: &subscription::Subscription| subscription.tag(params.as_ref());
        let tagged: Vec<Json> = self.conn(at).subscriptions.iter().filter(wanted).map(tag).collect();
        for params in tagged {
            self.send(at, &reply::call(None, method, Some(params)), Cause::Other, acts);
        }
    }

    fn postpone(&mut self, at: u32, after_ms: u32, work: VecDeque<Work>) -> Act {
        let token = self.next_token;
        self.next_token += 1;
        self.timers.insert(token, (at, work));
        Act::Timer { token, after_ms }
    }

    fn take_held(&mut self, which: impl Fn(&Held) -> bool) -> Vec<Held> {
        self.held.extract_if(.., |held| which(held)).collect()
    }

    /// Drops what a connection still had in hand.
    fn forget(&mut self, at: u32) {
        self.held.retain(|held| held.conn != at);
        self.timers.retain(|_, (owner, _)| *owner != at);
    }
}
