//! Learning that a child was stopped. Nothing that can be polled tells of that, so a thread of its own waits.

use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::thread::{Builder, JoinHandle};

use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use super::watch::{Marks, Watched};
use crate::wire::source::Fd;

/// The thread needs next to nothing.
const STACK: usize = 64 << 10;

/// Watches one child until it is stopped or ends.
#[derive(Debug)]
pub(super) struct StopWatch {
    /// Gives the number of the signal when the child was stopped; closed when it has ended.
    alarm: Option<Fd>,
    ready: bool,
    thread: Option<JoinHandle<()>>,
}

impl StopWatch {
    /// Watches a child, which nobody may wait for before [`StopWatch::join`] is about to be called.
    pub(super) fn new(child: Pid) -> io::Result<Self> {
        let (alarm, mut bell) = io::pipe()?;
        let wait = move || {
            let change = WaitIdOptions::EXITED | WaitIdOptions::STOPPED | WaitIdOptions::NOWAIT;
            let status = waitid(WaitId::Pid(child), change).ok().flatten();
            let signal = status.and_then(|status| u8::try_from(status.stopping_signal()?).ok());
            if let Some(signal) = signal {
                // Nobody listens only where the run is over.
                let _ = bell.write_all(&[signal]);
            }
        };
        let thread = Builder::new().name("hopcheck-stops".to_owned()).stack_size(STACK).spawn(wait)?;
        Ok(Self { alarm: Some(Fd::reader(OwnedFd::from(alarm))), ready: false, thread: Some(thread) })
    }

    pub(super) fn watch<'f>(&'f self, fds: &mut Watched<'f>) {
        if let Some(alarm) = &self.alarm {
            fds.input(alarm);
        }
    }

    pub(super) fn mark(&mut self, marks: &mut Marks) {
        self.ready = self.alarm.is_some() && marks.next();
    }

    /// Whether the child was stopped or has ended, as was seen last.
    pub(super) const fn is_ready(&self) -> bool {
        self.ready
    }

    /// The signal that stopped the child, once.
    pub(super) fn signal(&mut self) -> Option<i32> {
        if !std::mem::take(&mut self.ready) {
            return None;
        }
        let mut signal = [0];
        let got = self.alarm.take()?.read(&mut signal);
        matches!(got, Ok(Some(1))).then(|| i32::from(signal[0]))
    }

    /// Waits for the end of the thread, which comes with the end of the child.
    pub(super) fn join(&mut self) {
        if let Some(thread) = self.thread.take() {
            // It has nothing to panic about.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use rustix::process::{Signal, kill_process};

    use super::*;

    #[track_caller]
    fn check(signal: Signal, expected: Option<i32>) {
        let mut child = Command::new("/bin/sleep").arg("600").stdin(Stdio::null()).spawn().unwrap();
        let pid = Pid::from_child(&child);
        let mut watch = StopWatch::new(pid).unwrap();
        assert_eq!(watch.signal(), None);
        kill_process(pid, signal).unwrap();
        let mut fds = Watched::default();
        watch.watch(&mut fds);
        let mut marks = fds.wait(Vec::new(), None).unwrap();
        watch.mark(&mut marks);
        assert_eq!(watch.signal(), expected);
        child.kill().unwrap();
        child.wait().unwrap();
        watch.join();
    }

    #[test]
    fn a_stop_is_told_from_an_end() {
        check(Signal::STOP, Some(Signal::STOP.as_raw()));
        check(Signal::TERM, None);
    }
}
