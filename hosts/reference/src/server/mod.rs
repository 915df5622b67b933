//! One configured server: its connection, in whichever era it speaks, and the list of its tools.
//!
//! A server is driven by events and never waits. Trouble stays inside: a server that fails takes nothing away from the others.

mod incoming;
mod listing;
mod opening;

use std::time::{Duration, Instant};

use serde_json::value::RawValue;

use crate::config::{Limits, Protocol, ServerConfig};
use crate::fault::{Fault, Lies};
use crate::legacy::Offers;
use crate::list::Listing;
use crate::modern;
use crate::process::{self, Process};
use crate::reactor::{Framing, Reactor, Token};
use crate::rpc::{self, RpcError};
use crate::server::listing::Walk;
use crate::tool::Tool;

/// The longest wait for the answer to a probe. A legacy server may stay silent, and the handshake must still fit into the time to start.
const LONGEST_PROBE: Duration = Duration::from_secs(3);

/// The longest wait for a server that does not read the answers it asked for.
const LONGEST_REPLY: Duration = Duration::from_secs(2);

/// An answer to a request that the server itself does not wait for.
pub(crate) struct Answer {
    pub(crate) id: u64,
    pub(crate) outcome: Result<Box<RawValue>, RpcError>,
}

enum State {
    Idle,
    /// The probe is out. The second attempt follows an error that names a revision in common.
    Probing {
        id: u64,
        attempt: u8,
    },
    /// The handshake is out.
    Initializing {
        id: u64,
    },
    Ready,
    /// There is no connection, and why.
    Failed(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Era {
    Unknown,
    Legacy,
    Modern,
}

/// How a connection is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Opening {
    Probe,
    Handshake,
}

/// A configured server.
pub(crate) struct Server {
    /// The key in the config file.
    pub(crate) name: String,
    /// What it lists, as far as a model can use it.
    pub(crate) tools: Vec<Tool>,
    /// Goes up whenever `tools` is replaced.
    pub(crate) list_version: u64,
    config: ServerConfig,
    index: usize,
    protocol: Protocol,
    limits: Limits,
    lies: Lies,
    process: Option<Process>,
    state: State,
    era: Era,
    offers: Offers,
    /// Ids go on over restarts, so each is used once in the whole run.
    next_id: u64,
    /// The end of the phase that is awaited.
    until: Instant,
    /// The end of the start.
    start_by: Instant,
    listing: Option<Listing>,
    /// Whether any list has been completed or given up: from then on a lost connection is opened again.
    listed: bool,
    /// The open subscription of a modern server.
    subscription: Option<u64>,
    /// The list has changed since it was last asked for.
    changed: bool,
    /// A change was followed at once since the last model request; the next one waits, so that no server can keep the host busy.
    followed: bool,
    /// When the list is too old to be used again.
    stale_at: Option<Instant>,
    /// The last call, for the lie about answered ones.
    last_call: Option<u64>,
    /// Lists that are still to be read, for the lie about announcements.
    owed: u32,
}

impl Server {
    /// A server that has not been started.
    pub(crate) fn new(index: usize, config: ServerConfig, protocol: Protocol, limits: Limits, lies: Lies) -> Self {
        let now = Instant::now();
        Self {
            name: config.name.clone(),
            tools: Vec::new(),
            list_version: 0,
            config,
            index,
            protocol,
            limits,
            lies,
            process: None,
            state: State::Idle,
            era: Era::Unknown,
            offers: Offers { tools: false, list_changed: false },
            next_id: 1,
            until: now,
            start_by: now,
            listing: None,
            listed: false,
            subscription: None,
            changed: false,
            followed: false,
            stale_at: None,
            last_call: None,
            owed: 0,
        }
    }

    /// Starts the process and opens the connection.
    pub(crate) fn start(&mut self, reactor: &mut Reactor) {
        let opening = if self.protocol == Protocol::Legacy { Opening::Handshake } else { Opening::Probe };
        self.start_with(reactor, opening);
    }

