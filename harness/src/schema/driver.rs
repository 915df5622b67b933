//! The schema of a line of the driver protocol. It follows `driver::protocol` by hand; a test holds the two together.

use super::parts::{any_of, at_least, defined, described, keyword, list, map, nullable, object, typed, words};
use crate::driver::protocol::{ANSWERS, GATES, PROTOCOL};
use crate::json::Json;
use crate::revision::Revision;

/// A line in either direction.
pub(super) fn line() -> Json {
    let mut schema = keyword("oneOf", Json::array([defined("to-host"), defined("from-host")]));
    let defs = [
        ("to-host", described("what hopcheck says", any_of(vec![start(), plain(), call(), answer()]))),
        ("from-host", described("what the driver says", any_of(vec![done(), refused(), error(), ask()]))),
    ];
    schema.set("$defs", Json::object(defs));
    schema
}

fn id() -> Json {
    described("the number of the command", at_least(1))
}

fn text() -> Json {
    typed("string")
}

/// The arguments of a tool use: one of these members, or none.
fn input() -> [(&'static str, Json); 2] {
    [
        ("input", described("the arguments, as the model wrote them", Json::empty())),
        ("input_text", described("the same, where they are no JSON", text())),
    ]
}

fn start() -> Json {
    let server = object(
        [("command", text()), ("args", list(text())), ("env", map(text()))],
        [("required", described("whether to wait for it", typed("boolean")))],
    );
    let limits = object([], [("start", nullable("integer")), ("call", nullable("integer"))]);
    object(
        [
            ("id", id()),
            ("cmd", keyword("const", "start")),
            ("protocol", keyword("const", PROTOCOL)),
            ("revision", described("what the servers speak", words(Revision::ALL.map(Revision::as_str)))),
            ("servers", described("by the name in the host's configuration", map(server))),
            ("permissions", described("in the words of the profile's dialect", typed("object"))),
            ("limits", described("milliseconds", limits)),
            ("home", described("a fresh folder in the place of the user's home", text())),
            ("cwd", described("a fresh folder to work in", text())),
        ],
        [],
    )
}

fn plain() -> Json {
    object([("id", id()), ("cmd", words(["tools", "stop"]))], [])
}

fn call() -> Json {
    object(
        [("id", id()), ("cmd", keyword("const", "call")), ("name", described("the published name", text()))],
        input()
            .into_iter()
            .chain([("more", described("another use of the same turn follows", keyword("const", true)))]),
    )
}

fn answer() -> Json {
    object(
        [
            ("cmd", keyword("const", "answer")),
            ("id", described("that of the question", Json::empty())),
            ("answer", words(ANSWERS.map(|(word, _)| word))),
        ],
        [],
    )
}

fn done() -> Json {
    let tool = object(
        [("name", described("the published name", text()))],
        [("description", text()), ("input_schema", Json::empty())],
    );
    let told = object(
        [("content", described("blocks in the form of MCP", list(typed("object"))))],
        [("is_error", typed("boolean"))],
    );
    let tools = object([("tools", list(tool))], []);
    let itself = object(
        [],
        [
            ("name", text()),
            ("version", text()),
            ("language", text()),
            ("features", described("recorded; the profile is what counts", list(text()))),
        ],
    );
    object([("id", id()), ("ok", any_of(vec![tools, told, itself]))], [])
}

fn refused() -> Json {
    let gate = described("the gate of the host that refused the call", words(GATES.map(|(word, _)| word)));
    let refused = object([("by", gate)], [("message", described("what the model is told", text()))]);
    object([("id", id()), ("refused", refused)], [])
}

fn error() -> Json {
    let error = object([], [("message", described("why the driver cannot do its work", text()))]);
    object([("id", id()), ("error", error)], [])
}

fn ask() -> Json {
    let optional = [
        ("kind", keyword("const", "tool")),
        ("call", described("the number of the call that it is about", at_least(1))),
    ];
    let ask = object(
        [
            ("id", described("any value; the answer repeats it", Json::empty())),
            ("name", described("what the user is shown as the tool", text())),
        ],
        optional.into_iter().chain(input()),
    );
    object([("ask", ask)], [])
}
