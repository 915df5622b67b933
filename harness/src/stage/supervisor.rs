//! `hopcheck __stage`: the parent of a host, and of everything that the host leaves behind.
//!
//! It is single-threaded, so that it may enter namespaces. Its standard input is a channel to hopcheck; when that ends,
//! everything is killed. What a host leaves behind is adopted here (a child subreaper), reported and killed.

use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};

use super::{isolation, processes, sandbox};
use crate::json::Json;
use crate::wire::channel::{Channel, Wait};
use crate::wire::signal::{signal_name, signal_named};

/// How long processes that a host leaves behind may take to end by themselves. Helpers of a host often end just after
/// it; a busy machine may need a second to let them.
const GRACE: Duration = Duration::from_secs(2);

/// The word for a network of its own, as an argument of `__stage` and in traces.
pub const NETWORK: &str = "network";

/// Asks for another run, after one that left nothing behind.
pub(super) const NEXT: &str = "next";

/// `__stage network|none`; `args` are those after `__stage`.
#[must_use]
pub fn main(args: &[String]) -> ExitCode {
    let Ok(socket) = rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3) else {
        return ExitCode::FAILURE;
    };
    let mut channel = Channel::new(socket);
    match supervise(&mut channel, args.first().map(String::as_str)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Where hopcheck is gone too, there is nobody to tell.
            let _ = channel.send(&Json::object([("failed", error.to_string())]), &[]);
            ExitCode::FAILURE
        }
    }
}

fn supervise(channel: &mut Channel, isolation: Option<&str>) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    if isolation == Some(NETWORK) {
        isolation::enter()?;
    }
    // Without a mark, what a host leaves behind is found by its place in the tree alone.
    let mark = processes::Mark::put_on_self().ok().map(|mark| mark.0);
    let (ended, end) = UnixStream::pair()?;
    ended.set_nonblocking(true)?;
    signal_hook::low_level::pipe::register(Signal::CHILD.as_raw(), end)?;

    loop {
        // Bound here, inside the namespace, and used by hopcheck outside of it.
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        let ready = Json::object([("ready", u32::from(port).into()), ("mark", Json::from(mark))]);
        channel.send(&ready, &[listener.as_fd()])?;
        drop(listener);

        let mut run = Run { host: None, ended: ended.as_fd(), remove: None };
        let result = run.start(channel).and_then(|start| match start {
            Start::Done => run.watch(channel),
            Start::Unwanted => Ok(()),
        });
        if result.is_err() {
            // hopcheck may be gone in the middle of a report.
            run.kill_all();
            return run.tidy(result);
        }
        // hopcheck still records what was said last. Its end, or the end of its run, is the end of the sandbox.
        let then = wait_for_next(channel);
        run.tidy(result)?;
        if then == Then::End {
            return Ok(());
        }
    }
}

/// What follows a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    /// Another one: nothing of the last is left below this process.
    Next,
    /// hopcheck needs no more.
    End,
}

fn wait_for_next(channel: &mut Channel) -> Then {
    while let Ok(Some(message)) = channel.wait_take() {
        // Anything else was sent before hopcheck knew that the run is over.
        if message.as_str() == Some(NEXT) {
            return Then::Next;
        }
    }
    Then::End
}

/// Starts the host in a process group of its own, with the standard streams that came beside the message.
fn start(launch: &Json, channel: &mut Channel) -> io::Result<Pid> {
    let missing = || io::Error::new(io::ErrorKind::InvalidInput, "an incomplete launch message");
    let texts = |name: &str| -> Vec<&str> {
        launch.get(name).map_or(&[][..], Json::items).iter().filter_map(Json::as_str).collect()
    };
    let argv = texts("argv");
    let (program, args) = argv.split_first().ok_or_else(missing)?;
    let mut command = Command::new(program);
    command.args(args).env_clear().current_dir(launch.str("cwd").ok_or_else(missing)?).process_group(0);
    for (name, value) in launch.get("env").map_or(&[][..], Json::members) {
        if let (Some(name), Some(value)) = (name.as_str(), value.as_str()) {
            command.env(name, value);
        }
    }
    let mut stream = || channel.take_fd().ok_or_else(missing);
    command.stdin(stream()?).stdout(stream()?).stderr(stream()?);
    Ok(Pid::from_child(&command.spawn()?))
}

struct Run<'s> {
    /// The host, while it lives.
    host: Option<Pid>,
    /// Readable when a child ended.
    ended: BorrowedFd<'s>,
    /// The sandbox, which nobody else would remove when hopcheck is killed.
    remove: Option<PathBuf>,
}

/// What came of waiting for a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    /// The host runs.
    Done,
    /// hopcheck is gone.
    Unwanted,
}

/// Whether children are left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Children {
    Some,
    None,
}

