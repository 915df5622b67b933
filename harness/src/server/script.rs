//! What a scripted server offers and answers, misbehaviour included. Data only.

use super::edit::Generation;
use crate::diagnostic::Span;
use crate::json::Json;

/// A server script, with the overrides of the scenario applied.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    /// The name of the file that it came from, or the server's key where it is inline.
    pub name: String,
    /// `serverInfo`.
    pub info: Json,
    /// Capabilities as they go on the wire.
    pub capabilities: Json,
    /// `instructions`, where there are any.
    pub instructions: Option<String>,
    /// How `tools/list` is cut into pages.
    pub pages: Pages,
    /// The tools in list order.
    pub tools: Vec<Tool>,
    /// Misbehaviour and side acts, in file order.
    pub on: Vec<Rule>,
    /// What restarted servers offer, in file order. Each holds from its process on, beside those before it.
    pub generations: Vec<Generation>,
}

impl Script {
    /// Every tool that some process of the server offers by itself, those of the first process first.
    pub fn all_tools(&self) -> impl Iterator<Item = &Tool> {
        self.tools.iter().chain(self.generations.iter().flat_map(|generation| generation.edit.brings()))
    }
}

/// How `tools/list` is cut into pages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pages {
    /// Tools on one page; `None` means all on one.
    pub size: Option<usize>,
    /// The cursors that lead to the second page and on. Too few are continued as `page-N`; with more cursors than
    /// pages the last pages are empty, so a list need not end when its tools do.
    pub cursors: Vec<String>,
}

/// One tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// The registered name.
    pub name: String,
    /// `title`.
    pub title: Option<String>,
    /// `description`.
    pub description: Option<String>,
    /// Whether the engine may append its word to the description.
    pub describe: Describe,
    /// `inputSchema` as it goes on the wire; `None` leaves the member out.
    pub input_schema: Option<Json>,
    /// `outputSchema`.
    pub output_schema: Option<Json>,
    /// `annotations`.
    pub annotations: Option<Json>,
    /// `_meta` of the tool entry.
    pub meta: Option<Json>,
    /// Answers, first match wins; none means one text block `{{ marker }}`.
    pub replies: Vec<Reply>,
}

/// Whether the description carries ` [hc:WORD]`, by which an offer is matched to its tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Describe {
    /// It does.
    Marked,
    /// It is sent as written.
    Verbatim,
}

/// An answer to `tools/call`.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// Arguments that this answers, compared by value; `None` answers everything.
    pub when: Option<Json>,
    /// The answer.
    pub body: Body,
}

/// The body of a response.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// A result. Its strings may hold `{{ marker }}`.
    Result(Json),
    /// A JSON-RPC error. Its message may hold `{{ marker }}`.
    Error(RpcError),
}

/// A JSON-RPC error object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RpcError {
    /// The code.
    pub code: i64,
    /// The message.
    pub message: String,
    /// Further data.
    pub data: Option<Json>,
}

/// Acts bound to an event, never to a time.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// The place in the file.
    pub span: Span,
    /// The event.
    pub event: On,
    /// Only for this JSON-RPC method.
    pub method: Option<String>,
    /// Only for calls of this tool.
    pub tool: Option<String>,
    /// Which occurrences, counted after `method` and `tool` are applied.
    pub nth: Nth,
    /// Over what the occurrences are counted.
    pub scope: Scope,
    /// What is done, in order.
    pub actions: Vec<Action>,
}

/// What a rule waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// The server process was started, before anything is read.
    Spawn,
    /// The connection is open: legacy after `notifications/initialized`, modern at the first request.
    Connect,
    /// A request of the host.
    Request,
    /// A notification of the host.
    Notification,
    /// A response of the host to a request of the server.
    Response,
    /// The host closed the server's standard input.
    Eof,
    /// The host sent a signal.
    Signal,
    /// The connection is gone.
    Closed,
}

/// Which occurrences of an event a rule takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Nth {
    /// All.
    Every,
    /// These, from 1.
    These(Vec<u32>),
    /// From the first number to the second, both included.
    Range(u32, u32),
}

impl Nth {
    /// Whether occurrence `n` (from 1) is meant.
    #[must_use]
    pub fn covers(&self, n: u32) -> bool {
        match self {
            Self::Every => true,
            Self::These(list) => list.contains(&n),
            Self::Range(first, last) => (*first..=*last).contains(&n),
        }
    }
}

/// Over what occurrences are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Anew for each connection.
    Connection,
    /// Over restarts of the server within one host run.
    Run,
}

/// One act of a scripted server.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Answers with this result.
    Reply(Json),
    /// Answers with this error.
    Error(RpcError),
    /// Writes these bytes as they are.
    Raw(Vec<u8>),
    /// Sends a notification.
    Notify {
        /// Its method.
        method: String,
        /// Its params.
        params: Option<Json>,
    },
    /// Sends a request.
    Request {
        /// Its method.
        method: String,
        /// Its params.
        params: Option<Json>,
    },
    /// Writes to standard error.
    Stderr(String),
    /// Keeps the reply until the name is released.
    Hold(String),
    /// Lets the replies held under the name go.
    Release(String),
    /// Never answers.
    Silence,
    /// Sends the reply this many more times.
    Duplicate(u32),
    /// Uses this id in the reply instead of the request's.
    Id(Json),
    /// Ends the process with this code.
    Exit(i32),
    /// Ends the process by this signal, named like `SIGKILL`.
    Kill(String),
    /// Closes standard output and goes on.
    CloseStdout,
    /// Waits this many milliseconds before the next act; only where time is the subject.
    Delay(u32),
    /// Does nothing, so that a default act (such as the exit at end of input) does not happen.
    Ignore,
}

impl Action {
    /// Whether this act takes the place of the default reply.
    #[must_use]
    pub const fn replaces_reply(&self) -> bool {
        matches!(
            self,
            Self::Reply(_)
                | Self::Hold(_)
                | Self::Error(_)
                | Self::Raw(_)
                | Self::Silence
                | Self::Exit(_)
                | Self::Kill(_)
                | Self::CloseStdout
        )
    }
}
