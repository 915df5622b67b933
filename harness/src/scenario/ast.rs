//! The typed form of a scenario. Every value that a message may have to point at carries its span.

use std::fmt;
use std::sync::Arc;

pub use super::live::{Change, Deed, During, Expected, Order, Record, Release};

use crate::diagnostic::{Source, Span, Spanned};
use crate::json::Json;
use crate::revision::{Revision, Transport};
use crate::server::script::Script;

/// `AREA/NAME` or `AREA/NAME[CASE]`. The area is the folder of the file, the name its stem.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ScenarioId {
    /// The folder.
    pub area: String,
    /// The file stem.
    pub name: String,
    /// The case, where the file has cases.
    pub case: Option<String>,
}

impl fmt::Display for ScenarioId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.area, self.name)?;
        match &self.case {
            Some(case) => write!(f, "[{case}]"),
            None => Ok(()),
        }
    }
}

/// One conversation as data: what the servers are, what the user allows, what the model does, what must hold.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Its identity.
    pub id: ScenarioId,
    /// The file that it was read from.
    pub source: Arc<Source>,
    /// One sentence that says what is proven.
    pub title: Spanned<String>,
    /// Requirements that this scenario must give a verdict on.
    pub requirements: Vec<Spanned<String>>,
    /// The revisions to plan for.
    pub revisions: Revisions,
    /// The transports to plan for; empty means all that revision and host have.
    pub transports: Vec<Transport>,
    /// The only hosts to plan for; empty means any.
    pub hosts: Vec<Spanned<String>>,
    /// What is written in the words of single hosts. With any, the scenario is for those hosts.
    pub natives: Vec<super::native::Native>,
    /// Features that the drive must have beyond those that steps and rules imply.
    pub needs: Vec<Spanned<Feature>>,
    /// Number of host runs in one trace, 1 or 2.
    pub runs: u8,
    /// The servers, in file order.
    pub servers: Vec<ServerUse>,
    /// What the user allows.
    pub permissions: Permissions,
    /// Time limits for the host, where the subject is time.
    pub limits: Limits,
    /// The steps, in file order.
    pub steps: Vec<Step>,
    /// Counts over the whole run.
    pub expect: Vec<CountExpectation>,
}

/// Which revisions to plan for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Revisions {
    /// The newest legacy and the newest modern revision that the host has.
    Eras,
    /// All.
    All,
    /// This one and all newer ones.
    AtLeast(Revision),
    /// This one and all older ones.
    AtMost(Revision),
    /// These.
    List(Vec<Revision>),
}

impl Revisions {
    /// Whether `revision` is inside this limit; [`Revisions::Eras`] is no limit.
    #[must_use]
    pub fn admits(&self, revision: Revision) -> bool {
        match self {
            Self::Eras | Self::All => true,
            Self::AtLeast(oldest) => revision >= *oldest,
            Self::AtMost(newest) => revision <= *newest,
            Self::List(list) => list.contains(&revision),
        }
    }
}

/// Something that a drive or host must be able to do for a plan to apply. A closed list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Feature {
    /// Rules that allow a tool without a question.
    PermissionsAllow,
    /// Rules that deny a tool.
    PermissionsDeny,
    /// Rules that ask, and a channel on which the harness answers.
    PermissionsAsk,
    /// A filter that takes tools away.
    PermissionsFilter,
    /// A second user message in one run.
    Prompts,
    /// The user interrupts.
    Interrupt,
    /// A configurable limit for one call.
    LimitCall,
    /// A configurable limit for the start of a server.
    LimitStart,
    /// A word that makes the host wait for a server.
    Required,
    /// A list that a server says has changed is read again.
    ListChanged,
    /// A server that ended is started again for the next call.
    Restart,
}

impl Feature {
    /// All features.
    pub const ALL: [Self; 11] = [
        Self::PermissionsAllow,
        Self::PermissionsDeny,
        Self::PermissionsAsk,
        Self::PermissionsFilter,
        Self::Prompts,
        Self::Interrupt,
        Self::LimitCall,
        Self::LimitStart,
        Self::Required,
        Self::ListChanged,
        Self::Restart,
    ];

