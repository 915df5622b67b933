//! The schema of the driver protocol, held against what both sides say.

use hopcheck::driver::{Host, HostError, OfferedTool, Question, RefusedBy, Setup, Told, ToolUse, User, serve};
use hopcheck::schema::Schema;
use serde_json::Value;

use super::{problems, validator};

/// What hopcheck says in a run.
const SAID: [&str; 8] = [
    r#"{"id":1,"cmd":"start","protocol":1,"revision":"2025-11-25","servers":{"orders":{"command":"/bin/r","args":["a"],"env":{"T":"x"},"required":true}},"permissions":{"allow":["orders/*"]},"limits":{"start":null,"call":1500},"home":"/h","cwd":"/w"}"#,
    r#"{"id":2,"cmd":"tools"}"#,
    r#"{"id":3,"cmd":"call","name":"asked","input":{"n":9007199254740993}}"#,
    r#"{"cmd":"answer","id":"a1","answer":"always"}"#,
    r#"{"id":4,"cmd":"call","name":"refused","input_text":"{"}"#,
    r#"{"id":5,"cmd":"call","name":"broken"}"#,
    r#"{"id":6,"cmd":"call","name":"told","input":[]}"#,
    r#"{"id":7,"cmd":"stop"}"#,
];

/// Says everything that a driver can say.
struct Talker;

impl Host for Talker {
    fn start(&mut self, setup: &Setup) -> Result<(), HostError> {
        assert_eq!(setup.servers[0].env, [("T".to_owned(), "x".to_owned())]);
        Ok(())
    }

    fn tools(&mut self) -> Result<Vec<OfferedTool>, HostError> {
        let full = OfferedTool::new("full").describe("A tool.").schema_text(r#"{"type":"object"}"#)?;
        Ok(vec![full, OfferedTool::new("bare")])
    }

    fn call(&mut self, tool_use: &ToolUse, user: &dyn User) -> Result<Told, HostError> {
        match tool_use.name.as_str() {
            "asked" => {
                user.ask(&Question::about(tool_use))?;
                Ok(Told::success("yes"))
            }
            "refused" => Ok(Told::refused(RefusedBy::Schema, tool_use.input_text())),
            "broken" => Err(HostError::new("no idea")),
            _ => Told::result_text(
                r#"{"content":[{"type":"image","data":"aGk=","mimeType":"image/png"}],"isError":true}"#,
            ),
        }
    }

    fn stop(&mut self) -> Result<(), HostError> {
        Ok(())
    }
}

#[test]
fn all_that_is_said_is_accepted() {
    let mut answered = Vec::new();
    serve(&mut Talker, SAID.join("\n").as_bytes(), &mut answered).unwrap();
    let answered = String::from_utf8(answered).unwrap();
    assert_eq!(answered.lines().count(), 8, "{answered}");
    let validator = validator(Schema::Driver);
    let itself =
        r#"{"id":1,"ok":{"name":"acme","version":"1.2.3","language":"go","features":["permissions.deny"]}}"#;
    for line in SAID.into_iter().chain(answered.lines()).chain([itself]) {
        let found = problems(&validator, &serde_json::from_str(line).unwrap());
        assert!(found.is_empty(), "{line}: {found:?}");
    }
}

#[test]
fn what_is_no_message_is_refused() {
    let validator = validator(Schema::Driver);
    for line in [
        r#"{"cmd":"tools"}"#,
        r#"{"id":1,"cmd":"dance"}"#,
        r#"{"id":1,"cmd":"call"}"#,
        r#"{"cmd":"answer","id":"a1","answer":"perhaps"}"#,
        r#"{"id":1}"#,
        r#"{"id":1,"ok":{"tools":[{}]}}"#,
        r#"{"id":1,"ok":{"content":"text"}}"#,
        r#"{"id":1,"refused":{"message":"no"}}"#,
        r#"{"id":1,"refused":{"by":"mood"}}"#,
        r#"{"ask":{"name":"t"}}"#,
    ] {
        let json: Value = serde_json::from_str(line).unwrap();
        assert!(!validator.is_valid(&json), "{line}");
    }
}