impl Run<'_> {
    /// Starts the host that hopcheck asks for.
    fn start(&mut self, channel: &mut Channel) -> io::Result<Start> {
        while let Some(message) = channel.wait_take()? {
            if let Some(folder) = message.str("remove") {
                self.remove = Some(PathBuf::from(folder));
                continue;
            }
            let started = start(&message, channel);
            let host = started.map_err(|error| io::Error::other(format!("the host did not start: {error}")))?;
            self.host = Some(host);
            channel.send(&Json::object([("started", host.as_raw_nonzero().get())]), &[])?;
            return Ok(Start::Done);
        }
        Ok(Start::Unwanted)
    }

    /// Removes the sandbox.
    fn tidy(&self, result: io::Result<()>) -> io::Result<()> {
        match &self.remove {
            Some(folder) if folder.exists() => result.and(sandbox::remove(folder)),
            _ => result,
        }
    }

    fn watch(&mut self, channel: &mut Channel) -> io::Result<()> {
        let mut deadline = None;
        loop {
            let children = self.reap(channel)?;
            if deadline.is_some() && children == Children::None {
                return gone(channel);
            }
            let now = Instant::now();
            if deadline.is_some_and(|deadline| deadline <= now) {
                for process in processes::descendants() {
                    let facts = [
                        ("pid", Json::from(process.pid.as_raw_nonzero().get())),
                        ("command", process.command.into()),
                    ];
                    channel.send(&Json::object([("survivor", Json::object(facts))]), &[])?;
                }
                self.kill_all();
                return gone(channel);
            }
            self.wait(channel, deadline.map(|deadline| deadline - now))?;
            channel.receive(Wait::Never)?;
            while let Some(command) = channel.take() {
                match (command.as_str(), command.str("signal").and_then(signal_named)) {
                    (Some("kill"), _) => {
                        let status = self.kill_all();
                        report_exit(channel, status)?;
                        return gone(channel);
                    }
                    (Some("sweep"), _) => deadline = Some(Instant::now() + GRACE),
                    (_, Some(signal)) => {
                        if let Some(host) = self.host {
                            // It may just have ended; then its exit is reported next.
                            let _ = rustix::process::kill_process(host, signal);
                        }
                    }
                    _ => {}
                }
            }
            if channel.ended() {
                self.kill_all();
                return Ok(());
            }
        }
    }

    /// Waits for a message, for the end of a child, or for the end of the grace.
    fn wait(&self, channel: &Channel, timeout: Option<Duration>) -> io::Result<()> {
        let timeout = timeout.map(|timeout| Timespec {
            tv_sec: timeout.as_secs().try_into().unwrap_or(i64::MAX),
            tv_nsec: timeout.subsec_nanos().into(),
        });
        let mut fds = [PollFd::new(channel, PollFlags::IN), PollFd::new(&self.ended, PollFlags::IN)];
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let mut woken = [0; 64];
        while matches!(rustix::io::read(self.ended, &mut woken), Ok(got) if got > 0) {}
        Ok(())
    }

    /// Takes in all that ended; the host's end is reported.
    fn reap(&mut self, channel: &Channel) -> io::Result<Children> {
        loop {
            match rustix::process::wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if self.host == Some(pid) => {
                    self.host = None;
                    report_exit(channel, Some(status))?;
                }
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => return Ok(Children::Some),
                Err(_) => return Ok(Children::None),
            }
        }
    }

    /// Kills everything until nothing is left; gives the status of the host, where it was still alive.
    fn kill_all(&mut self) -> Option<WaitStatus> {
        let mut status = None;
        loop {
            if let Some(host) = self.host {
                let _ = rustix::process::kill_process_group(host, Signal::KILL);
            }
            // Children of what dies come here, so they are looked for again after each death.
            for process in processes::descendants() {
                let _ = rustix::process::kill_process(process.pid, Signal::KILL);
            }
            // One death is waited for, and all others that came with it are taken in before the next look: a process that
            // forks without end must not outrun us.
            let mut patience = WaitOptions::empty();
            loop {
                match rustix::process::wait(patience) {
                    Ok(Some((pid, ended))) if self.host == Some(pid) => {
                        self.host = None;
                        status = Some(ended);
                    }
                    Ok(Some(_)) | Err(Errno::INTR) => {}
                    Ok(None) => break,
                    Err(_) => return status,
                }
                patience = WaitOptions::NOHANG;
            }
        }
    }
}

fn report_exit(channel: &Channel, status: Option<WaitStatus>) -> io::Result<()> {
    let Some(status) = status else { return Ok(()) };
    let how = match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => ("code", Json::from(code)),
        (None, Some(signal)) => ("signal", signal_name(signal).into()),
        (None, None) => return Ok(()),
    };
    channel.send(&Json::object([("exit", Json::object([how]))]), &[])
}

fn gone(channel: &Channel) -> io::Result<()> {
    channel.send(&Json::from("gone"), &[])
}
