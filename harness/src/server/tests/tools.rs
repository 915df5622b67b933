//! The list of tools and their answers.

use super::*;

/// The entries of a list, by following cursors.
fn list(server: &mut Server) -> (Vec<Json>, Vec<String>) {
    let modern = server.offer.revision == Revision::V2026_07_28;
    let (mut entries, mut cursors) = (Vec::new(), Vec::new());
    loop {
        let mut params = if modern { json(&format!("{{{META}}}")) } else { Json::empty() };
        if let Some(cursor) = cursors.last() {
            params.set("cursor", cursor);
        }
        let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{params}}}"#);
        let message = sent(server.offer.revision, &server.line(1, line.as_bytes())).remove(0);
        entries.extend_from_slice(message.pointer("/result/tools").unwrap().items());
        match message.pointer("/result/nextCursor") {
            Some(cursor) => cursors.push(cursor.as_str().unwrap().to_owned()),
            None => return (entries, cursors),
        }
    }
}

#[test]
fn odd_cursors_lead_through_every_page() {
    let odd = ["", " ", "ä/+=", "null", r#"{"page":2}"#, "same", "same", "same"];
    for revision in Revision::ALL {
        let mut script = orders();
        script.pages = Pages { size: Some(1), cursors: odd.map(str::to_owned).to_vec() };
        let mut server = ready(script, revision);
        for _ in 0..2 {
            let (entries, cursors) = list(&mut server);
            let names: Vec<_> = entries.iter().map(|entry| entry.str("name").unwrap()).collect();
            assert_eq!(names, ["lookup_order", "create_note", "refund_order"]);
            assert_eq!(cursors, odd);
        }
    }
}

#[test]
fn unknown_cursors_are_refused() {
    let mut script = orders();
    script.pages.size = Some(2);
    let mut server = ready(script, Revision::V2025_11_25);
    for (cursor, count) in [(r#""page-3""#, 0), ("2", 0), (r#""""#, 0), (r#""page-2""#, 1), ("null", 2)] {
        let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{"cursor":{cursor}}}}}"#);
        let message = sent(Revision::V2025_11_25, &server.line(1, line.as_bytes())).remove(0);
        if count == 0 {
            assert_eq!(message.pointer("/error/code"), Some(&json("-32602")), "{cursor}");
        } else {
            assert_eq!(message.pointer("/result/tools").unwrap().items().len(), count, "{cursor}");
        }
    }
}

