//! The user side: prompts, questions and answers, as lines of JSON on the standard streams.

use std::collections::VecDeque;
use std::io::{self, Write};

use serde_json::value::RawValue;

use crate::fault::{Fault, Lies};
use crate::json::{self, Members, quote};
use crate::rpc;

/// Whether there is somebody on the other side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// One prompt from the command line, and nobody to ask.
    Headless,
    /// The control channel on the standard streams.
    Control,
}

/// What the user said to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    Allow {
        /// Arguments that replace those of the model, as JSON text.
        input: Option<String>,
        /// The names that need not be asked about again.
        remember: Vec<String>,
    },
    Deny {
        message: String,
    },
}

/// A question about one tool use.
pub(crate) struct Question<'a> {
    pub(crate) published: &'a str,
    pub(crate) server: &'a str,
    pub(crate) tool: &'a str,
    pub(crate) use_id: &'a str,
    /// The arguments as JSON text.
    pub(crate) input: &'a str,
}

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    Success,
    Interrupted,
    Failed,
}

/// The standard streams of the host.
pub(crate) struct Console {
    pub(crate) mode: Mode,
    /// Prompts that have not been worked on.
    pub(crate) prompts: VecDeque<String>,
    /// Nothing more will come in.
    pub(crate) ended: bool,
    /// The user wants the running turn to end.
    pub(crate) interrupted: bool,
    answers: Vec<(String, Answer)>,
    asked: u64,
}

impl Console {
    /// A console on which nothing has been said.
    pub(crate) fn new(mode: Mode) -> Self {
        let ended = mode == Mode::Headless;
        Self { mode, prompts: VecDeque::new(), ended, interrupted: false, answers: Vec::new(), asked: 0 }
    }

    /// Takes in one line. `status` is what a question about the servers is answered with.
    pub(crate) fn on_line(&mut self, line: &[u8], lies: Lies, status: impl Fn() -> String) -> io::Result<()> {
        let Some(message) = std::str::from_utf8(line).ok().and_then(|text| Members::parse(text).ok()) else {
            return Ok(());
        };
        match message.string("type").as_deref() {
            Some("user") => self.prompts.extend(message.get("message").and_then(prompt)),
            Some("control_response") => self.answers.extend(message.get("response").and_then(answer)),
            Some("control_request") => return self.on_request(&message, lies, status),
            _ => {}
        }
        Ok(())
    }

    fn on_request(&mut self, message: &Members<'_>, lies: Lies, status: impl Fn() -> String) -> io::Result<()> {
        let request = message.get("request").and_then(Members::of);
        let id = message.get("request_id").map_or("null", RawValue::get);
        let body = match request.and_then(|request| request.string("subtype")).as_deref() {
            Some("initialize") => "{}".to_owned(),
            Some("mcp_status") => format!("{{\"mcpServers\":{}}}", status()),
            Some("interrupt") => {
                self.interrupted = !lies.tell(Fault::IgnoreInterrupt);
                "{}".to_owned()
            }
            _ => {
                let error = format!("{{\"subtype\":\"error\",\"request_id\":{id},\"error\":\"unknown request\"}}");
                return write_line(&format!("{{\"type\":\"control_response\",\"response\":{error}}}"));
            }
        };
        write_line(&format!(
            "{{\"type\":\"control_response\",\"response\":{{\"subtype\":\"success\",\"request_id\":{id},\"response\":{body}}}}}"
        ))
    }

    /// Puts a question, and returns the id that its answer will carry.
    pub(crate) fn ask(&mut self, question: &Question<'_>) -> io::Result<String> {
        self.asked += 1;
        let id = format!("ask-{}", self.asked);
        let input = rpc::on_one_line(question.input);
        write_line(&format!(
            "{{\"type\":\"control_request\",\"request_id\":\"{id}\",\"request\":{{\"subtype\":\"can_use_tool\",\"tool_name\":{},\"input\":{input},\"tool_use_id\":{},\"server\":{},\"tool\":{},\"reason\":\"no rule allows it\"}}}}",
            quote(question.published),
            quote(question.use_id),
            quote(question.server),
            quote(question.tool),
        ))?;
        Ok(id)
    }

    /// The answer to the question with this id, if it has come.
    pub(crate) fn take_answer(&mut self, id: &str) -> Option<Answer> {
        let at = self.answers.iter().position(|(answered, _)| answered == id)?;
        Some(self.answers.swap_remove(at).1)
    }

    /// Says that the host is up.
    pub(crate) fn print_init(&self, tools: &[String], servers: &str) -> io::Result<()> {
        let tools: Vec<_> = tools.iter().map(|name| quote(name)).collect();
        write_line(&format!(
            "{{\"type\":\"system\",\"subtype\":\"init\",\"tools\":[{}],\"mcp_servers\":{servers}}}",
            tools.join(",")
        ))
    }

