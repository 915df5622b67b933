//! `model.surface` with the table that it needs.

use super::find;
use crate::decode::{Reporter, Value};
use crate::host::profile::ApiName;
use crate::host::surface::{Found, Search, Surface, Wrapper, try_arguments};

/// The surface of a profile; what is missing was reported and becomes a plain list.
pub(super) fn read(root: &Value, api: ApiName, out: &mut Reporter) -> Surface {
    let word = root.get("model").and_then(|model| model.get("surface"));
    let table = |name: &str| root.get("surface").and_then(|surfaces| surfaces.get(name));
    let (search, wrapper) = (table("search"), table("wrapper"));
    // A table may be there for a variant, and is read all the same.
    let search = search.and_then(|table| read_search(table, out));
    let wrapper = wrapper.and_then(|table| read_wrapper(table, out));
    if let (Some(search), Some("search" | "wrapper")) = (&search, word.and_then(Value::as_str)) {
        has_a_search(search, api, table("search"), out);
    }
    match word.and_then(Value::as_str) {
        Some("namespace") => Surface::Namespace,
        Some("search") => match search {
            Some(search) => Surface::Search(search),
            None => without_table(word, table("search"), out),
        },
        Some("wrapper") => match wrapper {
            Some(wrapper) => Surface::Wrapper(Wrapper { search, ..wrapper }),
            None => without_table(word, table("wrapper"), out),
        },
        _ => Surface::Flat,
    }
}

fn read_search(table: &Value, out: &mut Reporter) -> Option<Search> {
    let arguments = arguments(table, None, out)?;
    let found = table.get("found").and_then(|word| word.pick(&Found::WORDS)).unwrap_or(Found::Flat);
    Some(Search { tool: table.string("tool"), arguments, found })
}

fn read_wrapper(table: &Value, out: &mut Reporter) -> Option<Wrapper> {
    let tool = table.string("tool")?;
    Some(Wrapper { tool, arguments: arguments(table, Some(("arguments", "{}")), out)?, search: None })
}

fn arguments(table: &Value, exact: Option<(&str, &str)>, out: &mut Reporter) -> Option<String> {
    let value = table.get("arguments")?;
    let template = value.as_str()?;
    // A template that does not parse was reported with its place.
    let parses = minijinja::Environment::new().template_from_str(template).is_ok();
    if let (true, Err(reason)) = (parses, try_arguments(template, exact)) {
        let names = if exact.is_some() { "published, server, tool, arguments" } else { "published, server, tool" };
        out.error(value.span.clone(), "`arguments` does not give a JSON object").label(reason).help(format!(
            "write a JSON object as text, with strings in quotes: `{{\"name\": \"{{{{ published }}}}\"}}`; it knows {names}"
        ));
    }
    Some(template.to_owned())
}

/// A model API either has a search of its own, or the host has a tool for it.
fn has_a_search(search: &Search, api: ApiName, table: Option<&Value>, out: &mut Reporter) {
    let Some(table) = table.filter(|_| search.tool.is_none()) else { return };
    if !api.has_search() {
        out.error(table.span.clone(), format!("`{}` has no search of its own", api.as_str()))
            .label("`tool` is missing")
            .help("name the host's search tool: `tool = \"ToolSearch\"`");
    }
}

fn without_table(word: Option<&Value>, table: Option<&Value>, out: &mut Reporter) -> Surface {
    if let (Some(word), None) = (word, table) {
        let name = word.as_str().unwrap_or_default();
        out.error(word.span.clone(), format!("surface `{name}` without `surface.{name}`"))
            .label("what it needs is missing")
            .help(match name {
                "wrapper" => "write `[surface.wrapper]` with `tool` and `arguments`",
                _ => "write `[surface.search]` with `arguments`, and with `tool` where the host has a search tool",
            });
    }
    Surface::Flat
}

/// The word of the surface that a host claims.
pub(super) fn claimed(claims: &Value) -> Option<&'static str> {
    find(Surface::WORDS, |word| word, claims.get("published").and_then(Value::as_str))
}
