//! A host that is a library: it runs on a thread of this program, and a second thread keeps watch over it.
//!
//! To the recorder loop the keeper is what the supervisor of a program is, and speaks as it does. It has less to hold on
//! to: a thread cannot be killed, and a process that the library started is a child of this program like any other. What
//! belongs to the run is told by the run's folder, which every server of it has in its arguments.

use std::any::Any;
use std::fs::File;
use std::io::{self, BufReader, PipeWriter};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::strays::Strays;
use crate::driver::{Library, serve};
use crate::json::Json;
use crate::wire::channel::{Channel, Wait};

/// How long servers may take to end by themselves once the host has ended, and a thread to come back once its run is
/// over.
const GRACE: Duration = Duration::from_secs(2);

/// The name of the host's thread.
const NAME: &str = "hopcheck-host";

/// The standard streams that a program would have, for the driver protocol.
pub(super) struct Streams {
    pub(super) input: OwnedFd,
    pub(super) output: PipeWriter,
}

/// Starts a host with its keeper. `folder` is the run's.
pub(super) fn start(
    library: &Library,
    streams: Streams,
    folder: PathBuf,
) -> io::Result<(Channel, JoinHandle<()>)> {
    let (ours, theirs) = UnixStream::pair()?;
    let (end, host) = UnixStream::pair()?;
    let library = library.clone();
    // Nobody joins it: it may never end.
    thread::Builder::new().name(NAME.to_owned()).spawn(move || {
        let how = Json::object([("exit", host_main(&library, streams))]);
        // A keeper that is gone has no need of it.
        let _ = Channel::new(end.into()).send(&how, &[]);
    })?;
    let keeper = Keeper { recorder: Channel::new(theirs.into()), host: Some(Channel::new(host.into())), folder };
    let keeper = thread::Builder::new().name("hopcheck-keeper".to_owned()).spawn(move || {
        // Whoever cannot be told is gone.
        let _ = keeper.watch();
    })?;
    Ok((Channel::new(ours.into()), keeper))
}

/// The whole life of a host, from its making to its end; gives how it ended.
fn host_main(library: &Library, streams: Streams) -> Json {
    let input = BufReader::new(File::from(streams.input));
    let served = catch_unwind(AssertUnwindSafe(|| {
        let mut host = library.make();
        serve(&mut *host, input, streams.output)
    }));
    match served {
        Ok(Ok(())) => Json::object([("thread", "returned")]),
        Ok(Err(error)) => Json::object([("thread", "returned"), ("message", &error.to_string())]),
        Err(panic) => Json::object([("thread", "panicked"), ("message", message(&*panic))]),
    }
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref().copied());
    text.unwrap_or("a value that is no text")
}

struct Keeper {
    /// To the recorder loop.
    recorder: Channel,
    /// To the host's thread, until that has ended.
    host: Option<Channel>,
    folder: PathBuf,
}

impl Keeper {
    fn watch(mut self) -> io::Result<()> {
        let mut deadline = None;
        loop {
            let strays = if deadline.is_some() { Strays::of(&self.folder) } else { Strays::default() };
            if deadline.is_some() && strays.is_empty() {
                return self.gone();
            }
            if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                for facts in strays.facts() {
                    self.recorder.send(&Json::object([("survivor", facts)]), &[])?;
                }
                self.kill()?;
                return self.gone();
            }
            self.wait(&strays, deadline)?;
            self.hear_host()?;
            self.recorder.receive(Wait::Never)?;
            while let Some(command) = self.recorder.take() {
                match command.as_str() {
                    Some("kill") => {
                        self.kill()?;
                        if self.host.is_some() {
                            let thread = [("command", "the thread of the host"), ("thread", NAME)];
                            self.recorder.send(&Json::object([("survivor", Json::object(thread))]), &[])?;
                        }
                        return self.gone();
                    }
                    Some("sweep") => deadline = Some(Instant::now() + GRACE),
                    _ => {}
                }
            }
            if self.recorder.ended() {
                return self.kill();
            }
        }
    }

    fn gone(&self) -> io::Result<()> {
        self.recorder.send(&Json::from("gone"), &[])
    }

    /// Takes in how the host ended, where it has.
    fn hear_host(&mut self) -> io::Result<()> {
        let Some(host) = &mut self.host else { return Ok(()) };
        host.receive(Wait::Never)?;
        let how = host.take();
        if how.is_some() || host.ended() {
            self.host = None;
        }
        match how {
            // Where the recorder loop is gone, nobody wants to know.
            Some(how) if !self.recorder.ended() => self.recorder.send(&how, &[]),
            _ => Ok(()),
        }
    }

    /// Kills all processes of the run, and gives the thread of the host the time to see that its run is over.
    fn kill(&mut self) -> io::Result<()> {
        let deadline = Instant::now() + GRACE;
        loop {
            let strays = Strays::of(&self.folder);
            strays.kill();
            if (strays.is_empty() && self.host.is_none()) || deadline <= Instant::now() {
                return Ok(());
            }
            let host = self.host.iter().map(AsFd::as_fd);
            wait(host.chain(strays.fds()), Some(deadline))?;
            self.hear_host()?;
        }
    }

    fn wait(&self, strays: &Strays, deadline: Option<Instant>) -> io::Result<()> {
        let host = self.host.iter().map(AsFd::as_fd);
        wait([self.recorder.as_fd()].into_iter().chain(host).chain(strays.fds()), deadline)
    }
}

/// Waits until one of the descriptors is readable, or until the deadline.
fn wait<'f>(fds: impl Iterator<Item = BorrowedFd<'f>>, deadline: Option<Instant>) -> io::Result<()> {
    let mut fds: Vec<PollFd<'f>> = fds.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
    let timeout = deadline.map(|deadline| {
        let left = deadline.saturating_duration_since(Instant::now());
        Timespec { tv_sec: left.as_secs().try_into().unwrap_or(i64::MAX), tv_nsec: left.subsec_nanos().into() }
    });
    match poll(&mut fds, timeout.as_ref()) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