    /// Ends what is left of a lost connection and opens a new one, from the beginning.
    pub(crate) fn restart(&mut self, reactor: &mut Reactor) {
        self.retire(reactor);
        self.start(reactor);
    }

    /// Opens a new connection and takes it for ready, without a word.
    pub(crate) fn restart_silently(&mut self, reactor: &mut Reactor) {
        self.retire(reactor);
        if self.spawn(reactor) {
            self.state = State::Ready;
        }
    }

    /// The process, for the end of the run.
    pub(crate) fn take_process(&mut self) -> Option<(usize, Process)> {
        if let Some(id) = self.subscription.take() {
            self.cancel(id, "the host is shutting down");
        }
        self.state = State::Failed("has been stopped".to_owned());
        self.process.take().map(|process| (self.index, process))
    }

    /// Whether the connection is being opened or the list is being fetched.
    pub(crate) fn is_busy(&self) -> bool {
        matches!(self.state, State::Probing { .. } | State::Initializing { .. }) || self.listing.is_some()
    }

    /// Whether requests can be sent.
    pub(crate) fn is_ready(&self) -> bool {
        matches!(self.state, State::Ready)
    }

    /// Whether a lost connection is worth another start: it had once been good enough to offer tools.
    pub(crate) fn is_lost(&mut self) -> bool {
        if self.is_ready() && self.process.as_mut().is_some_and(Process::has_ended) {
            self.fail("exited");
        }
        matches!(self.state, State::Failed(_)) && self.listed && !self.lies.tell(Fault::NeverRestart)
    }

    /// Why there is no connection.
    pub(crate) fn reason(&self) -> &str {
        match &self.state {
            State::Failed(reason) => reason,
            State::Idle => "has not been started",
            State::Probing { .. } | State::Initializing { .. } | State::Ready => "is connected",
        }
    }

