//! The events of a trace: a closed list.

use crate::json::Json;

/// One recorded event. Its number is its identity: evidence names events by it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Number in the trace, from 1, in the order of recording.
    pub n: u32,
    /// Microseconds since the trace began. Never judged.
    pub us: u64,
    /// The host run inside the trace, from 1.
    pub run: u32,
    /// The turn of the recorder loop. Events of one turn on different streams are concurrent: no check orders them.
    pub tick: u32,
    /// What happened.
    pub kind: Kind,
    /// The server, where it is about one.
    pub server: Option<String>,
    /// The connection (a number per host run, from 1), where it is about one.
    pub conn: Option<u32>,
    /// The step (index from 0), where the plan knows it.
    pub step: Option<u32>,
    /// The event that this one answers.
    pub cause: Option<u32>,
    /// The bytes, where there are any.
    pub payload: Option<Payload>,
    /// Facts beside the bytes; the members are given with each [`Kind`]. An object, or `null` for none.
    pub data: Json,
}

impl Event {
    /// The payload as bytes, where it was kept whole.
    #[must_use]
    pub fn bytes(&self) -> Option<&[u8]> {
        match &self.payload {
            Some(Payload::Whole(bytes)) => Some(bytes),
            _ => None,
        }
    }

    /// The payload parsed as JSON, where it is JSON.
    #[must_use]
    pub fn json(&self) -> Option<Json> {
        self.bytes().and_then(|bytes| Json::parse(bytes).ok())
    }
}

/// The bytes of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Payload {
    /// All of them (`raw` where they are UTF-8, else `raw_b64`).
    Whole(Vec<u8>),
    /// Too many: the first of them, with the length and hash of all.
    Cut {
        /// The first bytes.
        head: Vec<u8>,
        /// The length of all, in bytes.
        len: u64,
        /// SHA-256 of all, in hexadecimal.
        sha256: String,
    },
}

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lane {
    /// Between host and model.
    Model,
    /// Between host and servers.
    Wire,
    /// Processes.
    Process,
    /// The user.
    User,
    /// hopcheck itself.
    Harness,
}

