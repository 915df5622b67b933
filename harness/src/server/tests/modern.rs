//! Modern connections: metadata, discovery, subscriptions.

use super::*;

const V: Revision = Revision::V2026_07_28;

fn request(id: u32, method: &str, params: &str) -> String {
    let rest = if params.is_empty() { String::new() } else { format!(",{params}") };
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{META}{rest}}}}}"#)
}

#[test]
fn a_conversation() {
    let mut script = orders();
    script.instructions = Some("Be kind.".to_owned());
    let mut server = server(script, V);
    server.open(1);
    let fresh = r#""ttlMs":0,"cacheScope":"private","resultType":"complete""#;
    let discover = format!(
        r#"{{"jsonrpc":"2.0","id":1,"result":{{"supportedVersions":["2026-07-28"],"capabilities":{{"tools":{{"listChanged":true}}}},"instructions":"Be kind.",{fresh},{FROM}}}}}"#
    );
    let list = format!(r#"{{"jsonrpc":"2.0","id":2,"result":{{"tools":["*","*","*"],{fresh},{FROM}}}}}"#);
    let called = format!(
        r#"{{"jsonrpc":"2.0","id":3,"result":{{"content":[{{"type":"text","text":"<marker>"}}],"resultType":"complete",{FROM}}}}}"#
    );
    check(
        &mut server,
        &[
            (&request(1, "server/discover", ""), &[&discover]),
            (&request(2, "tools/list", ""), &[&list]),
            (&request(3, "tools/call", r#""name":"create_note","arguments":{"a":1}"#), &[&called]),
            (
                &request(4, "tools/call", r#""name":"nope""#),
                &[r#"{"jsonrpc":"2.0","id":4,"error":{"code":-32602,"message":"Unknown tool: nope"}}"#],
            ),
            (
                &request(5, "ping", ""),
                &[r#"{"jsonrpc":"2.0","id":5,"error":{"code":-32601,"message":"Method not found: ping"}}"#],
            ),
            (&request(6, "logging/setLevel", r#""level":"info""#), &[r#"{"jsonrpc":"2.0","id":6,"error":"*"}"#]),
            (INITIALIZED, &[]),
            (r#"{"jsonrpc":"2.0","id":9,"result":{}}"#, &[]),
        ],
    );
}

#[test]
fn every_request_is_checked_for_its_metadata() {
    let version = r#""io.modelcontextprotocol/protocolVersion""#;
    let capabilities = r#""io.modelcontextprotocol/clientCapabilities""#;
    let unsupported =
        r#""code":-32022,"message":"*","data":{"supported":["2026-07-28"],"requested":"1900-01-01"}"#;
    let malformed = r#""code":-32602,"message":"*""#;
    for method in ["server/discover", "tools/list", "ping", "subscriptions/listen"] {
        for (params, expected) in [
            (String::new(), malformed),
            (r#","params":{}"#.to_owned(), malformed),
            (format!(r#","params":{{"_meta":{{{version}:"2026-07-28"}}}}"#), malformed),
            (format!(r#","params":{{"_meta":{{{version}:1,{capabilities}:{{}}}}}}"#), malformed),
            (format!(r#","params":{{"_meta":{{{version}:"2026-07-28",{capabilities}:[]}}}}"#), malformed),
            (format!(r#","params":{{"_meta":{{{version}:"1900-01-01",{capabilities}:{{}}}}}}"#), unsupported),
            (format!(r#","params":{{"_meta":{{{version}:"1900-01-01"}}}}"#), unsupported),
        ] {
            let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}"{params}}}"#);
            let expected = format!(r#"{{"jsonrpc":"2.0","id":1,"error":{{{expected}}}}}"#);
            check(&mut server(orders(), V), &[(&line, &[&expected])]);
        }
    }
}

#[test]
fn a_legacy_host_is_told_the_version() {
    check(
        &mut server(orders(), V),
        &[
            (
                INITIALIZE,
                &[
                    r#"{"jsonrpc":"2.0","id":0,"error":{"code":-32022,"message":"Unsupported protocol version: this server supports only 2026-07-28","data":{"supported":["2026-07-28"],"requested":"2025-11-25"}}}"#,
                ],
            ),
            (
                r#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#,
                &[
                    r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"This server supports only protocol version 2026-07-28"}}"#,
                ],
            ),
        ],
    );
}

#[test]
fn a_script_can_say_the_parts_of_the_revision_itself() {
    let mut lookup = tool("lookup_order");
    let written = r#"{"resultType":"input_required","requestState":"s","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"x","version":"2"}}}"#;
    lookup.replies = vec![reply(None, written)];
    let mut script = orders();
    script.tools = vec![lookup];
    let mut list = rule(On::Request, [Action::Reply(json(r#"{"tools":[],"ttlMs":60000,"cacheScope":"public"}"#))]);
    list.method = Some("tools/list".to_owned());
    script.on = vec![list];
    check(
        &mut server(script, V),
        &[
            (&call(V, 1, "lookup_order"), &[&format!(r#"{{"jsonrpc":"2.0","id":1,"result":{written}}}"#)]),
            (
                &request(2, "tools/list", ""),
                &[&format!(
                    r#"{{"jsonrpc":"2.0","id":2,"result":{{"tools":[],"ttlMs":60000,"cacheScope":"public","resultType":"complete",{FROM}}}}}"#
                )],
            ),
        ],
    );
}

const CHANGED: &str = "notifications/tools/list_changed";

fn acknowledged(id: &str, filter: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}},"notifications":{filter}}}}}"#
    )
}

fn changed(id: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"{CHANGED}","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}}}}}"#
    )
}

#[test]
fn changes_go_to_those_who_listen() {
    let mut script = orders();
    script.on = vec![on_call("create_note", [notify(CHANGED), notify("notifications/progress")])];
    let mut server = server(script, V);
    let progress = r#"{"jsonrpc":"2.0","method":"notifications/progress"}"#;
    let answer = r#"{"jsonrpc":"2.0","id":"*","result":"*"}"#;
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
    check(
        &mut server,
        &[
            // Nobody listens: the change is sent to nobody.
            (&call(V, 1, "create_note"), &[progress, answer]),
            (
                &request(
                    7,
                    "subscriptions/listen",
                    r#""notifications":{"toolsListChanged":true,"promptsListChanged":true}"#,
                ),
                &[&acknowledged("7", r#"{"toolsListChanged":true}"#)],
            ),
            (&call(V, 2, "create_note"), &[&changed("7"), progress, answer]),
            (&request(8, "subscriptions/listen", r#""notifications":{}"#), &[&acknowledged("8", "{}")]),
            (
                &request(9, "subscriptions/listen", r#""notifications":{"toolsListChanged":true}"#),
                &[&acknowledged("9", r#"{"toolsListChanged":true}"#)],
            ),
            (&call(V, 3, "create_note"), &[&changed("7"), &changed("9"), progress, answer]),
            (cancel, &[]),
            (&call(V, 4, "create_note"), &[&changed("9"), progress, answer]),
            (
                &request(10, "subscriptions/listen", ""),
                &[r#"{"jsonrpc":"2.0","id":10,"error":{"code":-32602,"message":"Missing `notifications`"}}"#],
            ),
        ],
    );
}

#[test]
fn a_subscription_is_acknowledged_before_anything_else() {
    let mut listen = rule(On::Request, [notify(CHANGED)]);
    listen.method = Some("subscriptions/listen".to_owned());
    let mut script = orders();
    script.on = vec![listen];
    let line = request(1, "subscriptions/listen", r#""notifications":{"toolsListChanged":true}"#);
    let acknowledged = acknowledged("1", r#"{"toolsListChanged":true}"#);
    check(&mut server(script.clone(), V), &[(&line, &[&acknowledged, &changed("1")])]);

    // A result ends the subscription, so the change after it has no reader.
    script.on[0].actions = vec![Action::Reply(Json::empty()), notify(CHANGED)];
    let end = r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":"*","io.modelcontextprotocol/subscriptionId":1}}}"#;
    check(&mut server(script.clone(), V), &[(&line, &[&acknowledged, end])]);

    script.on[0].actions = vec![Action::Error(error(-32603, "no")), notify(CHANGED)];
    let refusal = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no"}}"#;
    check(&mut server(script.clone(), V), &[(&line, &[refusal])]);

    script.on[0].actions = vec![Action::Silence, notify(CHANGED)];
    check(&mut server(script, V), &[(&line, &[])]);
}
