//! The scripted servers of a host run, behind the relays that the host started.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::time::{Duration, Instant};

use super::conn::{Conn, Fate, How};
use super::recorder::{Excess, Recorder};
use super::watch::{Marks, Reach, Watched, accepted};
use crate::director::CallKey;
use crate::json::Json;
use crate::plan::Plan;
use crate::server::edit::Edit;
use crate::server::{Act, Server};
use crate::trace::cut::sha256_hex;
use crate::trace::event::Kind;
use crate::wire::channel::{Channel, Wait};
use crate::wire::lines::{Content, End, Line};

/// What is read from one server connection before the others get their turn.
const BUDGET: usize = 4 << 20;

/// Relays that may be about to say hello. They do so at once; a host that only opens sockets must not use up the
/// descriptors of hopcheck, which other runs need as well.
const MAX_NEWCOMERS: usize = 32;

/// Server processes that live at a time. A host has one or two per server, or one per call; each costs four
/// descriptors.
const MAX_CONNS: usize = 48;

/// What may wait in memory during one host run, in bytes: messages that are not complete, answers that are not read.
pub(super) const MAX_HELD: usize = 64 << 20;

/// A planted variable.
#[derive(Clone, Debug)]
struct Canary {
    name: String,
    sha256: String,
}

pub(super) struct Wires {
    listener: UnixListener,
    accepts: bool,
    /// Relays that have not said hello.
    newcomers: Vec<Channel>,
    conns: Vec<Conn>,
    /// One engine for each server of the plan.
    engines: Vec<(String, Server)>,
    canaries: Vec<Canary>,
    timers: BinaryHeap<Reverse<Timer>>,
    buffer: Vec<u8>,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Timer {
    at: Instant,
    conn: usize,
    token: u64,
}

/// Who kills servers at present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Killer {
    Host,
    Harness,
}

impl Killer {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Harness => "harness",
        }
    }
}

/// What a wire gave.
enum Heard {
    Line(Line),
    End,
}

impl Wires {
    pub(super) fn new(plan: &Plan, socket: &Path, canaries: &[(String, String)]) -> io::Result<Self> {
        let listener = UnixListener::bind(socket)?;
        listener.set_nonblocking(true)?;
        let engine = |server: &crate::plan::PlannedServer| {
            let (script, words) = (server.script.clone(), server.words.clone());
            (server.key.clone(), Server::new(&server.key, script, plan.key.revision, words, plan.key.seed))
        };
        let canary =
            |(name, value): &(String, String)| Canary { name: name.clone(), sha256: sha256_hex(value.as_bytes()) };
        Ok(Self {
            listener,
            accepts: false,
            newcomers: Vec::new(),
            conns: Vec::new(),
            engines: plan.servers.iter().map(engine).collect(),
            canaries: canaries.iter().map(canary).collect(),
            timers: BinaryHeap::new(),
            buffer: vec![0; 64 << 10],
        })
    }

