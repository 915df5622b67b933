//! The prompt is an argument; standard input is empty.

use super::{Act, Drive, Heard, Reaction, Stdin};
use crate::plan::Plan;

/// A host that is told everything when it starts.
#[derive(Clone, Debug)]
pub struct Headless {
    prompt: String,
}

impl Headless {
    /// For the first prompt of the plan.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        Self { prompt: plan.prompts.first().cloned().unwrap_or_default() }
    }
}

impl Drive for Headless {
    fn start(&mut self) -> Vec<Act> {
        vec![Act::Prompt { text: self.prompt.clone(), bytes: Vec::new() }]
    }

    fn line(&mut self, _line: &[u8]) -> Reaction {
        Reaction { heard: Heard::Output, acts: Vec::new() }
    }

    fn stdin(&self) -> Stdin {
        Stdin::Null
    }
}
