//! `permissions`: rules in neutral words.

use super::ast::{Permissions, Rules, ToolPattern};
use super::refs::Names;
use crate::decode::{Reporter, Value};
use crate::diagnostic::Spanned;

/// The user's rules.
pub(super) fn read(value: Option<&Value>, names: &Names, out: &mut Reporter) -> Permissions {
    let Some(table) = value else { return Permissions::Implied };
    if table.as_str().is_some() {
        return Permissions::None;
    }
    Permissions::Rules(Rules {
        allow: patterns(table, "allow", names, out),
        ask: patterns(table, "ask", names, out),
        deny: patterns(table, "deny", names, out),
    })
}

fn patterns(table: &Value, key: &str, names: &Names, out: &mut Reporter) -> Vec<Spanned<ToolPattern>> {
    table.list(key).iter().filter_map(|value| Some(value.spanned(names.pattern(value, out)?))).collect()
}
