//! The keys of a scenario.

use super::ast::{Answer, Counted, DenyBy, Feature, Outcome, Stop};
use crate::decode::keys::{Choice, Key, KeyTable, Kind, Words};
use crate::revision::Transport;
use crate::server::decode::keys::SCRIPT;

/// Gates and their words.
pub const GATES: [(&str, DenyBy); 4] = [
    ("permission", DenyBy::Permission),
    ("filter", DenyBy::Filter),
    ("schema", DenyBy::Schema),
    ("user", DenyBy::User),
];

/// Answers and their words.
pub const ANSWERS: [(&str, Answer); 3] =
    [("allow", Answer::Allow), ("deny", Answer::Deny), ("always", Answer::Always)];

/// Ends of a run and their words.
pub const STOPS: [(&str, Stop); 4] =
    [("exit", Stop::Exit), ("sigint", Stop::Sigint), ("sigterm", Stop::Sigterm), ("sigkill", Stop::Sigkill)];

/// Outcomes and their words.
pub const OUTCOMES: [(&str, Outcome); 2] = [("assert", Outcome::Assert), ("trait", Outcome::Trait)];

static GATE_WORDS: Words = Words { known: || GATES.map(|(word, _)| word).to_vec(), later: &[] };
static ANSWER_WORDS: Words = Words { known: || ANSWERS.map(|(word, _)| word).to_vec(), later: &[] };
static STOP_WORDS: Words = Words { known: || STOPS.map(|(word, _)| word).to_vec(), later: &[] };
static OUTCOME_WORDS: Words = Words { known: || OUTCOMES.map(|(word, _)| word).to_vec(), later: &[] };
static FEATURE_WORDS: Words = Words { known: || Feature::ALL.map(Feature::as_str).to_vec(), later: &[] };
static TRANSPORT_WORDS: Words = Words { known: || Transport::ALL.map(Transport::as_str).to_vec(), later: &[] };
static NO_RULES: Words = Words { known: || vec!["none"], later: &[] };

/// `SERVER/TOOL`, or a table where a name has a slash or is a wildcard.
const TOOL: Kind = Kind::OneOf(&[Kind::NonEmpty, Kind::Table(&TOOL_TABLE)]);
const PATTERNS: Kind = Kind::List(&Kind::OneOf(&[Kind::NonEmpty, Kind::Table(&PATTERN_TABLE)]));
const COUNT: Kind = Kind::OneOf(&[Kind::Integer(0, u32::MAX as i64), Kind::Text]);

/// A scenario.
pub static SCENARIO: KeyTable = KeyTable {
    noun: "a scenario",
    keys: &[
        Key::new("title", Kind::NonEmpty, "one sentence that says what is proven").required(),
        Key::new("requirements", Kind::NAMES, "ids of requirements that it gives a verdict on"),
        Key::new(
            "revisions",
            Kind::ONE_OR_MORE,
            "`eras` (default), `all`, `>=2025-06-18`, `<=2025-11-25`, a revision or a list of them",
        ),
        Key::new(
            "transports",
            Kind::List(&Kind::Word(&TRANSPORT_WORDS)),
            "default all that revision and host have",
        ),
        Key::new("hosts", Kind::NAMES, "the only hosts to run with"),
        Key::new("needs", Kind::List(&Kind::Word(&FEATURE_WORDS)), "features that steps and rules do not imply"),
        Key::new("runs", Kind::Integer(1, 2), "2 makes two host runs in one trace"),
        Key::new("server", Kind::Map(&Kind::Table(&SERVER)), "the servers, by their names in the host's config"),
        Key::new(
            "permissions",
            Kind::OneOf(&[Kind::Table(&PERMISSIONS), Kind::Word(&NO_RULES)]),
            "the user's rules; absent: what the steps call is allowed; `none`: no rule is written",
        ),
        Key::new("limits", Kind::Table(&LIMITS), "time limits of the host, in milliseconds"),
        Key::new("step", Kind::Tables(&STEP), "the acts, in order: at least one `[[step]]`").required(),
        Key::new("expect", Kind::Table(&EXPECT), "counts over the whole run"),
        Key::later("native"),
    ],
    includes: &[],
    choice: None,
};

/// What stands beside the scenario's own keys: `[[case]]`.
pub static CASES: KeyTable = KeyTable {
    noun: "a scenario",
    keys: &[Key::new("case", Kind::Tables(&CASE), "named variations; then the base itself is not run")],
    includes: &[],
    choice: None,
};

/// All keys of a scenario file.
pub static FILE: KeyTable =
    KeyTable { noun: "a scenario", keys: &[], includes: &[&SCENARIO, &CASES], choice: None };

static CASE: KeyTable = KeyTable {
    noun: "a case",
    keys: &[
        Key::new("name", Kind::NonEmpty, "its name in the scenario id").required(),
        Key::new("set", Kind::Changes, "keys to set: tables are merged, all else is replaced"),
        Key::new("unset", Kind::NAMES, "paths of keys to remove first"),
    ],
    includes: &[],
    choice: None,
};

static SERVER: KeyTable = KeyTable {
    noun: "a server",
    keys: &[
        Key::new("script", Kind::NonEmpty, "the server script that the other keys override or extend"),
        Key::new("required", Kind::Bool, "false for a server that is meant to be sick; default true"),
        Key::new("transport", Kind::Word(&TRANSPORT_WORDS), "fixes the transport of this server"),
    ],
    includes: &[&SCRIPT],
    choice: None,
};

