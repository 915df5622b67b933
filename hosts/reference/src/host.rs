//! The host: it connects, offers, asks the model, lets tool uses pass the gates, calls, and tells.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use crate::config::{Config, SchemaGate};
use crate::console::{Console, Ending, Mode};
use crate::directory::Directory;
use crate::error::Error;
use crate::fault::{Fault, Lies};
use crate::gate::Rules;
use crate::json::quote;
use crate::model::http::{Connection, Endpoint};
use crate::model::{self, Api};
use crate::process;
use crate::reach::{Found, Reach};
use crate::reactor::{Event, Framing, Reactor, Token};
use crate::server::{Answer as ServerAnswer, Server};

/// A turn with more replies than this is no conversation.
const MOST_REPLIES: usize = 200;

/// A running host.
pub(crate) struct Host {
    pub(crate) reactor: Reactor,
    pub(crate) servers: Vec<Server>,
    pub(crate) lies: Lies,
    pub(crate) call_limit: Duration,
    pub(crate) rules: Rules,
    pub(crate) schema_gate: SchemaGate,
    pub(crate) api: Box<dyn Api>,
    pub(crate) key: String,
    pub(crate) connection: Connection,
    pub(crate) directory: Directory,
    pub(crate) reach: Reach,
    /// What searches have found so far.
    pub(crate) found: Found,
    /// The versions of the lists that the directory was built from, and the number of tools that were found.
    built_from: Option<Vec<u64>>,
    pub(crate) console: Console,
    /// Tools that the user has allowed for good, by server and registered name.
    pub(crate) remembered: HashSet<(usize, String)>,
    /// Model requests so far.
    pub(crate) requests: usize,
}

/// What [`Host::pump`] came back with. Events of servers are already worked in.
pub(crate) enum Pumped {
    /// Answers to calls, with the index of their server.
    Answers(usize, Vec<ServerAnswer>),
    /// Bytes of the model, or the end of its connection.
    Model(Option<Vec<u8>>),
    /// Anything else; the caller looks at its own condition again.
    Other,
}

impl Host {
    /// A host that has not connected to anything.
    pub(crate) fn new(config: Config, mode: Mode, lies: Lies) -> Result<Self, Error> {
        let endpoint = Endpoint::parse(&config.model.base_url).ok_or_else(|| {
            Error::Usage(format!("the base URL {:?} is not of the form http://HOST:PORT", config.model.base_url))
        })?;
        let mut servers = config.servers;
        if lies.tell(Fault::LeakEnvironment) {
            let all: Vec<_> = servers.iter().flat_map(|server| server.env.clone()).collect();
            servers.iter_mut().for_each(|server| server.env.clone_from(&all));
        }
        let servers = servers.into_iter().enumerate();
        Ok(Self {
            reactor: Reactor::default(),
            servers: servers
                .map(|(index, server)| Server::new(index, server, config.protocol, config.limits, lies))
                .collect(),
            lies,
            call_limit: config.limits.call,
            rules: config.rules,
            schema_gate: config.schema_gate,
            api: model::api(config.model.api, lies),
            key: config.model.key,
            connection: Connection::new(endpoint),
            directory: Directory::default(),
            reach: config.reach,
            found: Found::new(),
            built_from: None,
            console: Console::new(mode),
            remembered: HashSet::new(),
            requests: 0,
        })
    }

    /// Connects, works on every prompt, and returns when there will be no more.
    pub(crate) fn run(&mut self, prompt: Option<String>) -> Result<(), Error> {
        // Servers must not outlive a host that is told to end, so it has to hear that.
        self.reactor.add(Token::Signal, process::signals()?, Framing::End);
        if self.console.mode == Mode::Control {
            self.reactor.add(Token::Control, process::stdin_of_host()?, Framing::Lines);
        }
        for server in &mut self.servers {
            server.start(&mut self.reactor);
        }
        self.settle()?;
        self.rebuild();
        self.console.prompts.extend(prompt);
        if self.console.mode == Mode::Control {
            let tools = self.directory.published();
            self.console.print_init(&tools, &self.status())?;
        }
        loop {
            if let Some(prompt) = self.console.prompts.pop_front() {
                self.turn(&prompt)?;
            } else if self.console.ended {
                return Ok(());
            } else {
                self.pump(None)?;
            }
        }
    }

