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
        let (scenario, profile) = (Arc::new(scenario), Arc::new(profile));
        // What did not apply has no record. The reason may lie in the choice of revisions, which the coordinates do not tell.
        if let Some(reason) = self.not_applicable.clone() {
            return Ok(Planned::NotApplicable { key: self.plan.clone(), scenario, profile, reason });
        }
        Ok(plan_one(&scenario, &profile, self.plan.clone())?)
    }
}

#[cfg(test)]
mod tests {
    use crate::json::Json;
    use crate::library;
    use crate::plan::{PlanKey, Planned};
    use crate::revision::{Revision, Transport};
    use crate::trace::Header;

    /// A host that lacks the revision has no record of it, though the coordinates alone could be planned.
    #[test]
    fn what_did_not_apply_does_not_apply_when_read_again() {
        let scenario =
            library::scenarios().iter().find(|source| source.name == "scenarios/connect/no-handshake.toml");
        let (_, profile) = library::profiles().iter().find(|(name, _)| name == "reference").unwrap();
        let script = |name: &str| {
            let source = library::scripts().iter().find(|(known, _)| known == name).unwrap().1.clone();
            (name.to_owned(), source)
        };
        let header = Header {
            hopcheck: "0.0.0".to_owned(),
            plan: PlanKey {
                scenario: "connect/no-handshake".to_owned(),
                host: "reference".to_owned(),
                variant: None,
                version: None,
                revision: Revision::V2026_07_28,
                transport: Transport::Stdio,
                seed: 7,
            },
            not_applicable: Some("the host has no such revision".to_owned()),
            scenario: scenario.unwrap().clone(),
            scripts: vec![script("orders")],
            profile: profile.clone(),
            host_version: "0.0.0".to_owned(),
            environment: Json::Null,
        };
        match header.replan().unwrap() {
            Planned::NotApplicable { reason, .. } => assert_eq!(reason, "the host has no such revision"),
            Planned::Run(_) => panic!("planned, though it did not apply"),
        }
    }
}
