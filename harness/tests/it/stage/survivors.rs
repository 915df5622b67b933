//! What a host leaves behind is found, reported and killed.

use hopcheck::json::Json;
use hopcheck::trace::event::{Event, Kind};

use super::{lives, of, one, options, run, shown};

#[track_caller]
fn check(part: &str, expected: &[&str]) -> Vec<Event> {
    let events = run(part, &options());
    let survivors = of(&events, Kind::Survivor);
    let mut commands: Vec<&str> = survivors.iter().map(|event| event.data.str("command").unwrap()).collect();
    commands.sort_unstable();
    assert_eq!(commands, expected, "{}", shown(&events));
    for event in survivors {
        assert!(!lives(event.data.get("pid").and_then(Json::as_i64).unwrap()));
    }
    let gone = one(&events, Kind::Gone).data.get("survivors").and_then(Json::as_i64);
    assert_eq!(gone, Some(i64::try_from(expected.len()).unwrap()));
    events
}

#[test]
fn a_daemon_in_a_session_of_its_own() {
    check("daemon", &["sleep", "sleep"]);
}

#[test]
fn a_process_that_ignores_signals() {
    check("stubborn", &["sh", "sleep"]);
}

#[test]
fn a_server_that_nobody_told_to_end() {
    let events = check("stray-server", &["hopcheck", "sleep"]);
    assert_eq!(one(&events, Kind::ServerExit).data.str("by"), Some("harness"));
}