    /// Ends every server and the connection to the model.
    pub(crate) fn shut_down(mut self) {
        if self.lies.tell(Fault::LeaveDaemon) {
            process::leave_daemon();
        }
        let processes = self.servers.iter_mut().filter_map(Server::take_process).collect();
        process::stop(&mut self.reactor, processes, self.lies);
    }

    /// Waits for one event and works it in.
    pub(crate) fn pump(&mut self, until: Option<Instant>) -> Result<Pumped, Error> {
        // A server that never stops talking must not keep the time from passing, for itself or for others.
        let now = Instant::now();
        let due =
            self.servers.iter().filter(|server| server.deadline().is_some_and(|deadline| now >= deadline)).count();
        for server in &mut self.servers {
            server.on_time(now);
        }
        if due > 0 {
            // What the caller waits for may have come to its end just now, and then no event would ever follow.
            return Ok(Pumped::Other);
        }
        let deadline = self.servers.iter().filter_map(Server::deadline).chain(until).min();
        let Some(event) = self.reactor.next(deadline) else {
            return Ok(Pumped::Other);
        };
        match event {
            Event::Line(Token::Server(index), line) => {
                let answers = self.servers[index].on_line(&line);
                return Ok(Pumped::Answers(index, answers));
            }
            Event::Closed(Token::Server(index)) => self.servers[index].on_closed(&mut self.reactor),
            Event::Bytes(Token::Model, bytes) => return Ok(Pumped::Model(Some(bytes))),
            Event::Closed(Token::Model) => {
                self.connection.close(&mut self.reactor);
                return Ok(Pumped::Model(None));
            }
            Event::Closed(Token::Signal) => return Err(Error::Signalled),
            Event::Line(Token::Control, line) => {
                let status = self.status();
                self.console.on_line(&line, self.lies, || status.clone())?;
            }
            Event::Closed(Token::Control) => self.console.ended = true,
            Event::Line(..) | Event::Bytes(..) | Event::Closed(_) => {}
        }
        Ok(Pumped::Other)
    }

    /// Waits until no server is being connected or listed. Each has its own deadline, so none can keep the others waiting for ever.
    pub(crate) fn settle(&mut self) -> Result<(), Error> {
        while self.servers.iter().any(Server::is_busy) {
            self.pump(None)?;
        }
        Ok(())
    }

    /// The servers and whether they are connected, as JSON text.
    fn status(&self) -> String {
        let status = |server: &Server| {
            let status = if server.is_ready() { "connected" } else { "failed" };
            format!("{{\"name\":{},\"status\":\"{status}\"}}", quote(&server.name))
        };
        format!("[{}]", self.servers.iter().map(status).collect::<Vec<_>>().join(","))
    }

    /// Names the tools anew, if any list was replaced.
    pub(crate) fn rebuild(&mut self) {
        let mut versions: Vec<_> = self.servers.iter().map(|server| server.list_version).collect();
        versions.push(self.found.len() as u64);
        if self.built_from.as_ref() != Some(&versions) {
            let reach = (self.reach, &self.found);
            self.directory = Directory::build(&self.servers, &self.rules, self.api.as_ref(), reach, self.lies);
            self.built_from = Some(versions);
        }
    }

    /// Works on one prompt, until a reply uses no tool.
    fn turn(&mut self, prompt: &str) -> Result<(), Error> {
        self.api.say(prompt);
        self.console.interrupted = false;
        for replies in 1..=MOST_REPLIES {
            let reply = match self.ask_model() {
                Ok(Some(reply)) => reply,
                Ok(None) => {
                    self.console.print_result(Ending::Interrupted, "", replies)?;
                    return Ok(());
                }
                Err(error) => {
                    self.console.print_result(Ending::Failed, &error.to_string(), replies)?;
                    return Err(error);
                }
            };
            if reply.uses.is_empty() {
                self.console.print_result(Ending::Success, &reply.text, replies)?;
                return Ok(());
            }
            let mut results = self.work_on(reply.uses)?;
            self.lies.bend_results(&mut results);
            self.api.tell(&results);
            if self.console.interrupted {
                self.console.print_result(Ending::Interrupted, "", replies)?;
                return Ok(());
            }
        }
        self.console.print_result(Ending::Failed, "too many replies", MOST_REPLIES)?;
        Err(Error::Endless(MOST_REPLIES))
    }
}
