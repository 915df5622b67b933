//! The driver protocol: a host that asks no model is told what to do, call by call, and the model lane is made of what it
//! offers and returns.

use std::collections::VecDeque;

use super::{Act, Drive, Heard, Onward, Reaction, Stdin, planned_answer};
use crate::driver::protocol::{Command, FromHost, Then, ToHost, answer_word, gate_word};
use crate::driver::{Setup, ToolUse};
use crate::json::Json;
use crate::model::{Answer as ModelAnswer, Block, Role, api};
use crate::plan::Plan;
use crate::scenario::ast::{Answer, DenyBy};

/// A host that is driven.
#[derive(Clone, Debug)]
pub struct Driver {
    setup: Setup,
    prompts: VecDeque<String>,
    /// What the plan says of each use, by its index.
    planned: Vec<Planned>,
    /// The conversation so far, in the form of the synthetic API.
    messages: Vec<Json>,
    /// The number of the last command.
    last: u32,
    /// What was told and is not yet answered, in order.
    waiting: Vec<(u32, Waiting)>,
    /// What the calls of this turn gave.
    results: Vec<Json>,
}

/// What the plan says of a use.
#[derive(Clone, Debug)]
struct Planned {
    tool: String,
    answer: Answer,
}

/// A command that is not yet answered.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Waiting {
    Start,
    Tools,
    /// A call of the use with that index and id.
    Call {
        index: usize,
        id: String,
        name: String,
    },
    Stop,
}

impl Driver {
    /// For a host run of a plan, with what the host is started with.
    #[must_use]
    pub fn new(plan: &Plan, role: Role, setup: Setup) -> Self {
        let planned = plan.uses.iter().map(|planned| Planned {
            tool: planned.tool.tool.clone(),
            answer: planned_answer(&planned.kind, role),
        });
        Self::with(plan.prompts.clone(), planned.collect(), setup)
    }

    fn with(prompts: Vec<String>, planned: Vec<Planned>, setup: Setup) -> Self {
        Self {
            setup,
            prompts: prompts.into(),
            planned,
            messages: Vec::new(),
            last: 0,
            waiting: Vec::new(),
            results: Vec::new(),
        }
    }

    fn command(&mut self, command: Command, waiting: Waiting) -> Vec<u8> {
        self.last += 1;
        self.waiting.push((self.last, waiting));
        ToHost::Command { id: self.last, command }.to_line()
    }

    /// The next message of the user, where there is one, and the question for the tools of the turn that answers it.
    fn next_prompt(&mut self) -> Option<Act> {
        let text = self.prompts.pop_front()?;
        let block = Json::object([("type", "text"), ("text", &text)]);
        self.say("user", Json::Array(vec![block]));
        Some(Act::Prompt { text, bytes: Vec::new() })
    }

    fn ask_for_tools(&mut self) -> Act {
        Act::Command { bytes: self.command(Command::Tools, Waiting::Tools) }
    }

    fn say(&mut self, role: &str, content: Json) {
        self.messages.push(Json::object([("role", Json::from(role)), ("content", content)]));
    }

    /// The command of that number is answered.
    fn done(&mut self, id: u32) -> Option<Waiting> {
        let at = self.waiting.iter().position(|(waiting, _)| *waiting == id)?;
        Some(self.waiting.remove(at).1)
    }

    fn ok(&mut self, waiting: Waiting, result: &Json) -> Reaction {
        match waiting {
            Waiting::Start => {
                // What a driver says of itself is output: its profile is what counts.
                let heard = if result.members().is_empty() { Heard::Protocol } else { Heard::Output };
                Reaction { heard, acts: vec![self.ask_for_tools()] }
            }
            Waiting::Tools => {
                let Some(tools @ Json::Array(_)) = result.get("tools") else {
                    return broken("tools", "`tools` of its answer is no list");
                };
                let messages = Json::Array(self.messages.clone());
                let body = Json::object([("tools", tools.clone()), ("messages", messages)]);
                Reaction { heard: Heard::Request(body), acts: Vec::new() }
            }
            Waiting::Call { id, .. } => {
                let Some(content @ Json::Array(_)) = result.get("content") else {
                    return broken("call", "`content` of its answer is no list");
                };
                let is_error = result.get("is_error").and_then(Json::as_bool).unwrap_or(false);
                self.told(&id, is_error, None, content.clone())
            }
            Waiting::Stop => quiet(vec![Act::Finish]),
        }
    }

    /// What a call gave. When all calls of the turn have given something, the model is asked again.
    fn told(&mut self, id: &str, is_error: bool, refused: Option<DenyBy>, content: Json) -> Reaction {
        let mut result = Json::object([("type", Json::from("tool_result")), ("tool_use_id", id.into())]);
        result.set("is_error", is_error);
        if let Some(by) = refused {
            result.set("refused_by", gate_word(by));
        }
        result.set("content", content);
        self.results.push(result);
        if self.waiting.iter().any(|(_, waiting)| matches!(waiting, Waiting::Call { .. })) {
            return quiet(Vec::new());
        }
        let results = std::mem::take(&mut self.results);
        self.say("tool", Json::Array(results));
        quiet(vec![self.ask_for_tools()])
    }

