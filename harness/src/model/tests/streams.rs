use proptest::prelude::*;

use super::*;

fn reply(name: ApiName, text: &str, input: &str) -> Reply {
    let tool_use = Block::ToolUse {
        id: match name {
            ApiName::AnthropicMessages => "toolu_1".to_owned(),
            ApiName::OpenaiResponses => "call_1".to_owned(),
            ApiName::Synthetic => "use_1".to_owned(),
        },
        published: published(name, "orders", "lookup_order"),
        input: input.to_owned(),
    };
    Reply { id: "1_turn0".to_owned(), blocks: vec![Block::Text(text.to_owned()), tool_use] }
}

/// The data of each event, after checking that each is named by its type.
fn events(stream: &[u8]) -> Vec<Json> {
    let text = str::from_utf8(stream).unwrap();
    let (body, end) = text.rsplit_once("\n\n").unwrap();
    assert_eq!(end, "");
    let event = |event: &str| {
        let (name, data) = event.split_once('\n').unwrap();
        let data = json(data.strip_prefix("data: ").unwrap());
        assert_eq!(name.strip_prefix("event: "), data.str("type"));
        data
    };
    body.split("\n\n").map(event).collect()
}

const MESSAGES: &str = r#"event: message_start
data: {"type":"message_start","message":{"id":"msg_1_turn0","type":"message","role":"assistant","model":"hopcheck","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":1,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"No"}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"w."}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"mcp__orders__lookup_order","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"n\":"}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"1.0}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":1}}

event: message_stop
data: {"type":"message_stop"}

"#;

const RESPONSES: &str = r#"event: response.created
data: {"type":"response.created","sequence_number":0,"response":{"id":"resp_1_turn0","object":"response","created_at":0,"status":"in_progress","model":"hopcheck","output":[],"usage":null}}

event: response.output_item.added
data: {"type":"response.output_item.added","sequence_number":1,"output_index":0,"item":{"type":"message","id":"msg_1_turn0_0","status":"in_progress","role":"assistant","content":[]}}

event: response.content_part.added
data: {"type":"response.content_part.added","sequence_number":2,"item_id":"msg_1_turn0_0","output_index":0,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]}}

event: response.output_text.delta
data: {"type":"response.output_text.delta","sequence_number":3,"item_id":"msg_1_turn0_0","output_index":0,"content_index":0,"delta":"No"}

event: response.output_text.delta
data: {"type":"response.output_text.delta","sequence_number":4,"item_id":"msg_1_turn0_0","output_index":0,"content_index":0,"delta":"w."}

event: response.output_text.done
data: {"type":"response.output_text.done","sequence_number":5,"item_id":"msg_1_turn0_0","output_index":0,"content_index":0,"text":"Now."}

event: response.content_part.done
data: {"type":"response.content_part.done","sequence_number":6,"item_id":"msg_1_turn0_0","output_index":0,"content_index":0,"part":{"type":"output_text","text":"Now.","annotations":[]}}

event: response.output_item.done
data: {"type":"response.output_item.done","sequence_number":7,"output_index":0,"item":{"type":"message","id":"msg_1_turn0_0","status":"completed","role":"assistant","content":[{"type":"output_text","text":"Now.","annotations":[]}]}}

event: response.output_item.added
data: {"type":"response.output_item.added","sequence_number":8,"output_index":1,"item":{"type":"function_call","id":"fc_1","status":"in_progress","call_id":"call_1","namespace":"mcp__orders","name":"lookup_order","arguments":""}}

event: response.function_call_arguments.delta
data: {"type":"response.function_call_arguments.delta","sequence_number":9,"item_id":"fc_1","output_index":1,"delta":"{\"n\":"}

event: response.function_call_arguments.delta
data: {"type":"response.function_call_arguments.delta","sequence_number":10,"item_id":"fc_1","output_index":1,"delta":"1.0}"}

event: response.function_call_arguments.done
data: {"type":"response.function_call_arguments.done","sequence_number":11,"item_id":"fc_1","output_index":1,"arguments":"{\"n\":1.0}"}

event: response.output_item.done
data: {"type":"response.output_item.done","sequence_number":12,"output_index":1,"item":{"type":"function_call","id":"fc_1","status":"completed","call_id":"call_1","namespace":"mcp__orders","name":"lookup_order","arguments":"{\"n\":1.0}"}}

