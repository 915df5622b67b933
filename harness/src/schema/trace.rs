//! The schema of one line of a trace.

use super::parts::{at_least, defined, described, has, keyword, map, nullable, object, typed, words};
use crate::json::Json;
use crate::revision::{Revision, Transport};
use crate::trace::event::{Kind, Lane};
use crate::trace::file::FORMAT;

/// A header or an event.
pub(super) fn line() -> Json {
    Json::object([
        ("oneOf", Json::array([defined("header"), defined("event")])),
        ("$defs", Json::object([("header", header()), ("event", event()), ("text", text())])),
    ])
}

fn header() -> Json {
    let plan = object(
        [
            ("scenario", described("AREA/NAME or AREA/NAME[CASE]", typed("string"))),
            ("host", typed("string")),
            ("variant", nullable("string")),
            ("version", described("the version that the profile was read for", nullable("string"))),
            ("revision", words(Revision::ALL.map(Revision::as_str))),
            ("transport", words(Transport::ALL.map(Transport::as_str))),
            ("seed", described("up to 64 bits: more than a double holds", at_least(0))),
        ],
        [],
    );
    let header = object(
        [
            ("hopcheck", described("the version of hopcheck that recorded", typed("string"))),
            ("trace", described("the version of this format", keyword("const", FORMAT))),
            ("plan", described("what was run, by its coordinates", plan)),
            ("scenario", defined("text")),
            ("scripts", described("the server scripts that the scenario names", map(defined("text")))),
            ("profile", defined("text")),
            ("host_version", described("what the host says of its version", typed("string"))),
            ("environment", described("facts about the machine, never judged", nullable("object"))),
        ],
        [("not_applicable", described("why the plan does not apply; then there are no events", typed("string")))],
    );
    described("The first line: everything that judging needs beside the events.", header)
}

fn text() -> Json {
    let text = object([("name", typed("string")), ("text", typed("string"))], []);
    described("A file with its whole text.", text)
}

fn event() -> Json {
    let base64 = |doc: &str| described(&format!("{doc}, as base64 where they are no UTF-8"), typed("string"));
    let mut sha256 = typed("string");
    sha256.set("pattern", "^[0-9a-f]{64}$");
    let mut event = object(
        [
            ("n", described("number in the trace, in the order of recording", at_least(1))),
            ("us", described("microseconds since the trace began, never judged", at_least(0))),
            ("run", described("the host run inside the trace", at_least(1))),
            ("tick", described("events of one tick on different streams are concurrent", at_least(0))),
            ("lane", words(Lane::ALL.map(Lane::as_str))),
            ("ev", typed("string")),
        ],
        [
            ("server", described("the server, where it is about one", typed("string"))),
            ("conn", described("the connection, a number per host run", at_least(0))),
            ("step", described("the step, an index from 0", at_least(0))),
            ("cause", described("the event that this one answers", at_least(0))),
            ("raw", described("the bytes", typed("string"))),
            ("raw_b64", base64("the bytes")),
            ("head", described("the first of too many bytes", typed("string"))),
            ("head_b64", base64("the first of too many bytes")),
            ("len", described("the length of all bytes", at_least(0))),
            ("sha256", described("the hash of all bytes", sha256)),
            ("data", described("facts beside the bytes", typed("object"))),
        ],
    );
    let kinds = keyword("oneOf", Kind::ALL.iter().copied().map(kind).collect::<Vec<_>>());
    event.set("allOf", Json::array([kinds, payload()]));
    described("What happened.", event)
}

/// A lane and a word of it.
fn kind(kind: Kind) -> Json {
    let doc = kind.doc().iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
    let lane = keyword("const", kind.lane().as_str());
    let word = keyword("const", kind.as_str());
    described(&doc, keyword("properties", Json::object([("lane", lane), ("ev", word)])))
}

/// All bytes, too many of them, or none.
fn payload() -> Json {
    const PARTS: [&str; 6] = ["raw", "raw_b64", "head", "head_b64", "len", "sha256"];
    let only = |names: &[&str]| {
        let others = PARTS.into_iter().filter(|part| !names.contains(part));
        let mut schema = has(names.iter().copied());
        schema.set("not", keyword("anyOf", others.map(|part| has([part])).collect::<Vec<_>>()));
        schema
    };
    let forms: [&[&str]; 5] =
        [&["raw"], &["raw_b64"], &["head", "len", "sha256"], &["head_b64", "len", "sha256"], &[]];
    keyword("oneOf", forms.map(only).to_vec())
}
