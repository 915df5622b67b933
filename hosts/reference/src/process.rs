//! The process of a stdio server: its start, the pipe to it, and an end that leaves nothing behind.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};

use crate::config::ServerConfig;
use crate::fault::{Fault, Lies};
use crate::reactor::{Event, Framing, Reactor, Token};

/// How long a server may take to leave after the end of its input, and again after SIGTERM.
const FAREWELL: Duration = Duration::from_secs(2);

/// A running server and the pipe to its input.
pub(crate) struct Process {
    child: Child,
    stdin: Option<ChildStdin>,
}

impl Process {
    /// Starts a server. The second value is its standard output.
    pub(crate) fn spawn(config: &ServerConfig) -> io::Result<(Self, OwnedFd)> {
        let mut command = Command::new(&config.command);
        // Secrets of the host are none of a server's business: it gets what its entry says, and PATH to find an interpreter.
        command.env_clear();
        command.envs(std::env::var_os("PATH").map(|path| ("PATH", path)));
        command.args(&config.args).envs(config.env.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        // A null device never fills up, so heavy logging cannot block a server.
        command.stderr(Stdio::null());
        if let Some(cwd) = &config.cwd {
            command.current_dir(cwd);
        }
        let mut child = command.spawn()?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("the pipes of the server are missing"));
        };
        // A write must not outlast its deadline when the server does not read. Only our end of the pipe is affected.
        rustix::io::ioctl_fionbio(&stdin, true)?;
        Ok((Self { child, stdin: Some(stdin) }, stdout.into()))
    }

    /// Writes one line. After an error the pipe is closed, because half a line may be in it.
    pub(crate) fn write(&mut self, line: &[u8], deadline: Instant) -> io::Result<()> {
        let Some(stdin) = &self.stdin else {
            return Err(io::ErrorKind::BrokenPipe.into());
        };
        let written = write_all(stdin, line, deadline);
        if written.is_err() {
            self.stdin = None;
        }
        written
    }

    /// Tells the server that nothing more will come, which asks it to leave.
    pub(crate) fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Whether the process has ended by itself.
    pub(crate) fn has_ended(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(Some(_)))
    }

    fn signal(&self, signal: Signal) {
        if let Some(pid) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            // It may have ended meanwhile; it has not been waited for, so the id is still its own.
            let _gone = kill_process(pid, signal);
        }
    }
}

fn write_all(stdin: &ChildStdin, mut rest: &[u8], deadline: Instant) -> io::Result<()> {
    while !rest.is_empty() {
        match rustix::io::write(stdin, rest) {
            Ok(count) => rest = &rest[count..],
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                let patience = deadline.saturating_duration_since(Instant::now());
                let timeout = Timespec {
                    tv_sec: i64::try_from(patience.as_secs()).unwrap_or(i64::MAX),
                    tv_nsec: patience.subsec_nanos().into(),
                };
                match poll(&mut [PollFd::new(stdin, PollFlags::OUT)], Some(&timeout)) {
                    Ok(0) => return Err(io::ErrorKind::TimedOut.into()),
                    Ok(_) | Err(Errno::INTR) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Ends servers in the order of the specification: close the input, wait, SIGTERM, wait, SIGKILL. All of them side by side.
pub(crate) fn stop(reactor: &mut Reactor, mut servers: Vec<(usize, Process)>, lies: Lies) {
    for (index, process) in &mut servers {
        if lies.tell(Fault::KillBeforeEof) {
            process.signal(Signal::KILL);
        } else {
            process.close_stdin();
        }
        match exit_of(&process.child) {
            Ok(exit) => reactor.add(Token::Exit(*index), exit, Framing::End),
            // Without a way to wait with a deadline there is only the hard way.
            Err(_) => process.signal(Signal::KILL),
        }
    }
    for signal in [Signal::TERM, Signal::KILL] {
        let deadline = Instant::now() + FAREWELL;
        while !servers.is_empty() {
            // The output is read on, so that a server with last words is not stuck in them.
            let ours = |token| {
                servers.iter().any(|(index, _)| token == Token::Server(*index) || token == Token::Exit(*index))
            };
            match reactor.next_of(Some(deadline), ours) {
                Some(Event::Closed(Token::Exit(index))) => {
                    reactor.remove(Token::Server(index));
                    if let Some(at) = servers.iter().position(|(other, _)| *other == index) {
                        let _status = servers.remove(at).1.child.wait();
                    }
                }
                Some(_) => {}
                None => break,
            }
        }
        for (_, process) in &servers {
            process.signal(signal);
        }
    }
    for (index, mut process) in servers {
        // SIGKILL cannot be ignored, so this wait is short.
        let _status = process.child.wait();
        reactor.remove(Token::Server(index));
        reactor.remove(Token::Exit(index));
    }
}

/// A descriptor that becomes readable when the child has ended.
#[cfg(target_os = "linux")]
fn exit_of(child: &Child) -> io::Result<OwnedFd> {
    use rustix::process::{PidfdFlags, pidfd_open};
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::NotFound)?;
    Ok(pidfd_open(pid, PidfdFlags::empty())?)
}

/// A descriptor that becomes readable when the child has ended: a thread waits, and its end of a pipe closes with it.
#[cfg(not(target_os = "linux"))]
fn exit_of(child: &Child) -> io::Result<OwnedFd> {
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::NotFound)?;
    let (reader, writer) = io::pipe()?;
    std::thread::spawn(move || {
        // Only watched, not waited for: the id stays the child's own until `stop` takes it.
        while let Err(Errno::INTR) = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {}
        drop(writer);
    });
    Ok(reader.into())
}

/// Starts a process that nobody will end, with nothing that ties it to the host.
pub(crate) fn leave_daemon() {
    use std::os::unix::process::CommandExt;
    let mut command = Command::new("sleep");
    command.arg("30").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    // That it stays is the lie; a machine without `sleep` simply does not show it.
    let _left_alone = command.spawn();
}

/// A descriptor that becomes readable when somebody asks the host to end.
pub(crate) fn signals() -> io::Result<OwnedFd> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let (reader, writer) = io::pipe()?;
    for signal in [SIGHUP, SIGINT, SIGTERM] {
        signal_hook::low_level::pipe::register(signal, OwnedFd::from(writer.try_clone()?))?;
    }
    Ok(reader.into())
}

/// A borrowed view of the standard input, owned by the reactor.
pub(crate) fn stdin_of_host() -> io::Result<OwnedFd> {
    io::stdin().as_fd().try_clone_to_owned()
}