    /// A question belongs to the call that it names, else to the only one that is not answered, else to that of its name.
    fn about(&self, call: Option<u32>, name: &str) -> Option<usize> {
        let calls = || {
            self.waiting.iter().filter_map(|(id, waiting)| match waiting {
                Waiting::Call { index, name, .. } => Some((*id, *index, name.as_str())),
                _ => None,
            })
        };
        if let Some(call) = call {
            return calls().find(|(id, ..)| *id == call).map(|(_, index, _)| index);
        }
        let mut all = calls();
        match (all.next(), all.next()) {
            (Some((_, index, _)), None) => Some(index),
            _ => {
                let named = |index: usize, published: &str| {
                    name == published
                        || self.planned.get(index).is_some_and(|planned| name.contains(&planned.tool))
                };
                calls().find(|(_, index, published)| named(*index, published)).map(|(_, index, _)| index)
            }
        }
    }

    fn question(&self, id: &Json, call: Option<u32>, name: &str, input: &str) -> Reaction {
        let about = self.about(call, name);
        // A question about something that the model never asked for is no use of ours.
        let answer = about.and_then(|at| self.planned.get(at)).map_or(Answer::Deny, |planned| planned.answer);
        let mut data = Json::object([("id", id.clone())]);
        if let Some(about) = about {
            data.set("use", about);
        }
        data.set("name", name);
        data.set("input", input);
        let bytes = ToHost::Answer { id: id.to_string(), answer }.to_line();
        Reaction {
            heard: Heard::Question { about, data },
            acts: vec![Act::Answer { answer: answer_word(answer), bytes }],
        }
    }
}

impl Drive for Driver {
    fn start(&mut self) -> Vec<Act> {
        let setup = Box::new(self.setup.clone());
        let start = Act::Command { bytes: self.command(Command::Start(setup), Waiting::Start) };
        self.next_prompt().into_iter().chain([start]).collect()
    }

    fn line(&mut self, line: &[u8]) -> Reaction {
        let message = match FromHost::parse(line) {
            Ok(message) => message,
            Err(reason) => return Reaction { heard: Heard::Broken(reason), acts: Vec::new() },
        };
        match message {
            FromHost::Other => Reaction { heard: Heard::Output, acts: Vec::new() },
            FromHost::Ask { id, call, name, input } => self.question(&id, call, &name, &input),
            FromHost::Done { id, result } => match self.done(id) {
                Some(waiting) => self.ok(waiting, &result),
                None => stray(id),
            },
            FromHost::Refused { id, by, message } => match self.done(id) {
                Some(Waiting::Call { id, .. }) => {
                    let text = Json::object([("type", "text"), ("text", &message)]);
                    self.told(&id, true, Some(by), Json::Array(vec![text]))
                }
                _ => stray(id),
            },
            FromHost::Broken { id, message } => match self.done(id) {
                Some(waiting) => broken(waiting.word(), &message),
                None => stray(id),
            },
        }
    }

    fn reply(&mut self, answer: &ModelAnswer) -> Onward {
        let Some(reply) = &answer.reply else { return Onward::default() };
        self.say("assistant", api(crate::host::profile::ApiName::Synthetic).blocks(reply));
        let mut emitted = reply.blocks.iter().filter_map(|block| {
            let Block::ToolUse { id, published, input } = block else { return None };
            let index = answer.uses.iter().find(|emitted| emitted.id == *id)?.index;
            Some((index, id.clone(), ToolUse::new(published.to_string(), input)))
        });
        let mut uses = Vec::new();
        let mut next = emitted.next();
        while let Some((index, id, tool_use)) = next {
            next = emitted.next();
            let then = if next.is_some() { Then::More } else { Then::End };
            let waiting = Waiting::Call { index, id, name: tool_use.name.clone() };
            uses.extend(self.command(Command::Call { tool_use, then }, waiting));
        }
        if !uses.is_empty() {
            return Onward { uses, acts: Vec::new() };
        }
        let acts = match self.next_prompt() {
            Some(prompt) => vec![prompt, self.ask_for_tools()],
            None => vec![Act::Stop { bytes: self.command(Command::Stop, Waiting::Stop) }],
        };
        Onward { uses, acts }
    }

    fn stdin(&self) -> Stdin {
        Stdin::Pipe
    }
}

impl Waiting {
    const fn word(&self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Tools => "tools",
            Self::Call { .. } => "call",
            Self::Stop => "stop",
        }
    }
}

/// Something that needs no event of its own: what it says is in the next request.
const fn quiet(acts: Vec<Act>) -> Reaction {
    Reaction { heard: Heard::Protocol, acts }
}

fn broken(command: &str, message: &str) -> Reaction {
    Reaction { heard: Heard::Broken(format!("it failed at `{command}`: {message}")), acts: Vec::new() }
}

fn stray(id: u32) -> Reaction {
    Reaction {
        heard: Heard::Broken(format!("it answered {id}, which is no command that waits")),
        acts: Vec::new(),
    }
}

#[cfg(test)]
mod tests;
