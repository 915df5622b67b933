//! Tools that change: from outside, and with a restart.

use super::*;
use crate::server::edit::{Edit, Generation};

const V: Revision = Revision::V2025_11_25;

/// The registered names that a connection lists now.
fn listed(server: &mut Server, conn: u32) -> Vec<String> {
    let acts = server.line(conn, br#"{"jsonrpc":"2.0","id":90,"method":"tools/list"}"#);
    let Some(Act::Send { line, .. }) = acts.last() else { panic!("{acts:?}") };
    let page = Json::parse(line).unwrap();
    let tools = page.at(&["result", "tools"]).unwrap().items().iter();
    tools.map(|tool| tool.str("name").unwrap().to_owned()).collect()
}

fn edit(add: &[&str], remove: &[&str]) -> Edit {
    let remove = remove.iter().map(|&name| name.to_owned()).collect();
    Edit { add: add.iter().map(|name| tool(name)).collect(), remove, replace: Vec::new() }
}

/// Opens a connection as far as a legacy host does.
fn shake(server: &mut Server, conn: u32) {
    server.open(conn);
    server.line(conn, INITIALIZE.as_bytes());
    server.line(conn, INITIALIZED.as_bytes());
}

#[test]
fn a_change_is_seen_and_announced_on_open_connections_and_lasts() {
    let mut server = Server::new("orders", orders(), V, Vec::new(), 7);
    shake(&mut server, 1);
    // Nobody may be told anything before the handshake is over.
    server.open(2);
    let acts = server.change(&edit(&["archive_order"], &["create_note"]), 2);
    let conns: Vec<u32> = acts.iter().map(|(conn, _)| *conn).collect();
    assert_eq!(conns, [1, 1]);
    let Act::Send { line, .. } = &acts[0].1 else { panic!("{acts:?}") };
    assert_eq!(json(str::from_utf8(line).unwrap()).str("method"), Some("notifications/tools/list_changed"));
    let expected = ["lookup_order", "refund_order", "archive_order"];
    assert_eq!(listed(&mut server, 1), expected);
    shake(&mut server, 3);
    assert_eq!(listed(&mut server, 3), expected);
}

#[test]
fn a_change_that_nobody_announces_is_silent() {
    let mut server = Server::new("orders", orders(), V, Vec::new(), 7);
    shake(&mut server, 1);
    assert_eq!(server.change(&edit(&["archive_order"], &[]), 0), []);
    assert_eq!(listed(&mut server, 1).len(), 4);
}

#[test]
fn a_removed_tool_is_unknown_when_it_is_called() {
    let mut server = Server::new("orders", orders(), V, Vec::new(), 7);
    shake(&mut server, 1);
    server.change(&edit(&[], &["create_note"]), 1);
    let call = br#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"create_note","arguments":{}}}"#;
    let acts = server.line(1, call);
    let [Act::Send { line, .. }] = acts.as_slice() else { panic!("{acts:?}") };
    assert!(str::from_utf8(line).unwrap().contains("Unknown tool: create_note"));
}

#[test]
fn a_modern_server_announces_to_those_who_listen() {
    let mut server = Server::new("orders", orders(), Revision::V2026_07_28, Vec::new(), 7);
    server.open(1);
    server.open(2);
    for conn in [1, 2] {
        let line = format!(r#"{{"jsonrpc":"2.0","id":0,"method":"server/discover","params":{{{META}}}}}"#);
        server.line(conn, line.as_bytes());
    }
    let listen = format!(
        r#"{{"jsonrpc":"2.0","id":8,"method":"subscriptions/listen","params":{{"notifications":{{"toolsListChanged":true}},{META}}}}}"#
    );
    server.line(2, listen.as_bytes());
    let acts = server.change(&edit(&["archive_order"], &[]), 1);
    let [(2, Act::Send { line, .. })] = acts.as_slice() else { panic!("{acts:?}") };
    let params = json(str::from_utf8(line).unwrap());
    let id = params.at(&["params", "_meta", "io.modelcontextprotocol/subscriptionId"]);
    assert_eq!(id, Some(&Json::from(8)));
}

#[test]
fn generations_add_up_from_process_to_process() {
    let mut script = orders();
    script.generations = vec![
        Generation { from: 2, edit: edit(&["archive_order"], &[]) },
        Generation { from: 3, edit: Edit { replace: vec![tool("lookup_order")], ..edit(&[], &["refund_order"]) } },
    ];
    let mut server = Server::new("orders", script, V, Vec::new(), 7);
    let mut lists = Vec::new();
    for conn in 1..=4 {
        shake(&mut server, conn);
        lists.push(listed(&mut server, conn).len());
        server.closed(conn);
    }
    assert_eq!(lists, [3, 4, 3, 3]);
}

#[test]
fn one_reply_of_several_is_let_go() {
    let hold = on_call("lookup_order", [Action::Hold("batch".to_owned())]);
    let mut server = Server::new("orders", Script { on: vec![hold], ..orders() }, V, Vec::new(), 7);
    shake(&mut server, 1);
    for id in [4, 5] {
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"lookup_order","arguments":{{}}}}}}"#
        );
        assert_eq!(server.line(1, line.as_bytes()), []);
    }
    assert_eq!(server.release_one("other", 1, &5.into()), []);
    assert_eq!(server.release_one("batch", 2, &5.into()), []);
    let acts = server.release_one("batch", 1, &5.into());
    let [Act::Send { cause, .. }] = acts.as_slice() else { panic!("{acts:?}") };
    assert_eq!(*cause, Cause::Request { id: 5.into() });
    assert_eq!(server.release_one("batch", 1, &5.into()), []);
    assert_eq!(server.release("batch").len(), 1);
}
