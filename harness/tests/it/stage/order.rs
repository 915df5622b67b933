//! Written before is recorded before.

use hopcheck::json::Json;
use hopcheck::trace::event::{Event, Kind};

use super::{of, one, options, run, shown};

/// The numbers of a fake host's lines and requests, in the order of the record.
fn numbers(events: &[Event]) -> Vec<(Kind, i64)> {
    let number = |event: &Event| match event.kind {
        Kind::ToServer => event.json()?.at(&["params", "n"])?.as_i64(),
        Kind::ModelRequest => event.json()?.get("max_tokens")?.as_i64(),
        _ => None,
    };
    events.iter().filter_map(|event| Some((event.kind, number(event)?))).collect()
}

#[track_caller]
fn check(part: &str) {
    let events = run(part, &options());
    assert_eq!(
        one(&events, Kind::HostExit).data.get("code").and_then(Json::as_i64),
        Some(0),
        "{}",
        shown(&events)
    );
    let expected: Vec<(Kind, i64)> =
        (1..=1000).flat_map(|n| [(Kind::ToServer, n), (Kind::ModelRequest, n)]).collect();
    assert_eq!(numbers(&events), expected);
    assert_eq!(of(&events, Kind::ModelReply).len(), 1000);
}

#[test]
fn a_line_comes_before_the_request_that_followed_it() {
    check("order");
}

#[test]
fn also_on_a_busy_machine() {
    check("busy");
}
