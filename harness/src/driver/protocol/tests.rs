use super::*;

#[track_caller]
fn travels(message: &ToHost, line: &str) {
    assert_eq!(String::from_utf8(message.to_line()).unwrap(), format!("{line}\n"));
    assert_eq!(ToHost::parse(line.as_bytes()).as_ref(), Ok(message));
}

#[test]
fn commands_travel_without_loss() {
    let used = |input: &str| ToolUse { call: Some(3), ..ToolUse::new("t", input) };
    let call =
        |input: &str| ToHost::Command { id: 3, command: Command::Call { tool_use: used(input), then: Then::End } };
    travels(
        &call(r#"{"n":9007199254740993,"n":1.0}"#),
        r#"{"id":3,"cmd":"call","name":"t","input":{"n":9007199254740993,"n":1.0}}"#,
    );
    travels(&call(r#"{"n": "#), r#"{"id":3,"cmd":"call","name":"t","input_text":"{\"n\": "}"#);
    travels(&call(""), r#"{"id":3,"cmd":"call","name":"t"}"#);
    let first = Command::Call { tool_use: used("{}"), then: Then::More };
    travels(
        &ToHost::Command { id: 3, command: first },
        r#"{"id":3,"cmd":"call","name":"t","input":{},"more":true}"#,
    );
    travels(&ToHost::Command { id: 2, command: Command::Tools }, r#"{"id":2,"cmd":"tools"}"#);
    travels(
        &ToHost::Answer { id: r#""a1""#.to_owned(), answer: Answer::Always },
        r#"{"cmd":"answer","id":"a1","answer":"always"}"#,
    );
}

#[test]
fn answers_travel_without_loss() {
    let told = Told::result_text(r#"{"content":[{"type":"text","text":"ä"}],"isError":true}"#).unwrap();
    for (message, line) in [
        (FromHost::told(3, &told), r#"{"id":3,"ok":{"is_error":true,"content":[{"type":"text","text":"ä"}]}}"#),
        (
            FromHost::told(3, &Told::refused(RefusedBy::Schema, "no")),
            r#"{"id":3,"refused":{"by":"schema","message":"no"}}"#,
        ),
        (
            FromHost::tools(2, &[OfferedTool::new("t").describe("d").schema(Json::empty())]),
            r#"{"id":2,"ok":{"tools":[{"name":"t","description":"d","input_schema":{}}]}}"#,
        ),
        (FromHost::broken(1, &HostError::new("x")), r#"{"id":1,"error":{"message":"x"}}"#),
        (
            FromHost::Ask {
                id: "a1".into(),
                call: Some(3),
                name: "t".to_owned(),
                input: r#"{"n":1.0}"#.to_owned(),
            },
            r#"{"ask":{"id":"a1","kind":"tool","call":3,"name":"t","input":{"n":1.0}}}"#,
        ),
    ] {
        assert_eq!(String::from_utf8(message.to_line()).unwrap(), format!("{line}\n"));
        assert_eq!(FromHost::parse(line.as_bytes()), Ok(message));
    }
}

#[test]
fn other_output_is_no_message_and_a_broken_message_says_why() {
    for line in ["hello", "[1]", r#"{"level":"info","msg":"started"}"#] {
        assert_eq!(FromHost::parse(line.as_bytes()), Ok(FromHost::Other), "{line}");
    }
    for (line, reason) in [
        (r#"{"ok":{}}"#, "`ok` without the `id` of its command"),
        (r#"{"id":1,"refused":{}}"#, "`refused` without `by`"),
        (r#"{"id":1,"refused":{"by":"mood"}}"#, "`mood` is none of `permission`, `filter`, `schema`, `user`"),
        (r#"{"ask":{"name":"t"}}"#, "a question without `id`"),
    ] {
        assert_eq!(FromHost::parse(line.as_bytes()), Err(reason.to_owned()));
    }
    assert_eq!(ToHost::parse(br#"{"id":1,"cmd":"dance"}"#), Err("no command `dance`".to_owned()));
}
