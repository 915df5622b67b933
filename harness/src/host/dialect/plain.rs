//! The reference host's dialect: the neutral words themselves.

use super::{Action, DialectError, Rendering, Rule, plain_needs};
use crate::json::Json;
use crate::scenario::ast::DenyBy;

pub(super) fn render(rules: &[Rule], by: Option<DenyBy>) -> Result<Rendering, DialectError> {
    if by == Some(DenyBy::Filter) {
        return Err(DialectError::Inexpressible("the host has no filter beside its deny rules".to_owned()));
    }
    let list = |action| {
        Json::array(rules.iter().filter(|rule| rule.action == action).map(|rule| {
            // An object says which part is the server even where a key holds a slash.
            match (&rule.pattern.server, &rule.pattern.tool) {
                (Some(server), Some(tool)) if server.contains('/') => {
                    Json::object([("server", Json::from(server)), ("tool", Json::from(tool))])
                }
                _ => Json::from(rule.pattern.to_string()),
            }
        }))
    };
    Ok(Rendering {
        rules: Json::object([
            ("allow", list(Action::Allow)),
            ("ask", list(Action::Ask)),
            ("deny", list(Action::Deny)),
            ("default", Json::from("ask")),
        ]),
        needs: plain_needs(rules),
    })
}
