//! The state of one connection.

use super::script::Tool;
use super::subscription::Subscription;
use crate::json::Json;

/// How far a connection has opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    /// Nothing has happened yet.
    #[default]
    Fresh,
    /// `initialize` was answered.
    Initialized,
    /// Legacy: `notifications/initialized` came. Modern: a request came.
    Connected,
}

/// What can still be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Output {
    /// Everything.
    #[default]
    Open,
    /// Nothing on standard output; the process lives.
    Closed,
    /// Nothing: the process ended or the connection is gone.
    Gone,
}

/// One connection: on stdio, one process of the server.
#[derive(Clone, Debug, Default)]
pub(super) struct Conn {
    pub(super) stage: Stage,
    pub(super) output: Output,
    /// What is offered here now.
    pub(super) tools: Vec<Tool>,
    /// Index of the page of `tools/list` that was served last.
    pub(super) page: usize,
    /// Requests so far, for the markers.
    pub(super) requests: u64,
    /// The open subscriptions, oldest first.
    pub(super) subscriptions: Vec<Subscription>,
    /// The methods of the requests that the server sent, in order.
    asked: Vec<String>,
}

impl Conn {
    /// A connection of a process that offers these tools.
    pub(super) fn new(tools: Vec<Tool>) -> Self {
        Self { tools, ..Self::default() }
    }

    /// Remembers a request of the server and gives its id: `hc-1`, `hc-2`, …, strings, so that no host takes them for
    /// its own numbers.
    pub(super) fn ask(&mut self, method: &str) -> Json {
        self.asked.push(method.to_owned());
        format!("hc-{}", self.asked.len()).into()
    }

    /// The method of the server's request with this id.
    pub(super) fn asked(&self, id: &Json) -> Option<&str> {
        let number: usize = id.as_str()?.strip_prefix("hc-")?.parse().ok()?;
        self.asked.get(number.checked_sub(1)?).map(String::as_str)
    }
}
