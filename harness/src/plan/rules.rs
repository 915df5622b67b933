//! What the user allows, as neutral rules.

use crate::host::dialect::{Action, Rule};
use crate::scenario::ast::{DenyBy, Permissions, Scenario, ToolPattern, ToolRef, Use, UseKind, Verb};

/// All tool uses of the scenario with the index of their step.
pub(super) fn uses(scenario: &Scenario) -> impl Iterator<Item = (usize, &Use)> {
    scenario.steps.iter().enumerate().flat_map(|(index, step)| match &step.verb {
        Verb::Uses { uses, .. } => uses.iter().map(move |one| (index, one)).collect(),
        _ => Vec::new(),
    })
}

/// The rules that the scenario means.
pub(super) fn rules(scenario: &Scenario) -> Vec<Rule> {
    match &scenario.permissions {
        Permissions::None => Vec::new(),
        Permissions::Implied => implied(scenario),
        Permissions::Rules(rules) => {
            [(Action::Allow, &rules.allow), (Action::Ask, &rules.ask), (Action::Deny, &rules.deny)]
                .into_iter()
                .flat_map(|(action, patterns)| {
                    patterns.iter().map(move |pattern| Rule { action, pattern: pattern.value.clone() })
                })
                .collect()
        }
    }
}

/// Without a table each step gets the rule that it needs. A step that the schema is to stop gets an allow rule, so that
/// nothing but the schema can stop it.
fn implied(scenario: &Scenario) -> Vec<Rule> {
    let mut rules: Vec<Rule> = Vec::new();
    for (_, one) in uses(scenario) {
        let action = match one.kind {
            UseKind::Call | UseKind::Deny { by: Some(DenyBy::Schema) } => Action::Allow,
            UseKind::Ask { .. } => Action::Ask,
            UseKind::Deny { .. } => Action::Deny,
        };
        let rule = Rule { action, pattern: exact(&one.tool) };
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    rules
}

/// The rules of the twin: every deny rule that covers a denied use is gone, and the use is allowed by name.
///
/// `None` where no step denies by a rule.
pub(super) fn twin(scenario: &Scenario, rules: &[Rule]) -> Option<Vec<Rule>> {
    let denied: Vec<&ToolRef> = uses(scenario)
        .filter(|(_, one)| matches!(one.kind, UseKind::Deny { by } if by != Some(DenyBy::Schema)))
        .map(|(_, one)| &one.tool)
        .collect();
    if denied.is_empty() {
        return None;
    }
    let mut twin: Vec<Rule> = rules
        .iter()
        .filter(|rule| rule.action != Action::Deny || !denied.iter().any(|tool| rule.pattern.matches(tool)))
        .cloned()
        .collect();
    for tool in denied {
        let rule = Rule { action: Action::Allow, pattern: exact(tool) };
        if !twin.contains(&rule) {
            twin.push(rule);
        }
    }
    Some(twin)
}

fn exact(tool: &ToolRef) -> ToolPattern {
    ToolPattern { server: Some(tool.server.clone()), tool: Some(tool.tool.clone()) }
}
