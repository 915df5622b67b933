//! Legacy connections: opening, order, batches, broken lines.

use super::*;

const LEGACY: [Revision; 4] =
    [Revision::V2024_11_05, Revision::V2025_03_26, Revision::V2025_06_18, Revision::V2025_11_25];

#[test]
fn a_conversation_in_every_legacy_revision() {
    for revision in LEGACY {
        let mut script = orders();
        script.instructions = Some("Be kind.".to_owned());
        let mut server = server(script, revision);
        server.open(1);
        let initialize = format!(
            r#"{{"jsonrpc":"2.0","id":0,"result":{{"protocolVersion":"{revision}","capabilities":{{"tools":{{"listChanged":true}}}},
            "serverInfo":{{"name":"orders","version":"1.0.0"}},"instructions":"Be kind."}}}}"#
        );
        check(
            &mut server,
            &[
                (
                    r#"{"jsonrpc":"2.0","id":"p","method":"server/discover","params":{}}"#,
                    &[
                        r#"{"jsonrpc":"2.0","id":"p","error":{"code":-32601,"message":"Method not found: server/discover"}}"#,
                    ],
                ),
                (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, &[r#"{"jsonrpc":"2.0","id":1,"result":{}}"#]),
                (
                    r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#,
                    &[r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32600,"message":"Server not initialized"}}"#],
                ),
                (INITIALIZE, &[&initialize]),
                (INITIALIZED, &[]),
                (
                    r#"{"jsonrpc":"2.0","id":3,"method":"tools/list"}"#,
                    &[r#"{"jsonrpc":"2.0","id":3,"result":{"tools":["*","*","*"]}}"#],
                ),
                (
                    r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"lookup_order"}}"#,
                    &[r#"{"jsonrpc":"2.0","id":4,"result":{"content":[{"type":"text","text":"<marker>"}]}}"#],
                ),
                (
                    r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"mcp__orders__lookup_order"}}"#,
                    &[
                        r#"{"jsonrpc":"2.0","id":5,"error":{"code":-32602,"message":"Unknown tool: mcp__orders__lookup_order"}}"#,
                    ],
                ),
                (
                    r#"{"jsonrpc":"2.0","id":6,"method":"subscriptions/listen","params":{"notifications":{}}}"#,
                    &[
                        r#"{"jsonrpc":"2.0","id":6,"error":{"code":-32601,"message":"Method not found: subscriptions/listen"}}"#,
                    ],
                ),
                (r#"{"jsonrpc":"2.0","method":"notifications/unheard_of"}"#, &[]),
                (r#"{"jsonrpc":"2.0","id":"hc-1","result":{}}"#, &[]),
                (r#"{"jsonrpc":"2.0","id":"hc-1","error":{"code":1,"message":"no"}}"#, &[]),
            ],
        );
    }
}

#[test]
fn capabilities_gate_methods() {
    let mut script = orders();
    script.capabilities = json(r#"{"logging":{},"prompts":{},"resources":{}}"#);
    check(
        &mut ready(script, Revision::V2025_11_25),
        &[
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
                &[r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found: tools/list"}}"#],
            ),
            (
                r#"{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"info"}}"#,
                &[r#"{"jsonrpc":"2.0","id":2,"result":{}}"#],
            ),
            (
                r#"{"jsonrpc":"2.0","id":3,"method":"logging/setLevel","params":{"level":"loud"}}"#,
                &[r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32602,"message":"Invalid log level"}}"#],
            ),
            (
                r#"{"jsonrpc":"2.0","id":4,"method":"prompts/list"}"#,
                &[r#"{"jsonrpc":"2.0","id":4,"result":{"prompts":[]}}"#],
            ),
            (
                r#"{"jsonrpc":"2.0","id":5,"method":"resources/templates/list"}"#,
                &[r#"{"jsonrpc":"2.0","id":5,"result":{"resourceTemplates":[]}}"#],
            ),
        ],
    );
    check(
        &mut ready(orders(), Revision::V2025_11_25),
        &[(
            r#"{"jsonrpc":"2.0","id":2,"method":"logging/setLevel","params":{"level":"info"}}"#,
            &[
                r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"Method not found: logging/setLevel"}}"#,
            ],
        )],
    );
}

#[test]
fn lines_that_are_no_message() {
    for revision in Revision::ALL {
        let unread = if revision < Revision::V2025_11_25 { r#""id":null,"# } else { "" };
        let complaint =
            |code: i64| format!(r#"{{"jsonrpc":"2.0",{unread}"error":{{"code":{code},"message":"*"}}}}"#);
        let (parse, invalid) = (complaint(-32700), complaint(-32600));
        let mut server = ready(orders(), revision);
        for (line, expected) in [
            ("{", &*parse),
            ("", &parse),
            ("7", &invalid),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, &invalid),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, &invalid),
            (r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#, &invalid),
            (
                r#"{"jsonrpc":"2.0","id":3,"method":4}"#,
                r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32600,"message":"*"}}"#,
            ),
            ("[]", &invalid),
        ] {
            check(&mut server, &[(line, &[expected])]);
        }
        check(&mut server, &[("{\"jsonrpc\":\"2.0\",\"method\":\"m\"}\r", &[])]);
    }
}

