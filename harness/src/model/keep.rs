//! What of a model request is ours, and so stays readable when the rest is reduced.

use crate::plan::{Plan, PlannedServer};

use super::script::{CLOSING, SIDE_ANSWER};

/// What stays readable in a reduced request.
#[derive(Clone, Copy, Debug)]
pub struct Keep<'a> {
    /// Words that the engine appended to descriptions; a tool entry with ` [hc:WORD]` in its description is ours.
    pub words: &'a [&'a str],
    /// The run's marker and whole texts of ours. A text that equals one of them stays.
    pub markers: &'a [&'a str],
    /// Registered tool names; a reduced text that contains one, or one of the words, mentions it.
    pub names: &'a [&'a str],
    /// Whether anything is reduced at all.
    pub prompts: Prompts,
}

/// What happens to the product's texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prompts {
    /// They become length and hash.
    Reduce,
    /// The request stays as it is.
    Keep,
}

impl<'a> Keep<'a> {
    /// Whether a description carries one of our words.
    pub(super) fn describes_ours(&self, description: &str) -> bool {
        description.match_indices("[hc:").any(|(at, open)| {
            let rest = &description[at + open.len()..];
            rest.split_once(']').is_some_and(|(word, _)| self.words.contains(&word))
        })
    }

    /// Whether a text is one of ours, as a whole.
    pub(super) fn is_ours(&self, text: &str) -> bool {
        let text = text.trim();
        self.markers.iter().any(|ours| ours.trim() == text)
    }

    /// Our names and words in a text, each once.
    pub(super) fn mentions(&self, text: &str) -> Vec<&'a str> {
        let mut found: Vec<&str> = Vec::new();
        for &ours in self.names.iter().chain(self.words) {
            if !found.contains(&ours) && stands_alone(text, ours) {
                found.push(ours);
            }
        }
        found
    }
}

/// Whether `word` occurs in `text` with no letter or digit beside it, so that `get` is not found in `together`, but
/// `lookup_order` is found in `mcp__orders__lookup_order`.
fn stands_alone(text: &str, word: &str) -> bool {
    !word.is_empty()
        && text.match_indices(word).any(|(at, _)| {
            let before = text[..at].chars().next_back();
            let after = text[at + word.len()..].chars().next();
            !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
        })
}

/// Everything of a plan that stays readable.
#[derive(Clone, Debug)]
pub struct Ours<'p> {
    words: Vec<&'p str>,
    markers: Vec<&'p str>,
    names: Vec<&'p str>,
}

impl<'p> Ours<'p> {
    /// Collects words, registered names, the run's marker, the user's messages and the script's texts.
    #[must_use]
    pub fn of(plan: &'p Plan) -> Self {
        let words = plan.servers.iter().flat_map(|server| &server.words).map(|(_, word)| word.as_str()).collect();
        let mut names: Vec<&str> = plan
            .servers
            .iter()
            .flat_map(PlannedServer::all_tools)
            .map(|tool| tool.name.as_str())
            .chain(plan.uses.iter().map(|planned| planned.tool.tool.as_str()))
            .collect();
        names.sort_unstable();
        names.dedup();
        let sides = plan.profile.model.sides.iter().map(|side| side.answer.as_str());
        let markers = [plan.run_marker.as_str(), CLOSING, SIDE_ANSWER]
            .into_iter()
            .chain(plan.prompts.iter().map(String::as_str))
            .chain(plan.turns.iter().filter_map(|turn| turn.text.as_deref()))
            .chain(sides)
            .filter(|text| !text.is_empty())
            .collect();
        Self { words, markers, names }
    }

    /// The same as a [`Keep`].
    #[must_use]
    pub fn keep(&self, prompts: Prompts) -> Keep<'_> {
        Keep { words: &self.words, markers: &self.markers, names: &self.names, prompts }
    }
}
