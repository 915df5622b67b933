//! The permission keys of Codex.
//!
//! Source: the vendor's configuration reference. Per server: `enabled_tools` first, then `disabled_tools`;
//! `default_tools_approval_mode` and `tools.T.approval_mode` are `auto`, `prompt`, `writes` or `approve`. There is no
//! word for deny, so a denied tool is taken away by `disabled_tools`. Keys hold registered names, so every rule is
//! resolved tool by tool against the tools that the server lists.

use super::{Action, DialectError, Rendering, Rule, World, decision};
use crate::json::Json;
use crate::scenario::ast::{DenyBy, Feature, ToolRef};

pub(super) fn render(rules: &[Rule], world: &World, by: Option<DenyBy>) -> Result<Rendering, DialectError> {
    if by == Some(DenyBy::Permission) {
        return Err(DialectError::Inexpressible(
            "the host takes tools away by a filter, and has no deny rule".to_owned(),
        ));
    }
    let mut needs = Vec::new();
    let mut servers = Json::empty();
    for (server, tools) in world {
        let mut disabled = Vec::new();
        let mut modes = Vec::new();
        for tool in tools {
            let subject = ToolRef { server: server.clone(), tool: tool.clone() };
            let (mode, need) = match decision(rules, &subject) {
                None => continue,
                Some(Action::Deny) => {
                    disabled.push(tool.clone());
                    needs.push(Feature::PermissionsFilter);
                    continue;
                }
                Some(Action::Ask) => ("prompt", Feature::PermissionsAsk),
                Some(Action::Allow) => ("approve", Feature::PermissionsAllow),
            };
            needs.push(need);
            modes.push(Json::object([("name", Json::from(tool)), ("approval_mode", Json::from(mode))]));
        }
        let mut entry = Json::empty();
        if !disabled.is_empty() {
            entry.set("disabled_tools", disabled);
        }
        entry.set("tools", modes);
        servers.set(server, entry);
    }
    needs.sort_unstable();
    needs.dedup();
    Ok(Rendering { rules: Json::object([("servers", servers)]), needs })
}