    /// Its word in files.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PermissionsAllow => "permissions.allow",
            Self::PermissionsDeny => "permissions.deny",
            Self::PermissionsAsk => "permissions.ask",
            Self::PermissionsFilter => "permissions.filter",
            Self::Prompts => "prompts",
            Self::Interrupt => "interrupt",
            Self::LimitCall => "limits.call",
            Self::LimitStart => "limits.start",
            Self::Required => "required",
            Self::ListChanged => "list-changed",
            Self::Restart => "restart",
        }
    }

    /// The feature of that word.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|feature| feature.as_str() == text)
    }

    /// What it means, for `hopcheck list features`.
    #[must_use]
    pub const fn doc(self) -> &'static str {
        match self {
            Self::PermissionsAllow => "a rule can allow a tool without a question",
            Self::PermissionsDeny => "a rule can deny a tool",
            Self::PermissionsAsk => "a rule can ask, and the harness can answer",
            Self::PermissionsFilter => "a filter can take a tool away",
            Self::Prompts => "a second user message in one run",
            Self::Interrupt => "the user can interrupt a call",
            Self::LimitCall => "a time limit for one call can be set",
            Self::LimitStart => "a time limit for the start of a server can be set",
            Self::Required => "the host can be told to wait for a server",
            Self::ListChanged => "a list that a server says has changed is read again and shown to the model",
            Self::Restart => "a server that ended is started again for the next call",
        }
    }
}

/// One server of the scenario.
#[derive(Clone, Debug)]
pub struct ServerUse {
    /// The name in the host's configuration.
    pub key: Spanned<String>,
    /// Whether the host is told to wait for it, where it has such a word.
    pub required: bool,
    /// A transport of its own.
    pub transport: Option<Transport>,
    /// What it offers and answers: the named script with the overrides of the scenario applied.
    pub script: Script,
}

/// A tool of a server, by its registered name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ToolRef {
    /// The server's key.
    pub server: String,
    /// The registered name.
    pub tool: String,
}

impl fmt::Display for ToolRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.server, self.tool)
    }
}

/// `SERVER/TOOL`, `SERVER/*` or `*/*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolPattern {
    /// The server; `None` means any.
    pub server: Option<String>,
    /// The registered name; `None` means any.
    pub tool: Option<String>,
}

impl ToolPattern {
    /// Whether the pattern covers the tool.
    #[must_use]
    pub fn matches(&self, tool: &ToolRef) -> bool {
        self.server.as_ref().is_none_or(|server| *server == tool.server)
            && self.tool.as_ref().is_none_or(|name| *name == tool.tool)
    }
}

impl fmt::Display for ToolPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.server.as_deref().unwrap_or("*"), self.tool.as_deref().unwrap_or("*"))
    }
}

/// What the user allows.
#[derive(Clone, Debug)]
pub enum Permissions {
    /// No table: every tool that a `call` step names is allowed, in the host's own words.
    Implied,
    /// `permissions = "none"`: no rule is written at all.
    None,
    /// The table.
    Rules(Rules),
}

/// Rules in neutral words. Tools that no rule names stay at the host's default.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// Called without a question.
    pub allow: Vec<Spanned<ToolPattern>>,
    /// Called after a question.
    pub ask: Vec<Spanned<ToolPattern>>,
    /// Never called.
    pub deny: Vec<Spanned<ToolPattern>>,
}

/// Limits that the profile renders, in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// For the start of a server.
    pub start: Option<u32>,
    /// For one call.
    pub call: Option<u32>,
}

/// One act with its outcome.
#[derive(Clone, Debug)]
pub struct Step {
    /// The place of its verb.
    pub span: Span,
    /// What is done and what must hold.
    pub verb: Verb,
    /// `outcome = "trait"`: what happens is recorded and never fails.
    pub outcome: Outcome,
}

/// Whether a step asserts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The step's expectations must hold.
    Assert,
    /// The step's expectations are recorded as traits.
    Trait,
}

/// The verbs of FORMATS 1.1.
#[derive(Clone, Debug)]
pub enum Verb {
    /// The host starts and connects by itself.
    Connect {
        /// The servers; empty means all.
        servers: Vec<Spanned<String>>,
        /// The number of server processes, where it is asserted.
        spawns: Option<Spanned<u32>>,
    },
    /// The host lists by itself.
    List {
        /// The server.
        server: Spanned<String>,
        /// Registered names that must be offered.
        offers: Vec<Spanned<String>>,
        /// Registered names that must not be offered.
        hidden: Vec<Spanned<String>>,
        /// Connections that must be alive at the first model request.
        alive: Option<Spanned<u32>>,
        /// Whether a stream for changes of the list must be open, where the revision has such streams.
        listens: Option<Spanned<bool>>,
    },
    /// The model emits tool uses in one turn: one for `call`, `deny`, `ask`, several for `together`.
    Uses {
        /// The uses.
        uses: Vec<Use>,
        /// What the harness does once they are in flight, in order.
        during: Vec<During>,
        /// The longest quiet time while it waits for them, in milliseconds.
        settle: u32,
        /// What is recorded of them.
        record: Option<Record>,
    },
    /// The tools of a server change from outside.
    Change(Change),
    /// A second user message.
    Prompt(Spanned<String>),
    /// The model's final text.
    Say(Spanned<String>),
    /// The run is ended.
    Stop(Spanned<Stop>),
}

