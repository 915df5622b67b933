//! What happens while a run is going on, beside the model's replies.

use super::ast::CountRange;
use crate::diagnostic::{Span, Spanned};
use crate::server::edit::Edit;

/// The quiet time where none is declared, in milliseconds: how long the harness waits for what may never come. A host
/// that does the thing ends the wait, so only those pay for it that do not.
pub const SETTLE: u32 = 500;

/// One thing that the harness does while tool uses are in flight.
#[derive(Clone, Debug, PartialEq)]
pub struct During {
    /// The place of its key.
    pub span: Span,
    /// What is done.
    pub deed: Deed,
}

impl During {
    /// The change of a server, where it is one.
    #[must_use]
    pub const fn change(&self) -> Option<&Change> {
        match &self.deed {
            Deed::Change(change) => Some(change),
            Deed::Interrupt | Deed::Expect(..) | Deed::Release(_) => None,
        }
    }
}

/// What the harness does while tool uses are in flight.
#[derive(Clone, Debug, PartialEq)]
pub enum Deed {
    /// The user interrupts, in the way of the drive.
    Interrupt,
    /// Something is waited for, at most so many milliseconds, and must come.
    Expect(Expected, u32),
    /// Held replies go.
    Release(Release),
    /// The tools of a server change.
    Change(Change),
}

/// What can be waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// `notifications/cancelled` for every call that is in flight.
    Cancelled,
}

/// Held replies that go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Release {
    /// The name under which rules of servers hold them.
    pub hold: Spanned<String>,
    /// In which order.
    pub order: Order,
}

/// An order of replies, by the arrival of their calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// First come, first served.
    Forward,
    /// The last first.
    Reverse,
}

impl Order {
    /// All, with their words in files and traces.
    pub const ALL: [(&str, Self); 2] = [("forward", Self::Forward), ("reverse", Self::Reverse)];

    /// Its word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Forward => "forward",
            Self::Reverse => "reverse",
        }
    }
}

/// What is recorded of tool uses in one turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Record {
    /// The largest number of calls in flight at once.
    Overlap,
}

/// The tools of a server change from outside.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The server.
    pub server: Spanned<String>,
    /// What changes.
    pub edit: Edit,
    /// How many notifications say so.
    pub announce: u32,
    /// The longest quiet time while the harness waits for the list to be asked for again, in milliseconds.
    pub settle: u32,
    /// How often the list is asked for again, where it is asserted.
    pub refreshes: Option<Spanned<CountRange>>,
}
