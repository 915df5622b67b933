//! Which offered tool is which tool of ours.

use std::collections::HashMap;

use crate::host::names::Names as NameRule;
use crate::plan::{Plan, Published};
use crate::scenario::ast::ToolRef;

use super::types::{Item, Offer, Request, words};

/// By what offers are matched to tools: the word that the engine appended to the description, else the published name
/// that the profile's rule gives.
#[derive(Clone, Debug, Default)]
pub struct Names {
    by_word: HashMap<String, ToolRef>,
    by_rule: HashMap<Published, ToolRef>,
    /// The tool of the host that calls all others, where the surface is that.
    wrapper: Option<Published>,
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
        let wrapper = plan.profile.model.surface.wrapper();
        if let Some(wrapper) = wrapper {
            // One name for all tools says nothing of any.
            let wrapper = Some(Published { namespace: None, name: wrapper.tool.clone() });
            return Self { by_word, by_rule: HashMap::new(), wrapper };
        }
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
        Self { by_word, by_rule, wrapper: None }
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

    /// Our tools among the offers of a request, in order, each with the place of its entry where it has one.
    ///
    /// What a search found is offered as long as its result stands in the conversation, and once, however often it was
    /// found. Under a tool that calls all others, a tool is offered where the description of that tool, or the result of a
    /// search, says what the server says of it: nothing else could tell the model that it is there.
    #[must_use]
    pub fn offered(&self, request: &Request) -> Vec<(ToolRef, Option<usize>)> {
        let offers = &request.offers;
        match &self.wrapper {
            Some(wrapper) => {
                let Some(wrapper) = offers.iter().find(|offer| offer.published == *wrapper) else {
                    return Vec::new();
                };
                let results = request.items.iter().filter_map(|item| match item {
                    Item::ToolResult(result) => Some(result.text()),
                    _ => None,
                });
                let described = wrapper.description.clone().unwrap_or_default();
                self.named(std::iter::once(described).chain(results))
            }
            None => self.entered(offers),
        }
    }

    /// The tools whose words stand in texts, each once.
    fn named(&self, texts: impl Iterator<Item = String>) -> Vec<(ToolRef, Option<usize>)> {
        let mut named: Vec<(ToolRef, Option<usize>)> = Vec::new();
        for text in texts {
            for tool in words(&text).filter_map(|word| self.by_word.get(word)) {
                if !named.iter().any(|(known, _)| known == tool) {
                    named.push((tool.clone(), None));
                }
            }
        }
        named
    }

    fn entered(&self, offers: &[Offer]) -> Vec<(ToolRef, Option<usize>)> {
        let mut entered: Vec<(ToolRef, Option<usize>)> = Vec::new();
        for (at, offer) in offers.iter().enumerate() {
            let Some(tool) = self.tool(offer) else { continue };
            let same = |at: Option<usize>| at.is_some_and(|at| offers[at].published == offer.published);
            let known = entered.iter_mut().find(|(known, at)| known == tool && same(*at));
            match known {
                // The last search has the last word on what the tool is.
                Some((_, place)) if offer.found.is_some() => *place = Some(at),
                _ => entered.push((tool.clone(), Some(at))),
            }
        }
        entered
    }
}