#[test]
fn an_entry_has_what_its_revision_has() {
    let full = Tool {
        title: Some("Look up".to_owned()),
        description: Some("Finds an order.".to_owned()),
        output_schema: Some(json(r#"{"type":"object"}"#)),
        annotations: Some(json(r#"{"readOnlyHint":true}"#)),
        meta: Some(json(r#"{"x/y":1}"#)),
        ..tool("lookup_order")
    };
    let oldest = r#""name":"lookup_order","description":"Finds an order. [hc:w-lookup_order]","inputSchema":{"type":"object"}"#;
    let middle = format!(r#"{oldest},"annotations":{{"readOnlyHint":true}}"#);
    let newest = format!(r#"{middle},"title":"Look up","outputSchema":{{"type":"object"}},"_meta":{{"x/y":1}}"#);
    for revision in Revision::ALL {
        let expected = match revision {
            Revision::V2024_11_05 => oldest,
            Revision::V2025_03_26 => &middle,
            _ => &newest,
        };
        let mut script = orders();
        script.tools = vec![full.clone()];
        let (entries, _) = list(&mut ready(script, revision));
        assert!(matches(&json(&format!("{{{expected}}}")), &entries[0]), "{revision}: {}", entries[0]);
    }
}

#[test]
fn the_word_is_added_only_where_it_may_be() {
    let said = |describe: Describe, description: Option<&str>, name: &str| {
        let mut script = orders();
        script.tools = vec![Tool { describe, description: description.map(str::to_owned), ..tool(name) }];
        let words = vec![("a".to_owned(), "k7f2".to_owned())];
        let mut server = Server::new("orders", script, Revision::V2025_11_25, words, 1);
        server.line(1, INITIALIZE.as_bytes());
        list(&mut server).0[0].str("description").map(str::to_owned)
    };
    for (describe, description, name, expected) in [
        (Describe::Marked, Some("Says a."), "a", Some("Says a. [hc:k7f2]")),
        (Describe::Marked, None, "a", Some("[hc:k7f2]")),
        (Describe::Verbatim, Some("Says a."), "a", Some("Says a.")),
        (Describe::Verbatim, None, "a", None),
        (Describe::Marked, Some("Says b."), "b", Some("Says b.")),
    ] {
        assert_eq!(said(describe, description, name).as_deref(), expected);
    }
}

#[test]
fn a_tool_without_a_schema_is_listed_without_one() {
    let mut script = orders();
    script.tools = vec![Tool { input_schema: None, ..tool("bare") }];
    assert_eq!(list(&mut ready(script, Revision::V2025_11_25)).0[0].get("inputSchema"), None);
}

#[test]
fn the_first_reply_that_fits_answers() {
    let mut lookup = tool("lookup_order");
    lookup.replies = vec![
        reply(Some(r#"{"n":1,"s":"a"}"#), r#"{"content":[{"type":"text","text":"one"}],"isError":false}"#),
        reply(Some("{}"), r#"{"content":[{"type":"text","text":"none"}]}"#),
        Reply { when: Some(json(r#"{"n":3}"#)), body: Body::Error(error(-32000, "sorry {{ marker }}")) },
    ];
    let mut script = orders();
    script.tools = vec![lookup];
    let mut server = ready(script, Revision::V2025_11_25);
    for (arguments, expected) in [
        (
            r#","arguments":{"s":"a","n":1.0}"#,
            r#""result":{"content":[{"type":"text","text":"one"}],"isError":false}"#,
        ),
        ("", r#""result":{"content":[{"type":"text","text":"none"}]}"#),
        (r#","arguments":{}"#, r#""result":{"content":[{"type":"text","text":"none"}]}"#),
        (r#","arguments":{"n":3}"#, r#""error":{"code":-32000,"message":"sorry <marker>"}"#),
        (
            r#","arguments":{"n":4}"#,
            r#""result":{"content":[{"type":"text","text":"No reply is scripted for these arguments (<marker>)."}],"isError":true}"#,
        ),
        (r#","arguments":null"#, r#""error":{"code":-32602,"message":"*"}"#),
        (r#","arguments":[1]"#, r#""error":{"code":-32602,"message":"*"}"#),
    ] {
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"lookup_order"{arguments}}}}}"#
        );
        check(&mut server, &[(&line, &[&format!(r#"{{"jsonrpc":"2.0","id":1,{expected}}}"#)])]);
    }
}

#[test]
fn structured_content_came_with_2025_06_18() {
    for revision in Revision::ALL {
        let mut lookup = tool("lookup_order");
        lookup.replies = vec![reply(None, r#"{"content":[],"structuredContent":{"m":"{{ marker }}"}}"#)];
        let mut script = orders();
        script.tools = vec![lookup];
        let mut server = ready(script, revision);
        let line = call(revision, 1, "lookup_order");
        let message = sent(revision, &server.line(1, line.as_bytes())).remove(0);
        let structured = message.pointer("/result/structuredContent");
        assert_eq!(structured.is_some(), revision >= Revision::V2025_06_18, "{message}");
        assert!(structured.is_none_or(|value| matches(&json(r#"{"m":"<marker>"}"#), value)), "{message}");
    }
}

#[test]
fn markers_are_unique_per_call_and_one_per_reply() {
    let mut lookup = tool("lookup_order");
    lookup.replies = vec![reply(
        None,
        r#"{"content":[{"type":"text","text":"{{ marker }}"},{"type":"text","text":"{{ marker }}"}],"structuredContent":{"m":"{{ marker }}"}}"#,
    )];
    let mut script = orders();
    script.tools = vec![lookup];
    let mut seen = std::collections::HashSet::new();
    let mut server = server(script, Revision::V2026_07_28);
    for conn in 1..4 {
        server.open(conn);
        for id in 0..50 {
            let line = call(Revision::V2026_07_28, id, "lookup_order");
            let message = sent(Revision::V2026_07_28, &server.line(conn, line.as_bytes())).remove(0);
            let word = text_of(&message);
            assert!(word.starts_with("hcm-"));
            for place in ["/result/content/1/text", "/result/structuredContent/m"] {
                assert_eq!(message.pointer(place).and_then(Json::as_str), Some(&*word));
            }
            assert!(seen.insert(word));
        }
    }
}
