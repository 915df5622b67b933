//! The permission rules of Claude Code.
//!
//! Source: the vendor's permission documentation. A rule names a published name: `mcp__SERVER__TOOL`, `mcp__SERVER` for
//! all tools of a server, and, in deny and ask rules only, `mcp__*` for all. Order: deny, ask, allow.

use super::{Action, DialectError, Rendering, Rule, World, decision, plain_needs, tools};
use crate::host::names::Names;
use crate::json::Json;
use crate::scenario::ast::{DenyBy, ToolPattern, ToolRef};

pub(super) fn render(
    names: &Names<'_>,
    rules: &[Rule],
    world: &World,
    by: Option<DenyBy>,
) -> Result<Rendering, DialectError> {
    if by == Some(DenyBy::Filter) {
        return Err(DialectError::Inexpressible("the host has deny rules, and no filter beside them".to_owned()));
    }
    unambiguous(names, rules, world)?;
    let mut lists = [Vec::new(), Vec::new(), Vec::new()];
    for rule in rules {
        lists[rule.action as usize].extend(words(names, rule, world)?);
    }
    let [allow, ask, deny] = lists;
    Ok(Rendering {
        rules: Json::object([("allow", allow), ("ask", ask), ("deny", deny)]),
        needs: plain_needs(rules),
    })
}

fn words(names: &Names<'_>, rule: &Rule, world: &World) -> Result<Vec<String>, DialectError> {
    let server_word = |server: &str| format!("mcp__{}", names.mangle(server));
    Ok(match &rule.pattern {
        ToolPattern { server: Some(server), tool: Some(tool) } => {
            vec![names.flat(&ToolRef { server: server.clone(), tool: tool.clone() })?]
        }
        ToolPattern { server: Some(server), tool: None } => vec![server_word(server)],
        // An allow rule needs a literal server part, so all servers are named; the world has no others.
        ToolPattern { server: None, tool: None } if rule.action == Action::Allow => {
            world.iter().map(|(server, _)| server_word(server)).collect()
        }
        ToolPattern { server: None, tool: None } => vec!["mcp__*".to_owned()],
        ToolPattern { server: None, tool: Some(_) } => {
            return Err(DialectError::Inexpressible(format!("no word for the pattern {}", rule.pattern)));
        }
    })
}

/// Two tools that publish the same name cannot have different rules.
fn unambiguous(names: &Names<'_>, rules: &[Rule], world: &World) -> Result<(), DialectError> {
    let all: Vec<(String, ToolRef)> =
        tools(world).map(|tool| Ok((names.flat(&tool)?, tool))).collect::<Result<_, DialectError>>()?;
    for (at, (name, tool)) in all.iter().enumerate() {
        for (_, other) in all[..at].iter().filter(|(earlier, _)| earlier == name) {
            if decision(rules, tool) != decision(rules, other) {
                return Err(DialectError::Inexpressible(format!(
                    "{other} and {tool} are both published as {name}, so no rule tells them apart"
                )));
            }
        }
    }
    Ok(())
}
