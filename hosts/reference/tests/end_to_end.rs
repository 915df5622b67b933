//! Whole runs: the host as a process of its own, a scripted model in this process, and scripted servers as further processes.
//!
//! The test program plays all three: called as `host …` it is the host, called as `server …` it is a server.

mod stage;

use std::process::ExitCode;

use crate::stage::{Api, Run, Stage, call, say};

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    match args.next().as_deref() {
        Some("host") => hopcheck_reference_host::main(args.collect()),
        Some("server") => stage::server::serve(&args.collect::<Vec<_>>()),
        // What the test runner of cargo would ask for is not needed here: every test is quick.
        _ => {
            legacy_call_over_messages();
            modern_call_over_responses();
            refusals_never_reach_a_server();
            arguments_keep_their_text();
            a_crashed_server_is_started_again_once();
            a_slow_call_is_given_up_and_cancelled();
            a_changed_list_is_offered_before_the_next_reply();
            a_sick_server_hides_nobody();
            a_second_round_repeats_the_call_with_its_state();
            the_user_is_asked();
            several_prompts_are_one_conversation();
            a_refusing_endpoint_ends_the_run();
            a_lie_is_told();
            ExitCode::SUCCESS
        }
    }
}

fn legacy_call_over_messages() {
    let run = Stage::new(Api::Anthropic)
        .server("orders", "legacy")
        .allow("*/*")
        .run(vec![vec![call("t1", "mcp__orders__echo", r#"{"text":"hello"}"#)], vec![say("done")]]);
    run.ends_well("done");
    assert_eq!(
        run.methods("orders"),
        [
            "server/discover",
            "initialize",
            "response",
            "notifications/initialized",
            "tools/list",
            "tools/list",
            "tools/call"
        ]
    );
    assert!(run.line("orders", "tools/call").contains(
        r#""params":{"name":"echo","arguments":{"text":"hello"},"_meta":{"hopcheck.reference/toolUseId":"t1"}}"#
    ));
    assert!(run.requests[1].contains(r#"{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"echo {\"text\":\"hello\"}"}]}"#));
    assert_eq!(run.tools(0), run.tools(1), "the offer is the same bytes on each turn");
    assert!(!run.requests[0].contains("no_schema"), "a tool without a schema does not go to the model");
}

fn modern_call_over_responses() {
    let run = Stage::new(Api::Responses).server("my-orders", "modern").allow("*/*").run(vec![
        vec![call("c1", "mcp__my_orders/echo", "{}"), call("c2", "mcp__my_orders/fail", "{}")],
        vec![say("done")],
    ]);
    run.ends_well("done");
    assert_eq!(
        run.methods("my-orders"),
        [
            "server/discover",
            "subscriptions/listen",
            "tools/list",
            "tools/list",
            "tools/call",
            "tools/call",
            "notifications/cancelled"
        ]
    );
    for method in ["server/discover", "subscriptions/listen", "tools/list", "tools/call"] {
        assert!(
            run.line("my-orders", method).contains(r#""io.modelcontextprotocol/protocolVersion":"2026-07-28""#),
            "{method}"
        );
    }
    assert!(run.requests[0].contains(r#"{"type":"namespace","name":"mcp__my_orders""#));
    assert!(run.requests[1].contains(r#"{"type":"function_call_output","call_id":"c1","output":"echo {}"}"#));
    assert!(
        run.requests[1]
            .contains(r#"{"type":"function_call_output","call_id":"c2","output":"Error: it went wrong"}"#)
    );
}

fn refusals_never_reach_a_server() {
    let stage = Stage::new(Api::Anthropic).server("orders", "legacy").allow("orders/*").deny("orders/fail");
    let run = stage.run(vec![
        vec![
            call("t1", "mcp__orders__fail", "{}"),
            call("t2", "mcp__orders__missing", "{}"),
            call("t3", "mcp__orders__echo", r#"{"text": "#),
            call("t4", "mcp__orders__echo", "[]"),
            call("t5", "mcp__orders__echo", r#"{"text":7}"#),
        ],
        vec![say("done")],
    ]);
    run.ends_well("done");
    assert!(!run.methods("orders").contains(&"tools/call".to_owned()));
    assert!(!run.requests[0].contains("mcp__orders__fail"), "a denied tool is hidden");
    for reason in [
        "denied by a permission rule",
        "unknown tool",
        "not JSON",
        "not a JSON object",
        "do not match the input schema",
    ] {
        assert_eq!(run.requests[1].matches(reason).count(), 1, "{reason}");
    }
    assert_eq!(run.requests[1].matches(r#""is_error":true"#).count(), 5);
}

fn arguments_keep_their_text() {
    let input = r#"{"n":9007199254740993,"m":1.0,"z":-0,"e":1e21,"null":null,"s":"\ud83d\u00e4"}"#;
    let run = Stage::new(Api::Anthropic).server("orders", "legacy").allow("*/*").run(vec![
        vec![call("t1", "mcp__orders__any", input)],
        vec![call("t2", "mcp__orders__any", "{\n \"n\": 1\n}")],
        vec![call("t3", "mcp__orders__any", "")],
        vec![say("done")],
    ]);
    run.ends_well("done");
    let lines = run.lines("orders", "tools/call");
    assert!(lines[0].contains(&format!("\"arguments\":{input},")), "{}", lines[0]);
    assert!(lines[1].contains(r#""arguments":{  "n": 1 },"#), "{}", lines[1]);
    assert!(lines[2].contains(r#""arguments":{},"#), "{}", lines[2]);
}

fn a_crashed_server_is_started_again_once() {
    let run = Stage::new(Api::Anthropic).server("orders", "legacy").allow("*/*").run(vec![
        vec![call("t1", "mcp__orders__crash", "{}")],
        vec![call("t2", "mcp__orders__echo", r#"{"text":"again"}"#)],
        vec![say("done")],
    ]);
    run.ends_well("done");
    let methods = run.methods("orders");
    assert_eq!(methods.iter().filter(|method| *method == "initialize").count(), 2);
    assert_eq!(
        methods.iter().filter(|method| *method == "tools/call").count(),
        2,
        "the lost call is not repeated"
    );
    assert!(run.requests[1].contains("the server orders closed the connection during the call"));
    assert!(run.requests[2].contains(r#"echo {\"text\":\"again\"}"#));
}

fn a_slow_call_is_given_up_and_cancelled() {
    let run = Stage::new(Api::Anthropic)
        .server("orders", "legacy")
        .allow("*/*")
        .limits(5000, 50)
        .run(vec![vec![call("t1", "mcp__orders__slow", "{}")], vec![say("done")]]);
    run.ends_well("done");
    let (sent, cancelled) = (run.line("orders", "tools/call"), run.line("orders", "notifications/cancelled"));
    let id = sent.split("\"id\":").nth(1).and_then(|rest| rest.split(',').next()).unwrap_or_default();
    assert!(cancelled.contains(&format!("\"requestId\":{id},")), "{sent} {cancelled}");
    assert!(run.requests[1].contains("no answer after 50 ms"));
}

fn a_changed_list_is_offered_before_the_next_reply() {
    for era in ["legacy", "modern"] {
        let run = Stage::new(Api::Anthropic).server("orders", era).allow("*/*").run(vec![
            vec![call("t1", "mcp__orders__grow", "{}")],
            vec![call("t2", "mcp__orders__grown", "{}")],
            vec![say("done")],
        ]);
        run.ends_well("done");
        assert!(!run.tools(0).contains("mcp__orders__grown"), "{era}");
        assert!(run.tools(1).contains("mcp__orders__grown"), "{era}");
        assert_eq!(run.lines("orders", "tools/list").len(), 4, "two pages, twice, {era}");
    }
}

fn a_sick_server_hides_nobody() {
    let stage = Stage::new(Api::Anthropic)
        .server("mute", "mute")
        .server("missing", "")
        .server("orders", "legacy")
        .server("old", "1999-01-01");
    let run = stage.allow("*/*").limits(600, 1000).run(vec![vec![say("done")]]);
    run.ends_well("done");
    assert!(run.tools(0).contains("mcp__orders__echo"));
    assert_eq!(
        run.methods("old"),
        ["server/discover", "initialize", "response"],
        "an unknown revision ends the connection"
    );
    assert_eq!(
        run.methods("mute"),
        ["server/discover", "initialize"],
        "silence on the probe leads to the handshake"
    );
}

fn a_second_round_repeats_the_call_with_its_state() {
    let run = Stage::new(Api::Anthropic)
        .server("orders", "modern")
        .allow("*/*")
        .run(vec![vec![call("t1", "mcp__orders__twice", r#"{"a":1.0}"#)], vec![say("done")]]);
    run.ends_well("done");
    let lines = run.lines("orders", "tools/call");
    assert_eq!(lines.len(), 2);
    assert!(
        lines[1].contains(r#""arguments":{"a":1.0},"requestState":"ä=","_meta":{"io.modelcontextprotocol/"#),
        "{}",
        lines[1]
    );
    assert!(!run.requests[1].contains("ä="), "what is between host and server is not told");
}

fn the_user_is_asked() {
    let answers = [
        r#"{"behavior":"deny","message":"not today"}"#,
        r#"{"behavior":"allow","updatedInput":{"text":"better"}}"#,
        r#"{"behavior":"allow","updatedInput":{"text":7}}"#,
    ];
    let run = Stage::new(Api::Anthropic).server("orders", "legacy").answers(&answers).run(vec![
        vec![call("t0", "mcp__orders__echo", r#"{"text":0}"#), call("t1", "mcp__orders__echo", r#"{"text":"a"}"#)],
        vec![call("t2", "mcp__orders__echo", r#"{"text":"b"}"#)],
        vec![call("t3", "mcp__orders__echo", r#"{"text":"c"}"#)],
        vec![say("done")],
    ]);
    run.ends_well("done");
    let questions: Vec<_> = run.output.iter().filter(|line| line.contains("can_use_tool")).collect();
    assert_eq!(questions.len(), 3, "arguments of the wrong shape raise no question");
    assert!(
        questions[0].contains(r#""tool_name":"mcp__orders__echo","input":{"text":"a"},"tool_use_id":"t1""#),
        "{}",
        questions[0]
    );
    assert!(run.requests[1].contains("the user denied this call: not today"));
    assert_eq!(run.lines("orders", "tools/call").len(), 1);
    assert!(run.line("orders", "tools/call").contains(r#""arguments":{"text":"better"}"#));
    assert!(
        run.requests[3].contains("do not match the input schema"),
        "what the user puts in passes the same gate"
    );
}

fn several_prompts_are_one_conversation() {
    let run =
        Stage::new(Api::Anthropic).prompts(&["one", "two"]).run(vec![vec![say("first")], vec![say("second")]]);
    run.ends_well("second");
    assert!(
        run.requests[1].contains("one") && run.requests[1].contains("first") && run.requests[1].contains("two")
    );
}

fn a_refusing_endpoint_ends_the_run() {
    let run: Run = Stage::new(Api::Anthropic).server("orders", "legacy").run(Vec::new());
    assert_eq!(run.status, Some(1));
    assert!(run.errors.contains("status 404"), "{}", run.errors);
}

fn a_lie_is_told() {
    let run = Stage::new(Api::Anthropic)
        .server("orders", "legacy")
        .allow("*/*")
        .fault("call-twice")
        .run(vec![vec![call("t1", "mcp__orders__echo", r#"{"text":"a"}"#)], vec![say("done")]]);
    run.ends_well("done");
    assert_eq!(run.lines("orders", "tools/call").len(), 2);
}
