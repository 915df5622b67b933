//! The driver protocol: JSON Lines between hopcheck and a host that is driven call by call.
//!
//! ```text
//! → {"id":1,"cmd":"start","protocol":1,"revision":"2025-11-25","servers":{…},"permissions":{…},"limits":{…},"home":…,"cwd":…}
//! ← {"id":1,"ok":{}}     or with "name", "version", "language", "features", which are recorded
//! → {"id":2,"cmd":"tools"}
//! ← {"id":2,"ok":{"tools":[{"name":…,"description":…,"input_schema":…}]}}
//! → {"id":3,"cmd":"call","name":"…","input":{…}}     with "more":true where another use of the same turn follows
//! ← {"ask":{"id":"a1","call":3,"name":"…","input":{…}}}
//! → {"cmd":"answer","id":"a1","answer":"allow"}
//! ← {"id":3,"ok":{"is_error":false,"content":[…]}}
//!   or {"id":3,"refused":{"by":"schema","message":"…"}}
//!   or {"id":3,"error":{"message":"…"}}, where the driver itself cannot do its work
//! → {"id":4,"cmd":"stop"}
//! ← {"id":4,"ok":{}}     and the driver exits with code 0
//! ```
//!
//! `input` is absent where the model gives no arguments; text that is no JSON goes as the string `input_text`. `content`
//! holds blocks in the form of MCP. A program may write other things to its standard output: what is no JSON object with
//! one of the members above is recorded as output.

use super::host::Input;
use super::result::{Flag, RefusedBy, Told};
use super::{Answer, HostError, OfferedTool, Setup, ToolUse};
use crate::json::Json;

/// The version of the protocol.
pub const PROTOCOL: u32 = 1;

/// What hopcheck tells a host to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Start(Box<Setup>),
    Tools,
    Call { tool_use: ToolUse, then: Then },
    Stop,
}

/// What comes after a tool use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    /// Another one of the same turn.
    More,
    /// None: the turn is complete.
    End,
}

/// What hopcheck says to a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ToHost {
    /// A command with its number.
    Command { id: u32, command: Command },
    /// The user's answer to a question.
    Answer { id: String, answer: Answer },
}

/// What a host says to hopcheck.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FromHost {
    /// It did what it was told.
    Done { id: u32, result: Json },
    /// It refused a call.
    Refused { id: u32, by: RefusedBy, message: String },
    /// The driver cannot do its work.
    Broken { id: u32, message: String },
    /// The host asks its user.
    Ask { id: Json, call: Option<u32>, name: String, input: String },
    /// Nothing of the protocol.
    Other,
}

/// The words of the answers.
pub(crate) const ANSWERS: [(&str, Answer); 3] =
    [("allow", Answer::Allow), ("deny", Answer::Deny), ("always", Answer::Always)];

/// The words of the gates.
pub(crate) const GATES: [(&str, RefusedBy); 4] = [
    ("permission", RefusedBy::Permission),
    ("filter", RefusedBy::Filter),
    ("schema", RefusedBy::Schema),
    ("user", RefusedBy::User),
];

