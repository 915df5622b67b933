//! The keys of a scenario.

use super::ast::{Answer, Bound, Counted, DenyBy, Expected, Feature, Order, Outcome, Record, Stop};
use crate::decode::keys::{Choice, Key, KeyTable, Kind, Words};
use crate::revision::Transport;
use crate::server::decode::keys::{EDIT, SCRIPT};

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

/// What can be waited for while tool uses are in flight, and its words.
pub const EXPECTED: [(&str, Expected); 1] = [("cancelled", Expected::Cancelled)];

/// What can be recorded of tool uses in one turn, and its words.
pub const RECORDS: [(&str, Record); 1] = [("overlap", Record::Overlap)];

/// By when a result may have to be told, and its words.
pub const BOUNDS: [(&str, Bound); 1] = [("call-limit", Bound::CallLimit)];

static GATE_WORDS: Words = Words { known: || GATES.map(|(word, _)| word).to_vec(), later: &[] };
static ANSWER_WORDS: Words = Words { known: || ANSWERS.map(|(word, _)| word).to_vec(), later: &[] };
static STOP_WORDS: Words = Words { known: || STOPS.map(|(word, _)| word).to_vec(), later: &[] };
static OUTCOME_WORDS: Words = Words { known: || OUTCOMES.map(|(word, _)| word).to_vec(), later: &[] };
static FEATURE_WORDS: Words = Words { known: || Feature::ALL.map(Feature::as_str).to_vec(), later: &[] };
static TRANSPORT_WORDS: Words = Words { known: || Transport::ALL.map(Transport::as_str).to_vec(), later: &[] };
static EXPECTED_WORDS: Words = Words { known: || EXPECTED.map(|(word, _)| word).to_vec(), later: &[] };
static RECORD_WORDS: Words = Words { known: || RECORDS.map(|(word, _)| word).to_vec(), later: &[] };
static BOUND_WORDS: Words = Words { known: || BOUNDS.map(|(word, _)| word).to_vec(), later: &[] };
static ORDER_WORDS: Words = Words { known: || Order::ALL.map(|(word, _)| word).to_vec(), later: &[] };
static INTERRUPTERS: Words = Words { known: || vec!["user"], later: &[] };
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
        Key::new(
            "native",
            Kind::Map(&Kind::Table(&NATIVE)),
            "the words of one host, by its name; then the scenario is for the hosts that are named here",
        ),
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

static NATIVE: KeyTable = KeyTable {
    noun: "`native.HOST`",
    keys: &[
        Key::new(
            "entry",
            Kind::Map(&Kind::Template),
            "config entries by server, as they stand; templates with `server`, every server by its key, and what profiles have",
        ),
        Key::new("env", Kind::Map(&Kind::Template), "further variables of the host, as templates"),
        Key::new(
            "rules",
            Kind::JsonTable,
            "what replaces the rules in the host's words; `permissions` says what they must mean",
        ),
        Key::new("expect", Kind::Table(&NATIVE_EXPECT), "what must come of it"),
    ],
    includes: &[],
    choice: None,
};

static NATIVE_EXPECT: KeyTable = KeyTable {
    noun: "`native.HOST.expect`",
    keys: &[
        Key::new("connected", Kind::NAMES, "the servers that are connected; no other is"),
        Key::new("named", Kind::NAMES, "servers that the host's output names"),
        Key::new("never_on_wire", Kind::NAMES, "texts that reach no server"),
        Key::new("arrived", Kind::NAMES, "servers that get their variable with its value"),
    ],
    includes: &[],
    choice: None,
};

