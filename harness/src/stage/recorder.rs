//! Facts become numbered events, in the order in which the loop learns of them.

use std::io;
use std::time::Instant;

use crate::json::Json;
use crate::trace::event::{Event, Kind, Lane, Payload};
use crate::trace::file::Writer;
use crate::trace::redact::Redactor;

/// What one host run may add to a trace, in bytes: a hundred times what long conversations with real hosts have added. A
/// host that writes more floods us and is stopped, since everything is kept in memory until it is judged, and judging
/// takes several times as much.
const FLOOD: usize = 8 << 20;

/// How many messages one host run may exchange. Checks compare messages with one another, so that a host that asks the
/// same thing again and again would keep them busy for hours; a conversation has some hundreds.
const FLOOD_MESSAGES: usize = 10_000;

/// How many JSON values the messages of one host run may hold, as their separators tell. Each costs whoever reads them
/// some forty times what it may cost in the text.
const FLOOD_VALUES: usize = 1 << 19;

/// What an event costs beside its payload.
const EVENT_SIZE: usize = 256;

/// What a host run had too much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Excess {
    /// Recorded bytes.
    Bytes,
    /// Recorded messages.
    Messages,
    /// JSON values in them.
    Values,
    /// Bytes of one message, which could not be read by a check any more.
    Message,
    /// Server processes at a time.
    Servers,
    /// Bytes of messages that do not come to their end.
    Unfinished,
    /// Bytes of answers that it does not read.
    Unread,
}

impl Excess {
    /// Its words in a trace.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::Messages => "messages",
            Self::Values => "values",
            Self::Message => "bytes in one message",
            Self::Servers => "server processes",
            Self::Unfinished => "bytes in unfinished messages",
            Self::Unread => "bytes in unread answers",
        }
    }
}

/// An event before it has a number and a time.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    kind: Kind,
    server: Option<String>,
    conn: Option<u32>,
    step: Option<u32>,
    cause: Option<u32>,
    payload: Option<Payload>,
    data: Json,
}

impl Draft {
    pub(super) const fn new(kind: Kind) -> Self {
        Self { kind, server: None, conn: None, step: None, cause: None, payload: None, data: Json::Null }
    }

    pub(super) fn server(mut self, key: &str, conn: u32) -> Self {
        self.server = Some(key.to_owned());
        self.conn = Some(conn);
        self
    }

    /// About a server, and none of its connections.
    pub(super) fn of_server(mut self, key: &str) -> Self {
        self.server = Some(key.to_owned());
        self
    }

    pub(super) fn step(mut self, step: Option<usize>) -> Self {
        self.step = step.and_then(|step| u32::try_from(step).ok());
        self
    }

    pub(super) const fn cause(mut self, cause: Option<u32>) -> Self {
        self.cause = cause;
        self
    }

    pub(super) fn bytes(self, bytes: impl Into<Vec<u8>>) -> Self {
        self.payload(Payload::Whole(bytes.into()))
    }

    pub(super) fn payload(mut self, payload: Payload) -> Self {
        self.payload = Some(payload);
        self
    }

    pub(super) fn data(mut self, data: Json) -> Self {
        self.data = data;
        self
    }

    pub(super) fn fact(mut self, name: &str, value: impl Into<Json>) -> Self {
        if self.data == Json::Null {
            self.data = Json::empty();
        }
        self.data.set(name, value);
        self
    }
}

/// Writes the trace of one plan.
#[derive(Debug)]
pub(super) struct Recorder {
    writer: Writer,
    began: Instant,
    run: u32,
    tick: u32,
    /// Whether the present tick has an event.
    used: bool,
    size: usize,
    messages: usize,
    values: usize,
    excess: Option<Excess>,
    redactor: Redactor,
    failed: Option<io::Error>,
}

