//! Which offered tool is which tool of ours.

use std::collections::HashMap;

use crate::host::names::Names as NameRule;
use crate::plan::{Plan, Published};
use crate::scenario::ast::ToolRef;

use super::types::Offer;

/// By what offers are matched to tools: the word that the engine appended to the description, else the published name
/// that the profile's rule gives.
#[derive(Clone, Debug, Default)]
pub struct Names {
    by_word: HashMap<String, ToolRef>,
    by_rule: HashMap<Published, ToolRef>,
}

impl Names {
    /// The words of all servers, and the names by rule of all tools.
    #[must_use]
    pub fn of(plan: &Plan) -> Self {
        let by_word =
            plan.servers
                .iter()
                .flat_map(|server| {
                    server.words.iter().map(|(tool, word)| {
                        (word.clone(), ToolRef { server: server.key.clone(), tool: tool.clone() })
                    })
                })
                .collect();
        let mut by_rule = HashMap::new();
        // Two tools may have one name by rule: then the first decides, as the name says nothing more.
        for planned in &plan.uses {
            by_rule.entry(planned.by_rule.clone()).or_insert_with(|| planned.tool.clone());
        }
        // A rule that cannot be applied was an error of the plan; without it the words remain.
        if let Ok(rule) = NameRule::new(&plan.profile) {
            let tools = plan.servers.iter().flat_map(|server| {
                server.all_tools().map(|tool| ToolRef { server: server.key.clone(), tool: tool.name.clone() })
            });
            for tool in tools {
                if let Ok(published) = rule.published(&tool) {
                    by_rule.entry(published).or_insert(tool);
                }
            }
        }
        Self { by_word, by_rule }
    }

    /// The tool that is offered, where it is one of ours.
    #[must_use]
    pub fn tool(&self, offer: &Offer) -> Option<&ToolRef> {
        match offer.word() {
            // A word proves what a name can only suggest, also where it proves another tool than the name suggests.
            Some(word) if self.by_word.contains_key(word) => self.by_word.get(word),
            _ => self.by_rule.get(&offer.published),
        }
    }
}

/// The tool behind each offer, where it is one of ours.
#[must_use]
pub fn identify(plan: &Plan, offers: &[Offer]) -> Vec<Option<ToolRef>> {
    let names = Names::of(plan);
    offers.iter().map(|offer| names.tool(offer).cloned()).collect()
}
