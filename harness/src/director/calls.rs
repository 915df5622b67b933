//! The calls of one turn, from their arrival to their answer.

use crate::json::Json;
use crate::rpc::same_id;
use crate::scenario::ast::Order;

/// A `tools/call` on its way.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CallKey {
    /// The server.
    pub(crate) server: String,
    /// The connection.
    pub(crate) conn: u32,
    /// The id of the request.
    pub(crate) id: Json,
}

impl Eq for CallKey {}

/// Whether a call came after the replies of its step had been let go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Late {
    Yes,
    No,
}

#[derive(Clone, Debug)]
struct Call {
    key: CallKey,
    /// The event of its request.
    event: u32,
    late: Late,
    answered: bool,
    cancelled: bool,
}

/// The calls of a turn, in the order of their arrival.
#[derive(Clone, Debug, Default)]
pub(super) struct Calls(Vec<Call>);

impl Calls {
    /// The next turn begins.
    pub(super) fn forget(&mut self) {
        self.0.clear();
    }

    pub(super) fn add(&mut self, key: CallKey, event: u32, late: Late) {
        self.0.push(Call { key, event, late, answered: false, cancelled: false });
    }

    /// How many there were.
    pub(super) fn arrived(&self) -> usize {
        self.0.len()
    }

    /// Those that wait for their answers, in the given order.
    pub(super) fn open(&self, order: Order) -> Vec<CallKey> {
        let mut open: Vec<CallKey> =
            self.0.iter().filter(|call| !call.answered).map(|call| call.key.clone()).collect();
        if order == Order::Reverse {
            open.reverse();
        }
        open
    }

    /// Those that came late and were not taken yet; nothing where there are none.
    pub(super) fn take_late(&mut self) -> Option<Vec<CallKey>> {
        let take = |call: &mut Call| {
            let was_late = std::mem::replace(&mut call.late, Late::No) == Late::Yes;
            (was_late && !call.answered).then(|| call.key.clone())
        };
        let late: Vec<CallKey> = self.0.iter_mut().filter_map(take).collect();
        (!late.is_empty()).then_some(late)
    }

    /// The request of this event was answered.
    pub(super) fn answer(&mut self, event: u32) {
        self.0.iter_mut().filter(|call| call.event == event).for_each(|call| call.answered = true);
    }

    pub(super) fn cancel(&mut self, server: &str, conn: u32, id: &Json) {
        let is_it =
            |call: &&mut Call| call.key.server == server && call.key.conn == conn && same_id(&call.key.id, id);
        self.0.iter_mut().filter(is_it).for_each(|call| call.cancelled = true);
    }

    /// Whether all of these are cancelled.
    pub(super) fn all_cancelled(&self, keys: &[CallKey]) -> bool {
        keys.iter().all(|key| self.0.iter().any(|call| call.key == *key && call.cancelled))
    }
}
