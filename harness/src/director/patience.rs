//! Quiet times.

use std::time::{Duration, Instant};

/// How often a quiet time that ends on a busy machine begins anew: nothing was heard of a host that had no time to speak.
const SECOND_CHANCES: u8 = 3;

/// Whether the machine has time for everybody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Load {
    /// More processes want to run than there are cores.
    Busy,
    /// Everybody runs who wants to.
    Calm,
}

/// A quiet time that is running.
#[derive(Clone, Debug)]
pub(super) struct Patience {
    settle: u32,
    since: Instant,
    chances: u8,
}

impl Patience {
    /// A quiet time of so many milliseconds that begins now.
    pub(super) const fn new(now: Instant, settle: u32) -> Self {
        Self { settle, since: now, chances: SECOND_CHANCES }
    }

    /// How long it is, in milliseconds.
    pub(super) const fn settle(&self) -> u32 {
        self.settle
    }

    /// When it ends.
    pub(super) fn end(&self) -> Instant {
        self.since + Duration::from_millis(self.settle.into())
    }

    /// It was not quiet.
    pub(super) const fn renew(&mut self, now: Instant) {
        self.since = now;
    }

    /// Whether it is over. On a busy machine it begins anew a few times.
    pub(super) fn is_over(&mut self, now: Instant, load: impl Fn() -> Load) -> bool {
        if now < self.end() {
            return false;
        }
        if self.chances > 0 && load() == Load::Busy {
            self.chances -= 1;
            self.renew(now);
            return false;
        }
        true
    }
}
