//! The keys of a host profile.

use crate::decode::keys::{Condition, Key, KeyTable, Kind, Words};
use crate::host::profile::{ApiName, ArgumentsClaim, DialectName, DriveKind, MainLine, Strict, Surface};
use crate::host::surface::Found;
use crate::pack::Pack;
use crate::revision::{Revision, Transport};
use crate::scenario::ast::Feature;

/// What happens to requests that the real API would refuse, and its words.
pub const STRICT: [(&str, Strict); 2] = [("report", Strict::Report), ("refuse", Strict::Refuse)];

static PACK_WORDS: Words = Words { known: Pack::names, later: &[] };
static STRICT_WORDS: Words = Words { known: || STRICT.map(|(word, _)| word).to_vec(), later: &[] };
static API_WORDS: Words =
    Words { known: || ApiName::ALL.map(ApiName::as_str).to_vec(), later: &["openai-chat", "gemini"] };
static SURFACE_WORDS: Words = Words { known: || Surface::WORDS.to_vec(), later: &["code"] };
static FOUND_WORDS: Words = Words { known: || Found::WORDS.map(|(word, _)| word).to_vec(), later: &[] };
static MAIN_LINE_WORDS: Words = Words { known: || MainLine::ALL.map(MainLine::as_str).to_vec(), later: &[] };
static DRIVE_WORDS: Words =
    Words { known: || DriveKind::ALL.map(DriveKind::as_str).to_vec(), later: &["acp", "codex-app-server"] };
static DIALECT_WORDS: Words =
    Words { known: || DialectName::ALL.map(DialectName::as_str).to_vec(), later: &["cursor"] };
static ARGUMENTS_WORDS: Words =
    Words { known: || ArgumentsClaim::ALL.map(ArgumentsClaim::as_str).to_vec(), later: &[] };
static FEATURE_WORDS: Words = Words { known: || Feature::ALL.map(Feature::as_str).to_vec(), later: &[] };
static TRANSPORT_WORDS: Words = Words { known: || Transport::ALL.map(Transport::as_str).to_vec(), later: &[] };
static REVISION_WORDS: Words = Words { known: || Revision::ALL.map(Revision::as_str).to_vec(), later: &[] };

/// A host profile.
pub static PROFILE: KeyTable = KeyTable {
    noun: "a profile",
    keys: &[
        Key::new("name", Kind::NonEmpty, "the name on the command line").required(),
        Key::new("title", Kind::NonEmpty, "the name for people; default the same"),
        Key::new("bin", Kind::Table(&BIN), "where the program is found; none for a library")
            .required()
            .unless(&LIBRARY),
        Key::new(
            "pack",
            Kind::Word(&PACK_WORDS),
            "only what is in this pack can fail, so that an update of hopcheck changes nothing by itself; default all",
        ),
        Key::new("runtime", Kind::Text, "a runtime that the program needs, such as `node>=22`").unless(&LIBRARY),
        Key::new("version", Kind::Table(&VERSION), "how its version is asked for").unless(&LIBRARY),
        Key::new("model", Kind::Table(&MODEL), "the model API that it speaks; none for a host that asks no model")
            .required()
            .unless(&NO_MODEL),
        Key::new("surface", Kind::Table(&SURFACE), "what surfaces beside plain lists need"),
        Key::new("names", Kind::Table(&NAMES), "how it publishes names"),
        Key::new("wire", Kind::Table(&WIRE), "what it puts on the wire besides the protocol"),
        Key::new("drive", Kind::Tables(&DRIVE), "ways to run it, in order of preference").required(),
        Key::new("file", Kind::Tables(&FILE), "files that are written before it starts"),
        Key::new("claims", Kind::Table(&CLAIMS), "what it claims of itself").required(),
        Key::new("told", Kind::Table(&TOLD), "how it wraps results on their way to the model"),
        Key::new("redact", Kind::Map(&Kind::Regex), "volatile values: name = pattern that the value must match"),
        Key::new("variant", Kind::Tables(&VARIANT), "named variations"),
        Key::new("when", Kind::Tables(&WHEN), "changes by version"),
    ],
    includes: &[],
    choice: None,
};

