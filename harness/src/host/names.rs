//! The profile's rule for published names: for rules that are written before launch, and for surfaces that do not show
//! names. A name from an offer always wins over a name from here.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;

use minijinja::value::Value;
use minijinja::{Environment, UndefinedBehavior};
use regex_lite::Regex;

use super::profile::{NameRule, Profile, Surface};
use super::surface::Found;
use crate::scenario::ast::ToolRef;

/// A name rule that cannot be applied.
#[derive(Debug, thiserror::Error)]
pub enum NameError {
    /// The pattern of characters to replace is no pattern.
    #[error("names.replace: {0}")]
    Pattern(#[from] regex_lite::Error),
    /// A template is wrong.
    #[error("names: {0}")]
    Template(#[from] minijinja::Error),
}

/// A name as the model sees it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Published {
    /// The namespace, where the surface has them.
    pub namespace: Option<String>,
    /// The name.
    pub name: String,
}

impl fmt::Display for Published {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "{namespace}.{}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

/// The name rule of a profile, ready to use.
pub struct Names<'a> {
    rule: &'a NameRule,
    surface: &'a Surface,
    replace: Regex,
}

/// It takes longer to make than a name takes to render.
static ENVIRONMENT: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut env = Environment::new();
    env.set_undefined_behavior(UndefinedBehavior::Strict);
    env
});

impl<'a> Names<'a> {
    /// Prepares the rule of a profile.
    ///
    /// # Errors
    /// A pattern or template that does not parse.
    pub fn new(profile: &'a Profile) -> Result<Self, NameError> {
        Ok(Self {
            rule: &profile.names,
            surface: &profile.model.surface,
            replace: Regex::new(&profile.names.replace)?,
        })
    }

    /// A server key or tool name as the host writes it into published names.
    #[must_use]
    pub fn mangle(&self, text: &str) -> String {
        self.replace.replace_all(text, "_").into_owned()
    }

    /// The flat published name.
    ///
    /// # Errors
    /// A template that cannot be rendered.
    pub fn flat(&self, tool: &ToolRef) -> Result<String, NameError> {
        self.render(&self.rule.flat, &tool.server, &tool.tool)
    }

    /// The published name on the profile's surface.
    ///
    /// # Errors
    /// A template that cannot be rendered.
    pub fn published(&self, tool: &ToolRef) -> Result<Published, NameError> {
        let namespaced = match self.surface {
            Surface::Flat => false,
            Surface::Namespace => true,
            Surface::Search(search) => search.found == Found::Namespace,
            Surface::Wrapper(wrapper) => {
                return Ok(Published { namespace: None, name: wrapper.tool.clone() });
            }
        };
        Ok(if namespaced {
            Published {
                namespace: Some(self.render(&self.rule.namespace, &tool.server, &tool.tool)?),
                name: self.mangle(&tool.tool),
            }
        } else {
            Published { namespace: None, name: self.flat(tool)? }
        })
    }

    fn render(&self, template: &str, server: &str, tool: &str) -> Result<String, NameError> {
        let values = BTreeMap::from([("server", self.mangle(server)), ("tool", self.mangle(tool))]);
        Ok(ENVIRONMENT.render_str(template, Value::from(values))?)
    }
}