static EXPECT: KeyTable = KeyTable {
    noun: "`expect`",
    keys: &[
        Key::new(Counted::ListRequests.as_str(), COUNT, "`tools/list` requests, each page one"),
        Key::new(Counted::Refreshes.as_str(), COUNT, "lists asked for again, beyond the first of each connection"),
        Key::new(Counted::Initialize.as_str(), COUNT, "`initialize` requests"),
        Key::new(Counted::Discover.as_str(), COUNT, "`server/discover` requests"),
        Key::new(Counted::Listens.as_str(), COUNT, "`subscriptions/listen` requests"),
        Key::new(Counted::Calls.as_str(), COUNT, "`tools/call` requests"),
        Key::new(Counted::Cancelled.as_str(), COUNT, "`notifications/cancelled`"),
        Key::new(Counted::Spawns.as_str(), COUNT, "processes of servers"),
        Key::new(Counted::Questions.as_str(), COUNT, "questions to the user"),
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
        Key::new("change", Kind::NonEmpty, "the tools of this server change from outside"),
        Key::new("spawns", Kind::Integer(0, u32::MAX as i64), "the number of server processes")
            .only_with(&["connect"]),
        Key::new("offers", Kind::List(&Kind::Text), "registered names that must be offered").only_with(&["list"]),
        Key::new("hidden", Kind::List(&Kind::Text), "registered names that must not be offered")
            .only_with(&["list"]),
        Key::new("alive", Kind::Integer(0, u32::MAX as i64), "connections alive at the first model request")
            .only_with(&["list"]),
        Key::new("outcome", Kind::Word(&OUTCOME_WORDS), "`trait` records what happens and never fails"),
        Key::new("listens", Kind::Bool, "whether a stream for changes of the list is open; modern revisions only")
            .only_with(&["list"]),
        Key::new("during", Kind::Tables(&DURING), "what is done once the uses are in flight, in order")
            .only_with(IN_FLIGHT),
        Key::new("release", Kind::Table(&RELEASE), "held replies go once all uses are in flight")
            .only_with(&["together"]),
        Key::new("record", Kind::Word(&RECORD_WORDS), "`overlap`: the largest number of calls in flight at once")
            .only_with(&["together"]),
        Key::new("settle", SETTLE_KIND, "the longest quiet time, in milliseconds; default 500")
            .only_with(&["call", "ask", "together", "change"]),
    ],
    includes: &[&USE_KEYS, &CHANGE, &EDIT],
    choice: Some(Choice {
        word: "verb",
        keys: &["connect", "list", "call", "deny", "ask", "change", "prompt", "say", "stop", "together"],
        help: "a step has exactly one verb; write a second `[[step]]`",
    }),
};

/// The verbs whose uses come to be in flight.
const IN_FLIGHT: &[&str] = &["call", "ask", "together"];

/// Ten seconds: no deadline of a run expires while the harness itself waits.
const SETTLE_KIND: Kind = Kind::Integer(1, 10_000);

/// The keys of a change beside the tools that change.
static CHANGE: KeyTable = KeyTable {
    noun: "a change",
    keys: &[
        Key::new(
            "announce",
            Kind::OneOf(&[Kind::Bool, Kind::Integer(1, 1000)]),
            "whether a notification says so, or how many do; default true",
        )
        .only_with(&["change"]),
        Key::new("refreshes", COUNT, "how often the list is asked for again, up to the next change")
            .only_with(&["change"]),
    ],
    includes: &[],
    choice: None,
};

/// An act of `during`.
pub static DURING: KeyTable = KeyTable {
    noun: "an act during a call",
    keys: &[
        Key::new("interrupt", Kind::Word(&INTERRUPTERS), "the user interrupts the turn"),
        Key::new("expect", Kind::Word(&EXPECTED_WORDS), "waits for this, which must come"),
        Key::new("release", Kind::NonEmpty, "lets the replies go that are held under this name"),
        Key::new("change", Kind::NonEmpty, "the tools of this server change from outside"),
        Key::new("order", Kind::Word(&ORDER_WORDS), "the order of the replies; default `forward`")
            .only_with(&["release"]),
        Key::new("settle", SETTLE_KIND, "the longest quiet time, in milliseconds; default 500")
            .only_with(&["expect", "change"]),
    ],
    includes: &[&CHANGE, &EDIT],
    choice: Some(Choice {
        word: "act",
        keys: &["interrupt", "expect", "release", "change"],
        help: "one table is one act; write them one after the other: `during = [{ … }, { … }]`",
    }),
};

static RELEASE: KeyTable = KeyTable {
    noun: "`release`",
    keys: &[
        Key::new("hold", Kind::NonEmpty, "the name under which rules of servers hold the replies").required(),
        Key::new("order", Kind::Word(&ORDER_WORDS), "the order of the replies; default `forward`"),
    ],
    includes: &[],
    choice: None,
};

static TOLD: KeyTable = KeyTable {
    noun: "`told`",
    keys: &[
        Key::new("is_error", Kind::Bool, "the error flag"),
        Key::new("text", Kind::ONE_OR_MORE, "a text that the result contains, or several in this order"),
        Key::new("text_json", Kind::Json, "JSON that is found in the result"),
        Key::new("image", Kind::Bool, "whether an image arrives as an image"),
        Key::new("any", Kind::Tables(&TOLD), "alternatives: one of them must hold"),
        Key::new("before", Kind::Word(&BOUND_WORDS), "told before the server answers, and soon after the limit"),
    ],
    includes: &[],
    choice: None,
};
