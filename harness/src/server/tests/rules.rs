//! Scripted misbehaviour and side acts.

use super::*;

const V: Revision = Revision::V2025_11_25;

fn with_rules(on: impl Into<Vec<Rule>>) -> Script {
    Script { on: on.into(), ..orders() }
}

fn cancel(id: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#)
}

/// The ids of the answers among the acts.
fn answered(acts: &[Act]) -> Vec<String> {
    sent(V, acts).iter().filter_map(|message| message.get("id")).map(Json::to_string).collect()
}

#[test]
fn occurrences_are_counted_after_the_filters() {
    let fails = |nth: Nth, scope: Scope| {
        let mut server = server(
            with_rules([Rule { nth, scope, ..on_call("lookup_order", [Action::Error(error(1, "x"))]) }]),
            V,
        );
        let mut failed = Vec::new();
        for (conn, tool, id) in [
            (1, "lookup_order", 1),
            (1, "create_note", 2),
            (1, "lookup_order", 3),
            (1, "lookup_order", 4),
            (2, "lookup_order", 5),
            (2, "lookup_order", 6),
        ] {
            server.line(conn, INITIALIZE.as_bytes());
            let acts = server.line(conn, call(V, id, tool).as_bytes());
            if sent(V, &acts)[0].get("error").is_some() {
                failed.push(id);
            }
        }
        failed
    };
    for (nth, scope, expected) in [
        (Nth::Every, Scope::Connection, vec![1, 3, 4, 5, 6]),
        (Nth::These(vec![2]), Scope::Connection, vec![3, 6]),
        (Nth::These(vec![1, 3]), Scope::Connection, vec![1, 4, 5]),
        (Nth::These(vec![1, 4]), Scope::Run, vec![1, 5]),
        (Nth::Range(2, 3), Scope::Connection, vec![3, 4, 6]),
        (Nth::Range(4, 9), Scope::Run, vec![5, 6]),
    ] {
        assert_eq!(fails(nth.clone(), scope), expected, "{nth:?} {scope:?}");
    }
}