static PERMISSIONS: KeyTable = KeyTable {
    noun: "`permissions`",
    keys: &[
        Key::new("allow", PATTERNS, "called without a question"),
        Key::new("ask", PATTERNS, "called after a question"),
        Key::new("deny", PATTERNS, "never called"),
    ],
    includes: &[],
    choice: None,
};

static TOOL_TABLE: KeyTable = KeyTable {
    noun: "a tool",
    keys: &[
        Key::new("server", Kind::Text, "the server's key").required(),
        Key::new("tool", Kind::Text, "the registered name").required(),
    ],
    includes: &[],
    choice: None,
};

static PATTERN_TABLE: KeyTable = KeyTable {
    noun: "a tool pattern",
    keys: &[
        Key::new("server", Kind::Text, "the server's key; absent means any"),
        Key::new("tool", Kind::Text, "the registered name; absent means any"),
    ],
    includes: &[],
    choice: None,
};

static LIMITS: KeyTable = KeyTable {
    noun: "`limits`",
    keys: &[
        Key::new("start", Kind::POSITIVE, "for the start of a server"),
        Key::new("call", Kind::POSITIVE, "for one call"),
    ],
    includes: &[],
    choice: None,
};

static EXPECT: KeyTable = KeyTable {
    noun: "`expect`",
    keys: &[
        Key::new(Counted::ListRequests.as_str(), COUNT, "`tools/list` requests"),
        Key::new(Counted::Initialize.as_str(), COUNT, "`initialize` requests"),
        Key::new(Counted::Calls.as_str(), COUNT, "`tools/call` requests"),
        Key::new(Counted::Cancelled.as_str(), COUNT, "`notifications/cancelled`"),
    ],
    includes: &[],
    choice: None,
};

const USE_VERBS: &[&str] = &["call", "deny", "ask"];

/// The keys of one tool use, in a step and in `together`.
static USE_KEYS: KeyTable = KeyTable {
    noun: "a tool use",
    keys: &[
        Key::new("call", TOOL, "the model uses this tool, and it is called"),
        Key::new("deny", TOOL, "the model uses this tool, and it is not called"),
        Key::new("ask", TOOL, "the model uses this tool, and the user is asked first"),
        Key::new("with", Kind::JsonTable, "the arguments; default {}").only_with(USE_VERBS),
        Key::new("with_json", Kind::JsonOrAbsent, "the arguments as JSON text, or `absent`").only_with(USE_VERBS),
        Key::new("raw_input", Kind::Text, "the arguments as text that need not be JSON").only_with(USE_VERBS),
        Key::new("told", Kind::Table(&TOLD), "what the model must be told of the result").only_with(USE_VERBS),
        Key::new("by", Kind::Word(&GATE_WORDS), "the only gate that may stop it").only_with(&["deny"]),
        Key::new("answer", Kind::Word(&ANSWER_WORDS), "what the user answers; default `allow`")
            .only_with(&["ask"]),
    ],
    includes: &[],
    choice: None,
};

static USE: KeyTable = KeyTable {
    noun: "a tool use",
    keys: &[],
    includes: &[&USE_KEYS],
    choice: Some(Choice {
        word: "verb",
        keys: USE_VERBS,
        help: "one table is one tool use; write them one after the other: `together = [{ … }, { … }]`",
    }),
};

/// A step.
pub static STEP: KeyTable = KeyTable {
    noun: "a step",
    keys: &[
        Key::new("connect", Kind::ONE_OR_MORE, "the host connects to a server, to a list of servers or to `all`"),
        Key::new("list", Kind::NonEmpty, "the host lists the tools of this server"),
        Key::new("prompt", Kind::NonEmpty, "a second user message"),
        Key::new("say", Kind::NonEmpty, "the model's final text"),
        Key::new("stop", Kind::Word(&STOP_WORDS), "the run is ended"),
        Key::new("together", Kind::Tables(&USE), "several tool uses in one turn"),
        Key::later("change"),
        Key::new("spawns", Kind::Integer(0, u32::MAX as i64), "the number of server processes")
            .only_with(&["connect"]),
        Key::new("offers", Kind::List(&Kind::Text), "registered names that must be offered").only_with(&["list"]),
        Key::new("hidden", Kind::List(&Kind::Text), "registered names that must not be offered")
            .only_with(&["list"]),
        Key::new("alive", Kind::Integer(0, u32::MAX as i64), "connections alive at the first model request")
            .only_with(&["list"]),
        Key::new("outcome", Kind::Word(&OUTCOME_WORDS), "`trait` records what happens and never fails"),
        Key::later("listens"),
        Key::later("during"),
        Key::later("hold"),
        Key::later("release"),
        Key::later("record"),
        Key::later("settle"),
        Key::later("refreshes"),
        Key::later("add"),
        Key::later("remove"),
        Key::later("replace"),
        Key::later("announce"),
    ],
    includes: &[&USE_KEYS],
    choice: Some(Choice {
        word: "verb",
        keys: &["connect", "list", "call", "deny", "ask", "change", "prompt", "say", "stop", "together"],
        help: "a step has exactly one verb; write a second `[[step]]`",
    }),
};

static TOLD: KeyTable = KeyTable {
    noun: "`told`",
    keys: &[
        Key::new("is_error", Kind::Bool, "the error flag"),
        Key::new("text", Kind::ONE_OR_MORE, "a text that the result contains, or several in this order"),
        Key::new("text_json", Kind::Json, "JSON that is found in the result"),
        Key::new("image", Kind::Bool, "whether an image arrives as an image"),
        Key::new("any", Kind::Tables(&TOLD), "alternatives: one of them must hold"),
        Key::later("before"),
    ],
    includes: &[],
    choice: None,
};
