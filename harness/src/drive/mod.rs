//! How a host is started and talked to: state machines that say what to write and what was heard. No input or output.

mod claude_control;
mod driver;
mod headless;

pub use claude_control::ClaudeControl;
pub use driver::Driver;
pub use headless::Headless;

use crate::driver::Setup;
use crate::host::profile::DriveKind;
use crate::json::Json;
use crate::model::{self, Role};
use crate::plan::Plan;
use crate::scenario::ast::{Answer, UseKind};

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
    /// The host came to the point where a model is asked, and asks none: this is the request that hopcheck makes of what
    /// the host offered and returned. [`Drive::reply`] hears of the answer.
    Request(Json),
    /// A message of the drive's protocol that is no event of its own.
    Protocol,
    /// What stands between hopcheck and the host is broken; why, as a fragment that follows "the driver is broken: ". This
    /// says nothing about the host.
    Broken(String),
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
    /// Tells the host to do something that is no event of its own.
    Command {
        /// The command, with its line feed.
        bytes: Vec<u8>,
    },
    /// Tells the host that the conversation is over, where it must be told.
    Stop {
        /// The command, with its line feed.
        bytes: Vec<u8>,
    },
    /// The conversation is over: the host is to end, in the way that the plan says.
    Finish,
}

/// What follows from a reply of the model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Onward {
    /// The tool uses of the reply as the host is told them; none where there are none, or where the host reads the reply
    /// itself.
    pub uses: Vec<u8>,
    /// What is done after that, in order.
    pub acts: Vec<Act>,
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

    /// The model answered a request that came as [`Heard::Request`].
    fn reply(&mut self, _answer: &model::Answer) -> Onward {
        Onward::default()
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

/// The drive of a host run; `run` is its number inside the trace, and `setup` is what a host is given that reads no files.
#[must_use]
pub fn drive(plan: &Plan, run: u32, role: Role, setup: Setup) -> Box<dyn Drive> {
    match plan.profile.drives.get(plan.drive).map(|drive| drive.kind) {
        Some(DriveKind::Driver | DriveKind::InProcess) => Box::new(Driver::new(plan, role, setup)),
        Some(DriveKind::ClaudeControl) => Box::new(ClaudeControl::new(plan, run, role)),
        Some(DriveKind::Headless) | None => Box::new(Headless::new(plan)),
    }
}

/// The answer to a question about a use, also to a question that should not be: so the run goes on as the plan has it.
const fn planned_answer(kind: &UseKind, role: Role) -> Answer {
    match (kind, role) {
        (UseKind::Ask { answer }, _) => *answer,
        (UseKind::Call, _) | (UseKind::Deny { .. }, Role::Twin) => Answer::Allow,
        (UseKind::Deny { .. }, _) => Answer::Deny,
    }
}
