//! The process that a host starts as its server. It hands its standard streams to hopcheck and only waits.
//!
//! So hopcheck reads what the host wrote from the pipe itself: no byte is copied, and what was written before is read
//! before. What remains of the process is what a host can see of one: that it lives, gets signals and exits.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{Mode, OFlags};
use rustix::process::Signal;
use rustix::stdio;

use super::channel::{Channel, Wait};
use super::signal::{signal_name, signal_named};
use crate::json::Json;
use crate::plan::CANARY;
use crate::trace::cut::sha256_hex;

/// The signals that a host may send and a process can catch. They are reported, and the script says what follows.
const REPORTED: [Signal; 6] = [Signal::HUP, Signal::INT, Signal::QUIT, Signal::TERM, Signal::USR1, Signal::USR2];

/// The exit code when hopcheck is gone.
const ORPHANED: u8 = 1;

/// `__relay SOCKET SERVER [VARIABLE…]`; `args` are those after `__relay`. Further variables are reported like canaries.
#[must_use]
pub fn main(args: &[String]) -> ExitCode {
    match args {
        [socket, server, variables @ ..] => run(socket, server, variables).unwrap_or(ExitCode::from(ORPHANED)),
        _ => ExitCode::from(2),
    }
}

fn run(socket: &str, server: &str, variables: &[String]) -> io::Result<ExitCode> {
    // Before hello, so that no signal finds the default handler once hopcheck knows of us.
    let signals = Signals::register()?;
    let mut channel = Channel::new(UnixStream::connect(socket)?.into());
    let streams = [stdio::stdin(), stdio::stdout(), stdio::stderr()];
    channel.send(&hello(server, variables), &streams)?;
    let nothing = rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    stdio::dup2_stdin(&nothing)?;
    stdio::dup2_stdout(&nothing)?;
    stdio::dup2_stderr(&nothing)?;
    drop(nothing);

    loop {
        let mut fds = [PollFd::new(&channel, PollFlags::IN), PollFd::new(&signals.pipe, PollFlags::IN)];
        match poll(&mut fds, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        channel.receive(Wait::Never)?;
        // A signal that came before a command is reported before it is obeyed.
        signals.report(&channel)?;
        while let Some(command) = channel.take() {
            if let Some(code) = command.get("exit").and_then(Json::as_i64) {
                let_go()?;
                // Only the low eight bits of an exit code reach the parent.
                return Ok(ExitCode::from((code & 0xff) as u8));
            }
            if let Some(signal) = command.str("kill").and_then(signal_named) {
                let_go()?;
                die_of(signal)?;
            }
        }
        if channel.ended() {
            return Ok(ExitCode::from(ORPHANED));
        }
    }
}

fn hello(server: &str, variables: &[String]) -> Json {
    let argv: Vec<Json> = std::env::args_os().map(|arg| arg.to_string_lossy().as_ref().into()).collect();
    let cwd = std::env::current_dir().unwrap_or_default();
    let mut names = Vec::new();
    let mut hashes = Vec::new();
    for (name, value) in std::env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        if name.starts_with(CANARY) || variables.contains(&name) {
            use std::os::unix::ffi::OsStrExt;
            hashes.push((name.clone(), sha256_hex(value.as_bytes())));
        }
        names.push(name);
    }
    let parent = rustix::process::getppid().map_or(0, |pid| pid.as_raw_nonzero().get());
    let facts = [
        ("server", Json::from(server)),
        ("argv", argv.into()),
        ("cwd", cwd.to_string_lossy().as_ref().into()),
        ("env", names.into()),
        ("canaries", Json::object(hashes)),
        ("pid", rustix::process::getpid().as_raw_nonzero().get().into()),
        ("ppid", parent.into()),
    ];
    Json::object([("hello", Json::object(facts))])
}

/// Flags say which signals came, the pipe says that some did.
struct Signals {
    flags: [Arc<AtomicBool>; REPORTED.len()],
    pipe: OwnedFd,
}

impl Signals {
    fn register() -> io::Result<Self> {
        let (pipe, end) = UnixStream::pair()?;
        let flags: [Arc<AtomicBool>; REPORTED.len()] = Default::default();
        for (signal, flag) in REPORTED.iter().zip(&flags) {
            // The flag goes first, since handlers run in the order of their registration.
            signal_hook::flag::register(signal.as_raw(), Arc::clone(flag))?;
            signal_hook::low_level::pipe::register(signal.as_raw(), end.try_clone()?)?;
        }
        pipe.set_nonblocking(true)?;
        Ok(Self { flags, pipe: pipe.into() })
    }

    fn report(&self, channel: &Channel) -> io::Result<()> {
        let mut woken = [0; 64];
        while matches!(rustix::io::read(self.pipe.as_fd(), &mut woken), Ok(got) if got > 0) {}
        for (signal, flag) in REPORTED.iter().zip(&self.flags) {
            if flag.swap(false, Ordering::SeqCst) {
                channel.send(&Json::object([("signal", signal_name(signal.as_raw()))]), &[])?;
            }
        }
        Ok(())
    }
}

/// Closes the standard streams. A process that ends closes its descriptors in any order, and ours to hopcheck must not be
/// gone before them: who is told of the end then could still take the server for alive.
fn let_go() -> io::Result<()> {
    let nowhere = std::fs::OpenOptions::new().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nowhere)?;
    rustix::stdio::dup2_stdout(&nowhere)?;
    rustix::stdio::dup2_stderr(&nowhere)?;
    Ok(())
}

/// Ends this process as the signal would have ended it.
fn die_of(signal: Signal) -> io::Result<()> {
    // Not by `kill` alone: the runtime has a handler for SIGSEGV and SIGBUS, which lets the process live.
    signal_hook::low_level::emulate_default_handler(signal.as_raw())
}
