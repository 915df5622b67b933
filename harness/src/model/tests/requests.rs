use super::*;
use crate::model::{Item, Offer, Part, Request, Route, ToolResult};

#[track_caller]
fn parsed(name: ApiName, text: &str) -> Request {
    api(name).parse(&json(text)).unwrap()
}

fn text(role: &str, text: Option<&str>) -> Item {
    Item::Text { role: role.to_owned(), text: text.map(str::to_owned) }
}

fn tool_use(id: &str, namespace: Option<&str>, name: &str, input: &str) -> Item {
    Item::ToolUse {
        id: id.to_owned(),
        published: Published { namespace: namespace.map(str::to_owned), name: name.to_owned() },
        input: input.to_owned(),
    }
}

fn result(id: &str, is_error: Option<bool>, parts: Vec<Part>) -> Item {
    Item::ToolResult(ToolResult { id: id.to_owned(), is_error, parts })
}

#[test]
fn routes() {
    let cases = [
        (ApiName::AnthropicMessages, "POST", "/v1/messages", Route::Reply),
        (ApiName::AnthropicMessages, "POST", "/v1/messages?beta=true", Route::Reply),
        (ApiName::AnthropicMessages, "POST", "/v1/messages/count_tokens?beta=true", Route::CountTokens),
        (ApiName::AnthropicMessages, "GET", "/v1/messages", Route::NotOurs),
        (ApiName::AnthropicMessages, "HEAD", "/", Route::NotOurs),
        (ApiName::AnthropicMessages, "POST", "/v1/responses", Route::NotOurs),
        (ApiName::OpenaiResponses, "POST", "/v1/responses", Route::Reply),
        (ApiName::OpenaiResponses, "POST", "/v1/responses/", Route::NotOurs),
        (ApiName::OpenaiResponses, "GET", "/v1/models", Route::NotOurs),
    ];
    for (name, method, path, expected) in cases {
        assert_eq!(api(name).route(method, path), expected, "{method} {path}");
    }
}

