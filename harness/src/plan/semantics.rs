//! What a scenario that parses can still get wrong: steps and rules that contradict each other.

use std::sync::Arc;

use super::rules::{rules, uses};
use crate::diagnostic::{Diagnostic, Source, Span};
use crate::host::dialect::Action;
use crate::json::{Json, NumberModel};
use crate::scenario::ast::{DenyBy, Input, Outcome, Permissions, Scenario, ServerUse, Use, UseKind, Verb};
use crate::scenario::{self, Library};
use crate::server::script::{Body, Reply, Tool};

/// The text that stands for a word unique to the call.
const MARKER: &str = "{{ marker }}";

/// Parses a scenario file and checks what it means: all errors of the file at once.
///
/// # Errors
/// Syntax and format errors; where there are none, semantic errors.
pub fn load(
    source: &Arc<Source>,
    area: &str,
    name: &str,
    library: &dyn Library,
) -> Result<Vec<Scenario>, Vec<Diagnostic>> {
    let scenarios = scenario::parse(source, area, name, library)?;
    let mut errors: Vec<Diagnostic> = Vec::new();
    for error in scenarios.iter().flat_map(semantic_errors) {
        // What the base of a file gets wrong would otherwise be told once a case.
        if !errors.contains(&error) {
            errors.push(error);
        }
    }
    if errors.is_empty() { Ok(scenarios) } else { Err(errors) }
}

/// All semantic errors of a scenario, in file order.
#[must_use]
pub fn semantic_errors(scenario: &Scenario) -> Vec<Diagnostic> {
    let mut errors = Vec::new();
    rules_fit_steps(scenario, &mut errors);
    nothing_after_say(scenario, &mut errors);
    replies_differ(scenario, &mut errors);
    errors
}

fn rules_fit_steps(scenario: &Scenario, errors: &mut Vec<Diagnostic>) {
    let rules = rules(scenario);
    for (step, one) in uses(scenario) {
        let decided = rules.iter().filter(|rule| rule.pattern.matches(&one.tool)).map(|rule| rule.action).max();
        // Where the outcome is only recorded, the default posture of the host may be the subject.
        let open = scenario.steps[step].outcome == Outcome::Trait;
        let problem = match (&one.kind, decided) {
            (UseKind::Call, Some(Action::Allow)) => None,
            // Under an ask rule the subject is that the schema comes first, without a question.
            (UseKind::Deny { by: Some(DenyBy::Schema) }, Some(Action::Allow | Action::Ask)) => None,
            (UseKind::Call | UseKind::Deny { by: Some(DenyBy::Schema) }, None) if open => None,
            (UseKind::Call, Some(Action::Ask)) => Some(("is asked about", "write `ask` instead of `call`")),
            (UseKind::Call, Some(Action::Deny)) => Some(("is denied", "write `deny` instead of `call`")),
            (UseKind::Call | UseKind::Deny { by: Some(DenyBy::Schema) }, None) => Some((
                "is left to the host's default",
                "add it to `permissions.allow`, or set `outcome = \"trait\"`",
            )),
            (UseKind::Deny { by: Some(DenyBy::Schema) }, Some(Action::Deny)) => {
                Some(("would be stopped by a rule, not by its schema", "add it to `permissions.allow`"))
            }
            (UseKind::Deny { .. }, Some(Action::Deny)) | (UseKind::Ask { .. }, Some(Action::Ask)) => None,
            (UseKind::Deny { .. }, None) if open => None,
            (UseKind::Deny { .. }, _) => Some(("is not denied", "add it to `permissions.deny`")),
            (UseKind::Ask { .. }, _) => Some(("is not asked about", "add it to `permissions.ask`")),
        };
        if let Some((what, help)) = problem {
            let by = match scenario.permissions {
                Permissions::None => "without rules",
                _ => "by the rules",
            };
            errors.push(
                Diagnostic::error(&scenario.source, one.span.clone(), format!("`{}` {what} {by}", one.tool))
                    .help(help),
            );
        }
    }
}

fn nothing_after_say(scenario: &Scenario, errors: &mut Vec<Diagnostic>) {
    let mut said: Option<&Span> = None;
    for step in &scenario.steps {
        match &step.verb {
            Verb::Say(_) if said.is_none() => said = Some(&step.span),
            Verb::Uses { .. } | Verb::Change(_) | Verb::Say(_) if said.is_some() => errors.push(
                Diagnostic::error(
                    &scenario.source,
                    step.span.clone(),
                    "the conversation has already ended with a `say`",
                )
                .help("put a `prompt` before this step, or move the `say` to the end"),
            ),
            Verb::Prompt(_) => said = None,
            _ => {}
        }
    }
}

/// A reply without a marker is joined by its JSON-RPC id alone, so two equal ones could be swapped unseen.
fn replies_differ(scenario: &Scenario, errors: &mut Vec<Diagnostic>) {
    let mut seen: Vec<(&Body, &Use)> = Vec::new();
    for (_, one) in uses(scenario) {
        let called = matches!(one.kind, UseKind::Call | UseKind::Ask { .. });
        let Some(body) = called.then(|| reply(scenario, one)).flatten() else { continue };
        if has_marker(body) {
            continue;
        }
        if seen.iter().any(|(other, _)| *other == body) {
            errors.push(
                Diagnostic::error(&scenario.source, one.span.clone(), "two calls get the same reply")
                    .label("nothing tells this result from an earlier one")
                    .help(format!("put `{MARKER}` into the reply: it expands to a word unique to the call")),
            );
        }
        seen.push((body, one));
    }
}

fn reply<'s>(scenario: &'s Scenario, one: &Use) -> Option<&'s Body> {
    let server: &ServerUse = scenario.servers.iter().find(|server| server.key.value == one.tool.server)?;
    let tool: &Tool = server.script.tools.iter().find(|tool| tool.name == one.tool.tool)?;
    let empty = Json::empty();
    let input = match &one.input {
        Input::Json(json) => json,
        Input::Absent => &empty,
        Input::Raw(_) => return None,
    };
    let matches = |reply: &&Reply| reply.when.as_ref().is_none_or(|when| when.equals(input, NumberModel::Decimal));
    tool.replies.iter().find(matches).map(|reply| &reply.body)
}

fn has_marker(body: &Body) -> bool {
    match body {
        Body::Result(json) => json.to_string().contains(MARKER),
        Body::Error(error) => error.message.contains(MARKER),
    }
}
