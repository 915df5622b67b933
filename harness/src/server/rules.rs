//! Which rules of a script an event fires.

use std::collections::BTreeMap;

use super::script::{Action, On, Rule, Scope};

/// Something that happened on a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event<'a> {
    /// What.
    pub(super) on: On,
    /// The method of the request or notification; of a response, that of the request which it answers.
    pub(super) method: Option<&'a str>,
    /// The tool that is called.
    pub(super) tool: Option<&'a str>,
}

impl<'a> Event<'a> {
    /// An event that has neither method nor tool.
    pub(super) const fn bare(on: On) -> Self {
        Self { on, method: None, tool: None }
    }

    /// An event of a message.
    pub(super) const fn of(on: On, method: &'a str) -> Self {
        Self { on, method: Some(method), tool: None }
    }

    /// A rule that names a method or tool is met only by an event that has it.
    fn meets(&self, rule: &Rule) -> bool {
        let same = |wanted: &Option<String>, given: Option<&str>| wanted.is_none() || wanted.as_deref() == given;
        self.on == rule.event && same(&rule.method, self.method) && same(&rule.tool, self.tool)
    }
}

/// The rules of a script, with their counts.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    rules: Vec<Rule>,
    /// Occurrences per rule over the whole run, and per rule and connection.
    run: Vec<u32>,
    connection: BTreeMap<(usize, u32), u32>,
}

impl Rules {
    pub(super) fn new(rules: Vec<Rule>) -> Self {
        Self { run: vec![0; rules.len()], rules, connection: BTreeMap::new() }
    }

    /// Counts the event for every rule that it meets, and gives the actions of those whose turn it is, in file order.
    pub(super) fn fire(&mut self, conn: u32, event: Event<'_>) -> Vec<Action> {
        let mut actions = Vec::new();
        for (at, (rule, run)) in self.rules.iter().zip(&mut self.run).enumerate() {
            if !event.meets(rule) {
                continue;
            }
            let count = match rule.scope {
                Scope::Run => run,
                Scope::Connection => self.connection.entry((at, conn)).or_default(),
            };
            *count = count.saturating_add(1);
            if rule.nth.covers(*count) {
                actions.extend(rule.actions.iter().cloned());
            }
        }
        actions
    }
}
