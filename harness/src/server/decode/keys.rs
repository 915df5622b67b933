//! The keys of a server script.

use crate::decode::keys::{Choice, Key, KeyTable, Kind, Words};
use crate::server::script::{Describe, On, Scope};

/// Events and their words.
pub const EVENTS: [(&str, On); 8] = [
    ("spawn", On::Spawn),
    ("connect", On::Connect),
    ("request", On::Request),
    ("notification", On::Notification),
    ("response", On::Response),
    ("eof", On::Eof),
    ("signal", On::Signal),
    ("closed", On::Closed),
];

/// Scopes and their words.
pub const SCOPES: [(&str, Scope); 2] = [("connection", Scope::Connection), ("run", Scope::Run)];

/// What may happen to a description, and its words.
pub const DESCRIBE: [(&str, Describe); 2] = [("marked", Describe::Marked), ("verbatim", Describe::Verbatim)];

/// Signals that a server may end itself by.
pub const SIGNALS: [&str; 11] = [
    "SIGABRT", "SIGBUS", "SIGFPE", "SIGHUP", "SIGILL", "SIGINT", "SIGKILL", "SIGPIPE", "SIGQUIT", "SIGSEGV",
    "SIGTERM",
];

static EVENT_WORDS: Words = Words { known: || EVENTS.map(|(word, _)| word).to_vec(), later: &[] };
static SCOPE_WORDS: Words = Words { known: || SCOPES.map(|(word, _)| word).to_vec(), later: &[] };
static DESCRIBE_WORDS: Words = Words { known: || DESCRIBE.map(|(word, _)| word).to_vec(), later: &[] };
static SIGNAL_WORDS: Words = Words { known: || SIGNALS.to_vec(), later: &[] };

/// A server script.
pub static SCRIPT: KeyTable = KeyTable {
    noun: "a server script",
    keys: &[
        Key::new("info", Kind::Json, "`serverInfo`; default the name of the script and version 1.0.0"),
        Key::new("capabilities", Kind::Json, "capabilities as they go on the wire; default {\"tools\":{}}"),
        Key::new("instructions", Kind::Text, "what the server tells the model about itself"),
        Key::new("pages", Kind::Table(&PAGES), "how `tools/list` is cut into pages; default one page"),
        Key::new("tool", Kind::Tables(&TOOL), "the tools, in list order"),
        Key::new("on", Kind::Tables(&RULE), "misbehaviour and side acts, by event"),
        Key::new("generation", Kind::Tables(&GENERATION), "what restarted processes of the server offer"),
    ],
    includes: &[],
    choice: None,
};

/// The keys of changes to a list of tools. In a step and in `during` they go with `change`.
pub static EDIT: KeyTable = KeyTable {
    noun: "a change of tools",
    keys: &[
        Key::new(
            "add",
            Kind::List(&Kind::OneOf(&[Kind::NonEmpty, Kind::Table(&TOOL)])),
            "tools that come, behind the others; a name alone is a tool without description or replies",
        )
        .only_with(&["change"]),
        Key::new("remove", Kind::NAMES, "registered names of tools that go").only_with(&["change"]),
        Key::new("replace", Kind::Tables(&TOOL), "tools that take the place of those of the same name")
            .only_with(&["change"]),
    ],
    includes: &[],
    choice: None,
};

static GENERATION: KeyTable = KeyTable {
    noun: "a generation",
    keys: &[Key::new(
        "from",
        Kind::Integer(2, u32::MAX as i64),
        "the first process that it holds for, counted over a host run; 1 is the first start",
    )
    .required()],
    includes: &[&EDIT],
    choice: None,
};

static PAGES: KeyTable = KeyTable {
    noun: "`pages`",
    keys: &[
        Key::new("size", Kind::POSITIVE, "tools on one page; default all"),
        Key::new("cursors", Kind::List(&Kind::Text), "the cursors that lead to the second page and on"),
    ],
    includes: &[],
    choice: None,
};

static TOOL: KeyTable = KeyTable {
    noun: "a tool",
    keys: &[
        Key::new("name", Kind::Text, "the registered name").required(),
        Key::new("title", Kind::Text, "the name for people"),
        Key::new("description", Kind::Text, "what the model reads"),
        Key::new("describe", Kind::Word(&DESCRIBE_WORDS), "`verbatim` sends the description as written"),
        Key::new(
            "input_schema",
            Kind::JsonOrAbsent,
            "`inputSchema`; default {\"type\":\"object\"}; `absent` leaves it out",
        ),
        Key::new("output_schema", Kind::JsonOrAbsent, "`outputSchema`"),
        Key::new("annotations", Kind::Json, "`annotations`"),
        Key::new("meta", Kind::Json, "`_meta` of the tool entry"),
        Key::new(
            "reply",
            Kind::Tables(&REPLY),
            "answers, first match wins; default one text block `{{ marker }}`",
        ),
    ],
    includes: &[],
    choice: None,
};

