//! Whole conversations.

use hopcheck::json::Json;
use hopcheck::stage::{Isolate, Keep, StageOptions};
use hopcheck::trace::event::{Event, Kind};

use super::{CALL, of, one, options, plan_of, reason, run, shown, try_run};

fn kinds(events: &[Event]) -> Vec<&str> {
    events.iter().map(|event| event.kind.as_str()).collect()
}

#[test]
fn a_polite_host_leaves_a_whole_record() {
    let events = run("polite", &options());
    let without_output: Vec<Event> =
        events.iter().filter(|event| !matches!(event.kind, Kind::HostOut | Kind::HostErr)).cloned().collect();
    let expected = [
        "run-start",
        "host-start",
        "prompt",
        "server-start",
        "to-server",
        "to-host",
        "to-server",
        "to-server",
        "to-host",
        "request",
        "reply",
        "to-server",
        "to-host",
        "request",
        "reply",
        "eof",
        "exit",
        "host-exit",
        "gone",
        "run-end",
    ];
    let got = kinds(&without_output);
    let expected: Vec<&str> = expected.map(|word| if word == "exit" { "server-exit" } else { word }).to_vec();
    assert_eq!(got, expected, "{}", shown(&events));

    assert_eq!(reason(&events), "exit");
    assert_eq!(one(&events, Kind::HostExit).data.to_string(), r#"{"code":0}"#);
    assert_eq!(one(&events, Kind::ServerExit).data.to_string(), r#"{"code":0,"by":"script"}"#);
    assert_eq!(one(&events, Kind::Gone).data.to_string(), r#"{"survivors":0}"#);
    assert!(of(&events, Kind::HostOut).iter().any(|event| event.bytes() == Some(b"out")));
    assert!(of(&events, Kind::HostErr).iter().any(|event| event.bytes() == Some(b"err")));
    let start = one(&events, Kind::ServerStart);
    assert_eq!(start.data.get("canaries").unwrap().to_string(), r#"["HOPCHECK_CANARY_ORDERS"]"#);
}

#[test]
fn causes_join_answers_to_questions() {
    let events = run("polite", &options());
    let caused: Vec<(&str, u32)> =
        events.iter().filter_map(|event| Some((event.kind.as_str(), event.cause?))).collect();
    assert_eq!(caused.len(), 5, "{}", shown(&events));
    for (kind, cause) in caused {
        let asked = events[cause as usize - 1].kind;
        assert_eq!(asked, if kind == "reply" { Kind::ModelRequest } else { Kind::ToServer });
    }
}

#[test]
fn numbers_and_ticks_go_up() {
    let events = run("polite", &options());
    for (at, pair) in events.windows(2).enumerate() {
        assert_eq!(pair[0].n as usize, at + 1);
        assert!(pair[0].tick <= pair[1].tick && pair[0].us <= pair[1].us);
    }
    let (reply, call) = (of(&events, Kind::ModelReply)[0].tick, of(&events, Kind::ToServer)[3].tick);
    assert!(reply < call, "the call is later than the reply, not concurrent");
}

#[test]
fn isolation_leaves_only_loopback() {
    let plan = plan_of("polite", "headless", CALL);
    let isolated = StageOptions { isolate: Isolate::Yes, ..options() };
    match try_run(&plan, &isolated) {
        Ok(staged) => {
            let events = staged.trace.events;
            assert_eq!(one(&events, Kind::RunStart).data.str("isolation"), Some("network"));
            assert_eq!(one(&events, Kind::HostExit).data.to_string(), r#"{"code":0}"#, "{}", shown(&events));
        }
        // A machine may forbid it.
        Err(error) => assert!(error.to_string().starts_with("cannot isolate the network"), "{error}"),
    }
    let auto = StageOptions { isolate: Isolate::Auto, ..options() };
    assert_eq!(reason(&try_run(&plan, &auto).unwrap().trace.events), "exit");
}

#[test]
fn a_kept_sandbox_can_be_looked_into() {
    let keeping = StageOptions { keep: Keep::Yes, ..options() };
    let staged = try_run(&plan_of("polite", "headless", CALL), &keeping).unwrap();
    let kept = &staged.kept[0];
    assert!(kept.folder.join("home/config.json").exists());
    assert!(kept.command.contains("HOPCHECK_FAKE=polite"), "{}", kept.command);
    std::fs::remove_dir_all(&kept.folder).unwrap();
}

#[test]
fn nothing_of_a_sandbox_stays() {
    let events = run("polite", &options());
    let cwd = one(&events, Kind::HostStart).data.str("cwd").unwrap();
    assert!(!std::path::Path::new(cwd).parent().unwrap().exists());
}

#[test]
fn the_trace_is_streamed_to_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b.jsonl");
    let plan = plan_of("nothing", "headless", CALL);
    let bin = [std::env::current_exe().unwrap().to_string_lossy().into_owned()];
    let staged = hopcheck::stage::run(&plan, super::header(&plan), &bin, &options(), Some(&path)).unwrap();
    let read = hopcheck::trace::file::read("b", &std::fs::read(&path).unwrap()).unwrap();
    assert_eq!(read, staged.trace);
}

#[test]
fn a_program_that_is_not_there_is_an_error() {
    let plan = plan_of("nothing", "headless", CALL);
    let bin = ["/nowhere/at/all".to_owned()];
    let error = hopcheck::stage::run(&plan, super::header(&plan), &bin, &options(), None).unwrap_err();
    assert!(error.to_string().starts_with("cannot start /nowhere/at/all"), "{error}");
}

#[test]
fn what_is_no_model_request_is_noise() {
    let events = run("knocks", &options());
    let reasons: Vec<&str> =
        of(&events, Kind::ModelNoise).iter().map(|event| event.data.str("reason").unwrap()).collect();
    let expected = [
        "a look at the base path",
        "a path outside of the run",
        "a path that the model API does not have",
        "a body that is no JSON: expected a member name at byte 1",
        "a host or origin that is not this endpoint",
    ];
    assert_eq!(reasons, expected, "{}", shown(&events));
}

#[test]
fn questions_are_answered_as_the_plan_says() {
    let scenario = CALL.replace("call = ", "answer = \"allow\"\nask = ");
    let scenario =
        scenario.replace("[[step]]\nanswer", "[permissions]\nask = [\"orders/lookup_order\"]\n[[step]]\nanswer");
    let events = try_run(&plan_of("control", "claude-control", &scenario), &options()).unwrap().trace.events;
    assert_eq!(one(&events, Kind::HostExit).data.to_string(), r#"{"code":0}"#, "{}", shown(&events));
    let question = one(&events, Kind::Question);
    assert_eq!(question.data.get("use").and_then(Json::as_i64), Some(0));
    let answer = one(&events, Kind::Answer);
    assert_eq!((answer.cause, answer.data.str("answer")), (Some(question.n), Some("allow")));
    assert_eq!(question.step, Some(0));
}

#[test]
fn two_runs_and_a_twin_share_a_trace() {
    let scenario = r#"
title = "A hidden tool"
runs = 2
[server.orders]
script = "orders"
[permissions]
deny = ["orders/lookup_order"]
[[step]]
deny = "orders/lookup_order"
"#;
    // This host asks no model, so the tool counts as hidden.
    let events = try_run(&plan_of("nothing", "headless", scenario), &options()).unwrap().trace.events;
    let roles: Vec<_> =
        of(&events, Kind::RunStart).iter().map(|event| (event.run, event.data.str("role").unwrap())).collect();
    assert_eq!(roles, [(1, "main"), (2, "second"), (3, "twin")]);
    assert_eq!(of(&events, Kind::RunEnd).len(), 3);
}
