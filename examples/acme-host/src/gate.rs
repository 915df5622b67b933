//! What the user allows.

use crate::config::Config;
use crate::fault::Fault;

/// The rules. A deny rule wins, and what no rule allows is not called: there is nobody to ask.
pub(crate) struct Gate {
    allow: Vec<String>,
    deny: Vec<String>,
}

impl Gate {
    pub(crate) fn new(config: &Config, fault: Option<Fault>) -> Self {
        match fault {
            Some(Fault::CallsDenied) => Self { allow: vec!["*/*".to_owned()], deny: Vec::new() },
            _ => Self { allow: config.allow.clone(), deny: config.deny.clone() },
        }
    }

    /// Whether the model is not shown a tool.
    pub(crate) fn hides(&self, server: &str, tool: &str) -> bool {
        self.deny.iter().any(|pattern| matches(pattern, server, tool))
    }

    /// Whether a tool may be called.
    pub(crate) fn allows(&self, server: &str, tool: &str) -> bool {
        !self.hides(server, tool) && self.allow.iter().any(|pattern| matches(pattern, server, tool))
    }
}

fn matches(pattern: &str, server: &str, tool: &str) -> bool {
    pattern
        .split_once('/')
        .is_some_and(|(servers, tools)| (servers == "*" || servers == server) && (tools == "*" || tools == tool))
}
