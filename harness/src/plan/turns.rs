//! The conversation of a plan: the replies of the model, with the searches that its surface makes necessary.

use super::seed::word;
use super::{PlannedSearch, Turn};
use crate::diagnostic::{Span, Spanned};
use crate::host::names::{NameError, Names};
use crate::host::profile::Profile;
use crate::scenario::ast::{Scenario, ToolRef, Verb};

/// What the model says.
pub(super) struct Conversation {
    pub(super) turns: Vec<Turn>,
    pub(super) searches: Vec<PlannedSearch>,
    /// For each step the turn that comes next. A search is a turn of the step that needs it, and does not count.
    pub(super) next_turns: Vec<usize>,
}

/// The turns of a scenario on the surface of a host.
///
/// On a surface where tools are searched for, a tool is searched for before its first use, and whenever a `list` step
/// says something of it: only a search shows there what the host offers.
pub(super) fn conversation(
    scenario: &Scenario,
    profile: &Profile,
    names: &Names<'_>,
    seed: u64,
) -> Result<Conversation, NameError> {
    let mut writer = Writer { profile, names, seed, prompt: 0, next: 0, turns: Vec::new(), searches: Vec::new() };
    let mut open = true;
    let mut next_turns = Vec::with_capacity(scenario.steps.len());
    for (index, step) in scenario.steps.iter().enumerate() {
        match &step.verb {
            Verb::Uses { uses, .. } => {
                let tools = uses.iter().map(|one| (one.tool.clone(), one.span.clone()));
                writer.search(index, tools.collect(), Known::Skipped)?;
                next_turns.push(writer.turns.len());
                writer.uses(uses.len());
                open = true;
            }
            // Behind a final text nothing can be searched for any more.
            Verb::List { server, offers, hidden, .. } if open => {
                let tool = |name: &Spanned<String>| {
                    (ToolRef { server: server.value.clone(), tool: name.value.clone() }, step.span.clone())
                };
                writer.search(index, offers.iter().chain(hidden).map(tool).collect(), Known::Searched)?;
                next_turns.push(writer.turns.len());
            }
            Verb::Say(text) => {
                next_turns.push(writer.turns.len());
                writer.text(text.value.clone());
                open = false;
            }
            Verb::Prompt(_) => {
                next_turns.push(writer.turns.len());
                if open {
                    writer.closing();
                }
                writer.prompt += 1;
                open = true;
            }
            Verb::Connect { .. } | Verb::List { .. } | Verb::Change(_) | Verb::Stop(_) => {
                next_turns.push(writer.turns.len());
            }
        }
    }
    if open {
        writer.closing();
    }
    Ok(Conversation { turns: writer.turns, searches: writer.searches, next_turns })
}

/// What becomes of tools that were searched for before.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    Skipped,
    Searched,
}

struct Writer<'w> {
    profile: &'w Profile,
    names: &'w Names<'w>,
    seed: u64,
    /// The user message that is answered.
    prompt: usize,
    /// The index of the next use.
    next: usize,
    turns: Vec<Turn>,
    searches: Vec<PlannedSearch>,
}

impl Writer<'_> {
    /// One turn that searches for all the tools, each once; none where the surface has no search.
    fn search(&mut self, step: usize, tools: Vec<(ToolRef, Span)>, known: Known) -> Result<(), NameError> {
        let Some(search) = self.profile.model.surface.search() else { return Ok(()) };
        let first = self.searches.len();
        for (tool, span) in tools {
            let of_turn = &self.searches[if known == Known::Skipped { 0 } else { first }..];
            if of_turn.iter().any(|done| done.tool == tool) {
                continue;
            }
            let input = search.arguments(self.names, &tool)?;
            self.searches.push(PlannedSearch { index: self.searches.len(), step, span, tool, input });
        }
        let searches: Vec<usize> = (first..self.searches.len()).collect();
        if !searches.is_empty() {
            self.turns.push(Turn { prompt: self.prompt, text: None, uses: Vec::new(), searches });
        }
        Ok(())
    }

    fn uses(&mut self, count: usize) {
        let uses = (self.next..self.next + count).collect();
        self.next += count;
        self.turns.push(Turn { prompt: self.prompt, text: None, uses, searches: Vec::new() });
    }

    fn text(&mut self, text: String) {
        self.turns.push(Turn { prompt: self.prompt, text: Some(text), uses: Vec::new(), searches: Vec::new() });
    }

    /// A closing text that carries a word of its own is recognised when the host sends it back as history.
    fn closing(&mut self) {
        self.text(format!("Finished {}.", word(self.seed, &["say", &self.prompt.to_string()], 6)));
    }
}
