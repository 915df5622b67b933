//! JSON lines over standard input and output, with `can_use_tool` questions: the control protocol of Claude Code.

use std::collections::VecDeque;

use super::{Act, Drive, Heard, Reaction, Stdin, planned_answer};
use crate::json::Json;
use crate::model::{Role, api};
use crate::plan::{Plan, PlannedUse};
use crate::scenario::ast::Answer;

/// What the user says to a denied question.
const DENIED: &str = "The user does not want this.";

/// A host that is talked to.
#[derive(Clone, Debug)]
pub struct ClaudeControl {
    prompts: VecDeque<String>,
    /// Ids of the run's tool uses with the answer to a question about each.
    answers: Vec<(String, Answer)>,
    /// How often the user has interrupted.
    interrupts: u32,
}

impl ClaudeControl {
    /// For all prompts of the plan.
    #[must_use]
    pub fn new(plan: &Plan, run: u32, role: Role) -> Self {
        let api = api(plan.profile.model.api);
        let id = |planned: &PlannedUse| api.use_id(plan.key.seed, run, planned.index);
        let answers = plan.uses.iter().map(|planned| (id(planned), planned_answer(&planned.kind, role))).collect();
        Self::with(plan.prompts.clone(), answers)
    }

    /// From prompts, and answers by the id of the tool use.
    #[must_use]
    pub fn with(prompts: Vec<String>, answers: Vec<(String, Answer)>) -> Self {
        Self { prompts: prompts.into(), answers, interrupts: 0 }
    }

    fn next_prompt(&mut self) -> Vec<Act> {
        let Some(text) = self.prompts.pop_front() else { return vec![Act::Finish] };
        let message = Json::object([("role", "user"), ("content", &text)]);
        let line = Json::object([("type", Json::from("user")), ("message", message)]);
        vec![Act::Prompt { bytes: format!("{line}\n").into_bytes(), text }]
    }

    fn question(&self, line: &Json, request: &Json) -> Reaction {
        let tool_use = request.str("tool_use_id");
        let about = self.answers.iter().position(|(id, _)| Some(id.as_str()) == tool_use);
        // A question about something that the model never asked for is no use of ours.
        let answer = about.map_or(Answer::Deny, |at| self.answers[at].1);
        let id = line.get("request_id").cloned().unwrap_or(Json::Null);
        let mut data = Json::object([("id", id.clone())]);
        if let Some(about) = about {
            data.set("use", about);
        }
        for (name, member) in [("tool_use", "tool_use_id"), ("name", "tool_name")] {
            if let Some(value) = request.get(member) {
                data.set(name, value.clone());
            }
        }
        if let Some(input) = request.get("input") {
            data.set("input", input.to_string());
        }
        let verdict = verdict(answer, request);
        let inner = [("subtype", Json::from("success")), ("request_id", id), ("response", verdict)];
        let line = Json::object([("type", Json::from("control_response")), ("response", Json::object(inner))]);
        let bytes = format!("{line}\n").into_bytes();
        Reaction {
            heard: Heard::Question { about, data },
            acts: vec![Act::Answer { answer: word(answer), bytes }],
        }
    }
}

impl Drive for ClaudeControl {
    fn start(&mut self) -> Vec<Act> {
        self.next_prompt()
    }

    fn line(&mut self, line: &[u8]) -> Reaction {
        let output = |acts| Reaction { heard: Heard::Output, acts };
        let Ok(json) = Json::parse(line) else { return output(Vec::new()) };
        match (json.str("type"), json.get("request")) {
            (Some("result"), _) => output(self.next_prompt()),
            (Some("control_request"), Some(request)) if request.str("subtype") == Some("can_use_tool") => {
                self.question(&json, request)
            }
            _ => output(Vec::new()),
        }
    }

    fn interrupt(&mut self) -> Option<Vec<u8>> {
        self.interrupts += 1;
        let request = Json::object([("subtype", "interrupt")]);
        let id = format!("interrupt-{}", self.interrupts);
        let line = Json::object([
            ("type", Json::from("control_request")),
            ("request_id", id.into()),
            ("request", request),
        ]);
        Some(format!("{line}\n").into_bytes())
    }

    fn stdin(&self) -> Stdin {
        Stdin::Pipe
    }
}

const fn word(answer: Answer) -> &'static str {
    match answer {
        Answer::Allow => "allow",
        Answer::Deny => "deny",
        Answer::Always => "always",
    }
}

fn verdict(answer: Answer, request: &Json) -> Json {
    // An allowed input comes back as it was shown: `updatedInput` replaces the arguments of the call.
    let input = request.get("input").cloned().unwrap_or_else(Json::empty);
    let mut allow = Json::object([("behavior", Json::from("allow")), ("updatedInput", input)]);
    match answer {
        Answer::Allow => allow,
        Answer::Deny => Json::object([("behavior", "deny"), ("message", DENIED)]),
        Answer::Always => {
            let tool = Json::object([("toolName", request.str("tool_name"))]);
            let rule = Json::object([
                ("type", Json::from("addRules")),
                ("rules", Json::Array(vec![tool])),
                ("behavior", "allow".into()),
                ("destination", "session".into()),
            ]);
            allow.set("updatedPermissions", Json::Array(vec![rule]));
            allow
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drive() -> ClaudeControl {
        let answers = vec![("toolu_1".to_owned(), Answer::Allow), ("toolu_2".to_owned(), Answer::Deny)];
        ClaudeControl::with(vec!["one".to_owned(), "two".to_owned()], answers)
    }

    #[test]
    fn prompts_follow_results_and_the_end_follows_the_last() {
        let mut drive = drive();
        let first = drive.start();
        let line = "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"one\"}}\n";
        assert_eq!(first, [Act::Prompt { text: "one".to_owned(), bytes: line.as_bytes().to_vec() }]);
        assert_eq!(drive.line(br#"{"type":"assistant"}"#).acts, []);
        assert_eq!(drive.line(b"no JSON").acts, []);
        assert!(
            matches!(&drive.line(br#"{"type":"result"}"#).acts[..], [Act::Prompt { text, .. }] if text == "two")
        );
        assert_eq!(drive.line(br#"{"type":"result"}"#).acts, [Act::Finish]);
    }

    #[track_caller]
    fn check(tool_use: &str, expected: &str, about: Option<usize>) {
        let question = format!(
            r#"{{"type":"control_request","request_id":"r1","request":{{"subtype":"can_use_tool","tool_name":"t","input":{{"b":1.0,"a":9007199254740993}},"tool_use_id":"{tool_use}"}}}}"#
        );
        let reaction = drive().line(question.as_bytes());
        let Heard::Question { about: got, data } = reaction.heard else { panic!("no question") };
        assert_eq!(got, about);
        assert_eq!(data.str("input"), Some(r#"{"b":1.0,"a":9007199254740993}"#));
        let [Act::Answer { bytes, .. }] = &reaction.acts[..] else { panic!("no answer") };
        let answer = Json::parse(bytes).unwrap();
        assert_eq!(answer.pointer("/response/request_id").and_then(Json::as_str), Some("r1"));
        assert_eq!(answer.pointer("/response/response").unwrap().to_string(), expected);
    }

    #[test]
    fn questions_are_answered_by_the_id_of_the_use() {
        let allow = r#"{"behavior":"allow","updatedInput":{"b":1.0,"a":9007199254740993}}"#;
        let deny = r#"{"behavior":"deny","message":"The user does not want this."}"#;
        check("toolu_1", allow, Some(0));
        check("toolu_2", deny, Some(1));
        check("toolu_9", deny, None);
    }
}
