//! Ctrl-C: a running stage sees it, ends its processes and leaves a readable trace.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Signal;

/// Readable for ever once the user interrupted: nobody takes the byte out, so every running stage sees it.
#[derive(Debug)]
pub struct Interrupter {
    pipe: OwnedFd,
}

impl Interrupter {
    /// Whether the user interrupted.
    #[must_use]
    pub fn interrupted(&self) -> bool {
        let mut fds = [PollFd::new(&self.pipe, PollFlags::IN)];
        matches!(poll(&mut fds, Some(&Timespec::default())), Ok(ready) if ready > 0)
    }
}

impl AsFd for Interrupter {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }
}

static INTERRUPTER: OnceLock<Interrupter> = OnceLock::new();

/// The exit code of an invocation that was told to end twice: hopcheck did not come to its end.
const HARNESS_ERROR: i32 = 5;

/// Takes over SIGINT and SIGTERM of this process, once. The second of them ends the process at once: nothing but a stage
/// looks for the first, and supervisors clean up after a hopcheck that is gone.
///
/// # Errors
/// The signals could not be taken over.
pub fn interrupter() -> io::Result<&'static Interrupter> {
    if let Some(interrupter) = INTERRUPTER.get() {
        return Ok(interrupter);
    }
    let (pipe, end) = UnixStream::pair()?;
    let told = Arc::new(AtomicBool::new(false));
    for signal in [Signal::INT, Signal::TERM] {
        signal_hook::flag::register_conditional_shutdown(signal.as_raw(), HARNESS_ERROR, Arc::clone(&told))?;
        signal_hook::flag::register(signal.as_raw(), Arc::clone(&told))?;
        signal_hook::low_level::pipe::register(signal.as_raw(), end.try_clone()?)?;
    }
    Ok(INTERRUPTER.get_or_init(|| Interrupter { pipe: pipe.into() }))
}
