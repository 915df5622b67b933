//! Deadlines per phase of a host run. A host that hangs is a finding; hopcheck itself never hangs.

use std::time::{Duration, Instant};

use crate::director::Load;

/// A phase of a host run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// From the start of the host to its first model request.
    Start,
    /// From one sign of progress to the next: an event of the wire, model or user lane.
    Progress,
    /// From the end of the conversation to the exit of the host.
    Shutdown,
    /// From the exit of the host to the end of all its processes.
    Sweep,
    /// From the start of the host to its end, whatever progress it makes.
    Whole,
}

impl Phase {
    /// Its word in a trace.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Progress => "progress",
            Self::Shutdown => "shutdown",
            Self::Sweep => "sweep",
            Self::Whole => "whole",
        }
    }
}

/// How long each phase may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadlines {
    /// For [`Phase::Start`].
    pub start: Option<Duration>,
    /// For [`Phase::Progress`].
    pub progress: Option<Duration>,
    /// For [`Phase::Shutdown`].
    pub shutdown: Option<Duration>,
    /// For [`Phase::Whole`].
    pub whole: Option<Duration>,
}

impl Default for Deadlines {
    /// A product on Node with a cold cache starts in seconds, and waits up to 30 s for its servers by itself; a call
    /// that a host gives up on by its own limit must still be seen; a host may kill servers that hang before it exits.
    fn default() -> Self {
        Self {
            start: Some(Duration::from_secs(30)),
            progress: Some(Duration::from_secs(20)),
            shutdown: Some(Duration::from_secs(10)),
            // A conversation takes seconds. A host that goes in circles makes progress for ever.
            whole: Some(Duration::from_secs(300)),
        }
    }
}

impl Deadlines {
    /// None, for debugging by hand.
    pub const OFF: Self = Self { start: None, progress: None, shutdown: None, whole: None };

    /// The sweep has a limit of its own, which no user changes: the supervisor kills after two seconds, so only a
    /// process that the kernel cannot end takes longer.
    const fn of(&self, phase: Phase) -> Option<Duration> {
        match phase {
            Phase::Start => self.start,
            Phase::Progress => self.progress,
            Phase::Shutdown => self.shutdown,
            Phase::Sweep => Some(Duration::from_secs(15)),
            Phase::Whole => self.whole,
        }
    }
}

/// What an expired deadline means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expired {
    /// The machine was busy: the phase got the same time once more.
    Extended(Phase, Duration),
    /// The phase is over.
    Over(Phase, Duration),
}

/// The deadline that is running.
#[derive(Debug)]
pub(super) struct Watch {
    deadlines: Deadlines,
    phase: Phase,
    began: Instant,
    since: Instant,
    extended: bool,
}

impl Watch {
    pub(super) fn new(deadlines: Deadlines) -> Self {
        let now = Instant::now();
        Self { deadlines, phase: Phase::Start, began: now, since: now, extended: false }
    }

    pub(super) const fn phase(&self) -> Phase {
        self.phase
    }

    /// A phase begins.
    pub(super) fn enter(&mut self, phase: Phase) {
        self.phase = phase;
        self.since = Instant::now();
        self.extended = false;
    }

    /// Something happened that counts as progress.
    pub(super) fn progress(&mut self) {
        if self.phase == Phase::Progress {
            self.enter(Phase::Progress);
        }
    }

    fn limit(&self) -> Option<Duration> {
        let limit = self.deadlines.of(self.phase)?;
        Some(if self.extended { limit * 2 } else { limit })
    }

    /// When the whole run is over. Once the host has ended, only the sweep counts.
    fn end(&self) -> Option<Instant> {
        self.deadlines.of(Phase::Whole).filter(|_| self.phase != Phase::Sweep).map(|limit| self.began + limit)
    }

    /// When it expires.
    pub(super) fn at(&self) -> Option<Instant> {
        let phase = self.limit().map(|limit| self.since + limit);
        [phase, self.end()].into_iter().flatten().min()
    }

    /// Whether it has expired, and what follows.
    pub(super) fn check(&mut self) -> Option<Expired> {
        if self.at()? > Instant::now() {
            return None;
        }
        if self.end().is_some_and(|end| end <= Instant::now()) {
            return Some(Expired::Over(Phase::Whole, self.deadlines.of(Phase::Whole)?));
        }
        let limit = self.deadlines.of(self.phase)?;
        if !self.extended && busy() {
            self.extended = true;
            return Some(Expired::Extended(self.phase, limit));
        }
        Some(Expired::Over(self.phase, self.limit()?))
    }
}

/// Whether the machine has time for everybody.
pub(super) fn load() -> Load {
    if busy() { Load::Busy } else { Load::Calm }
}

/// Whether more processes want to run than there are cores. On systems without `/proc/loadavg` nobody knows.
fn busy() -> bool {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let running = text.split(' ').nth(3).and_then(|field| field.split('/').next()?.parse::<usize>().ok());
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    running.is_some_and(|running| running > cores)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_counts_only_where_it_is_waited_for() {
        let mut watch = Watch::new(Deadlines { progress: None, whole: None, ..Deadlines::default() });
        let start = watch.at();
        assert!(start.is_some());
        watch.progress();
        assert_eq!(watch.at(), start);
        watch.enter(Phase::Progress);
        assert_eq!(watch.at(), None);
        assert_eq!(watch.check(), None);
    }

    #[test]
    fn a_host_that_goes_in_circles_comes_to_an_end() {
        let mut watch = Watch::new(Deadlines { whole: Some(Duration::ZERO), ..Deadlines::default() });
        watch.enter(Phase::Progress);
        watch.progress();
        assert_eq!(watch.check(), Some(Expired::Over(Phase::Whole, Duration::ZERO)));
        watch.enter(Phase::Sweep);
        assert_eq!(watch.check(), None);
    }

    #[test]
    fn an_expired_deadline_is_extended_at_most_once() {
        let mut watch = Watch::new(Deadlines { start: Some(Duration::ZERO), ..Deadlines::default() });
        let first = watch.check().unwrap();
        let last = if matches!(first, Expired::Extended(..)) { watch.check().unwrap() } else { first };
        assert!(matches!(last, Expired::Over(Phase::Start, _)), "{last:?}");
    }
}
