//! `[server.KEY]`: a script, and what the scenario lays over it.

use super::ast::ServerUse;
use super::refs::Names;
use super::{Library, report_unknown};
use crate::decode::{Reporter, Value};
use crate::revision::Transport;
use crate::server::decode::edits::Listed;
use crate::server::decode::{self, blank, check_generations, check_rules, extend};
use crate::server::script::{Action, Script};

/// The servers in file order, and the names that they bring.
pub(super) fn read(root: &Value, library: &dyn Library, out: &mut Reporter) -> (Vec<ServerUse>, Names) {
    let mut servers = Vec::new();
    let mut names = Names { servers: Vec::new(), mute: Vec::new(), holds: Some(Vec::new()) };
    for member in root.get("server").map_or(&[][..], Value::members) {
        let (key, table) = (&member.key, &member.value);
        let base = match table.get("script") {
            Some(name) => script(name, library, out),
            None => Some(blank(&key.value)),
        };
        let known = base.is_some();
        let script = extend(base.unwrap_or_else(|| blank(&key.value)), table, out);
        // Of a script that cannot be read nobody knows the tools.
        let tools = known.then(|| tools(&key.value, table, root, &script, out));
        match (&mut names.holds, known) {
            (Some(holds), true) => holds.extend(held(&script)),
            (holds, _) => *holds = None,
        }
        if known && script.capabilities.at(&["tools", "listChanged"]) != Some(&true.into()) {
            names.mute.push(key.value.clone());
        }
        names.servers.push((key.value.clone(), tools));
        servers.push(ServerUse {
            key: key.clone(),
            required: table.get("required").and_then(Value::as_bool).unwrap_or(true),
            transport: table.get("transport").and_then(|word| Transport::parse(word.as_str()?)),
            script,
        });
    }
    (servers, names)
}

/// All tools that a server ever has: of its script, of its restarts, and of the changes in the steps.
fn tools(key: &str, table: &Value, root: &Value, script: &Script, out: &mut Reporter) -> Vec<String> {
    check_generations(table, script, out);
    let mut listed = Listed::of(script);
    for change in changes(root).filter(|change| change.string("change").as_deref() == Some(key)) {
        listed.change(change, key, out);
    }
    check_rules(table, &script.name, listed.ever(), out);
    listed.ever().to_vec()
}

/// The steps and acts that may change a server, in file order.
fn changes(root: &Value) -> impl Iterator<Item = &Value> {
    root.list("step").iter().flat_map(|step| std::iter::once(step).chain(step.list("during")))
}

/// The names under which a script holds replies.
fn held(script: &Script) -> impl Iterator<Item = String> + '_ {
    let actions = script.on.iter().flat_map(|rule| &rule.actions);
    actions.filter_map(|action| match action {
        Action::Hold(name) => Some(name.clone()),
        _ => None,
    })
}

/// The named script; nothing where it was reported.
fn script(name: &Value, library: &dyn Library, out: &mut Reporter) -> Option<Script> {
    let text = name.spanned_str().filter(|text| !text.value.is_empty())?;
    let Some(source) = library.script(&text.value) else {
        let known = library.script_names();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        report_unknown(&text, "script", &known, "a server script", out);
        return None;
    };
    match decode::parse(&source) {
        Ok(script) => Some(script),
        Err(found) => {
            out.extend(found);
            None
        }
    }
}