    pub(super) fn watch<'f>(&'f self, fds: &mut Watched<'f>) {
        fds.input(&self.listener);
        self.newcomers.iter().for_each(|relay| fds.input(relay));
        self.conns.iter().for_each(|conn| conn.watch(fds));
    }

    pub(super) fn mark(&mut self, marks: &mut Marks) {
        self.accepts = marks.next();
        // Newcomers are few and short-lived; they are always looked at.
        for _ in &self.newcomers {
            marks.next();
        }
        self.conns.iter_mut().for_each(|conn| conn.mark(marks));
    }

    pub(super) fn blocked(&self) -> Vec<BorrowedFd<'_>> {
        self.conns.iter().flat_map(Conn::blocked).collect()
    }

    /// When the next delayed act is due.
    pub(super) fn next_timer(&self) -> Option<Instant> {
        self.timers.peek().map(|Reverse(timer)| timer.at)
    }

    /// Takes in what relays say, without acting on it: it is learnt before the wires are read. Says whether there was
    /// anything.
    ///
    /// # Errors
    /// The machine has no room for another connection.
    pub(super) fn listen(&mut self, reach: Reach) -> io::Result<bool> {
        if self.accepts || reach == Reach::All {
            while let Some((socket, _)) = accepted(self.listener.accept())? {
                // A relay must not be turned away for those that have come and gone before it.
                if self.newcomers.len() == MAX_NEWCOMERS {
                    self.newcomers.retain_mut(|relay| relay.receive(Wait::Never).is_ok() && !relay.is_spent());
                }
                // What comes beyond the limit is closed at once.
                if self.newcomers.len() < MAX_NEWCOMERS {
                    self.newcomers.push(Channel::new(OwnedFd::from(socket)));
                }
            }
        }
        let mut heard = false;
        for conn in &mut self.conns {
            heard |= conn.listen(reach);
        }
        Ok(heard)
    }

    /// Bytes of lines that are not complete.
    pub(super) fn unfinished(&self) -> usize {
        self.conns.iter().map(Conn::unfinished).sum()
    }

    /// Bytes that the host does not read.
    fn unread(&self) -> usize {
        self.conns.iter().map(Conn::unread).sum()
    }

    /// Reads the wires, records what the host wrote, and lets the servers answer. All is read before anything is
    /// answered, so nothing that is read here can be a reaction to an answer given here.
    pub(super) fn drain(&mut self, reach: Reach, rec: &mut Recorder) {
        self.welcome(rec);
        let mut heard = Vec::new();
        let mut lines = Vec::new();
        for (at, conn) in self.conns.iter_mut().enumerate() {
            let mut read = 0;
            while read < BUDGET && conn.is_readable(reach) {
                let got = conn.read(&mut self.buffer, &mut lines);
                heard.extend(lines.drain(..).map(|line| (at, Heard::Line(line))));
                match got {
                    Some(0) => {
                        heard.extend(conn.finish_input().map(|line| (at, Heard::Line(line))));
                        heard.push((at, Heard::End));
                    }
                    Some(got) => read += got,
                    None => break,
                }
            }
        }
        for (at, heard) in heard {
            match heard {
                // The run is over; a single read can hold more than all that a trace should.
                Heard::Line(_) if rec.excess().is_some() => {}
                // Nor what asks for more while so much waits to be read. A script may send more than that at once.
                Heard::Line(_) if self.unread() > MAX_HELD => rec.exceed(Excess::Unread),
                Heard::Line(line) => self.line(at, line, rec),
                Heard::End => self.eof(at, rec),
            }
        }
    }

    /// Acts on what relays said, after all that was written before has been read.
    ///
    /// A relay that ends without being told was killed by the host; once hopcheck kills, all were killed by it.
    pub(super) fn settle(&mut self, killer: Killer, rec: &mut Recorder) {
        for at in 0..self.conns.len() {
            while let Some(name) = self.conns[at].next_signal() {
                let conn = &self.conns[at];
                rec.record(conn.draft(Kind::ServerSignal).fact("signal", name.as_str()));
                let acts = self.engines[conn.server].1.signal(conn.number, &name);
                self.perform(at, acts, rec);
            }
            if self.conns[at].relay_ended() {
                let conn = &mut self.conns[at];
                let ended = match (std::mem::replace(&mut conn.fate, Fate::Gone), killer) {
                    (Fate::Dead, _) => None,
                    (Fate::Told(how), Killer::Host) => Some((how, "script")),
                    // Every signal that can be caught is reported, so this was one that cannot.
                    (_, killer) => Some((How::Signal("SIGKILL".to_owned()), killer.as_str())),
                };
                conn.close();
                if let Some((how, by)) = ended {
                    rec.record(how.add_to(conn.draft(Kind::ServerExit)).fact("by", by));
                }
                self.engines[conn.server].1.closed(conn.number);
            }
        }
    }

    /// Writes what could not be written before.
    pub(super) fn pump(&mut self, rec: &mut Recorder) {
        self.conns.iter_mut().for_each(|conn| conn.pump(rec));
    }

    /// Carries out the delayed acts that are due.
    pub(super) fn fire_timers(&mut self, rec: &mut Recorder) {
        let now = Instant::now();
        while self.timers.peek().is_some_and(|Reverse(timer)| timer.at <= now) {
            let Some(Reverse(timer)) = self.timers.pop() else { return };
            let conn = &self.conns[timer.conn];
            let acts = self.engines[conn.server].1.timer(conn.number, timer.token);
            self.perform(timer.conn, acts, rec);
        }
    }

    /// Lets the replies go that are held under a name: those to these calls, in this order, then all others.
    pub(super) fn release(&mut self, name: &str, calls: &[CallKey], rec: &mut Recorder) {
        for call in calls {
            let Some(server) = self.server(&call.server) else { continue };
            let acts = self.engines[server].1.release_one(name, call.conn, &call.id);
            self.perform_on(acts.into_iter().map(|act| (call.conn, act)), rec);
        }
        for server in 0..self.engines.len() {
            let acts = self.engines[server].1.release(name);
            self.perform_on(acts, rec);
        }
    }

    /// The tools of a server change, and so many notifications say so.
    pub(super) fn change(&mut self, server: &str, edit: &Edit, announcements: u32, rec: &mut Recorder) {
        if let Some(server) = self.server(server) {
            let acts = self.engines[server].1.change(edit, announcements);
            self.perform_on(acts, rec);
        }
    }

    fn server(&self, key: &str) -> Option<usize> {
        self.engines.iter().position(|(known, _)| known == key)
    }

    /// Carries out acts, each on the connection of its number.
    fn perform_on(&mut self, acts: impl IntoIterator<Item = (u32, Act)>, rec: &mut Recorder) {
        for (number, act) in acts {
            if let Some(at) = self.conns.iter().position(|conn| conn.number == number) {
                self.perform(at, vec![act], rec);
            }
        }
    }

    /// Whether some server has ended by its own while its process is still there for the host to see.
    pub(super) fn is_someone_dying(&self) -> bool {
        self.conns.iter().any(|conn| conn.fate == Fate::Dead)
    }

    /// Whether every server that was told to end has ended. The others stay, since their script says so.
    pub(super) fn at_rest(&self) -> bool {
        self.newcomers.is_empty() && self.conns.iter().all(|conn| matches!(conn.fate, Fate::Alive | Fate::Gone))
    }

    /// Makes servers of the relays that said hello.
    fn welcome(&mut self, rec: &mut Recorder) {
        let mut at = 0;
        while at < self.newcomers.len() {
            let relay = &mut self.newcomers[at];
            let broken = relay.receive(Wait::Never).is_err();
            match relay.take() {
                Some(message) => {
                    let relay = self.newcomers.remove(at);
                    self.admit(&message, relay, rec);
                }
                None if broken || relay.ended() => drop(self.newcomers.remove(at)),
                None => at += 1,
            }
        }
    }

    fn admit(&mut self, message: &Json, mut relay: Channel, rec: &mut Recorder) {
        let Some(hello) = message.get("hello") else { return };
        let key = hello.str("server").unwrap_or_default();
        // A relay that names no server of this run is dropped, and ends when its socket does.
        let Some(server) = self.server(key) else { return };
        let (Some(input), Some(output), Some(errors)) = (relay.take_fd(), relay.take_fd(), relay.take_fd()) else {
            return;
        };
        if self.conns.iter().filter(|conn| conn.fate != Fate::Gone).count() >= MAX_CONNS {
            return rec.exceed(Excess::Servers);
        }
        let number = u32::try_from(self.conns.len() + 1).unwrap_or(u32::MAX);
        let conn = Conn::new(server, key, number, relay, [input, output, errors]);
        let arrived = self.canaries.iter().filter(|canary| {
            hello.at(&["canaries", &canary.name]).and_then(Json::as_str) == Some(canary.sha256.as_str())
        });
        let arrived = Json::array(arrived.map(|canary| canary.name.as_str()));
        let mut draft = conn.draft(Kind::ServerStart);
        for name in ["argv", "cwd", "env"] {
            draft = draft.fact(name, hello.get(name).cloned().unwrap_or(Json::Null));
        }
        draft = draft.fact("canaries", arrived);
        for name in ["pid", "ppid"] {
            draft = draft.fact(name, hello.get(name).cloned().unwrap_or(Json::Null));
        }
        rec.record(draft);
        self.conns.push(conn);
        let acts = self.engines[server].1.open(number);
        self.perform(self.conns.len() - 1, acts, rec);
    }

    fn line(&mut self, at: usize, line: Line, rec: &mut Recorder) {
        let conn = &mut self.conns[at];
        let draft = conn.draft(Kind::ToServer).fact("end", line.end.as_str());
        let bytes = match line.content {
            Content::Whole(bytes) => bytes,
            Content::TooLong(payload) => {
                rec.record(draft.payload(payload));
                return;
            }
        };
        // A line that was cut short by the end of the stream is no message.
        let acts = match line.end {
            End::Eof => Vec::new(),
            End::Lf | End::CrLf => self.engines[conn.server].1.line(conn.number, &bytes),
        };
        let ids = request_ids(&bytes);
        let n = rec.record(draft.bytes(bytes));
        conn.requests.extend(ids.into_iter().map(|id| (id, n)));
        self.perform(at, acts, rec);
    }

    fn eof(&mut self, at: usize, rec: &mut Recorder) {
        let conn = &self.conns[at];
        rec.record(conn.draft(Kind::WireEof));
        let acts = self.engines[conn.server].1.eof(conn.number);
        self.perform(at, acts, rec);
    }

    fn perform(&mut self, at: usize, acts: Vec<Act>, rec: &mut Recorder) {
        for act in acts {
            if let Act::Timer { token, after_ms } = act {
                let due = Instant::now() + Duration::from_millis(after_ms.into());
                self.timers.push(Reverse(Timer { at: due, conn: at, token }));
            } else {
                self.conns[at].perform(act, rec);
            }
        }
        self.conns[at].pump(rec);
    }
}

/// The ids of the requests in a line, as they are written.
fn request_ids(line: &[u8]) -> Vec<String> {
    let Ok(json) = Json::parse(line) else { return Vec::new() };
    let id = |message: &Json| message.get("method").and(message.get("id")).map(Json::to_string);
    match &json {
        Json::Array(batch) => batch.iter().filter_map(id).collect(),
        message => id(message).into_iter().collect(),
    }
}
