//! A host around the client: published names, rules, questions; and the lies that it can tell.

use std::thread;
use std::time::Duration;

use hopcheck::driver::{
    Answer, Host, HostError, OfferedTool, Permissions, Question, RefusedBy, Setup, Told, ToolPattern, ToolUse,
    User,
};
use hopcheck::json::Json;

use super::client::{Client, Failed};

/// What the host does wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lie {
    None,
    /// The wire carries the name that the model was shown.
    PublishedOnTheWire,
    /// Numbers in arguments become strings.
    ChangesArguments,
    /// A failed result is told as a success.
    HidesErrors,
    /// What a rule denies is called all the same.
    CallsDenied,
    /// Only the first page of a list is read.
    FirstPageOnly,
    /// The results of a turn are told of each other's uses.
    SwapsResults,
    /// The user is not asked.
    NeverAsks,
    /// The servers are left running.
    LeavesServers,
    /// A call panics.
    Panics,
    /// A call never comes back.
    Hangs,
    /// The driver itself fails in a call.
    Breaks,
}

/// How the uses of one turn are carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pace {
    OneByOne,
    AtOnce,
}

/// A tool use on its way.
enum Begun {
    Sent {
        server: usize,
        id: i64,
    },
    /// It never went to a server.
    Told(Told),
}

pub(super) struct Witness {
    lie: Lie,
    pace: Pace,
    servers: Vec<Server>,
    permissions: Permissions,
    call_limit: Option<Duration>,
}

struct Server {
    name: String,
    client: Option<Client>,
    tools: Vec<Tool>,
}

#[derive(Clone)]
struct Tool {
    registered: String,
    published: String,
    description: String,
    schema: Json,
}

/// What a rule makes of a tool.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gate {
    Open,
    Ask,
    Closed,
}

impl Witness {
    pub(super) fn new(lie: Lie) -> Self {
        Self::with(lie, Pace::OneByOne)
    }

    pub(super) fn with(lie: Lie, pace: Pace) -> Self {
        Self { lie, pace, servers: Vec::new(), permissions: Permissions::default(), call_limit: None }
    }

    fn gate(&self, server: &str, tool: &str) -> Gate {
        let covers = |rule: &ToolPattern| {
            rule.server.as_deref().is_none_or(|named| named == server)
                && rule.tool.as_deref().is_none_or(|named| named == tool)
        };
        let Permissions { allow, ask, deny } = &self.permissions;
        if deny.iter().any(covers) {
            Gate::Closed
        } else if ask.iter().any(covers) || !allow.iter().any(covers) {
            Gate::Ask
        } else {
            Gate::Open
        }
    }

    fn find(&self, published: &str) -> Option<(usize, Tool)> {
        let mut found = self.servers.iter().enumerate().flat_map(|(at, server)| {
            server.tools.iter().filter(|tool| tool.published == published).map(move |tool| (at, tool.clone()))
        });
        found.next()
    }

    /// Sends the call of a tool use, where no gate is in its way.
    fn begin(&mut self, tool_use: &ToolUse, user: &dyn User) -> Result<Begun, HostError> {
        match self.lie {
            Lie::Panics => panic!("the witness was told to panic"),
            Lie::Hangs => loop {
                thread::park();
            },
            Lie::Breaks => return Err(HostError::new("the witness was told to break")),
            _ => {}
        }
        let Some((at, tool)) = self.find(&tool_use.name) else {
            return Ok(Begun::Told(Told::failure(format!("there is no tool {}", tool_use.name))));
        };
        let text = tool_use.input_text();
        let input = match tool_use.input() {
            Some(input) if input.is_object() => Some(input.clone()),
            None if text.is_empty() => None,
            _ => {
                return Ok(Begun::Told(Told::refused(
                    RefusedBy::Schema,
                    format!("the arguments are no JSON object: {text}"),
                )));
            }
        };
        match self.gate(&self.servers[at].name, &tool.registered) {
            Gate::Closed if self.lie != Lie::CallsDenied => {
                return Ok(Begun::Told(Told::refused(RefusedBy::Permission, "a rule forbids this tool")));
            }
            Gate::Ask if self.lie != Lie::NeverAsks => match user.ask(&Question::about(tool_use))? {
                Answer::Deny => {
                    return Ok(Begun::Told(Told::refused(RefusedBy::User, "the user does not want this")));
                }
                Answer::Allow => {}
                Answer::Always => self.permissions.allow.push(ToolPattern {
                    server: Some(self.servers[at].name.clone()),
                    tool: Some(tool.registered.clone()),
                }),
            },
            _ => {}
        }
        let name = if self.lie == Lie::PublishedOnTheWire { &tool.published } else { &tool.registered };
        let input = if self.lie == Lie::ChangesArguments { input.map(stringly) } else { input };
        let begun = match &mut self.servers[at].client {
            Some(client) => client.start_call(name, input),
            None => Err(Failed::Gone),
        };
        Ok(match begun {
            Ok(id) => Begun::Sent { server: at, id },
            Err(failed) => Begun::Told(Told::failure(failed.text())),
        })
    }

