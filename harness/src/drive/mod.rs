//! How a host is started and talked to: state machines that say what to write and what was heard. No input or output.

mod claude_control;
mod headless;

pub use claude_control::ClaudeControl;
pub use headless::Headless;

use crate::host::profile::DriveKind;
use crate::json::Json;
use crate::model::Role;
use crate::plan::Plan;

/// What a line of the host's standard output was, and what follows from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reaction {
    /// What was heard.
    pub heard: Heard,
    /// What is done, in order.
    pub acts: Vec<Act>,
}

/// What a line was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Heard {
    /// Output.
    Output,
    /// A question to the user.
    Question {
        /// The use that it is about, as an index into the plan's uses.
        about: Option<usize>,
        /// The data of the event.
        data: Json,
    },
}

/// What a drive does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// Gives the user's message to the host.
    Prompt {
        /// The message.
        text: String,
        /// Bytes for the host's standard input; none where the message is an argument.
        bytes: Vec<u8>,
    },
    /// Answers the question that was heard.
    Answer {
        /// The word for the trace.
        answer: &'static str,
        /// The answer in the channel's own form, with its line feed.
        bytes: Vec<u8>,
    },
    /// The conversation is over: the host is to end, in the way that the plan says.
    Finish,
}

/// A way to talk to a host.
pub trait Drive {
    /// The host was started.
    fn start(&mut self) -> Vec<Act>;

    /// The host wrote a line to its standard output.
    fn line(&mut self, line: &[u8]) -> Reaction;

    /// The user interrupts: what is said to the host, with its line feed. Nothing where the drive has no word for it.
    fn interrupt(&mut self) -> Option<Vec<u8>> {
        None
    }

    /// What the host's standard input is.
    fn stdin(&self) -> Stdin;
}

/// What the host's standard input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stdin {
    /// Empty.
    Null,
    /// A pipe to the drive.
    Pipe,
}

/// The drive of a host run; `run` is its number inside the trace.
#[must_use]
pub fn drive(plan: &Plan, run: u32, role: Role) -> Box<dyn Drive> {
    match plan.profile.drives.get(plan.drive).map(|drive| drive.kind) {
        Some(DriveKind::ClaudeControl) => Box::new(ClaudeControl::new(plan, run, role)),
        Some(DriveKind::Headless) | None => Box::new(Headless::new(plan)),
    }
}