/// The host is a library.
static LIBRARY: Condition = Condition {
    path: &["drive", "kind"],
    words: &["in-process"],
    why: "the host is a library: the test program brings it, and says its version",
};

/// The host asks no model.
static NO_MODEL: Condition = Condition {
    path: &["drive", "kind"],
    words: &["driver", "in-process"],
    why: "the host is driven call by call, and asks no model",
};

/// The drive is one of a library.
static LIBRARY_DRIVE: Condition = Condition {
    path: &["kind"],
    words: &["in-process"],
    why: "a library has neither arguments nor an environment of its own",
};

static BIN: KeyTable = KeyTable {
    noun: "`bin`",
    keys: &[
        Key::new("env", Kind::NonEmpty, "a variable that names the program and wins"),
        Key::new("names", Kind::NAMES, "names to look for on `PATH`"),
        Key::new("npm", Kind::NonEmpty, "the npm package that brings it"),
        Key::new("builtin", Kind::NonEmpty, "a hidden subcommand of hopcheck itself"),
    ],
    includes: &[],
    choice: None,
};

static VERSION: KeyTable = KeyTable {
    noun: "`version`",
    keys: &[
        Key::new("args", Kind::List(&Kind::Text), "the arguments; default [\"--version\"]"),
        Key::new("pattern", Kind::Regex, "a pattern whose first group is the version").required(),
    ],
    includes: &[],
    choice: None,
};

static MODEL: KeyTable = KeyTable {
    noun: "`model`",
    keys: &[
        Key::new("api", Kind::Word(&API_WORDS), "which model API the host speaks").required(),
        Key::new("surface", Kind::Word(&SURFACE_WORDS), "how tools are offered; default `flat`"),
        Key::new(
            "strict",
            Kind::Word(&STRICT_WORDS),
            "`refuse` answers 400 to what the real API would refuse; default `report`",
        ),
        Key::new(
            "main_line",
            Kind::Word(&MAIN_LINE_WORDS),
            "what a first request of the main line shows beside the marker; default `tools`, else `marker` alone",
        ),
        Key::new("side", Kind::Tables(&SIDE), "side requests and their answers, first match wins"),
    ],
    includes: &[],
    choice: None,
};

static SIDE: KeyTable = KeyTable {
    noun: "a side request",
    keys: &[
        Key::new("name", Kind::NonEmpty, "its name in the trace").required(),
        Key::new("contains", Kind::NonEmpty, "a text that the request body contains").required(),
        Key::new("answer", Kind::Text, "the text that is answered").required(),
    ],
    includes: &[],
    choice: None,
};

static SURFACE: KeyTable = KeyTable {
    noun: "`surface`",
    keys: &[
        Key::new("search", Kind::Table(&SEARCH), "how the model searches for tools"),
        Key::new("wrapper", Kind::Table(&WRAPPER), "the one tool that calls all others"),
        Key::later("code"),
    ],
    includes: &[],
    choice: None,
};

static SEARCH: KeyTable = KeyTable {
    noun: "`surface.search`",
    keys: &[
        Key::new("tool", Kind::NonEmpty, "the host's search tool; absent: the search of the model API itself"),
        Key::new(
            "arguments",
            Kind::Template,
            "the arguments of a search as JSON, with `published` (the flat name), `server` and `tool`",
        )
        .required(),
        Key::new("found", Kind::Word(&FOUND_WORDS), "how a tool is published once it is found; default `flat`"),
    ],
    includes: &[],
    choice: None,
};

static WRAPPER: KeyTable = KeyTable {
    noun: "`surface.wrapper`",
    keys: &[
        Key::new("tool", Kind::NonEmpty, "the name of the tool").required(),
        Key::new(
            "arguments",
            Kind::Template,
            "its arguments as JSON, with `server`, `tool`, `published` (the flat name) and, as JSON text, `arguments`",
        )
        .required(),
    ],
    includes: &[],
    choice: None,
};