#[test]
fn batches_are_answered_by_one_revision_only() {
    let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"m"},{"jsonrpc":"2.0","id":2,"method":"nope"},3]"#;
    for revision in Revision::ALL {
        let mut server = ready(orders(), revision);
        let acts = server.line(1, batch.as_bytes());
        let [Act::Send { line, cause: Cause::Other }] = &acts[..] else { panic!("{acts:?}") };
        let message = json(str::from_utf8(line).unwrap());
        if revision == Revision::V2025_03_26 {
            let expected = r#"[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"error":"*"},{"jsonrpc":"2.0","id":null,"error":"*"}]"#;
            assert!(matches(&json(expected), &message), "{message}");
        } else {
            assert_eq!(message.pointer("/error/code"), Some(&json("-32600")), "{message}");
        }
    }
}

#[test]
fn a_batch_cannot_open_a_connection_and_need_not_be_answered() {
    let mut server = server(orders(), Revision::V2025_03_26);
    server.open(1);
    let acts = server.line(1, format!("[{INITIALIZE}]").as_bytes());
    assert_eq!(
        show(&acts),
        [
            r#"[{"jsonrpc":"2.0","id":0,"error":{"code":-32600,"message":"Invalid request: initialize in a batch"}}]"#
        ]
    );
    assert_eq!(server.line(1, format!("[{INITIALIZED}]").as_bytes()), []);
}

#[test]
fn a_batch_keeps_the_order_of_what_is_beside_its_answers() {
    let mut script = orders();
    script.on = vec![
        on_call("lookup_order", [notify("a"), Action::Delay(5), notify("late")]),
        on_call("create_note", [Action::Reply(json(r#"{"content":[]}"#)), notify("b"), Action::Exit(3)]),
    ];
    let mut server = ready(script, Revision::V2025_03_26);
    let [one, two] =
        [(1, "lookup_order"), (2, "create_note")].map(|(id, tool)| call(Revision::V2025_03_26, id, tool));
    assert_eq!(
        show(&server.line(1, format!("[{one},{two}]").as_bytes())),
        [
            r#"{"jsonrpc":"2.0","method":"a"}"#,
            r#"{"jsonrpc":"2.0","method":"b"}"#,
            r#"[{"jsonrpc":"2.0","id":2,"result":{"content":[]}}]"#,
            "Exit(3)",
        ]
    );
    let mut server = ready(orders(), Revision::V2025_03_26);
    server.rules = crate::server::rules::Rules::new(vec![on_call("lookup_order", [Action::Delay(5)])]);
    let acts = server.line(1, format!(r#"[{one},{{"jsonrpc":"2.0","id":9,"method":"ping"}}]"#).as_bytes());
    assert_eq!(show(&acts), [r#"[{"jsonrpc":"2.0","id":9,"result":{}}]"#, "Timer { token: 1, after_ms: 5 }"]);
    assert_eq!(sent(Revision::V2025_03_26, &server.timer(1, 1)).len(), 1);
}