event: response.completed
data: {"type":"response.completed","sequence_number":13,"response":{"id":"resp_1_turn0","object":"response","created_at":0,"status":"completed","model":"hopcheck","output":[{"type":"message","id":"msg_1_turn0_0","status":"completed","role":"assistant","content":[{"type":"output_text","text":"Now.","annotations":[]}]},{"type":"function_call","id":"fc_1","status":"completed","call_id":"call_1","namespace":"mcp__orders","name":"lookup_order","arguments":"{\"n\":1.0}"}],"usage":{"input_tokens":1,"input_tokens_details":{"cached_tokens":0},"output_tokens":1,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":2}}}

"#;

#[test]
fn streams_are_those_of_the_documentation() {
    for (name, expected) in [(ApiName::AnthropicMessages, MESSAGES), (ApiName::OpenaiResponses, RESPONSES)] {
        let stream = api(name).stream(&reply(name, "Now.", r#"{"n":1.0}"#));
        assert_eq!(String::from_utf8(stream).unwrap(), expected);
    }
}

#[test]
fn a_text_alone_ends_the_turn() {
    let reply = Reply { id: "1_side1".to_owned(), blocks: vec![Block::Text("ok".to_owned())] };
    let whole = api(ApiName::AnthropicMessages).whole(&reply);
    assert_eq!(whole.str("stop_reason"), Some("end_turn"));
    let events = events(&api(ApiName::AnthropicMessages).stream(&reply));
    let delta = &events[events.len() - 2];
    assert_eq!(delta.at(&["delta", "stop_reason"]).and_then(Json::as_str), Some("end_turn"));
}

#[test]
fn absent_arguments_add_nothing() {
    let messages = events(&api(ApiName::AnthropicMessages).stream(&reply(ApiName::AnthropicMessages, "", "")));
    assert!(messages.iter().all(|event| event.str("type") != Some("content_block_delta")), "{messages:?}");
    let whole = api(ApiName::AnthropicMessages).whole(&reply(ApiName::AnthropicMessages, "", ""));
    assert_eq!(whole.pointer("/content/1/input"), Some(&Json::empty()));
    let whole = api(ApiName::OpenaiResponses).whole(&reply(ApiName::OpenaiResponses, "", ""));
    assert_eq!(whole.pointer("/output/1/arguments"), Some(&Json::from("")));
}

#[test]
fn tools_without_a_namespace_have_no_such_member() {
    let mut reply = reply(ApiName::OpenaiResponses, "", "{}");
    if let Block::ToolUse { published, .. } = &mut reply.blocks[1] {
        published.namespace = None;
    }
    let blocks = api(ApiName::OpenaiResponses).blocks(&reply);
    assert_eq!(blocks.items()[1].get("namespace"), None);
    assert_eq!(api(ApiName::OpenaiResponses).parse_blocks(&blocks), reply.blocks);
}

#[test]
fn ids_have_the_apis_form_and_differ() {
    for name in ApiName::ALL {
        let ids = [(1, 1, 0), (1, 1, 1), (1, 2, 0), (2, 1, 0)]
            .map(|(seed, run, index)| api(name).use_id(seed, run, index));
        for (at, id) in ids.iter().enumerate() {
            assert!(id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'), "{id}");
            assert!((29..=30).contains(&id.len()), "{id}");
            assert!(!ids[..at].contains(id), "{ids:?}");
        }
        assert_eq!(ids[0], api(name).use_id(1, 1, 0));
    }
}

#[test]
fn errors_have_the_apis_form() {
    let cases = [
        (
            ApiName::AnthropicMessages,
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"m"}}"#,
        ),
        (ApiName::AnthropicMessages, 529, r#"{"type":"error","error":{"type":"overloaded_error","message":"m"}}"#),
        (ApiName::AnthropicMessages, 500, r#"{"type":"error","error":{"type":"api_error","message":"m"}}"#),
        (
            ApiName::OpenaiResponses,
            400,
            r#"{"error":{"message":"m","type":"invalid_request_error","param":null,"code":null}}"#,
        ),
        (
            ApiName::OpenaiResponses,
            503,
            r#"{"error":{"message":"m","type":"server_error","param":null,"code":null}}"#,
        ),
    ];
    for (name, status, expected) in cases {
        assert_eq!(api(name).error(status, "m").to_string(), expected);
    }
}

/// The members `key` of all deltas of a type, joined as a host joins them.
fn joined(events: &[Json], kind: &str, key: &str) -> String {
    events
        .iter()
        .map(|event| event.get("delta").filter(|delta| delta.is_object()).unwrap_or(event))
        .filter(|delta| delta.str("type") == Some(kind))
        .filter_map(|delta| delta.str(key))
        .collect()
}

fn input() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        Just(String::new()),
        Just("{}".to_owned()),
        Just("\"{}\"".to_owned()),
        Just("[1]".to_owned()),
        Just(r#"{ "a" : 1 }"#.to_owned()),
        Just(r#"{"n":9007199254740993,"n":1.0}"#.to_owned()),
        Just(r#"{"a": "#.to_owned()),
    ]
}

proptest! {
    #[test]
    fn what_is_streamed_joins_to_what_was_said(text: String, input in input()) {
        let cases = [
            (ApiName::AnthropicMessages, ["text_delta", "text"], ["input_json_delta", "partial_json"]),
            (
                ApiName::OpenaiResponses,
                ["response.output_text.delta", "delta"],
                ["response.function_call_arguments.delta", "delta"],
            ),
        ];
        for (name, of_text, of_input) in cases {
            let events = events(&api(name).stream(&reply(name, &text, &input)));
            prop_assert_eq!(&joined(&events, of_text[0], of_text[1]), &text);
            prop_assert_eq!(&joined(&events, of_input[0], of_input[1]), &input);
        }
    }

    #[test]
    fn blocks_of_the_trace_read_back(text: String, input in input()) {
        for name in ApiName::ALL {
            let reply = reply(name, &text, &input);
            let blocks = json(&api(name).blocks(&reply).to_string());
            prop_assert_eq!(api(name).parse_blocks(&blocks), reply.blocks);
        }
    }
}
