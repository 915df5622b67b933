//! Which offered tool is which tool of ours.

use super::Offered;
use crate::host::names::Names as Rule;
use crate::model::{Names, Offer};
use crate::plan::{Plan, Published};
use crate::scenario::ast::ToolRef;

/// Words and names of the plan's tools.
pub(super) struct Offers {
    names: Names,
    /// The name by the profile's rule of every tool, also of those that the script never uses. Hosts may cut long
    /// descriptions, and the word with them.
    by_rule: Vec<(Published, ToolRef)>,
}

impl Offers {
    pub(super) fn new(plan: &Plan) -> Self {
        let rule = Rule::new(&plan.profile).ok();
        let tools = plan.servers.iter().flat_map(|server| {
            let tool = |name: &String| ToolRef { server: server.key.clone(), tool: name.clone() };
            server.script.tools.iter().map(move |entry| tool(&entry.name))
        });
        let published = |tool: ToolRef| Some((rule.as_ref()?.published(&tool).ok()?, tool));
        Self { names: Names::of(plan), by_rule: tools.filter_map(published).collect() }
    }

    /// Our tools among the offered ones, in order.
    pub(super) fn identify(&self, offers: &[Offer]) -> Vec<Offered> {
        let by_rule = |offer: &Offer| {
            let mut named = self.by_rule.iter().filter(|(published, _)| *published == offer.published);
            // Where two tools have one name by rule, the name says nothing.
            match (named.next(), named.next()) {
                (Some((_, tool)), None) => Some(tool),
                _ => None,
            }
        };
        let one = |offer: &Offer| {
            let tool = self.names.tool(offer).or_else(|| by_rule(offer))?;
            Some(Offered { tool: tool.clone(), published: offer.published.clone() })
        };
        offers.iter().filter_map(one).collect()
    }
}