/// How a run is ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The host ends by itself.
    Exit,
    /// SIGINT.
    Sigint,
    /// SIGTERM.
    Sigterm,
    /// SIGKILL.
    Sigkill,
}

/// One tool use of the model with what must follow.
#[derive(Clone, Debug)]
pub struct Use {
    /// The place of its verb.
    pub span: Span,
    /// The tool.
    pub tool: ToolRef,
    /// What the user's rules make of it.
    pub kind: UseKind,
    /// The arguments that the model gives.
    pub input: Input,
    /// What the model must be told.
    pub told: Option<Told>,
}

/// What must happen to a tool use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UseKind {
    /// It is called.
    Call,
    /// It is not called.
    Deny {
        /// The only gate that may stop it; `None` means a rule or a filter.
        by: Option<DenyBy>,
    },
    /// The user is asked first.
    Ask {
        /// What the user answers.
        answer: Answer,
    },
}

/// A gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DenyBy {
    /// A deny rule.
    Permission,
    /// A filter that takes the tool away.
    Filter,
    /// The tool's `inputSchema`.
    Schema,
    /// The user's answer.
    User,
}

/// The user's answer to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// This once.
    Allow,
    /// No.
    Deny,
    /// From now on.
    Always,
}

/// The arguments of a tool use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// JSON as it stands in the file.
    Json(Json),
    /// Text that need not be JSON.
    Raw(String),
    /// No arguments at all.
    Absent,
}

/// What the model must be told of a result.
#[derive(Clone, Debug)]
pub struct Told {
    /// The place of the table.
    pub span: Span,
    /// The error flag, or its textual equivalent where the model API has none.
    pub is_error: Option<Spanned<bool>>,
    /// Texts that the result contains, in this order.
    pub text: Vec<Spanned<String>>,
    /// JSON that is found in the result.
    pub text_json: Option<Spanned<Json>>,
    /// Whether an image arrives as an image.
    pub image: Option<Spanned<bool>>,
    /// By when it must be told.
    pub before: Option<Spanned<Bound>>,
    /// Alternatives: one of them must hold.
    pub any: Vec<Told>,
}

/// By when a result must be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Before the server answers, and within a multiple of the limit for one call.
    CallLimit,
}

/// A count over a run, from `[expect]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountExpectation {
    /// The place.
    pub span: Span,
    /// What is counted.
    pub what: Counted,
    /// How many there may be.
    pub range: CountRange,
}

/// What `[expect]` can count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// `tools/list` requests, each page one.
    ListRequests,
    /// Lists that were asked for again: `tools/list` requests without a cursor, beyond the first of each connection.
    Refreshes,
    /// `initialize` requests.
    Initialize,
    /// `server/discover` requests.
    Discover,
    /// `subscriptions/listen` requests.
    Listens,
    /// `tools/call` requests.
    Calls,
    /// `notifications/cancelled`.
    Cancelled,
    /// Processes of servers.
    Spawns,
    /// Questions to the user.
    Questions,
}

impl Counted {
    /// All.
    pub const ALL: [Self; 9] = [
        Self::ListRequests,
        Self::Refreshes,
        Self::Initialize,
        Self::Discover,
        Self::Listens,
        Self::Calls,
        Self::Cancelled,
        Self::Spawns,
        Self::Questions,
    ];

    /// Its key in `[expect]`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ListRequests => "list_requests",
            Self::Refreshes => "refreshes",
            Self::Initialize => "initialize",
            Self::Discover => "discover",
            Self::Listens => "listens",
            Self::Calls => "calls",
            Self::Cancelled => "cancelled",
            Self::Spawns => "spawns",
            Self::Questions => "questions",
        }
    }
}

/// An inclusive range of counts: `3`, `"<=4"`, `">=1"` or `"1..=3"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountRange {
    /// The least.
    pub min: u32,
    /// The most.
    pub max: u32,
}

impl CountRange {
    /// Whether `count` is inside.
    #[must_use]
    pub const fn contains(self, count: u32) -> bool {
        self.min <= count && count <= self.max
    }
}

impl fmt::Display for CountRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.min, self.max) {
            (min, max) if min == max => write!(f, "{min}"),
            (0, max) => write!(f, "at most {max}"),
            (min, u32::MAX) => write!(f, "at least {min}"),
            (min, max) => write!(f, "{min} to {max}"),
        }
    }
}
