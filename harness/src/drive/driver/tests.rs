use super::*;
use crate::model::{EmittedUse, NameFrom, Reply};
use crate::plan::Published;
use crate::revision::Revision;

fn driver() -> Driver {
    let planned = |tool: &str, answer| Planned { tool: tool.to_owned(), answer };
    let planned = vec![planned("lookup", Answer::Allow), planned("refund", Answer::Deny)];
    let setup = Setup::from_json(
        &Json::parse(r#"{"revision":"2025-11-25","home":"/h","cwd":"/w","servers":{}}"#).unwrap(),
    );
    let setup = setup.unwrap();
    assert_eq!(setup.revision, Revision::V2025_11_25);
    Driver::with(vec!["one".to_owned(), "two".to_owned()], planned, setup)
}

/// The `cmd` and `id` of each line.
fn commands(bytes: &[u8]) -> Vec<String> {
    let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines
        .map(|line| {
            let json = Json::parse(line).unwrap();
            format!("{} {}", json.get("id").unwrap(), json.str("cmd").unwrap())
        })
        .collect()
}

#[track_caller]
fn only_command(acts: &[Act]) -> Vec<String> {
    match acts {
        [Act::Command { bytes }] => commands(bytes),
        other => panic!("{other:?}"),
    }
}

/// A reply of the model with these uses.
fn reply(uses: &[(usize, &str, &str)]) -> ModelAnswer {
    let published = |name: &str| Published { namespace: None, name: name.to_owned() };
    let block = |(_, id, name): &(usize, &str, &str)| Block::ToolUse {
        id: (*id).to_owned(),
        published: published(name),
        input: "{}".to_owned(),
    };
    let emitted = |(index, id, name): &(usize, &str, &str)| EmittedUse {
        index: *index,
        id: (*id).to_owned(),
        published: published(name),
        name_from: NameFrom::Offer,
        input: "{}".to_owned(),
        wrapped: None,
    };
    let mut blocks: Vec<Block> = uses.iter().map(block).collect();
    if blocks.is_empty() {
        blocks.push(Block::Text("Done.".to_owned()));
    }
    ModelAnswer {
        main: true,
        stream: false,
        turn: Some(0),
        side: None,
        repeated: false,
        prefix: 0,
        status: 200,
        reply: Some(Reply { id: "r".to_owned(), blocks }),
        uses: uses.iter().map(emitted).collect(),
        searches: Vec::new(),
        refuse: None,
    }
}

/// A driver that has come to its first request, with that request.
fn asked() -> (Driver, Json) {
    let mut driver = driver();
    let acts = driver.start();
    assert!(matches!(&acts[0], Act::Prompt { text, bytes } if text == "one" && bytes.is_empty()), "{acts:?}");
    assert_eq!(only_command(&acts[1..]), ["1 start"]);
    assert_eq!(only_command(&driver.line(br#"{"id":1,"ok":{}}"#).acts), ["2 tools"]);
    match driver.line(br#"{"id":2,"ok":{"tools":[{"name":"a"}]}}"#).heard {
        Heard::Request(body) => (driver, body),
        other => panic!("{other:?}"),
    }
}

#[test]
fn requests_are_made_of_what_the_host_says() {
    let (mut driver, body) = asked();
    assert_eq!(
        body.to_string(),
        r#"{"tools":[{"name":"a"}],"messages":[{"role":"user","content":[{"type":"text","text":"one"}]}]}"#
    );
    let onward = driver.reply(&reply(&[(0, "use_1", "a"), (1, "use_2", "b")]));
    assert_eq!((commands(&onward.uses), onward.acts), (vec!["3 call".to_owned(), "4 call".to_owned()], vec![]));
    let more = |line: &[u8]| Json::parse(line).unwrap().get("more").is_some();
    let lines: Vec<bool> =
        onward.uses.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).map(more).collect();
    assert_eq!(lines, [true, false]);
    // The turn is over when all its uses are, in whatever order.
    let second = driver.line(br#"{"id":4,"refused":{"by":"permission","message":"no"}}"#);
    assert_eq!((second.heard, second.acts), (Heard::Protocol, vec![]));
    let first = driver.line(br#"{"id":3,"ok":{"is_error":false,"content":[{"type":"text","text":"yes"}]}}"#);
    assert_eq!(only_command(&first.acts), ["5 tools"]);
    let Heard::Request(body) = driver.line(br#"{"id":5,"ok":{"tools":[]}}"#).heard else { panic!("no request") };
    let told = body.pointer("/messages/2").unwrap().to_string();
    assert_eq!(
        told,
        r#"{"role":"tool","content":[{"type":"tool_result","tool_use_id":"use_2","is_error":true,"refused_by":"permission","content":[{"type":"text","text":"no"}]},{"type":"tool_result","tool_use_id":"use_1","is_error":false,"content":[{"type":"text","text":"yes"}]}]}"#
    );
}

#[test]
fn the_next_message_follows_the_last_text_and_stop_the_last_message() {
    let (mut driver, _) = asked();
    let onward = driver.reply(&reply(&[]));
    assert_eq!(onward.uses, b"");
    assert!(matches!(&onward.acts[0], Act::Prompt { text, .. } if text == "two"), "{:?}", onward.acts);
    assert_eq!(only_command(&onward.acts[1..]), ["3 tools"]);
    driver.line(br#"{"id":3,"ok":{"tools":[]}}"#);
    let onward = driver.reply(&reply(&[]));
    assert!(matches!(&onward.acts[..], [Act::Stop { bytes }] if commands(bytes) == ["4 stop"]));
    assert_eq!(driver.line(br#"{"id":4,"ok":{}}"#).acts, [Act::Finish]);
}

#[test]
fn what_a_driver_says_of_itself_is_output() {
    let mut driver = driver();
    driver.start();
    let said = driver.line(br#"{"id":1,"ok":{"name":"acme","version":"1.2.3"}}"#);
    assert_eq!((said.heard, only_command(&said.acts)), (Heard::Output, vec!["2 tools".to_owned()]));
}

#[test]
fn questions_are_joined_to_calls() {
    let (mut driver, _) = asked();
    driver.reply(&reply(&[(0, "use_1", "x_lookup"), (1, "use_2", "x_refund")]));
    let about = |driver: &mut Driver, ask: &str| {
        let reaction = driver.line(format!(r#"{{"ask":{ask}}}"#).as_bytes());
        let Heard::Question { about, .. } = reaction.heard else { panic!("no question") };
        let [Act::Answer { answer, .. }] = reaction.acts[..] else { panic!("no answer") };
        (about, answer)
    };
    assert_eq!(about(&mut driver, r#"{"id":1,"call":4,"name":"anything"}"#), (Some(1), "deny"));
    assert_eq!(about(&mut driver, r#"{"id":1,"name":"lookup"}"#), (Some(0), "allow"));
    assert_eq!(about(&mut driver, r#"{"id":1,"call":9,"name":"lookup"}"#), (None, "deny"));
    assert_eq!(about(&mut driver, r#"{"id":1,"name":"of no tool"}"#), (None, "deny"));
    // What is alone in flight needs no name.
    driver.line(br#"{"id":4,"refused":{"by":"user","message":""}}"#);
    assert_eq!(about(&mut driver, r#"{"id":1,"name":"of no tool"}"#), (Some(0), "allow"));
}

#[track_caller]
fn breaks(line: &str, reason: &str) {
    let (mut driver, _) = asked();
    driver.reply(&reply(&[(0, "use_1", "a")]));
    assert_eq!(driver.line(line.as_bytes()).heard, Heard::Broken(reason.to_owned()));
}

#[test]
fn what_breaks_the_protocol_is_named() {
    breaks(r#"{"id":3,"error":{"message":"no idea"}}"#, "it failed at `call`: no idea");
    breaks(r#"{"id":3,"ok":{}}"#, "it failed at `call`: `content` of its answer is no list");
    breaks(r#"{"id":7,"ok":{}}"#, "it answered 7, which is no command that waits");
    breaks(r#"{"id":1,"ok":{}}"#, "it answered 1, which is no command that waits");
    breaks(r#"{"id":3,"refused":{}}"#, "`refused` without `by`");
}
