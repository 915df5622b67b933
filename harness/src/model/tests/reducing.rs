use proptest::prelude::*;

use super::*;
use crate::model::{Item, Ours, Part, Prompts, Request};

fn reduced(name: ApiName, body: &Json) -> Json {
    let plan = plan(name);
    api(name).reduce(body, &Ours::of(&plan).keep(Prompts::Reduce))
}

#[test]
fn messages_are_reduced_to_what_is_ours() {
    let body = json(
        r#"{"model":"m","max_tokens":9,"stream":true,"metadata":{"user_id":"u"},"tool_choice":{"type":"auto"},
        "system":[{"type":"text","text":"Secret prompt about lookup_order.","cache_control":{"type":"ephemeral"}}],
        "tools":[{"name":"mcp__orders__lookup_order","description":"D [hc:k3f9a1]","input_schema":{"type":"object"}},
            {"type":"custom","name":"Read","description":"Secret description","input_schema":{"type":"object"}}],
        "messages":[
            {"role":"user","content":"Look up my order. [run-7f3k9q2m]"},
            {"role":"user","content":"Look up my order. [run-7f3k9q2m] <secret>"},
            {"role":"assistant","content":[{"type":"text","text":"Both at once."},{"type":"text","text":""},
                {"type":"tool_use","id":"toolu_1","name":"x","input":{"a":"b"}},{"type":"thinking","thinking":"secret"}]},
            {"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","is_error":true,
                "content":[{"type":"text","text":"told"},
                    {"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}]}]}]}"#,
    );
    let hash = |text: &str| crate::model::hash::sha256(text.as_bytes());
    let read = body.pointer("/tools/1").unwrap().to_string();
    let expected = format!(
        r#"{{"model":"m","max_tokens":9,"stream":true,"metadata":{{"len":15,"sha256":"{metadata}"}},"tool_choice":{{"type":"auto"}},"system":[{{"type":"text","text":{{"len":33,"sha256":"{system}","mentions":["lookup_order"]}},"cache_control":{{"type":"ephemeral"}}}}],"tools":[{{"name":"mcp__orders__lookup_order","description":"D [hc:k3f9a1]","input_schema":{{"type":"object"}}}},{{"type":"custom","name":"Read","len":{read_len},"sha256":"{read}"}}],"messages":[{{"role":"user","content":"Look up my order. [run-7f3k9q2m]"}},{{"role":"user","content":{{"len":41,"sha256":"{wrapped}"}}}},{{"role":"assistant","content":[{{"type":"text","text":"Both at once."}},{{"type":"text","text":""}},{{"type":"tool_use","id":"toolu_1","name":"x","input":{{"a":"b"}}}},{{"type":"thinking","thinking":{{"len":6,"sha256":"{secret}"}}}}]}},{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"toolu_1","is_error":true,"content":[{{"type":"text","text":"told"}},{{"type":"image","media_type":"image/png","len":2,"sha256":"{image}"}}]}}]}}]}}"#,
        metadata = hash(r#"{"user_id":"u"}"#),
        system = hash("Secret prompt about lookup_order."),
        read_len = read.len(),
        read = hash(&read),
        wrapped = hash("Look up my order. [run-7f3k9q2m] <secret>"),
        secret = hash("secret"),
        image = hash("hi"),
    );
    assert_eq!(reduced(ApiName::AnthropicMessages, &body).to_string(), expected);
}

#[test]
fn responses_are_reduced_to_what_is_ours() {
    let body = json(
        r#"{"model":"m","instructions":"Secret k3f9a1","store":false,"prompt_cache_key":"key","include":["reasoning"],
        "tools":[{"type":"function","name":"read","description":"Secret"},
            {"type":"namespace","name":"mcp__orders","description":"Secret","tools":[
                {"type":"function","name":"lookup_order","description":"D [hc:k3f9a1]","parameters":{}},
                {"type":"function","name":"other","description":"Secret"}]}],
        "input":[{"type":"message","id":"i","role":"developer","content":[{"type":"input_text","text":"Secret"}]},
            {"role":"user","content":" Look up my order. [run-7f3k9q2m]\n"},
            {"type":"reasoning","id":"r","encrypted_content":"Secret"},
            {"type":"function_call","id":"fc","call_id":"call_1","name":"x","namespace":"mcp__orders","arguments":"{\"a\":"},
            {"type":"function_call_output","call_id":"call_1","output":[{"type":"input_text","text":"told"},
                {"type":"input_image","image_url":"data:image/png;base64,aGk="},
                {"type":"input_image","image_url":"https://example.com/a.png"}]}]}"#,
    );
    let hash = |text: &str| crate::model::hash::sha256(text.as_bytes());
    let read = body.pointer("/tools/0").unwrap().to_string();
    let other = body.pointer("/tools/1/tools/1").unwrap().to_string();
    let secret = format!(r#"{{"len":6,"sha256":"{}"}}"#, hash("Secret"));
    let expected = format!(
        r#"{{"model":"m","instructions":{{"len":13,"sha256":"{instructions}","mentions":["k3f9a1"]}},"store":false,"prompt_cache_key":{{"len":3,"sha256":"{key}"}},"include":["reasoning"],"tools":[{{"type":"function","name":"read","len":{read_len},"sha256":"{read}"}},{{"type":"namespace","name":"mcp__orders","description":{secret},"tools":[{{"type":"function","name":"lookup_order","description":"D [hc:k3f9a1]","parameters":{{}}}},{{"type":"function","name":"other","len":{other_len},"sha256":"{other}"}}]}}],"input":[{{"type":"message","id":"i","role":"developer","content":[{{"type":"input_text","text":{secret}}}]}},{{"role":"user","content":" Look up my order. [run-7f3k9q2m]\n"}},{{"type":"reasoning","id":"r","encrypted_content":{secret}}},{{"type":"function_call","id":"fc","call_id":"call_1","name":"x","namespace":"mcp__orders","arguments":"{{\"a\":"}},{{"type":"function_call_output","call_id":"call_1","output":[{{"type":"input_text","text":"told"}},{{"type":"input_image","media_type":"image/png","len":2,"sha256":"{image}"}},{{"type":"input_image","image_url":"https://example.com/a.png"}}]}}]}}"#,
        instructions = hash("Secret k3f9a1"),
        key = hash("key"),
        read_len = read.len(),
        read = hash(&read),
        other_len = other.len(),
        other = hash(&other),
        image = hash("hi"),
    );
    assert_eq!(reduced(ApiName::OpenaiResponses, &body).to_string(), expected);
}

#[test]
fn prompts_can_be_kept() {
    for name in APIS {
        let plan = plan(name);
        let body = body(name, &[Said::User("A secret.".to_owned())], tools(name));
        assert_eq!(api(name).reduce(&body, &Ours::of(&plan).keep(Prompts::Keep)), body);
    }
}

#[test]
fn names_are_mentioned_only_where_they_stand_alone() {
    let keep = crate::model::Keep {
        words: &["k3f9a1"],
        markers: &[],
        names: &["get", "lookup_order"],
        prompts: Prompts::Reduce,
    };
    let cases: [(&str, &[&str]); 5] = [
        ("together we forget", &[]),
        ("call `get` first", &["get"]),
        ("mcp__orders__lookup_order", &["lookup_order"]),
        ("get [hc:k3f9a1] get", &["get", "k3f9a1"]),
        ("", &[]),
    ];
    for (text, expected) in cases {
        assert_eq!(keep.mentions(text), expected, "{text}");
    }
}

/// Texts that matter: foreign ones, ours, ours inside foreign ones, an empty one, one that looks reduced.
fn text() -> impl Strategy<Value = Json> {
    prop_oneof![
        any::<String>().prop_map(Json::from),
        Just(Json::from("")),
        Just(Json::from(format!("Look up my order. [{MARKER}]"))),
        Just(Json::from(format!("<wrapped>Look up my order. [{MARKER}]</wrapped>"))),
        Just(Json::from("First answer.")),
        Just(json(r#""\ud800""#)),
        Just(json(r#"{"len":1,"sha256":"0000000000000000000000000000000000000000000000000000000000000000"}"#)),
        Just(json("7")),
    ]
}

fn id() -> impl Strategy<Value = String> {
    prop_oneof![Just("id_1".to_owned()), Just("id_2".to_owned()), "[a-z]{1,4}"]
}

/// A tool entry of the named members, ours or not.
fn entry(parameters: &'static str) -> impl Strategy<Value = Json> {
    let description = prop_oneof![
        any::<String>(),
        Just(described("k3f9a1")),
        Just(described("unknown")),
        Just(format!("{} and more", described("m5n6b7"))),
    ];
    (prop::option::of(Just("function")), "[a-z_]{1,8}", description, any::<bool>()).prop_map(
        move |(kind, name, description, schema)| {
            let mut entry = Json::empty();
            if let Some(kind) = kind {
                entry.set("type", kind);
            }
            entry.set("name", name);
            entry.set("description", description);
            if schema {
                entry.set(parameters, json(r#"{"type":"object","properties":{"a":{"type":"string"}}}"#));
            }
            entry
        },
    )
}

fn part(kind: &'static str) -> impl Strategy<Value = Json> {
    text().prop_map(move |text| Json::object([("type", Json::from(kind)), ("text", text)]))
}

fn messages() -> impl Strategy<Value = Json> {
    let image = json(r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}}"#);
    let told = prop_oneof![
        any::<String>().prop_map(Json::from),
        prop::collection::vec(prop_oneof![part("text"), Just(image)], 0..3).prop_map(Json::Array),
    ];
    let block = prop_oneof![
        part("text"),
        (id(), any::<String>()).prop_map(|(id, text)| Json::object([
            ("type", Json::from("tool_use")),
            ("id", id.into()),
            ("name", "n".into()),
            ("input", Json::object([("a", text)])),
        ])),
        (id(), told, prop::option::of(any::<bool>())).prop_map(|(id, told, is_error)| {
            let mut block = Json::object([("type", Json::from("tool_result")), ("tool_use_id", id.into())]);
            block.set("content", told);
            if let Some(is_error) = is_error {
                block.set("is_error", is_error);
            }
            block
        }),
        Just(json(r#"{"type":"thinking","thinking":"secret","signature":""}"#)),
    ];
    let content = prop_oneof![text(), prop::collection::vec(block, 0..4).prop_map(Json::Array)];
    let message = (prop_oneof![Just("user"), Just("assistant"), Just("system")], content)
        .prop_map(|(role, content)| Json::object([("role", Json::from(role)), ("content", content)]));
    let tools = prop::collection::vec(entry("input_schema"), 0..4);
    (prop::collection::vec(message, 0..5), tools, text(), any::<bool>()).prop_map(
        |(messages, tools, system, stream)| {
            Json::object([
                ("model", Json::from("m")),
                ("messages", Json::Array(messages)),
                ("system", system),
                ("tools", Json::Array(tools)),
                ("stream", stream.into()),
                ("metadata", json(r#"{"user_id":"u"}"#)),
            ])
        },
    )
}

fn responses() -> impl Strategy<Value = Json> {
    let image = json(r#"{"type":"input_image","image_url":"data:image/png;base64,aGk="}"#);
    let told = prop_oneof![
        any::<String>().prop_map(Json::from),
        prop::collection::vec(prop_oneof![part("input_text"), Just(image)], 0..3).prop_map(Json::Array),
    ];
    let content = prop_oneof![text(), prop::collection::vec(part("input_text"), 0..3).prop_map(Json::Array)];
    let item = prop_oneof![
        (prop_oneof![Just("user"), Just("developer"), Just("assistant")], content)
            .prop_map(|(role, content)| Json::object([("role", Json::from(role)), ("content", content)])),
        (id(), any::<String>()).prop_map(|(id, text)| Json::object([
            ("type", Json::from("function_call")),
            ("call_id", id.into()),
            ("name", "n".into()),
            ("arguments", text.into()),
        ])),
        (id(), told).prop_map(|(id, told)| Json::object([
            ("type", Json::from("function_call_output")),
            ("call_id", id.into()),
            ("output", told),
        ])),
        Just(json(r#"{"type":"reasoning","encrypted_content":"secret","summary":[]}"#)),
    ];
    let nested = prop::collection::vec(entry("parameters"), 0..3).prop_map(|tools| {
        Json::object([
            ("type", Json::from("namespace")),
            ("name", "mcp__orders".into()),
            ("tools", Json::Array(tools)),
        ])
    });
    let tools = prop::collection::vec(prop_oneof![entry("parameters"), nested], 0..4);
    (prop::collection::vec(item, 0..6), tools, text()).prop_map(|(input, tools, instructions)| {
        Json::object([
            ("model", Json::from("m")),
            ("instructions", instructions),
            ("input", Json::Array(input)),
            ("tools", Json::Array(tools)),
            ("client_metadata", json(r#"{"a":"b"}"#)),
        ])
    })
}

/// What a reduced request must still say: offers of ours in full, of others the name; uses; results, with images by hash.
fn essence(request: &Request) -> (Vec<String>, Vec<Item>) {
    let offers = request.offers.iter().map(|offer| match offer.word() {
        Some("k3f9a1" | "m5n6b7" | "p8s2d4") => offer.raw.to_string(),
        _ => offer.published.to_string(),
    });
    let items = request.items.iter().filter_map(|item| match item {
        Item::ToolUse { .. } => Some(item.clone()),
        Item::ToolResult(result) => {
            let mut result = result.clone();
            for part in &mut result.parts {
                if let Part::Image(image) = part {
                    *image = Json::Null;
                }
            }
            Some(Item::ToolResult(result))
        }
        Item::Text { .. } | Item::Other(_) => None,
    });
    (offers.collect(), items.collect())
}

fn laws(name: ApiName, body: &Json) -> Result<(), TestCaseError> {
    let once = reduced(name, body);
    prop_assert_eq!(&reduced(name, &once), &once, "reducing twice changes nothing");
    prop_assert_eq!(&json(&once.to_string()), &once, "the trace holds it");
    let (Ok(whole), Ok(small)) = (api(name).parse(body), api(name).parse(&once)) else {
        return Err(TestCaseError::fail("does not parse"));
    };
    prop_assert_eq!(essence(&whole), essence(&small));
    prop_assert_eq!(whole.stream, small.stream);
    prop_assert_eq!(whole.items.len(), small.items.len());
    Ok(())
}

proptest! {
    #[test]
    fn reduced_messages_say_the_same(body in messages()) {
        laws(ApiName::AnthropicMessages, &body)?;
    }

    #[test]
    fn reduced_responses_say_the_same(body in responses()) {
        laws(ApiName::OpenaiResponses, &body)?;
    }

    #[test]
    fn no_foreign_text_survives(secret in "[A-Z]{12}") {
        for name in ApiName::ALL {
            let said = [
                Said::User(format!("Look up my order. [{MARKER}]")),
                Said::User(secret.clone()),
                Said::User(format!("{secret} [{MARKER}]")),
                Said::Model(Reply { id: "x".to_owned(), blocks: vec![Block::Text(secret.clone())] }),
            ];
            let body = body(name, &said, tools(name)).to_string();
            let body = body.replace("Reads a file.", &secret).replace("You are a helpful program.", &secret);
            let reduced = reduced(name, &json(&body)).to_string();
            prop_assert!(!reduced.contains(&secret), "{}", reduced);
            prop_assert!(reduced.contains(MARKER));
        }
    }
}

#[test]
fn of_a_synthetic_request_only_foreign_tools_and_images_are_reduced() {
    let body = json(
        r#"{"tools":[{"name":"lookup_order","description":"D [hc:k3f9a1]","input_schema":{}},
            {"name":"read","description":"Secret"}],
        "messages":[{"role":"user","content":[{"type":"text","text":"Anything."}]},
            {"role":"tool","content":[{"type":"tool_result","tool_use_id":"use_1","is_error":false,"content":[
                {"type":"text","text":"told"},{"type":"image","mimeType":"image/png","data":"aGk="}]}]}]}"#,
    );
    let read = body.pointer("/tools/1").unwrap().to_string();
    let hash = |text: &str| crate::model::hash::sha256(text.as_bytes());
    let expected = format!(
        r#"{{"tools":[{{"name":"lookup_order","description":"D [hc:k3f9a1]","input_schema":{{}}}},{{"name":"read","len":{len},"sha256":"{read}"}}],"messages":[{{"role":"user","content":[{{"type":"text","text":"Anything."}}]}},{{"role":"tool","content":[{{"type":"tool_result","tool_use_id":"use_1","is_error":false,"content":[{{"type":"text","text":"told"}},{{"type":"image","media_type":"image/png","len":2,"sha256":"{image}"}}]}}]}}]}}"#,
        len = read.len(),
        read = hash(&read),
        image = hash("hi"),
    );
    let once = reduced(ApiName::Synthetic, &body);
    assert_eq!(once.to_string(), expected);
    assert_eq!(reduced(ApiName::Synthetic, &once), once);
}