    /// Says how a turn ended.
    pub(crate) fn print_result(&self, ending: Ending, text: &str, replies: usize) -> io::Result<()> {
        let (subtype, is_error) = match ending {
            Ending::Success => ("success", "false"),
            Ending::Interrupted => ("interrupted", "true"),
            Ending::Failed => ("error_during_execution", "true"),
        };
        write_line(&format!(
            "{{\"type\":\"result\",\"subtype\":\"{subtype}\",\"is_error\":{is_error},\"num_turns\":{replies},\"result\":{}}}",
            quote(text)
        ))
    }
}

/// The text of a user message.
fn prompt(message: &RawValue) -> Option<String> {
    let content = Members::of(message)?.get("content")?;
    if let Some(text) = json::string(content) {
        return Some(text);
    }
    let texts: Vec<_> = json::elements(content)?
        .into_iter()
        .filter_map(Members::of)
        .filter_map(|part| part.string("text"))
        .collect();
    Some(texts.join("\n"))
}

/// The answer in a control response, with the id of its question.
fn answer(response: &RawValue) -> Option<(String, Answer)> {
    let response = Members::of(response)?;
    let id = response.string("request_id")?;
    let inner = response.get("response").and_then(Members::of);
    let get = |name: &str| inner.as_ref().and_then(|inner| inner.get(name));
    let text = |name: &str| get(name).and_then(json::string);
    let answer = if text("behavior").as_deref() == Some("allow") {
        Answer::Allow {
            input: get("updatedInput").filter(|input| input.get() != "null").map(|input| input.get().to_owned()),
            remember: get("updatedPermissions").map(remembered).unwrap_or_default(),
        }
    } else {
        // Whatever is not a clear yes is a no.
        Answer::Deny { message: text("message").or_else(|| response.string("error")).unwrap_or_default() }
    };
    Some((id, answer))
}

/// The tool names that an answer allows for good.
fn remembered(updates: &RawValue) -> Vec<String> {
    let updates = json::elements(updates).unwrap_or_default();
    let allowing = updates
        .into_iter()
        .filter_map(Members::of)
        .filter(|update| update.string("behavior").as_deref() == Some("allow"));
    let rules = allowing.filter_map(|update| update.get("rules").and_then(json::elements)).flatten();
    rules.filter_map(Members::of).filter_map(|rule| rule.string("toolName")).collect()
}

/// Writes one line to the standard output.
fn write_line(line: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(format!("{line}\n").as_bytes())?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn console_after(lines: &[&str]) -> Console {
        let mut console = Console::new(Mode::Control);
        for line in lines {
            console.on_line(line.as_bytes(), Lies::default(), || "[]".to_owned()).unwrap();
        }
        console
    }

    #[test]
    fn prompts_queue_up() {
        let console = console_after(&[
            r#"{"type":"user","message":{"role":"user","content":"one"}}"#,
            "not json",
            r#"{"type":"user","message":{"role":"user","content":[{"type":"text","text":"two"}]}}"#,
        ]);
        assert_eq!(console.prompts, ["one", "two"]);
    }

    #[track_caller]
    fn check_answer(inner: &str, expected: Answer) {
        let line = format!(
            r#"{{"type":"control_response","response":{{"subtype":"success","request_id":"ask-1","response":{inner}}}}}"#
        );
        let mut console = console_after(&[&line]);
        assert_eq!(console.take_answer("ask-2"), None);
        assert_eq!(console.take_answer("ask-1"), Some(expected), "{inner}");
    }

    #[test]
    fn only_a_clear_yes_allows() {
        let allow = |input: Option<&str>, remember: &[&str]| Answer::Allow {
            input: input.map(str::to_owned),
            remember: remember.iter().map(|name| (*name).to_owned()).collect(),
        };
        check_answer(r#"{"behavior":"allow","updatedInput":{"n": 1.0}}"#, allow(Some(r#"{"n": 1.0}"#), &[]));
        check_answer(r#"{"behavior":"allow"}"#, allow(None, &[]));
        check_answer(
            r#"{"behavior":"allow","updatedPermissions":[{"type":"addRules","behavior":"allow","rules":[{"toolName":"mcp__a__b"}]}]}"#,
            allow(None, &["mcp__a__b"]),
        );
        check_answer(r#"{"behavior":"deny","message":"no"}"#, Answer::Deny { message: "no".into() });
        check_answer(r#"{"behavior":"maybe"}"#, Answer::Deny { message: String::new() });
        check_answer("null", Answer::Deny { message: String::new() });
    }
}