macro_rules! kinds {
    ($($(#[doc = $doc:literal])+ $variant:ident = $lane:ident $word:literal,)*) => {
        /// What happened: lane and `ev` of an event.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Kind { $($(#[doc = $doc])+ $variant,)* }

        impl Kind {
            /// All kinds.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The lane it belongs to.
            #[must_use]
            pub const fn lane(self) -> Lane {
                match self { $(Self::$variant => Lane::$lane,)* }
            }

            /// Its word in a trace.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            /// Its documentation, in lines: what it means, its payload and its data.
            #[must_use]
            pub const fn doc(self) -> &'static [&'static str] {
                match self { $(Self::$variant => &[$($doc),+],)* }
            }
        }
    };
}

kinds! {
    /// The host asked the model. Payload: the body, reduced (see `model::reduce`). Data: `main` (bool), `turn` (index of
    /// the reply that the script gives, from 0, main line only), `side` (name of the side rule, else absent), `repeated`
    /// (bool, the same position was asked before), `prefix` (bytes shared with the previous main-line body), `len` (bytes
    /// of the body), `path` (where it came by HTTP), `api`: `synthetic` where the host asks no model and hopcheck wrote
    /// the request of what the host offered and returned.
    ModelRequest = Model "request",
    /// The model answered; recorded when its first byte is sent. Payload: the reply's blocks as a JSON array in the API's
    /// own form. `cause` is the request. Data: `main`, `turn`, `uses`: array of `{id, use (index into the plan's uses),
    /// namespace?, name, name_from: "offer" | "rule", input (text), wrapped? (text: what the tool that calls it gets)}`;
    /// `searches`, where there are any: array of `{id, search (index into the plan's searches), name?, input (text)}`;
    /// `status` for an HTTP error answer.
    ModelReply = Model "reply",
    /// Something on the model's port that is no model request (another path, a wrong host header, no HTTP). Data:
    /// `reason`; `method` and `path` where it was HTTP.
    ModelNoise = Model "noise",

    /// A line from the host. Payload: the line without its end. Data: `end`: `lf`, `crlf` or `eof` (cut short).
    ToServer = Wire "to-server",
    /// A line to the host. `cause` is the request that it answers. Payload: the line without its end; raw bytes of a
    /// scripted misbehaviour have data `raw: true` and are written as they are.
    ToHost = Wire "to-host",
    /// The host closed the server's standard input.
    WireEof = Wire "eof",
    /// The server's standard output was closed, or the host stopped reading. Data: `by`: `server` or `host`.
    WireClosed = Wire "closed",

    /// The host was started. Data: `argv`, `cwd`, `env` (names), `drive`, `pid` (`null` where the host ended its
    /// supervisor before that could tell); of a host on a thread of the test program only `cwd` and `drive`.
    HostStart = Process "host-start",
    /// One line of the host's standard output. Data: `end` as for `to-server`.
    HostOut = Process "host-out",
    /// One line of the host's standard error.
    HostErr = Process "host-err",
    /// The host ended. Data: `code` or `signal`; of a host on a thread of the test program `thread`: `returned` or
    /// `panicked`, and `message`.
    HostExit = Process "host-exit",
    /// The host started a server. Data: `argv`, `cwd`, `env` (names), `canaries` (names of planted variables whose value
    /// arrived), `pid`, `ppid`.
    ServerStart = Process "server-start",
    /// A scripted server wrote to standard error. Payload: the text.
    ServerErr = Process "server-err",
    /// The host sent a signal to a server. Data: `signal`.
    ServerSignal = Process "server-signal",
    /// A server process ended. Data: `code` or `signal`, `by`: `script`, `host`, or `harness` where hopcheck killed it.
    ServerExit = Process "server-exit",
    /// A process outlived the host and was killed. Data: `pid`, `command`. Or the host's own thread did, which cannot be
    /// killed: `thread`.
    Survivor = Process "survivor",
    /// The process that starts the host and watches over all that it leaves behind was killed or stopped by the run.
    /// Data: `signal`.
    SupervisorLost = Process "supervisor-lost",
    /// All processes of the run are gone. Data: `survivors` (number).
    Gone = Process "gone",

    /// The user's message was given to the host. Payload: the text.
    Prompt = User "prompt",
    /// The host asked the user. Payload: the question in the channel's own form. Data: `id`, `use` (index into the plan's
    /// uses, where it could be told), `tool_use`, `name`, `input` (text).
    Question = User "question",
    /// The user answered. `cause` is the question. Payload: the answer in the channel's own form. Data: `answer`.
    Answer = User "answer",

    /// The user interrupted, in the way of the drive. Payload: what was said to the host.
    Interrupt = User "interrupt",

    /// A host run began. Data: `role`: `main`, `second` or `twin`; `isolation`: `network` or `none`.
    RunStart = Harness "run-start",
    /// A host run ended. Data: `reason`: `exit`, `deadline`, `interrupted`, `flood`, `orphaned` (the
    /// supervisor was lost) or `failed`; `of` with `flood`: what there was too much of.
    RunEnd = Harness "run-end",
    /// The tools of a server changed from outside. Data: `add`, `remove`, `replace` (names), `announce` (notifications on
    /// each connection).
    Change = Harness "change",
    /// Replies that servers held were let go. Data: `hold`, `order`.
    Release = Harness "release",
    /// A declared quiet time passed without what was waited for. Data: `for`: `calls`, `cancelled` or `refresh`; `ms`.
    Quiet = Harness "quiet",
    /// A result was not told in the time that a bound allows. Data: `use` (index into the plan's uses), `ms`.
    Overdue = Harness "overdue",
    /// A deadline was extended because the machine was busy. Data: `phase`, `ms`.
    DeadlineExtended = Harness "deadline-extended",
    /// A deadline expired. Data: `phase`, `ms`, `last`: last event number per lane.
    Deadline = Harness "deadline",
    /// The user of hopcheck interrupted the run.
    Interrupted = Harness "interrupted",
    /// Output beyond the cap was dropped. Data: `stream`, `dropped` (bytes).
    Dropped = Harness "dropped",
    /// hopcheck itself failed. Data: `message`.
    Failed = Harness "failed",
}

impl Kind {
    /// The kind of that lane and word.
    #[must_use]
    pub fn parse(lane: Lane, word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.lane() == lane && kind.as_str() == word)
    }
}

impl Lane {
    /// All lanes.
    pub const ALL: [Self; 5] = [Self::Model, Self::Wire, Self::Process, Self::User, Self::Harness];

    /// Its word in a trace.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Wire => "wire",
            Self::Process => "process",
            Self::User => "user",
            Self::Harness => "harness",
        }
    }

    /// The lane of that word.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|lane| lane.as_str() == text)
    }
}