fn word<T: Copy + PartialEq>(table: &[(&'static str, T)], value: T) -> &'static str {
    table.iter().find(|(_, known)| *known == value).map_or("", |(word, _)| word)
}

fn meaning<T: Copy>(table: &[(&'static str, T)], text: &str) -> Result<T, String> {
    let found = table.iter().find(|(word, _)| *word == text).map(|(_, value)| *value);
    found.ok_or_else(|| {
        let words: Vec<_> = table.iter().map(|(word, _)| format!("`{word}`")).collect();
        format!("`{text}` is none of {}", words.join(", "))
    })
}

/// The word of an answer.
pub(crate) fn answer_word(answer: Answer) -> &'static str {
    word(&ANSWERS, answer)
}

/// The word of a gate.
pub(crate) fn gate_word(by: RefusedBy) -> &'static str {
    word(&GATES, by)
}

/// The member that carries arguments, where there are any.
fn input_member(input: &Input) -> Option<(&'static str, Json)> {
    match input {
        Input::Json(json) => Some(("input", json.clone())),
        Input::Malformed(text) => Some(("input_text", text.into())),
        Input::Absent => None,
    }
}

fn id_of(message: &Json) -> Option<u32> {
    message.get("id").and_then(Json::as_i64).and_then(|id| u32::try_from(id).ok())
}

impl ToHost {
    /// The line, with its line feed.
    pub(crate) fn to_line(&self) -> Vec<u8> {
        let json = match self {
            Self::Command { id, command } => {
                let (word, members) = match command {
                    Command::Start(setup) => ("start", setup.to_json().members().to_vec()),
                    Command::Tools => ("tools", Vec::new()),
                    Command::Call { tool_use, then } => {
                        let name = ("name".into(), Json::from(&tool_use.name));
                        let input = input_member(&tool_use.input).map(|(key, value)| (key.into(), value));
                        let more = (*then == Then::More).then(|| ("more".into(), true.into()));
                        ("call", [name].into_iter().chain(input).chain(more).collect())
                    }
                    Command::Stop => ("stop", Vec::new()),
                };
                let mut json = Json::object([("id", Json::from(*id)), ("cmd", word.into())]);
                if matches!(command, Command::Start(_)) {
                    json.set("protocol", PROTOCOL);
                }
                for (key, value) in members {
                    json.set(&key.to_lossy(), value);
                }
                json
            }
            Self::Answer { id, answer } => Json::object([
                ("cmd", Json::from("answer")),
                // The host chose the id, and JSON text keeps its type.
                ("id", Json::parse(id).unwrap_or_else(|_| id.into())),
                ("answer", answer_word(*answer).into()),
            ]),
        };
        format!("{json}\n").into_bytes()
    }

    /// Reads a line; the reason why not, as a fragment.
    pub(crate) fn parse(line: &[u8]) -> Result<Self, String> {
        let json = Json::parse(line).map_err(|error| format!("a line that is no JSON: {error}"))?;
        let cmd = json.str("cmd").ok_or("a line without `cmd`")?;
        if cmd == "answer" {
            let id = json.get("id").map(Json::to_string).ok_or("an answer without `id`")?;
            return Ok(Self::Answer { id, answer: meaning(&ANSWERS, json.str("answer").unwrap_or_default())? });
        }
        let id = id_of(&json).ok_or_else(|| format!("`{cmd}` without an `id`"))?;
        let command = match cmd {
            "start" => Command::Start(Box::new(Setup::from_json(&json)?)),
            "tools" => Command::Tools,
            "call" => Command::Call {
                tool_use: ToolUse {
                    name: json.str("name").ok_or("a call without `name`")?.to_owned(),
                    input: match (json.get("input"), json.str("input_text")) {
                        (Some(input), _) => Input::Json(input.clone()),
                        (None, Some(text)) => Input::Malformed(text.to_owned()),
                        (None, None) => Input::Absent,
                    },
                    call: Some(id),
                },
                then: match json.get("more").and_then(Json::as_bool) {
                    Some(true) => Then::More,
                    _ => Then::End,
                },
            },
            "stop" => Command::Stop,
            other => return Err(format!("no command `{other}`")),
        };
        Ok(Self::Command { id, command })
    }
}

impl FromHost {
    /// Reads a line of the host.
    pub(crate) fn parse(line: &[u8]) -> Result<Self, String> {
        let Some(json) = Json::parse(line).ok().filter(Json::is_object) else { return Ok(Self::Other) };
        if let Some(ask) = json.get("ask") {
            let call = ask.get("call").and_then(Json::as_i64).and_then(|call| u32::try_from(call).ok());
            let input = ask.get("input").map(Json::to_string);
            return Ok(Self::Ask {
                id: ask.get("id").cloned().ok_or("a question without `id`")?,
                call,
                name: ask.str("name").ok_or("a question without `name`")?.to_owned(),
                input: input.or_else(|| ask.str("input_text").map(str::to_owned)).unwrap_or_default(),
            });
        }
        let outcome = ["ok", "refused", "error"].into_iter().find_map(|key| Some((key, json.get(key)?)));
        let Some((key, value)) = outcome else { return Ok(Self::Other) };
        let id = id_of(&json).ok_or_else(|| format!("`{key}` without the `id` of its command"))?;
        let message = || value.str("message").unwrap_or_default().to_owned();
        Ok(match key {
            "ok" => Self::Done { id, result: value.clone() },
            "refused" => {
                let by = value.str("by").ok_or("`refused` without `by`")?;
                Self::Refused { id, by: meaning(&GATES, by)?, message: message() }
            }
            _ => Self::Broken { id, message: message() },
        })
    }

    /// The line, with its line feed.
    pub(crate) fn to_line(&self) -> Vec<u8> {
        let json = match self {
            Self::Done { id, result } => Json::object([("id", Json::from(*id)), ("ok", result.clone())]),
            Self::Refused { id, by, message } => {
                let refused = Json::object([("by", Json::from(gate_word(*by))), ("message", message.into())]);
                Json::object([("id", Json::from(*id)), ("refused", refused)])
            }
            Self::Broken { id, message } => {
                Json::object([("id", Json::from(*id)), ("error", Json::object([("message", message)]))])
            }
            Self::Ask { id, call, name, input } => {
                let mut ask = Json::object([("id", id.clone()), ("kind", "tool".into())]);
                if let Some(call) = call {
                    ask.set("call", *call);
                }
                ask.set("name", name);
                if let Some((key, value)) = input_member(&ToolUse::new("", input).input) {
                    ask.set(key, value);
                }
                Json::object([("ask", ask)])
            }
            Self::Other => Json::empty(),
        };
        format!("{json}\n").into_bytes()
    }

    /// The answer to a call.
    pub(crate) fn told(id: u32, told: &Told) -> Self {
        let text = || told.parts.iter().filter_map(|part| part.str("text")).collect::<Vec<_>>().join("\n");
        match told.refused {
            Some(by) => Self::Refused { id, by, message: text() },
            None => {
                let content = Json::Array(told.parts.clone());
                let is_error = Json::from(told.flag == Flag::Failure);
                Self::Done { id, result: Json::object([("is_error", is_error), ("content", content)]) }
            }
        }
    }

    /// The answer to `tools`.
    pub(crate) fn tools(id: u32, tools: &[OfferedTool]) -> Self {
        let entry = |tool: &OfferedTool| {
            let mut entry = Json::object([("name", &tool.name)]);
            if let Some(description) = &tool.description {
                entry.set("description", description);
            }
            if let Some(schema) = &tool.schema {
                entry.set("input_schema", schema.clone());
            }
            entry
        };
        Self::Done { id, result: Json::object([("tools", Json::array(tools.iter().map(entry)))]) }
    }

    /// The answer of a driver that cannot do its work.
    pub(crate) fn broken(id: u32, error: &HostError) -> Self {
        Self::Broken { id, message: error.to_string() }
    }
}

#[cfg(test)]
mod tests;