static NAMES: KeyTable = KeyTable {
    noun: "`names`",
    keys: &[
        Key::new("flat", Kind::Template, "template of the flat name; default `mcp__{{ server }}__{{ tool }}`"),
        Key::new("namespace", Kind::Template, "template of the namespace; default `mcp__{{ server }}`"),
        Key::new("replace", Kind::Regex, "characters that become `_`; default `[^A-Za-z0-9_-]`"),
        Key::new("max", Kind::POSITIVE, "most characters of a published name; default 64"),
    ],
    includes: &[],
    choice: None,
};

static WIRE: KeyTable = KeyTable {
    noun: "`wire`",
    keys: &[Key::new(
        "tool_use_id",
        Kind::NonEmpty,
        "a JSON pointer into `params`, where the host puts the model's id of a tool use",
    )],
    includes: &[],
    choice: None,
};

static DRIVE: KeyTable = KeyTable {
    noun: "a drive",
    keys: &[
        Key::new("kind", Kind::Word(&DRIVE_WORDS), "how the host is talked to").required(),
        Key::new("argv", Kind::List(&Kind::Template), "program and arguments, as templates; none for a library")
            .required()
            .unless(&LIBRARY_DRIVE),
        Key::new("env", Kind::Map(&Kind::Template), "the whole environment, as templates").unless(&LIBRARY_DRIVE),
        Key::new("features", Kind::List(&Kind::Word(&FEATURE_WORDS)), "what can be done with it"),
    ],
    includes: &[],
    choice: None,
};

static FILE: KeyTable = KeyTable {
    noun: "a file",
    keys: &[
        Key::new("path", Kind::Template, "its path, as a template that starts inside the sandbox").required(),
        Key::new("template", Kind::Template, "its content, as a template").required(),
    ],
    includes: &[],
    choice: None,
};

static CLAIMS: KeyTable = KeyTable {
    noun: "`claims`",
    keys: &[
        Key::new("dialect", Kind::Word(&DIALECT_WORDS), "its permission dialect; default `none`"),
        Key::new("schema_gate", Kind::Bool, "whether arguments that fail the schema are stopped; default false"),
        Key::new("arguments", Kind::Word(&ARGUMENTS_WORDS), "how arguments travel; default `exact`"),
        Key::new("wire", Kind::Tables(&CLAIMS_WIRE), "revisions per transport").required(),
        Key::new("published", Kind::Word(&SURFACE_WORDS), "the surface that it claims, to be held to it"),
    ],
    includes: &[],
    choice: None,
};

static CLAIMS_WIRE: KeyTable = KeyTable {
    noun: "a `claims.wire` entry",
    keys: &[
        Key::new("transport", Kind::Word(&TRANSPORT_WORDS), "the transport").required(),
        Key::new("revisions", Kind::List(&Kind::Word(&REVISION_WORDS)), "the revisions on it").required(),
    ],
    includes: &[],
    choice: None,
};

static TOLD: KeyTable = KeyTable {
    noun: "`told`",
    keys: &[Key::new(
        "strip",
        Kind::List(&Kind::Regex),
        "patterns that are cut from results before they are compared",
    )],
    includes: &[],
    choice: None,
};

static CHANGES: KeyTable = KeyTable {
    noun: "changes",
    keys: &[
        Key::new("set", Kind::Changes, "keys to set: tables are merged, all else is replaced"),
        Key::new("unset", Kind::NAMES, "paths of keys to remove first"),
    ],
    includes: &[],
    choice: None,
};

static VARIANT: KeyTable = KeyTable {
    noun: "a variant",
    keys: &[Key::new("name", Kind::NonEmpty, "its name on the command line, after a colon").required()],
    includes: &[&CHANGES],
    choice: None,
};

static WHEN: KeyTable = KeyTable {
    noun: "a `when` block",
    keys: &[Key::new("version", Kind::NonEmpty, "versions, such as `>=0.180` or `>=1.2, <2`").required()],
    includes: &[&CHANGES],
    choice: None,
};
