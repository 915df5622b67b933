//! What holds for every line.

use proptest::prelude::*;

use super::*;

fn revision() -> impl Strategy<Value = Revision> {
    prop::sample::select(Revision::ALL.to_vec())
}

/// Pieces of messages, so that arbitrary text is not always refused by the parser.
fn almost_json() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"id\"",
        "\"method\"",
        "\"params\"",
        "\"result\"",
        "\"error\"",
        "\"jsonrpc\"",
        "\"2.0\"",
        "1",
        "null",
        "\"tools/call\"",
        "\"tools/list\"",
        "\"name\"",
        "\"initialize\"",
        "\"_meta\"",
        "{}",
        "[]",
        "\"notifications/cancelled\"",
        "\"subscriptions/listen\"",
        "\"notifications\"",
        "\"cursor\"",
        "\\ud800",
        "\"",
    ]);
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

fn id() -> impl Strategy<Value = String> {
    prop_oneof![any::<i64>().prop_map(|id| id.to_string()), "\"[a-z0-9äöü \\-]{0,8}\""]
}

fn params() -> impl Strategy<Value = String> {
    let own = prop::sample::select(vec![
        "",
        r#","params":{}"#,
        r#","params":[1]"#,
        r#","params":null"#,
        r#","params":{"name":"lookup_order","arguments":{"a":1}}"#,
        r#","params":{"name":7}"#,
        r#","params":{"cursor":"page-2"}"#,
    ]);
    let meta = prop::sample::select(vec![
        r#""name":"create_note""#,
        r#""notifications":{"toolsListChanged":true}"#,
        r#""cursor":"x""#,
        r#""level":"info""#,
    ]);
    prop_oneof![own.prop_map(str::to_owned), meta.prop_map(|rest| format!(r#","params":{{{META},{rest}}}"#))]
}

fn method() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "initialize",
        "ping",
        "tools/list",
        "tools/call",
        "server/discover",
        "logging/setLevel",
        "prompts/list",
    ]);
    prop_oneof![known.prop_map(str::to_owned), "[a-z/]{0,12}"]
}

proptest! {
    #[test]
    fn no_line_is_too_strange(revision in revision(), bytes in any::<Vec<u8>>(), text in almost_json()) {
        let mut server = ready(orders(), revision);
        for line in [&bytes[..], text.as_bytes()] {
            for act in server.line(1, line) {
                let Act::Send { line, .. } = act else { panic!("{act:?}") };
                // What answers a batch is one; its messages are held to the same rule.
                let message = Json::parse(&line).unwrap();
                let each = if message.items().is_empty() { vec![message] } else { message.items().to_vec() };
                each.iter().for_each(|message| { envelope(revision, &message.to_bytes()); });
            }
        }
    }

    #[test]
    fn every_request_is_answered_once_with_its_id(
        revision in revision(),
        requests in prop::collection::vec((id(), method(), params()), 1..6),
    ) {
        let mut server = server(orders(), revision);
        server.open(1);
        for (id, method, params) in requests {
            let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"{params}}}"#);
            let messages = sent(revision, &server.line(1, line.as_bytes()));
            prop_assert_eq!(messages.len(), 1, "{}", line);
            prop_assert_eq!(messages[0].get("id"), Some(&json(&id)), "{}", line);
        }
    }
}
