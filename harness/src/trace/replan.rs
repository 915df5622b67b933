//! From the header of a trace back to its plan: planning is pure, so the texts and coordinates are enough.

use std::sync::Arc;

use super::Header;
use crate::diagnostic::{Diagnostic, Source};
use crate::host;
use crate::plan::{Planned, plan_one};
use crate::scenario::{self, Library};

/// A header whose texts no longer give a plan.
#[derive(Debug, thiserror::Error)]
pub enum ReplanError {
    /// A text in the header does not parse.
    #[error("the {what} in the trace does not parse:\n{}", render(.errors))]
    Text {
        /// Which text.
        what: &'static str,
        /// What is wrong.
        errors: Vec<Diagnostic>,
    },
    /// The scenario text has no such case.
    #[error("the scenario in the trace has no {0}")]
    NoCase(String),
    /// The profile's name rule is broken.
    #[error(transparent)]
    Names(#[from] host::names::NameError),
}

fn render(errors: &[Diagnostic]) -> String {
    errors.iter().map(Diagnostic::render_plain).collect::<Vec<_>>().join("\n\n")
}

/// The scripts that travel with the trace. Requirement ids were checked when it was recorded.
struct Travelling<'a>(&'a Header);

impl Library for Travelling<'_> {
    fn script(&self, name: &str) -> Option<Arc<Source>> {
        self.0.scripts.iter().find(|(known, _)| known == name).map(|(_, source)| Arc::clone(source))
    }

    fn script_names(&self) -> Vec<String> {
        self.0.scripts.iter().map(|(name, _)| name.clone()).collect()
    }

    fn is_requirement(&self, _id: &str) -> bool {
        true
    }

    fn requirement_ids(&self) -> Vec<String> {
        Vec::new()
    }
}

impl Header {
    /// The plan that this trace is a record of.
    ///
    /// # Errors
    /// Texts that this version of hopcheck does not accept.
    pub fn replan(&self) -> Result<Planned, ReplanError> {
        let id = &self.plan.scenario;
        let (area, rest) = id.split_once('/').unwrap_or(("", id));
        let name = rest.split_once('[').map_or(rest, |(name, _)| name);
        let scenarios = scenario::parse(&self.scenario, area, name, &Travelling(self))
            .map_err(|errors| ReplanError::Text { what: "scenario", errors })?;
        let scenario = scenarios
            .into_iter()
            .find(|scenario| scenario.id.to_string() == *id)
            .ok_or_else(|| ReplanError::NoCase(id.clone()))?;
        let profile =
            host::decode::parse(&self.profile, self.plan.variant.as_deref(), self.plan.version.as_deref())
                .map_err(|errors| ReplanError::Text { what: "profile", errors })?;
        Ok(plan_one(&Arc::new(scenario), &Arc::new(profile), self.plan.clone())?)
    }
}
