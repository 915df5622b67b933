//! What the author of a library writes: the trait, and what goes in and out of it.

use std::fmt;

use super::{Answer, Setup, Told};
use crate::json::{Json, ParseError};

/// A host that is a library: an MCP client with everything around it that stands between a model and its servers.
///
/// The methods are called on one thread, one at a time, in this order: [`start`](Self::start) once, then
/// [`tools`](Self::tools) before each turn of the model and [`turn`](Self::turn) with the tool uses of the turn, and
/// [`stop`](Self::stop) once at the end. Each run makes a new host, and several runs may go on at the same time on
/// different threads, so a host shares nothing with another. An asynchronous library blocks on a runtime of its own,
/// which is a member of the host.
///
/// * What the host does wrong must come out of it as it is. Nothing here is to be repaired by the implementation: it
///   only translates.
/// * A failed call is no [`HostError`]: a model is told something of it, and that is what [`Told`] is for.
/// * A panic ends the run and is a finding. (A program that is built with `panic = "abort"` ends altogether.)
/// * A method that does not come back is a finding as well, once its deadline has passed. A thread cannot be killed,
///   so it is left behind, and the report says so.
///
/// # Example
/// ```
/// use hopcheck::driver::{Host, HostError, OfferedTool, Setup, Told, ToolUse, User};
/// # mod my_framework {
/// #     #[derive(Default)]
/// #     pub struct Agent;
/// #     pub struct Tool { pub name: String, pub description: String, pub schema: String }
/// #     pub struct Answer { pub text: String, pub failed: bool }
/// #     impl Agent {
/// #         pub fn connect(&mut self, _: &str, _: &str, _: &[String], _: &[(String, String)]) -> std::io::Result<()> { Ok(()) }
/// #         pub fn tools(&self) -> std::io::Result<Vec<Tool>> { Ok(Vec::new()) }
/// #         pub fn run_tool(&mut self, _: &str, _: &str) -> Answer { Answer { text: String::new(), failed: false } }
/// #         pub fn shut_down(&mut self) -> std::io::Result<()> { Ok(()) }
/// #     }
/// # }
/// use my_framework::Agent;
///
/// #[derive(Default)]
/// struct MyHost {
///     agent: Agent,
/// }
///
/// impl Host for MyHost {
///     fn start(&mut self, setup: &Setup) -> Result<(), HostError> {
///         for server in &setup.servers {
///             self.agent.connect(&server.name, &server.command, &server.args, &server.env)?;
///         }
///         Ok(())
///     }
///
///     fn tools(&mut self) -> Result<Vec<OfferedTool>, HostError> {
///         let tools = self.agent.tools()?;
///         tools
///             .into_iter()
///             .map(|tool| Ok(OfferedTool::new(tool.name).describe(tool.description).schema_text(&tool.schema)?))
///             .collect()
///     }
///
///     fn call(&mut self, tool_use: &ToolUse, _user: &dyn User) -> Result<Told, HostError> {
///         let answer = self.agent.run_tool(&tool_use.name, &tool_use.input_text());
///         Ok(if answer.failed { Told::failure(answer.text) } else { Told::success(answer.text) })
///     }
///
///     fn stop(&mut self) -> Result<(), HostError> {
///         Ok(self.agent.shut_down()?)
///     }
/// }
/// # let _ = hopcheck::driver::Library::new("1.0.0", MyHost::default);
/// ```
pub trait Host {
    /// Takes the servers and the rules. It may connect here or later, as the library does by itself.
    ///
    /// A server that cannot be reached is no error: what a model is then offered shows what the host makes of it.
    ///
    /// # Errors
    /// The implementation cannot do its work. The run is then an error and judges nothing.
    fn start(&mut self, setup: &Setup) -> Result<(), HostError>;

    /// The tools that a model would be offered now, under the names that it would see, in the order that it would see.
    ///
    /// # Errors
    /// The implementation cannot do its work.
    fn tools(&mut self) -> Result<Vec<OfferedTool>, HostError>;

    /// Carries out a tool use of the model, and gives what the model would be told of it.
    ///
    /// Where the host asks its user first, it asks `user`.
    ///
    /// # Errors
    /// The implementation cannot do its work. A refused or failed call is none: see [`Told`].
    fn call(&mut self, tool_use: &ToolUse, user: &dyn User) -> Result<Told, HostError>;