static REPLY: KeyTable = KeyTable {
    noun: "a reply",
    keys: &[
        Key::new("when", Kind::Json, "arguments that this answers; absent answers everything else"),
        Key::new("result", Kind::Json, "the result"),
        Key::new("error", Kind::Table(&ERROR), "a JSON-RPC error"),
    ],
    includes: &[],
    choice: Some(Choice {
        word: "body",
        keys: &["result", "error"],
        help: "a reply has exactly one body; write a second `[[tool.reply]]`",
    }),
};

static ERROR: KeyTable = KeyTable {
    noun: "a JSON-RPC error",
    keys: &[
        Key::new("code", Kind::Integer(i64::MIN, i64::MAX), "the code").required(),
        Key::new("message", Kind::Text, "the message").required(),
        Key::new("data", Kind::Json, "further data"),
    ],
    includes: &[],
    choice: None,
};

static RULE: KeyTable = KeyTable {
    noun: "an `on` rule",
    keys: &[
        Key::new("event", Kind::Word(&EVENT_WORDS), "what the rule waits for").required(),
        Key::new("method", Kind::NonEmpty, "only for this JSON-RPC method"),
        Key::new("tool", Kind::Text, "only for calls of this tool"),
        Key::new(
            "nth",
            Kind::OneOf(&[Kind::POSITIVE, Kind::Text, Kind::List(&Kind::POSITIVE)]),
            "which occurrences: a number, a list, `a..=b` or `every`; default `every`",
        ),
        Key::new("scope", Kind::Word(&SCOPE_WORDS), "over what occurrences are counted; default `connection`"),
        Key::new("do", Kind::Tables(&ACTION), "what is done, in order").required(),
    ],
    includes: &[],
    choice: None,
};

static ACTION: KeyTable = KeyTable {
    noun: "an action",
    keys: &[
        Key::new("reply", Kind::Json, "answers with this result"),
        Key::new("error", Kind::Table(&ERROR), "answers with this error"),
        Key::new("raw", Kind::OneOf(&[Kind::Text, Kind::Table(&RAW)]), "writes these bytes as they are"),
        Key::new("notify", Kind::Table(&MESSAGE), "sends a notification"),
        Key::new("request", Kind::Table(&MESSAGE), "sends a request to the host"),
        Key::new("stderr", Kind::Text, "writes to standard error"),
        Key::new("hold", Kind::NonEmpty, "keeps the reply until this name is released"),
        Key::new("release", Kind::NonEmpty, "lets the replies held under this name go"),
        Key::new("silence", Kind::Flag, "never answers"),
        // All copies are in memory at once.
        Key::new("duplicate", Kind::Integer(1, 1000), "sends the reply this many more times"),
        Key::new("id", Kind::Json, "uses this id in the reply instead of the request's"),
        Key::new("exit", Kind::Integer(0, 255), "ends the process with this code"),
        Key::new("kill", Kind::Word(&SIGNAL_WORDS), "ends the process by this signal"),
        Key::new("close_stdout", Kind::Flag, "closes standard output and goes on"),
        Key::new("delay", Kind::POSITIVE, "waits this many milliseconds; only where time is the subject"),
        Key::new("ignore", Kind::Flag, "does nothing, so that a default act does not happen"),
        Key::later("http_status"),
        Key::later("header"),
        Key::later("cut"),
        Key::later("content_type"),
        Key::later("redirect"),
    ],
    includes: &[],
    choice: Some(Choice {
        word: "act",
        keys: &[
            "reply",
            "error",
            "raw",
            "notify",
            "request",
            "stderr",
            "hold",
            "release",
            "silence",
            "duplicate",
            "id",
            "exit",
            "kill",
            "close_stdout",
            "delay",
            "ignore",
            "http_status",
            "header",
            "cut",
            "content_type",
            "redirect",
        ],
        help: "one table is one act; write them one after the other: `do = [{ … }, { … }]`",
    }),
};

static RAW: KeyTable = KeyTable {
    noun: "`raw`",
    keys: &[Key::new("hex", Kind::Text, "bytes as hexadecimal digits").required()],
    includes: &[],
    choice: None,
};

static MESSAGE: KeyTable = KeyTable {
    noun: "a message",
    keys: &[
        Key::new("method", Kind::NonEmpty, "its method").required(),
        Key::new("params", Kind::Json, "its params"),
    ],
    includes: &[],
    choice: None,
};