#[test]
fn each_action_has_its_acts() {
    let default = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"m"}]}}"#;
    let mut lookup = tool("lookup_order");
    lookup.replies = vec![reply(None, r#"{"content":[{"type":"text","text":"m"}]}"#)];
    let result = |text: &str| Action::Reply(json(text));
    let request = Action::Request { method: "roots/list".to_owned(), params: None };
    for (actions, expected) in [
        (vec![], vec![default]),
        (vec![Action::Ignore], vec![default]),
        (vec![result("{}")], vec![r#"{"jsonrpc":"2.0","id":1,"result":{}}"#]),
        (vec![result("[]")], vec![r#"{"jsonrpc":"2.0","id":1,"result":[]}"#]),
        (
            vec![result("{}"), notify("n")],
            vec![r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, r#"{"jsonrpc":"2.0","method":"n"}"#],
        ),
        (vec![notify("n")], vec![r#"{"jsonrpc":"2.0","method":"n"}"#, default]),
        (
            vec![Action::Error(error(-5, "e"))],
            vec![r#"{"jsonrpc":"2.0","id":1,"error":{"code":-5,"message":"e"}}"#],
        ),
        (
            vec![Action::Raw(b"{{ marker }}".to_vec())],
            vec!["Raw([123, 123, 32, 109, 97, 114, 107, 101, 114, 32, 125, 125])"],
        ),
        (
            vec![request.clone(), request],
            vec![
                r#"{"jsonrpc":"2.0","id":"hc-1","method":"roots/list"}"#,
                r#"{"jsonrpc":"2.0","id":"hc-2","method":"roots/list"}"#,
                default,
            ],
        ),
        (vec![Action::Stderr("oh".to_owned())], vec!["Stderr([111, 104])", default]),
        (vec![Action::Silence], vec![]),
        (vec![Action::Duplicate(2)], vec![default; 3]),
        (
            vec![Action::Id(json("\"1\""))],
            vec![r#"{"jsonrpc":"2.0","id":"1","result":{"content":[{"type":"text","text":"m"}]}}"#],
        ),
        (vec![result("{}"), Action::Id(Json::Null)], vec![r#"{"jsonrpc":"2.0","id":null,"result":{}}"#]),
        (vec![Action::Exit(3), notify("n")], vec!["Exit(3)"]),
        (vec![Action::Kill("SIGKILL".to_owned())], vec![r#"Kill("SIGKILL")"#]),
        (
            vec![Action::CloseStdout, notify("n"), Action::Stderr("x".to_owned())],
            vec!["CloseStdout", "Stderr([120])"],
        ),
        (vec![result("{}"), Action::Delay(0)], vec![r#"{"jsonrpc":"2.0","id":1,"result":{}}"#]),
    ] {
        let mut script = with_rules([on_call("lookup_order", actions.clone())]);
        script.tools = vec![lookup.clone()];
        let acts = ready(script, V).line(1, call(V, 1, "lookup_order").as_bytes());
        assert_eq!(show(&acts), expected, "{actions:?}");
    }
}

#[test]
fn the_cause_is_the_request_whatever_id_is_sent() {
    let mut server = ready(with_rules([on_call("lookup_order", [Action::Id(json("99")), notify("n")])]), V);
    let acts = server.line(1, call(V, 5, "lookup_order").as_bytes());
    assert_eq!(acts.iter().map(cause_of).collect::<Vec<_>>(), [None, Some(&json("5"))]);
}

#[test]
fn replies_are_held_until_their_name_is_released() {
    let hold = |tool: &str, name: &str| on_call(tool, [Action::Hold(name.to_owned())]);
    let mut server = ready(with_rules([hold("lookup_order", "a"), hold("create_note", "b")]), V);
    server.open(2);
    server.line(2, INITIALIZE.as_bytes());
    let call =
        |server: &mut Server, conn: u32, id: u32, tool: &str| server.line(conn, call(V, id, tool).as_bytes());
    for (conn, id, tool) in
        [(1, 1, "lookup_order"), (2, 2, "lookup_order"), (1, 3, "create_note"), (1, 4, "lookup_order")]
    {
        assert_eq!(call(&mut server, conn, id, tool), []);
    }
    assert_eq!(answered(&call(&mut server, 1, 5, "refund_order")), ["5"]);

    assert_eq!(server.release("c"), []);
    let (conns, acts): (Vec<u32>, Vec<Act>) = server.release("a").into_iter().unzip();
    assert_eq!((conns, answered(&acts)), (vec![1, 2, 1], ["1", "2", "4"].map(str::to_owned).to_vec()));
    assert_eq!(server.release("a"), []);
    let (_, acts): (Vec<u32>, Vec<Act>) = server.release("b").into_iter().unzip();
    assert_eq!(answered(&acts), ["3"]);
}

#[test]
fn held_replies_carry_the_marker_of_their_call() {
    let mut server =
        ready(with_rules([on_call("lookup_order", [Action::Hold("a".to_owned()), Action::Duplicate(1)])]), V);
    for id in 1..=2 {
        assert_eq!(server.line(1, call(V, id, "lookup_order").as_bytes()), []);
    }
    let (_, acts): (Vec<u32>, Vec<Act>) = server.release("a").into_iter().unzip();
    assert_eq!(answered(&acts), ["1", "1", "2", "2"]);
    let words: Vec<String> = sent(V, &acts).iter().map(text_of).collect();
    assert!(words[0] == words[1] && words[2] == words[3] && words[0] != words[2], "{words:?}");
}

#[test]
fn a_script_releases_what_its_own_connection_holds() {
    let release = on_call("create_note", [Action::Release("a".to_owned())]);
    let mut server = ready(with_rules([on_call("lookup_order", [Action::Hold("a".to_owned())]), release]), V);
    server.line(1, call(V, 1, "lookup_order").as_bytes());
    server.line(1, call(V, 2, "lookup_order").as_bytes());
    assert_eq!(answered(&server.line(1, call(V, 3, "create_note").as_bytes())), ["1", "2", "3"]);
}

#[test]
fn a_cancelled_request_is_not_answered() {
    for revision in Revision::ALL {
        let hold = on_call("lookup_order", [Action::Hold("a".to_owned())]);
        let delay = on_call("create_note", [Action::Delay(9), notify("n")]);
        let mut server = ready(with_rules([hold, delay]), revision);
        server.line(1, call(revision, 1, "lookup_order").as_bytes());
        server.line(1, call(revision, 2, "lookup_order").as_bytes());
        let acts = server.line(1, call(revision, 3, "create_note").as_bytes());
        assert_eq!(acts, [Act::Timer { token: 1, after_ms: 9 }]);
        for id in ["1", "3", "\"2\"", "77", "null"] {
            assert_eq!(server.line(1, cancel(id).as_bytes()), []);
        }
        assert_eq!(show(&server.timer(1, 1)), [r#"{"jsonrpc":"2.0","method":"n"}"#]);
        let (_, acts): (Vec<u32>, Vec<Act>) = server.release("a").into_iter().unzip();
        assert_eq!(acts.iter().map(cause_of).collect::<Vec<_>>(), [Some(&json("2"))]);
    }
}

#[test]
fn a_script_can_answer_a_cancelled_request_all_the_same() {
    let mut late = rule(On::Notification, [Action::Ignore, Action::Release("a".to_owned())]);
    late.method = Some("notifications/cancelled".to_owned());
    let mut server = ready(with_rules([on_call("lookup_order", [Action::Hold("a".to_owned())]), late]), V);
    server.line(1, call(V, 1, "lookup_order").as_bytes());
    assert_eq!(answered(&server.line(1, cancel("1").as_bytes())), ["1"]);
}

#[test]
fn delays_split_the_acts() {
    let actions = [notify("a"), Action::Delay(5), notify("b"), Action::Delay(6)];
    let mut server = ready(with_rules([on_call("lookup_order", actions)]), V);
    let acts = server.line(1, call(V, 1, "lookup_order").as_bytes());
    assert_eq!(show(&acts), [r#"{"jsonrpc":"2.0","method":"a"}"#, "Timer { token: 1, after_ms: 5 }"]);
    assert_eq!(server.timer(2, 9), []);
    let acts = server.timer(1, 1);
    assert_eq!(show(&acts), [r#"{"jsonrpc":"2.0","method":"b"}"#, "Timer { token: 2, after_ms: 6 }"]);
    assert_eq!(server.timer(1, 1), []);
    assert_eq!(answered(&server.timer(1, 2)), ["1"]);
}

#[test]
fn the_life_of_a_process() {
    let mut server = server(orders(), V);
    assert_eq!(server.open(1), []);
    assert_eq!(server.eof(1), [Act::Exit(0)]);
    assert_eq!(server.line(1, INITIALIZE.as_bytes()), []);
    assert_eq!(server.eof(1), []);
    server.closed(1);
    server.open(2);
    assert_eq!(server.signal(2, "SIGTERM"), [Act::Kill("SIGTERM".to_owned())]);
    assert_eq!(server.signal(2, "SIGKILL"), []);

    let on = [
        rule(On::Spawn, [Action::Stderr("up".to_owned())]),
        rule(On::Eof, [Action::Delay(3)]),
        rule(On::Signal, [Action::Ignore]),
    ];
    let mut server = self::server(with_rules(on), V);
    assert_eq!(server.open(1), [Act::Stderr(b"up".to_vec())]);
    assert_eq!(server.signal(1, "SIGTERM"), []);
    assert_eq!(server.eof(1), [Act::Timer { token: 1, after_ms: 3 }]);
    assert_eq!(server.timer(1, 1), [Act::Exit(0)]);

    let mut server =
        self::server(with_rules([rule(On::Spawn, [Action::Exit(4)]), rule(On::Eof, [Action::Exit(5)])]), V);
    assert_eq!(server.open(1), [Act::Exit(4)]);
    assert_eq!(server.line(1, INITIALIZE.as_bytes()), []);
}

#[test]
fn nothing_outlives_a_connection() {
    let on = [on_call("lookup_order", [Action::Hold("a".to_owned())]), on_call("create_note", [Action::Delay(9)])];
    let mut server = ready(with_rules(on), V);
    server.line(1, call(V, 1, "lookup_order").as_bytes());
    server.line(1, call(V, 2, "create_note").as_bytes());
    server.closed(1);
    assert_eq!(server.release("a"), []);
    assert_eq!(server.timer(1, 1), []);
}

#[test]
fn connect_comes_once_and_responses_know_their_request() {
    let request = Action::Request { method: "roots/list".to_owned(), params: None };
    let mut roots = rule(On::Response, [notify("got")]);
    roots.method = Some("roots/list".to_owned());
    let on = [rule(On::Connect, [request]), roots];
    let mut legacy = server(with_rules(on.clone()), V);
    let asked = r#"{"jsonrpc":"2.0","id":"hc-1","method":"roots/list"}"#;
    check(
        &mut legacy,
        &[
            (INITIALIZED, &[]),
            (INITIALIZE, &[r#"{"jsonrpc":"2.0","id":0,"result":"*"}"#]),
            (INITIALIZED, &[asked]),
            (INITIALIZED, &[]),
            (r#"{"jsonrpc":"2.0","id":"hc-2","result":{}}"#, &[]),
            (r#"{"jsonrpc":"2.0","id":"hc-1","result":{"roots":[]}}"#, &[r#"{"jsonrpc":"2.0","method":"got"}"#]),
        ],
    );
    let mut modern = server(with_rules([rule(On::Connect, [notify("up")])]), Revision::V2026_07_28);
    let line = call(Revision::V2026_07_28, 1, "lookup_order");
    let acts = modern.line(1, line.as_bytes());
    assert_eq!((acts.len(), cause_of(&acts[0])), (2, None));
    assert_eq!(modern.line(1, line.as_bytes()).len(), 1);
}

#[test]
fn a_handshake_that_the_script_refuses_opens_nothing() {
    let mut refuse = rule(On::Request, [Action::Error(error(-32603, "no"))]);
    refuse.method = Some("initialize".to_owned());
    check(
        &mut server(with_rules([refuse]), V),
        &[
            (INITIALIZE, &[r#"{"jsonrpc":"2.0","id":0,"error":{"code":-32603,"message":"no"}}"#]),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
                &[r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"*"}}"#],
            ),
        ],
    );
}
