//! Server-sent events.

use std::fmt::Write as _;

use crate::json::Json;

/// A body of server-sent events in the making.
#[derive(Default)]
pub(super) struct Events(String);

impl Events {
    /// Adds an event that is named by the `type` of its data, as both APIs do.
    pub(super) fn push(&mut self, data: &Json) {
        let name = data.str("type").unwrap_or("message");
        // Writing to a string cannot fail.
        let _ = write!(self.0, "event: {name}\ndata: {data}\n\n");
    }

    /// The body.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0.into_bytes()
    }
}

/// A text in two pieces, so that a host must join them; in one where it is a single character, and in none where it is
/// empty.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let half = text.len().div_ceil(2);
    let middle = text.char_indices().map(|(at, _)| at).find(|at| *at >= half).unwrap_or(text.len());
    let (head, tail) = text.split_at(middle);
    [head, tail].into_iter().filter(|piece| !piece.is_empty())
}
