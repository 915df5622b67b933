//! Changes to a list of tools, in generations of a script and in `change` steps of a scenario.

use super::tool;
use crate::decode::{Reporter, Value, keys::quoted, suggest};
use crate::diagnostic::Spanned;
use crate::server::edit::{Edit, Generation};
use crate::server::script::{Describe, Script, Tool};

/// The keys `add`, `remove` and `replace` of a table.
#[must_use]
pub fn edit(table: &Value) -> Edit {
    let added = |value: &Value| match value.as_str() {
        Some(name) => Some(plain(name)),
        None => tool(value),
    };
    Edit {
        add: table.list("add").iter().filter_map(added).collect(),
        remove: table.strings("remove"),
        replace: table.list("replace").iter().filter_map(tool).collect(),
    }
}

/// One `[[generation]]`; nothing where it was reported.
pub(super) fn generation(table: &Value) -> Option<Generation> {
    Some(Generation { from: table.get("from")?.as_integer()?, edit: edit(table) })
}

/// A tool of which nothing is said but its name.
fn plain(name: &str) -> Tool {
    Tool {
        name: name.to_owned(),
        title: None,
        description: None,
        describe: Describe::Marked,
        input_schema: Some(crate::json::Json::object([("type", "object")])),
        output_schema: None,
        annotations: None,
        meta: None,
        replies: Vec::new(),
    }
}

/// The names that a list of tools has while it changes, and all that it ever had.
#[derive(Clone, Debug)]
pub struct Listed {
    now: Vec<String>,
    ever: Vec<String>,
}

impl Listed {
    /// Before the first change: what the first process of a script offers, and what its later ones do.
    #[must_use]
    pub fn of(script: &Script) -> Self {
        let name = |tool: &Tool| tool.name.clone();
        let mut listed = Self { now: script.tools.iter().map(name).collect(), ever: Vec::new() };
        let later = script.generations.iter().flat_map(|generation| &generation.edit.add);
        script.tools.iter().chain(later).for_each(|tool| listed.know(&tool.name));
        listed
    }

    /// All names that the list ever had.
    #[must_use]
    pub fn ever(&self) -> &[String] {
        &self.ever
    }

    /// Reports what a change cannot do, and does the rest. `owner` is the server or script.
    pub fn change(&mut self, table: &Value, owner: &str, out: &mut Reporter) {
        let names = |key: &str| table.list(key).iter().filter_map(named).collect::<Vec<_>>();
        for name in names("remove").iter().chain(&names("replace")) {
            self.check_known(name, owner, out);
        }
        let removed: Vec<String> = names("remove").into_iter().map(|name| name.value).collect();
        self.now.retain(|name| !removed.contains(name));
        for name in names("add") {
            if self.now.contains(&name.value) && !out.is_damaged() {
                out.error(name.span.clone(), format!("`{owner}` has a tool `{}` already", name.value))
                    .label("added a second time")
                    .help("to change a tool, write it under `replace`");
            }
            self.know(&name.value);
            self.now.push(name.value);
        }
    }

    fn know(&mut self, name: &str) {
        if self.ever.iter().all(|known| known != name) {
            self.ever.push(name.to_owned());
        }
    }

    fn check_known(&self, name: &Spanned<String>, owner: &str, out: &mut Reporter) {
        // A syntax error may have swallowed the tool.
        if self.ever.contains(&name.value) || name.value.is_empty() || out.is_damaged() {
            return;
        }
        let known = || self.ever.iter().map(String::as_str);
        let wording = out
            .error(name.span.clone(), format!("unknown tool `{}`", name.value))
            .label(format!("not a tool of `{owner}`"));
        match suggest(&name.value, known()) {
            Some(close) => wording.help(format!("did you mean `{close}`?")),
            None if self.ever.is_empty() => wording.help("there is no tool at all"),
            None => wording.help(format!("its tools are {}", quoted(known()))),
        };
    }
}

/// The name of a tool that is given by its name or as a table.
fn named(value: &Value) -> Option<Spanned<String>> {
    value.spanned_str().or_else(|| value.get("name")?.spanned_str())
}
