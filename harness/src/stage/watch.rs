//! One poll over all that a host run waits for.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// Which sources are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Those that polled as readable.
    Ready,
    /// All, since something that was read now may have been written after what they hold.
    All,
}

/// Descriptors in a fixed order. Whoever adds some takes as many answers from [`Marks`], in the same order.
#[derive(Default)]
pub(super) struct Watched<'f>(Vec<PollFd<'f>>);

impl<'f> Watched<'f> {
    pub(super) fn input(&mut self, fd: &'f impl AsFd) {
        self.0.push(PollFd::new(fd, PollFlags::IN));
    }

    /// Room to write wakes the loop; there is no mark for it, since all sinks are pumped each turn.
    pub(super) fn wait(mut self, outputs: Vec<BorrowedFd<'f>>, until: Option<Instant>) -> io::Result<Marks> {
        let inputs = self.0.len();
        self.0.extend(outputs.into_iter().map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::OUT)));
        let timeout = until.map(|until| timespec(until.saturating_duration_since(Instant::now())));
        match poll(&mut self.0, timeout.as_ref()) {
            Ok(_) => {}
            Err(Errno::INTR) => self.0.iter_mut().for_each(PollFd::clear_revents),
            Err(error) => return Err(error.into()),
        }
        let marks: Vec<bool> = self.0[..inputs].iter().map(|fd| !fd.revents().is_empty()).collect();
        Ok(Marks(marks.into_iter()))
    }
}

/// Which descriptors are readable, or at their end.
pub(super) struct Marks(std::vec::IntoIter<bool>);

impl Marks {
    pub(super) fn next(&mut self) -> bool {
        self.0.next().unwrap_or(false)
    }
}

/// What came of an `accept` that does not wait. Whoever gave up meanwhile was never there.
pub(super) fn accepted<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    use io::ErrorKind::{ConnectionAborted, Interrupted, WouldBlock};
    match result {
        Ok(connection) => Ok(Some(connection)),
        Err(error) if matches!(error.kind(), WouldBlock | Interrupted | ConnectionAborted) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Waits until a descriptor is ready or the time has come; says how many are.
pub(super) fn poll_until(fds: &mut [PollFd<'_>], until: Option<Instant>) -> io::Result<usize> {
    loop {
        let timeout = until.map(|until| timespec(until.saturating_duration_since(Instant::now())));
        match poll(fds, timeout.as_ref()) {
            Err(Errno::INTR) => {}
            other => return Ok(other?),
        }
    }
}

/// A poll that ends too early would spin, so fractions of a millisecond are not cut.
fn timespec(duration: Duration) -> Timespec {
    Timespec { tv_sec: duration.as_secs().try_into().unwrap_or(i64::MAX), tv_nsec: duration.subsec_nanos().into() }
}
