//! The schema of the JSON report. It follows `report::json` by hand; a test holds the two together.

use super::parts::{at_least, defined, described, keyword, list, nullable, object, typed, words};
use crate::check::finding::{Level, Outcome, Verdict};
use crate::json::Json;
use crate::report::ChangeKind;
use crate::revision::{Revision, Transport};

/// The report of a whole invocation.
pub(super) fn report() -> Json {
    let summary = object(Outcome::ALL.map(|outcome| (outcome.as_str(), at_least(0))), []);
    let mut schema = object(
        [
            ("hopcheck", described("the version of hopcheck", typed("string"))),
            ("runs", list(defined("run"))),
            ("summary", described("the number of runs per outcome", summary)),
        ],
        [("snapshots", described("transcripts against the accepted ones, with --snapshots", snapshots()))],
    );
    schema.set("$defs", Json::object([("run", run()), ("finding", finding()), ("stale", stale())]));
    schema
}

fn run() -> Json {
    let host = object(
        [
            ("name", described("NAME or NAME:VARIANT", typed("string"))),
            ("version", described("what the host says of its version", typed("string"))),
        ],
        [],
    );
    object(
        [
            ("scenario", described("AREA/NAME or AREA/NAME[CASE]", typed("string"))),
            ("host", host),
            ("revision", words(Revision::ALL.map(Revision::as_str))),
            ("transport", words(Transport::ALL.map(Transport::as_str))),
            ("outcome", words(Outcome::ALL.map(Outcome::as_str))),
            ("reason", described("why it does not apply, or what broke", nullable("string"))),
            ("duration_ms", at_least(0)),
            ("trace", described("the file, where it was kept", nullable("string"))),
            ("findings", list(defined("finding"))),
            ("stale", described("what the baseline knows and did not happen", list(defined("stale")))),
        ],
        [],
    )
}

fn stale() -> Json {
    object(
        [
            ("requirement", described("its id", typed("string"))),
            ("message", described("what came of it", typed("string"))),
            ("at", described("FILE:LINE:COLUMN in the baseline", typed("string"))),
        ],
        [],
    )
}

fn snapshots() -> Json {
    let name = || described("HOST/AREA/NAME or HOST/AREA/NAME[CASE]", typed("string"));
    let change = object(
        [
            ("name", name()),
            ("file", described("its path", typed("string"))),
            ("change", words(ChangeKind::WORDS)),
            ("diff", described("the lines that drifted", nullable("string"))),
        ],
        [],
    );
    object(
        [
            ("same", described("the number of files that are as accepted", at_least(0))),
            ("accepted", described("whether the changes were accepted", typed("boolean"))),
            ("changes", list(change)),
            ("unknown", described("files that were not compared: a run of theirs is in error", list(name()))),
        ],
        [],
    )
}

fn finding() -> Json {
    let mut finding = object(
        [
            ("requirement", described("its id", typed("string"))),
            ("level", described("how much it binds", words(Level::ALL.map(Level::as_str)))),
            ("verdict", words(Verdict::ALL.map(Verdict::as_str))),
            ("message", typed("string")),
            ("evidence", described("numbers of events in the trace, ascending", list(at_least(1)))),
            ("value", described("the value of a trait", nullable("string"))),
            ("at", described("FILE:LINE:COLUMN in the scenario", nullable("string"))),
            ("known", described("the reason in the baseline, where it has this failure", nullable("string"))),
        ],
        [],
    );
    // No evidence, no pass.
    let passes = Json::object([("verdict", keyword("const", Verdict::Pass.as_str()))]);
    let rests = Json::object([("evidence", keyword("minItems", 1))]);
    finding.set("if", keyword("properties", passes));
    finding.set("then", keyword("properties", rests));
    finding
}
