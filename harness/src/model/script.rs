//! Which turn is next: a pure function of what a request carries of ours, never of a counter.

use std::collections::HashMap;

use crate::host::profile::MainLine;
use crate::plan::{Plan, Turn};

use super::types::{Item, Request};

/// What a main-line request is answered when the script has nothing more to say.
pub const CLOSING: &str = "done";

/// What a side request is answered that no rule of the profile names.
pub const SIDE_ANSWER: &str = "ok";

/// Where in the script a main-line request stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Position {
    /// The turn to give; `None` where the script has no more for this user message.
    pub(super) turn: Option<usize>,
    /// The user message that is answered.
    pub(super) prompt: usize,
}

/// The script of one host run.
#[derive(Clone, Debug)]
pub(super) struct Script {
    marker: String,
    main_line: MainLine,
    prompts: Vec<String>,
    turns: Vec<Turn>,
    /// The turn of each id of this run, of tool uses and of searches.
    ids: HashMap<String, usize>,
}

impl Script {
    /// The script of a run in which the use, or search, of each index has the given id.
    pub(super) fn new(plan: &Plan, uses: &[String], searches: &[String]) -> Self {
        let turns = plan.turns.clone();
        let ids = turns
            .iter()
            .enumerate()
            .flat_map(|(at, turn)| {
                let uses = turn.uses.iter().map(|index| uses.get(*index));
                let searches = turn.searches.iter().map(|index| searches.get(*index));
                uses.chain(searches).flatten().map(move |id| (id.clone(), at))
            })
            .collect();
        let main_line = plan.profile.model.main_line;
        Self { marker: plan.run_marker.clone(), main_line, prompts: plan.prompts.clone(), turns, ids }
    }

    /// The turn of that index.
    pub(super) fn turn(&self, at: usize) -> Option<&Turn> {
        self.turns.get(at)
    }

    /// The position of a main-line request; `None` for a side request.
    ///
    /// The main line carries the run's marker and an id that we issued. Without an id it carries the profile's sign of
    /// the main line, and its assistant turns, where there are any, hold a text of ours.
    pub(super) fn read(&self, request: &Request) -> Option<Position> {
        let mut reading = Reading::default();
        for item in &request.items {
            match item {
                Item::ToolUse { id, .. } => {
                    reading.assistant = true;
                    self.read_id(id, &mut reading);
                }
                Item::ToolResult(result) => self.read_id(&result.id, &mut reading),
                Item::Text { role, text } if role == "assistant" => {
                    reading.assistant = true;
                    reading.answered = true;
                    if let Some(text) = text {
                        self.read_said(text, &mut reading);
                    }
                }
                Item::Text { role, text: Some(text) } if text.contains(&self.marker) => {
                    reading.marker = true;
                    if role == "user" {
                        self.read_prompt(text, &mut reading);
                    }
                }
                Item::Text { .. } | Item::Other(_) => {}
            }
        }
        let sign = match self.main_line {
            MainLine::Tools => !request.offers.is_empty(),
            MainLine::Marker => true,
        };
        let main = reading.marker && (reading.issued || sign && (reading.said || !reading.assistant));
        main.then(|| self.position(&reading))
    }

    fn position(&self, reading: &Reading) -> Position {
        let prompt = reading.prompts.saturating_sub(1);
        let turn = self.turns.get(reading.next).filter(|turn| turn.prompt <= prompt).map(|_| reading.next);
        Position { turn, prompt }
    }

    /// A tool use that comes back shows that its turn was taken up, with or without its result: a host that lost the
    /// result of one of several uses goes on, and is told so by the judge, instead of being asked to call again.
    fn read_id(&self, id: &str, reading: &mut Reading) {
        if let Some(turn) = self.ids.get(id) {
            reading.issued = true;
            reading.answered = true;
            reading.next = reading.next.max(turn + 1);
        }
    }

    /// A text that comes back shows that its turn was taken up, where the turn is nothing but text.
    fn read_said(&self, text: &str, reading: &mut Reading) {
        let last = reading.prompts.saturating_sub(1);
        let open = self.turns.iter().enumerate().skip(reading.next).take_while(|(_, turn)| turn.prompt <= last);
        for (at, turn) in open {
            if turn.text.as_deref().unwrap_or(CLOSING).trim() == text.trim() {
                reading.said = true;
                if turn.is_text() {
                    reading.next = at + 1;
                }
                return;
            }
        }
    }

    /// The next user message closes everything before it. A message that repeats an earlier one, as reminders do, is not
    /// the next one unless the script says the same thing twice and something was answered in between.
    fn read_prompt(&self, text: &str, reading: &mut Reading) {
        let seen = reading.prompts;
        let is_next = match self.prompts.get(seen) {
            None => seen == 0,
            Some(_) if seen == 0 => true,
            Some(next) => {
                let repeats = self.prompts[..seen].iter().any(|prompt| text.contains(prompt.as_str()));
                if text.contains(next.as_str()) {
                    reading.answered || !repeats
                } else {
                    reading.answered && !repeats
                }
            }
        };
        if is_next {
            reading.prompts += 1;
            reading.answered = false;
            let first = self.turns.iter().position(|turn| turn.prompt >= seen).unwrap_or(self.turns.len());
            reading.next = reading.next.max(first);
        }
    }
}

/// What was found so far.
#[derive(Default)]
struct Reading {
    /// The run's marker was there.
    marker: bool,
    /// An id of ours was there.
    issued: bool,
    /// A text of ours was there as an assistant turn.
    said: bool,
    /// Any assistant turn was there.
    assistant: bool,
    /// Something of the model came after the last user message.
    answered: bool,
    /// User messages of ours.
    prompts: usize,
    /// The first turn that was not taken up.
    next: usize,
}