impl Recorder {
    pub(super) fn new(writer: Writer) -> Self {
        Self {
            writer,
            began: Instant::now(),
            run: 0,
            tick: 1,
            used: false,
            size: 0,
            messages: 0,
            values: 0,
            excess: None,
            redactor: Redactor::default(),
            failed: None,
        }
    }

    /// The next host run begins.
    pub(super) fn begin_run(&mut self) -> u32 {
        self.run += 1;
        self.size = 0;
        self.messages = 0;
        self.values = 0;
        self.excess = None;
        self.next_tick();
        self.run
    }

    pub(super) fn set_redactor(&mut self, redactor: Redactor) {
        self.redactor = redactor;
    }

    /// What is recorded from now on was learnt later than all before.
    pub(super) fn next_tick(&mut self) {
        if self.used {
            self.tick += 1;
            self.used = false;
        }
    }

    /// Records an event and gives its number.
    pub(super) fn record(&mut self, draft: Draft) -> u32 {
        let n = self.writer.next_number();
        let payload = match draft.payload {
            Some(Payload::Whole(bytes)) => Some(Payload::of(self.redactor.redact(&bytes).unwrap_or(bytes))),
            Some(Payload::Cut { head, len, sha256 }) => {
                Some(Payload::Cut { head: self.redactor.redact(&head).unwrap_or(head), len, sha256 })
            }
            None => None,
        };
        let mut data = draft.data;
        self.redactor.redact_json(&mut data);
        if let Some(payload) = &payload {
            if matches!(payload, Payload::Cut { .. }) && matches!(draft.kind, Kind::ToServer | Kind::ModelRequest)
            {
                // A call that no check can read must not go by unseen.
                self.exceed(Excess::Message);
            }
            let kept = payload.kept();
            self.size += kept.len();
            self.values += kept.iter().filter(|&&byte| matches!(byte, b',' | b':' | b'[' | b'{')).count();
        }
        self.size += EVENT_SIZE;
        self.messages += usize::from(draft.kind.lane() != Lane::Process);
        self.used = true;
        self.writer.push(Event {
            n,
            us: self.began.elapsed().as_micros().try_into().unwrap_or(u64::MAX),
            run: self.run,
            tick: self.tick,
            kind: draft.kind,
            server: draft.server,
            conn: draft.conn,
            step: draft.step,
            cause: draft.cause,
            payload,
            data,
        });
        n
    }

    /// This host run has more of something than can be let in.
    pub(super) fn exceed(&mut self, excess: Excess) {
        self.excess.get_or_insert(excess);
    }

    /// What this host run had too much of, where it had.
    pub(super) const fn excess(&self) -> Option<Excess> {
        match self.excess {
            Some(excess) => Some(excess),
            None if self.size > FLOOD => Some(Excess::Bytes),
            None if self.messages > FLOOD_MESSAGES => Some(Excess::Messages),
            None if self.values > FLOOD_VALUES => Some(Excess::Values),
            None => None,
        }
    }

    /// Hands the events of this turn to the file. A full disk is reported at the end: the run itself can go on.
    pub(super) fn flush(&mut self) {
        if let Err(error) = self.writer.flush() {
            self.failed.get_or_insert(error);
        }
    }

    /// The events so far.
    pub(super) fn events(&self) -> &[Event] {
        self.writer.events()
    }

    /// The number of the last event of each lane in this run, as data of a deadline.
    pub(super) fn last_per_lane(&self) -> Json {
        let last = |lane: Lane| {
            let events = self.events().iter().rev().take_while(|event| event.run == self.run);
            let found = events.into_iter().find(|event| event.kind.lane() == lane);
            found.map(|event| (lane.as_str(), event.n))
        };
        Json::object(Lane::ALL.into_iter().filter_map(last))
    }

    /// Ends the trace.
    pub(super) fn finish(self) -> io::Result<crate::trace::Trace> {
        match self.failed {
            Some(error) => Err(error),
            None => self.writer.finish(),
        }
    }
}