#[test]
fn messages_like_those_of_claude_code() {
    let request = parsed(
        ApiName::AnthropicMessages,
        r#"{
        "model":"m","max_tokens":32000,"stream":true,"metadata":{"user_id":"u"},
        "thinking":{"type":"adaptive"},"output_config":{"effort":"high"},
        "system":[{"type":"text","text":"S1","cache_control":{"type":"ephemeral"}},{"type":"text","text":"S2"}],
        "tools":[
            {"name":"mcp__orders__lookup_order","description":"D [hc:k3f9a1]","input_schema":{"type":"object"}},
            {"type":"web_search_20250305","name":"web_search"},
            {"type":"custom","name":"Read","len":12,"sha256":"0000000000000000000000000000000000000000000000000000000000000000"}],
        "messages":[
            {"role":"user","content":"Look [run-7f3k9q2m]"},
            {"role":"system","content":[{"type":"text","text":"R1"}],"output_config":{}},
            {"role":"assistant","content":[{"type":"thinking","thinking":"..."},{"type":"text","text":"Now."},
                {"type":"tool_use","id":"toolu_1","name":"mcp__orders__lookup_order","input":{"n":1.0,"a":[]}}]},
            {"role":"user","content":[
                {"tool_use_id":"toolu_1","type":"tool_result","content":[{"type":"text","text":"T"},
                    {"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}},{"type":"x"}]},
                {"type":"tool_result","content":"plain","is_error":true,"tool_use_id":"toolu_2"},
                {"type":"tool_result","tool_use_id":"toolu_3"}]},
            {"role":"system","content":{"len":3,"sha256":"1111111111111111111111111111111111111111111111111111111111111111"}}]
        }"#,
    );
    assert!(request.stream);
    let names: Vec<(&str, bool)> =
        request.offers.iter().map(|offer| (offer.published.name.as_str(), offer.reduced)).collect();
    assert_eq!(names, [("mcp__orders__lookup_order", false), ("web_search", false), ("Read", true)]);
    assert_eq!(request.offers[0].word(), Some("k3f9a1"));
    assert_eq!(request.offers[0].schema, Some(json(r#"{"type":"object"}"#)));
    let image = json(r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}"#);
    assert_eq!(
        request.items,
        [
            text("system", Some("S1")),
            text("system", Some("S2")),
            text("user", Some("Look [run-7f3k9q2m]")),
            text("system", Some("R1")),
            Item::Other(json(r#"{"type":"thinking","thinking":"..."}"#)),
            text("assistant", Some("Now.")),
            tool_use("toolu_1", None, "mcp__orders__lookup_order", r#"{"n":1.0,"a":[]}"#),
            result(
                "toolu_1",
                None,
                vec![Part::Text("T".to_owned()), Part::Image(image), Part::Other(json(r#"{"type":"x"}"#))]
            ),
            result("toolu_2", Some(true), vec![Part::Text("plain".to_owned())]),
            result("toolu_3", None, vec![]),
            text("system", None),
        ]
    );
}

#[test]
fn responses_like_those_of_codex() {
    let request = parsed(
        ApiName::OpenaiResponses,
        r#"{
        "model":"m","instructions":"I","tool_choice":"auto","parallel_tool_calls":true,"store":false,"stream":true,
        "prompt_cache_key":"k","client_metadata":{"a":"b"},
        "tools":[
            {"type":"function","name":"exec_command","description":"D","parameters":{"type":"object","properties":{}}},
            {"type":"namespace","name":"mcp__orders","description":"D","tools":[
                {"type":"function","name":"lookup_order","description":"D [hc:k3f9a1]","strict":false,
                 "parameters":{"type":"object","properties":{}}}]},
            {"type":"web_search"}],
        "input":[
            {"type":"message","role":"developer","content":[{"type":"input_text","text":"P1"},{"type":"input_text","text":"P2"}]},
            {"role":"user","content":"short"},
            {"type":"message","id":"x","role":"user","content":[{"type":"input_text","text":"Look [run-7f3k9q2m]"},
                {"type":"input_image","image_url":"data:image/png;base64,AAAA"}]},
            {"type":"reasoning","summary":[]},
            {"type":"message","role":"assistant","content":[{"type":"output_text","text":"Now."}]},
            {"type":"function_call","id":"fc_1","name":"lookup_order","namespace":"mcp__orders","arguments":"{\"n\": ","call_id":"call_1"},
            {"type":"function_call","name":"exec_command","arguments":{"a":1},"call_id":"call_2"},
            {"type":"custom_tool_call","name":"exec","input":"run()","call_id":"call_3"},
            {"type":"function_call_output","call_id":"call_1","output":[{"type":"input_text","text":"T"},
                {"type":"input_image","image_url":"data:image/png;base64,AAAA"}]},
            {"type":"function_call_output","call_id":"call_2","output":"unsupported call"},
            {"type":"custom_tool_call_output","call_id":"call_3","output":"fine"}]
        }"#,
    );
    let names: Vec<String> = request.offers.iter().map(|offer| offer.published.to_string()).collect();
    assert_eq!(names, ["exec_command", "mcp__orders.lookup_order", "web_search"]);
    assert_eq!(request.offers[1].word(), Some("k3f9a1"));
    let image = json(r#"{"type":"input_image","image_url":"data:image/png;base64,AAAA"}"#);
    assert_eq!(
        request.items,
        [
            text("system", Some("I")),
            text("developer", Some("P1")),
            text("developer", Some("P2")),
            text("user", Some("short")),
            text("user", Some("Look [run-7f3k9q2m]")),
            Item::Other(image.clone()),
            Item::Other(json(r#"{"type":"reasoning","summary":[]}"#)),
            text("assistant", Some("Now.")),
            tool_use("call_1", Some("mcp__orders"), "lookup_order", r#"{"n": "#),
            tool_use("call_2", None, "exec_command", r#"{"a":1}"#),
            tool_use("call_3", None, "exec", "run()"),
            result("call_1", None, vec![Part::Text("T".to_owned()), Part::Image(image)]),
            result("call_2", None, vec![Part::Text("unsupported call".to_owned())]),
            result("call_3", None, vec![Part::Text("fine".to_owned())]),
        ]
    );
}

#[test]
fn odd_requests_are_read_as_far_as_they_go() {
    let messages =
        r#"{"messages":[7,{"role":"user"},{"role":"user","content":[7,{"type":"tool_use"}]}],"tools":[7,{}]}"#;
    let request = parsed(ApiName::AnthropicMessages, messages);
    assert!(!request.stream && request.offers.is_empty());
    assert!(request.items.iter().all(|item| matches!(item, Item::Other(_))), "{:?}", request.items);

    let request = parsed(ApiName::OpenaiResponses, r#"{"input":"just text","instructions":null}"#);
    assert_eq!(request.items, [text("user", Some("just text"))]);
    assert_eq!(request.offers, Vec::<Offer>::new());

    for (name, text) in [
        (ApiName::AnthropicMessages, r#"{"input":[]}"#),
        (ApiName::AnthropicMessages, "null"),
        (ApiName::OpenaiResponses, r#"{"messages":[]}"#),
        (ApiName::OpenaiResponses, r#"{"input":7}"#),
    ] {
        assert!(api(name).parse(&json(text)).is_err(), "{text}");
    }
}
