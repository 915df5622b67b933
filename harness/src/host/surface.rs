//! How a host offers tools to its model, and what the model must say to reach one.

use super::names::{NameError, Names};
use super::template::Values;
use crate::json::Json;
use crate::scenario::ast::ToolRef;

/// A surface, with what it needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Surface {
    /// One flat list.
    Flat,
    /// Nested under a namespace per server.
    Namespace,
    /// Tools are named at most, until the model searches for them.
    Search(Search),
    /// No tool is offered by itself: one tool of the host calls them all.
    Wrapper(Wrapper),
}

impl Surface {
    /// The words of all surfaces.
    pub const WORDS: [&str; 4] = ["flat", "namespace", "search", "wrapper"];

    /// Its word in files.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Flat => "flat",
            Self::Namespace => "namespace",
            Self::Search(_) => "search",
            Self::Wrapper(_) => "wrapper",
        }
    }

    /// What a search needs, where tools are searched for.
    #[must_use]
    pub fn search(&self) -> Option<&Search> {
        match self {
            Self::Search(search) => Some(search),
            Self::Wrapper(wrapper) => wrapper.search.as_ref(),
            Self::Flat | Self::Namespace => None,
        }
    }

    /// The tool that calls all others, where there is one.
    #[must_use]
    pub const fn wrapper(&self) -> Option<&Wrapper> {
        match self {
            Self::Wrapper(wrapper) => Some(wrapper),
            _ => None,
        }
    }
}

/// How the model searches for tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Search {
    /// The host's search tool; `None` where the model API has a search of its own.
    pub tool: Option<String>,
    /// Template of the arguments, with `published` (the flat name), `server` and `tool`.
    pub arguments: String,
    /// How a tool is published once it is found.
    pub found: Found,
}

/// How a tool that was found is published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// By its flat name.
    Flat,
    /// Under the namespace of its server.
    Namespace,
}

impl Found {
    /// All, with their words.
    pub const WORDS: [(&str, Self); 2] = [("flat", Self::Flat), ("namespace", Self::Namespace)];
}

/// The one tool that calls all others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrapper {
    /// Its name.
    pub tool: String,
    /// Template of its arguments, with `published` (the flat name), `server`, `tool`, and `arguments` as JSON text.
    pub arguments: String,
    /// How the model finds out what there is to call, where the description of the tool does not say it.
    pub search: Option<Search>,
}

impl Search {
    /// The arguments of a search for a tool.
    ///
    /// # Errors
    /// A name rule or a template that cannot be applied.
    pub fn arguments(&self, names: &Names<'_>, tool: &ToolRef) -> Result<String, NameError> {
        Ok(Values::new(&values(names.flat(tool)?, tool)).render(ARGUMENTS, &self.arguments)?)
    }
}

impl Wrapper {
    /// The arguments of the wrapper for a use of a tool, whose own arguments are a text that need not be JSON.
    ///
    /// # Errors
    /// A name rule or a template that cannot be applied.
    pub fn arguments(&self, names: &Names<'_>, tool: &ToolRef, inner: &str) -> Result<String, NameError> {
        // A member needs a value; that no arguments at all are the empty object is also how they are judged.
        let inner = if inner.is_empty() { "{}" } else { inner };
        let values = values(names.flat(tool)?, tool);
        Ok(Values::around(&values, "arguments", inner).render(ARGUMENTS, &self.arguments)?)
    }
}

/// The name that makes a template escape strings for JSON.
const ARGUMENTS: &str = "arguments.json";

fn values(published: String, tool: &ToolRef) -> Json {
    Json::object([
        ("published", Json::from(published)),
        ("server", Json::from(&tool.server)),
        ("tool", Json::from(&tool.tool)),
    ])
}

/// What is wrong with a template of arguments, tried with a tool whose names need escapes.
///
/// # Errors
/// The reason, as a fragment.
pub(super) fn try_arguments(template: &str, raw: Option<(&str, &str)>) -> Result<(), String> {
    let tool = ToolRef { server: "ord\"ers".to_owned(), tool: "look\\up".to_owned() };
    let values = values("mcp__orders__lookup".to_owned(), &tool);
    let values = match raw {
        Some((name, text)) => Values::around(&values, name, text),
        None => Values::new(&values),
    };
    let text = values.render(ARGUMENTS, template).map_err(|error| error.to_string())?;
    match Json::parse(&text) {
        Ok(json) if json.is_object() => Ok(()),
        Ok(_) => Err("gives JSON that is no object".to_owned()),
        Err(error) => Err(format!("gives no JSON: {error}")),
    }
}