    /// When [`Server::on_time`] has something to do.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        match (&self.state, &self.listing) {
            (State::Probing { .. } | State::Initializing { .. }, _) => Some(self.until),
            (_, Some(listing)) => Some(listing.until),
            (_, None) => None,
        }
    }

    /// Gives up what has taken too long.
    pub(crate) fn on_time(&mut self, now: Instant) {
        if self.deadline().is_none_or(|deadline| now < deadline) {
            return;
        }
        match self.state {
            // Silence on the probe means a legacy server.
            State::Probing { .. } if self.protocol == Protocol::Auto => self.initialize(),
            State::Probing { .. } => self.fail("did not answer server/discover in time"),
            State::Initializing { id } => {
                // The handshake is the one request that must not be cancelled.
                if self.lies.tell(Fault::CancelInitialize) {
                    self.cancel(id, "the handshake took too long");
                }
                self.fail("did not answer initialize in time");
            }
            State::Idle | State::Ready | State::Failed(_) => {
                if let Some(listing) = &self.listing {
                    self.cancel(listing.id, "the list took too long");
                    self.finish_list(Walk::Broken);
                }
            }
        }
    }

    /// The server has closed its output.
    pub(crate) fn on_closed(&mut self, reactor: &mut Reactor) {
        if matches!(self.state, State::Probing { .. }) && self.protocol == Protocol::Auto {
            // Some legacy servers leave at the first message that they do not know. They get the one that they do know.
            self.retire(reactor);
            self.start_with(reactor, Opening::Handshake);
        } else {
            self.fail("closed the connection");
        }
    }

    /// Asks for the list again if it has changed or grown old. To be called before each model request.
    pub(crate) fn refresh(&mut self, now: Instant) {
        self.followed = false;
        let stale = self.stale_at.is_some_and(|stale_at| now >= stale_at);
        if self.is_ready() && self.listing.is_none() && (self.changed || stale) {
            self.changed = false;
            self.followed = true;
            self.list();
        }
    }

    /// Sends a `tools/call`, and returns its id.
    pub(crate) fn call(&mut self, params: &str, use_id: &str) -> Option<u64> {
        let meta = format!("\"hopcheck.reference/toolUseId\":{}", crate::json::quote(use_id));
        let params = self.params(params, &meta);
        let deadline = Instant::now() + self.limits.call;
        let id = self.take_id();
        let id = if self.lies.tell(Fault::ReuseRequestId) { 1 } else { id };
        self.last_call = Some(id);
        self.send(&rpc::request(id, "tools/call", params.as_deref()), deadline).then_some(id)
    }

    /// The lie about answered calls: the last call is cancelled, which has its answer.
    pub(crate) fn cancel_last_call(&mut self) {
        if let Some(id) = self.last_call {
            self.cancel(id, "no longer needed");
        }
    }

    /// Tells the server that nobody waits for a request any more.
    pub(crate) fn cancel(&mut self, id: u64, reason: &str) {
        if self.lies.tell(Fault::GiveUpSilently) {
            return;
        }
        let id = if self.lies.tell(Fault::CancelWrongId) { id + 1000 } else { id };
        let params = format!("{{\"requestId\":{id},\"reason\":{}}}", crate::json::quote(reason));
        self.send(&rpc::notification("notifications/cancelled", Some(&params)), Instant::now() + LONGEST_REPLY);
    }

    fn start_with(&mut self, reactor: &mut Reactor, opening: Opening) {
        self.era = Era::Unknown;
        self.start_by = Instant::now() + self.limits.start;
        if self.spawn(reactor) {
            match opening {
                Opening::Probe => self.probe(1),
                Opening::Handshake => self.initialize(),
            }
        }
    }

    fn spawn(&mut self, reactor: &mut Reactor) -> bool {
        match Process::spawn(&self.config) {
            Ok((process, stdout)) => {
                reactor.add(Token::Server(self.index), stdout, Framing::Lines);
                self.process = Some(process);
                true
            }
            Err(error) => {
                self.fail(&format!("cannot be started: {error}"));
                false
            }
        }
    }

    fn retire(&mut self, reactor: &mut Reactor) {
        self.listing = None;
        self.subscription = None;
        if let Some(process) = self.process.take() {
            process::stop(reactor, vec![(self.index, process)], self.lies);
        }
        reactor.remove(Token::Server(self.index));
    }

    fn fail(&mut self, reason: &str) {
        if matches!(self.state, State::Failed(_)) {
            return;
        }
        if !self.lies.tell(Fault::SilentFailure) {
            crate::note(&format!("server {}: {reason}", self.name));
        }
        self.state = State::Failed(reason.to_owned());
        self.listing = None;
        self.subscription = None;
        if let Some(process) = &mut self.process {
            process.close_stdin();
        }
    }

    fn take_id(&mut self) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        id
    }

    /// The params of a request: its own members, and `_meta` as the era wants it.
    fn params(&self, members: &str, meta: &str) -> Option<String> {
        let modern = if self.era == Era::Modern { modern::meta_members(self.lies) } else { String::new() };
        let comma = if modern.is_empty() || meta.is_empty() { "" } else { "," };
        let meta = match format!("{modern}{comma}{meta}") {
            none if none.is_empty() => None,
            some => Some(format!("\"_meta\":{{{some}}}")),
        };
        match (members, meta) {
            ("", None) => None,
            ("", Some(meta)) => Some(format!("{{{meta}}}")),
            (members, None) => Some(format!("{{{members}}}")),
            (members, Some(meta)) => Some(format!("{{{members},{meta}}}")),
        }
    }

    fn send(&mut self, line: &str, deadline: Instant) -> bool {
        let line = self.lies.bend_line(line);
        let written = match &mut self.process {
            Some(process) => process.write(line.as_bytes(), deadline),
            None => return false,
        };
        match written {
            Ok(()) => true,
            // A server that leaves before it has heard anything may still want a handshake; the end of its output decides.
            Err(_) if matches!(self.state, State::Probing { .. }) && self.protocol == Protocol::Auto => false,
            Err(error) => {
                self.fail(&format!("does not read its input: {error}"));
                false
            }
        }
    }
}