    /// Carries out all tool uses of one turn, of which there is at least one, and gives what the model would be told of
    /// each, in their order.
    ///
    /// A library that carries out the uses of a turn at the same time does it here. By default, each is called when the
    /// one before has ended.
    ///
    /// # Errors
    /// The implementation cannot do its work.
    fn turn(&mut self, uses: &[ToolUse], user: &dyn User) -> Result<Vec<Told>, HostError> {
        uses.iter().map(|tool_use| self.call(tool_use, user)).collect()
    }

    /// The conversation is over: closes the servers. What of them still runs when this has returned and the host was
    /// dropped has outlived the host.
    ///
    /// # Errors
    /// The implementation cannot do its work.
    fn stop(&mut self) -> Result<(), HostError>;
}

/// The user of the host, whose answers the scenario knows.
pub trait User {
    /// Asks whether a tool may be used, and waits for the answer.
    ///
    /// # Errors
    /// The run was ended meanwhile. Nothing is left to be done but to return the error.
    fn ask(&self, question: &Question) -> Result<Answer, HostError>;
}

/// What the user is asked before a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The command that it belongs to.
    pub(super) call: Option<u32>,
    pub(super) name: String,
    pub(super) input: String,
}

impl Question {
    /// Whether this tool use may be carried out. The user is shown the published name and the arguments of the model,
    /// unless something else is said.
    #[must_use]
    pub fn about(tool_use: &ToolUse) -> Self {
        Self { call: tool_use.call, name: tool_use.name.clone(), input: tool_use.input_text() }
    }

    /// The user is shown this as the name of the tool.
    #[must_use]
    pub fn shows_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// The user is shown these arguments, as JSON text; an empty text is none at all.
    #[must_use]
    pub fn shows_input(mut self, input: impl Into<String>) -> Self {
        self.input = input.into();
        self
    }
}

/// A tool as a model would be offered it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferedTool {
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) schema: Option<Json>,
}

impl OfferedTool {
    /// A tool of that published name.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), description: None, schema: None }
    }

    /// With the description that the model would see. hopcheck knows its tools by a word in it.
    #[must_use]
    pub fn describe(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// With the input schema that the model would see.
    #[must_use]
    pub fn schema(mut self, schema: Json) -> Self {
        self.schema = Some(schema);
        self
    }

    /// The same, from JSON text, such as any JSON library writes.
    ///
    /// # Errors
    /// A text that is no JSON.
    pub fn schema_text(self, text: &str) -> Result<Self, ParseError> {
        Ok(self.schema(Json::parse(text)?))
    }
}

/// A tool use of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolUse {
    /// The published name, as the host offered it.
    pub name: String,
    pub(super) input: Input,
    /// The command that it came by.
    pub(super) call: Option<u32>,
}

/// The arguments of a tool use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Input {
    /// JSON.
    Json(Json),
    /// A text that the model wrote and that is no JSON.
    Malformed(String),
    /// None at all.
    Absent,
}

impl ToolUse {
    /// A tool use with arguments, as the model wrote them; an empty text is none at all.
    #[must_use]
    pub fn new(name: impl Into<String>, input: &str) -> Self {
        let input = match Json::parse(input) {
            _ if input.is_empty() => Input::Absent,
            Ok(json) => Input::Json(json),
            Err(_) => Input::Malformed(input.to_owned()),
        };
        Self { name: name.into(), input, call: None }
    }

    /// The arguments as text. It is JSON, unless the scenario has the model write something else; it is empty where
    /// the model gives none. Numbers stand as the model wrote them.
    #[must_use]
    pub fn input_text(&self) -> String {
        match &self.input {
            Input::Json(json) => json.to_string(),
            Input::Malformed(text) => text.clone(),
            Input::Absent => String::new(),
        }
    }

    /// The arguments, where they are JSON.
    #[must_use]
    pub const fn input(&self) -> Option<&Json> {
        match &self.input {
            Input::Json(json) => Some(json),
            Input::Malformed(_) | Input::Absent => None,
        }
    }
}

/// The implementation of a [`Host`] cannot do its work. Any error becomes one by `?`.
///
/// It says nothing about the library under test, so the run is an error of the set-up.
pub struct HostError(String);

impl HostError {
    /// An error with that message.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl<E: std::error::Error> From<E> for HostError {
    fn from(error: E) -> Self {
        let mut message = error.to_string();
        let mut source = error.source();
        while let Some(cause) = source {
            message.push_str(": ");
            message.push_str(&cause.to_string());
            source = cause.source();
        }
        Self(message)
    }
}

impl fmt::Display for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for HostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