    /// What the model is told in the end.
    fn end(&mut self, begun: Begun) -> Result<Told, HostError> {
        let (server, id) = match begun {
            Begun::Told(told) => return Ok(told),
            Begun::Sent { server, id } => (server, id),
        };
        let called = match &mut self.servers[server].client {
            Some(client) => client.finish_call(id, self.call_limit),
            None => Err(Failed::Gone),
        };
        match called {
            Ok(mut result) => {
                if self.lie == Lie::HidesErrors {
                    result.set("isError", false);
                }
                Told::result(&result)
            }
            Err(failed) => Ok(Told::failure(failed.text())),
        }
    }
}

impl Host for Witness {
    fn start(&mut self, setup: &Setup) -> Result<(), HostError> {
        self.permissions = setup.permissions()?;
        self.call_limit = setup.call_limit;
        for server in &setup.servers {
            // A sick server is none of the others' business.
            let mut client = Client::connect(server, setup.revision, setup.start_limit).ok();
            let tools = client.as_mut().map(|client| list(client, &server.name, self.lie)).unwrap_or_default();
            self.servers.push(Server { name: server.name.clone(), client, tools });
        }
        Ok(())
    }

    fn tools(&mut self) -> Result<Vec<OfferedTool>, HostError> {
        for server in &mut self.servers {
            if let Some(client) = server.client.as_mut().filter(|client| client.has_changed()) {
                server.tools = list(client, &server.name, self.lie);
            }
        }
        let tools = self.servers.iter().flat_map(|server| &server.tools);
        Ok(tools
            .map(|tool| OfferedTool::new(&tool.published).describe(&tool.description).schema(tool.schema.clone()))
            .collect())
    }

    fn call(&mut self, tool_use: &ToolUse, user: &dyn User) -> Result<Told, HostError> {
        let begun = self.begin(tool_use, user)?;
        self.end(begun)
    }

    fn turn(&mut self, uses: &[ToolUse], user: &dyn User) -> Result<Vec<Told>, HostError> {
        let mut told: Vec<Told> = match self.pace {
            Pace::OneByOne => uses.iter().map(|tool_use| self.call(tool_use, user)).collect::<Result<_, _>>()?,
            Pace::AtOnce => {
                let begun: Vec<Begun> =
                    uses.iter().map(|tool_use| self.begin(tool_use, user)).collect::<Result<_, _>>()?;
                begun.into_iter().map(|begun| self.end(begun)).collect::<Result<_, _>>()?
            }
        };
        if self.lie == Lie::SwapsResults {
            told.reverse();
        }
        Ok(told)
    }

    fn stop(&mut self) -> Result<(), HostError> {
        for client in self.servers.drain(..).filter_map(|server| server.client) {
            if self.lie == Lie::LeavesServers { client.forget() } else { client.close() }
        }
        Ok(())
    }
}

/// All pages of a server's list. A tool without a schema is no tool for a model.
fn list(client: &mut Client, server: &str, lie: Lie) -> Vec<Tool> {
    let mut tools: Vec<Tool> = Vec::new();
    let mut seen: Vec<Json> = Vec::new();
    while client.has_tools() {
        let Ok(page) = client.page(seen.last()) else { break };
        for entry in page.get("tools").map(Json::items).unwrap_or_default() {
            let (Some(registered), Some(schema)) = (entry.str("name"), entry.get("inputSchema")) else { continue };
            let mut published = format!("{}__{}", plain(server), plain(registered));
            while tools.iter().any(|known| known.published == published) {
                published.push('_');
            }
            tools.push(Tool {
                registered: registered.to_owned(),
                published,
                description: entry.str("description").unwrap_or_default().to_owned(),
                schema: schema.clone(),
            });
        }
        match page.get("nextCursor") {
            // A server that goes in circles has said all that it will say.
            Some(cursor) if lie != Lie::FirstPageOnly && !seen.contains(cursor) => seen.push(cursor.clone()),
            _ => break,
        }
    }
    tools
}

/// A name as models take it.
fn plain(name: &str) -> String {
    name.chars().map(|char| if char.is_ascii_alphanumeric() || "_-".contains(char) { char } else { '_' }).collect()
}

/// Numbers as strings, at the top level.
fn stringly(input: Json) -> Json {
    let members = input.members().iter().map(|(key, value)| match value {
        Json::Number(number) => (key.clone(), Json::from(number.to_string())),
        other => (key.clone(), other.clone()),
    });
    Json::Object(members.collect())
}
