//! What a server does: the acts that the wire carries out, and the work that they come from.

use std::collections::VecDeque;

use super::subscription::Subscription;
use crate::json::Json;

/// One thing for the wire to do, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// Writes one message; the wire frames it (on stdio with a newline).
    Send {
        /// The message, without its end.
        line: Vec<u8>,
        /// What it answers.
        cause: Cause,
    },
    /// Writes these bytes as they are, with no frame.
    Raw(Vec<u8>),
    /// Writes to standard error.
    Stderr(Vec<u8>),
    /// Ends the process with this code. Nothing follows on the connection.
    Exit(i32),
    /// Ends the process by this signal, named like `SIGKILL`. Nothing follows on the connection.
    Kill(String),
    /// Closes standard output and goes on. No `Send` or `Raw` follows on the connection.
    CloseStdout,
    /// Asks for [`super::Server::timer`] with this token after a while; the rest of the acts comes from there.
    Timer {
        /// What to give back.
        token: u64,
        /// Milliseconds.
        after_ms: u32,
    },
}

/// What a message answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It is the response to this request of the host (or claims to be: a script can send another id).
    Request {
        /// The id that the host gave.
        id: Json,
    },
    /// It answers no request that could be named: a notification, a request of the server, a batch.
    Other,
}

/// Work that is decided but not yet done. What depends on the state at the moment of doing (who listens, what is held)
/// is looked up only then, since a delay may lie between.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Work {
    /// Bytes, standard error, the end of the process.
    Do(Act),
    /// A response to the request `to`.
    Answer { to: Json, message: Json },
    /// An error about a message whose id cannot be used.
    Complain { message: Json },
    /// A notification; on a modern server a change notification goes to those who listen.
    Notify { method: String, params: Option<Json> },
    /// A request of the server.
    Ask { method: String, params: Option<Json> },
    /// Opens a subscription and acknowledges it.
    Listen(Subscription),
    /// Forgets the subscription that this request opened.
    Unlisten { id: Json },
    /// Keeps work until the name is released.
    Hold { name: String, to: Json, work: VecDeque<Work> },
    /// Lets go what is held under the name.
    Release(String),
    /// The rest waits for so many milliseconds.
    Wait(u32),
    /// Work with waits of its own, beside the rest.
    Apart(VecDeque<Work>),
}

impl Work {
    /// Whether this ends the process or its output, so that nothing can be written afterwards.
    pub(super) const fn ends_output(&self) -> bool {
        matches!(self, Self::Do(Act::Exit(_) | Act::Kill(_) | Act::CloseStdout))
    }

    /// Whether this belongs to the response to `id`.
    pub(super) fn answers(&self, id: &Json) -> bool {
        match self {
            Self::Answer { to, .. } | Self::Hold { to, .. } => crate::rpc::same_id(to, id),
            Self::Listen(subscription) => crate::rpc::same_id(&subscription.id, id),
            _ => false,
        }
    }
}
