//! Permission rules in a host's own words. A rule that a dialect cannot express exactly makes the plan not applicable:
//! it is never dropped and never approximated.

mod claude_code;
mod codex;
mod plain;

use super::names::{NameError, Names};
use super::profile::{DialectName, Profile};
use crate::json::Json;
use crate::scenario::ast::{DenyBy, Feature, ToolPattern, ToolRef};

/// What a rule does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// Called without a question.
    Allow,
    /// Called after a question.
    Ask,
    /// Never called.
    Deny,
}

/// One neutral rule. Of several that match a tool, deny wins over ask and ask over allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// What it does.
    pub action: Action,
    /// To which tools.
    pub pattern: ToolPattern,
}

/// The world that rules speak of: each server with the registered names of its tools.
pub type World = [(String, Vec<String>)];

/// Rules as the profile's templates need them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rendering {
    /// The value `rules` of the templates.
    pub rules: Json,
    /// What the host and its drive must be able to do.
    pub needs: Vec<Feature>,
}

/// Why rules cannot be rendered.
#[derive(Debug, thiserror::Error)]
pub enum DialectError {
    /// The host has no exact words for it.
    #[error("{0}")]
    Inexpressible(String),
    /// The profile's name rule is broken.
    #[error(transparent)]
    Names(#[from] NameError),
}

/// Renders neutral rules; `by` is the gate that a deny step insists on, if any does.
///
/// # Errors
/// Rules that the dialect cannot express exactly.
pub fn render(
    profile: &Profile,
    rules: &[Rule],
    world: &World,
    by: Option<DenyBy>,
) -> Result<Rendering, DialectError> {
    match profile.claims.dialect {
        DialectName::Plain => plain::render(rules, by),
        DialectName::ClaudeCode => claude_code::render(&Names::new(profile)?, rules, world, by),
        DialectName::Codex => codex::render(rules, world, by),
        DialectName::None => none(rules),
    }
}

/// A host without gates: allowing is what it does anyway.
fn none(rules: &[Rule]) -> Result<Rendering, DialectError> {
    match rules.iter().find(|rule| rule.action != Action::Allow) {
        Some(rule) => {
            Err(DialectError::Inexpressible(format!("the host has no rules, so none for {}", rule.pattern)))
        }
        None => Ok(Rendering { rules: Json::empty(), needs: Vec::new() }),
    }
}

/// The features that neutral rules need where a dialect has a word for each action.
fn plain_needs(rules: &[Rule]) -> Vec<Feature> {
    [
        (Action::Allow, Feature::PermissionsAllow),
        (Action::Ask, Feature::PermissionsAsk),
        (Action::Deny, Feature::PermissionsDeny),
    ]
    .into_iter()
    .filter(|(action, _)| rules.iter().any(|rule| rule.action == *action))
    .map(|(_, feature)| feature)
    .collect()
}

/// Every tool of the world.
fn tools(world: &World) -> impl Iterator<Item = ToolRef> + '_ {
    world.iter().flat_map(|(server, tools)| {
        tools.iter().map(|tool| ToolRef { server: server.clone(), tool: tool.clone() })
    })
}

/// What the rules decide for a tool; `None` leaves it to the host's default.
fn decision(rules: &[Rule], tool: &ToolRef) -> Option<Action> {
    rules.iter().filter(|rule| rule.pattern.matches(tool)).map(|rule| rule.action).max()
}

#[cfg(test)]
mod tests;
