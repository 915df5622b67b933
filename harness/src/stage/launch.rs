//! The supervisor, as hopcheck sees it.

use std::collections::VecDeque;
use std::io;
use std::net::TcpListener;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;

use rustix::process::{Pid, Signal};

use crate::driver::Library;
use crate::host::render::Rendered;
use crate::json::Json;
use crate::wire::channel::{Channel, Wait};

use super::supervisor::NETWORK;
use super::thread::Streams;
use super::{processes, thread};

/// How often the processes below a supervisor that failed are looked for.
const DESTROY_ROUNDS: usize = 100;

/// Which isolation holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Isolation {
    /// Nothing but loopback.
    Network,
    /// None.
    None,
}

impl Isolation {
    /// Its word in a trace, and as an argument of `__stage`.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Network => NETWORK,
            Self::None => "none",
        }
    }
}

/// What a supervisor reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Report {
    /// The host ended; `code` or `signal`.
    Exit(Json),
    /// A process outlived the host; `pid` and `command`.
    Survivor(Json),
    /// All processes are gone.
    Gone,
    /// The supervisor is gone before its work was done.
    Lost(String),
}

/// A running supervisor. Dropping it ends every process of its run.
#[derive(Debug)]
pub(super) struct Supervisor {
    channel: Option<Channel>,
    body: Body,
    /// What was reported and not yet looked at.
    reports: VecDeque<Report>,
}

/// What a supervisor is.
#[derive(Debug)]
enum Body {
    /// A process, the parent of the host.
    Process {
        child: Child,
        /// The host, while it lives.
        host: Option<Pid>,
    },
    /// The keeper of a host on a thread, until it is joined.
    Thread(Option<JoinHandle<()>>),
}

impl Supervisor {
    /// Starts one, and gives it with the listener that it bound for the model.
    pub(super) fn start(self_exe: &Path, isolation: Isolation) -> io::Result<(Self, TcpListener)> {
        let (ours, theirs) = UnixStream::pair()?;
        let child = Command::new(self_exe)
            .args(["__stage", isolation.as_str()])
            .env_clear()
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::null())
            // A group of its own, so that Ctrl-C in a terminal reaches hopcheck alone.
            .process_group(0)
            .spawn()?;
        let mut channel = Channel::new(ours.into());
        let answer = channel.wait_take();
        let listener = channel.take_fd();
        let body = Body::Process { child, host: None };
        let supervisor = Self { channel: Some(channel), body, reports: VecDeque::new() };
        match (answer?, listener) {
            (Some(message), Some(listener)) if message.get("ready").is_some() => {
                Ok((supervisor, TcpListener::from(listener)))
            }
            (Some(message), _) => Err(io::Error::other(message.str("failed").unwrap_or("no answer").to_owned())),
            (None, _) => Err(io::Error::other("the supervisor did not start")),
        }
    }

    /// Starts a host that is a library, on a thread of this program. `folder` is that of the run.
    pub(super) fn of_library(library: &Library, streams: Streams, folder: &Path) -> io::Result<Self> {
        let (channel, keeper) = thread::start(library, streams, folder.to_owned())?;
        Ok(Self { channel: Some(channel), body: Body::Thread(Some(keeper)), reports: VecDeque::new() })
    }

    /// Starts the host, and gives its process id. `sandbox` is removed if hopcheck is killed.
    pub(super) fn launch(
        &mut self,
        rendered: &Rendered,
        cwd: &Path,
        sandbox: Option<&Path>,
        streams: [BorrowedFd<'_>; 3],
    ) -> io::Result<i64> {
        let mut message = Json::object([
            ("argv", Json::array(rendered.argv.iter())),
            ("env", Json::object(rendered.env.iter().map(|(name, value)| (name, value)))),
            ("cwd", cwd.to_string_lossy().as_ref().into()),
        ]);
        if let Some(sandbox) = sandbox {
            message.set("remove", sandbox.to_string_lossy().as_ref());
        }
        let channel = self.channel.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        channel.send(&message, &streams)?;
        let answer = channel.wait_take()?;
        let pid = answer.as_ref().and_then(|answer| answer.get("started")).and_then(Json::as_i64);
        if let Body::Process { host, .. } = &mut self.body {
            *host = pid.and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?));
        }
        pid.ok_or_else(|| {
            let reason = answer.as_ref().and_then(|answer| answer.str("failed"));
            io::Error::other(reason.unwrap_or("the supervisor is gone").to_owned())
        })
    }

    /// Sends a signal, named like `SIGINT`, to the host.
    pub(super) fn signal(&self, name: &str) {
        self.tell(&Json::object([("signal", name)]));
    }

    /// Tells it that hopcheck has ended its servers: what is left gets a short grace and is killed.
    pub(super) fn sweep(&self) {
        self.tell(&Json::from("sweep"));
    }

    /// Tells it to kill everything now.
    pub(super) fn kill(&self) {
        self.tell(&Json::from("kill"));
    }

    fn tell(&self, message: &Json) {
        if let Some(channel) = &self.channel {
            // A supervisor that is gone is noticed when its channel is read.
            let _ = channel.send(message, &[]);
        }
    }

    /// Takes in reports without waiting.
    pub(super) fn receive(&mut self) {
        let Some(channel) = &mut self.channel else { return };
        let failed = channel.receive(Wait::Never).is_err();
        while let Some(message) = channel.take() {
            self.reports.push_back(if message.as_str() == Some("gone") {
                Report::Gone
            } else if let Some(how) = message.get("exit") {
                if let Body::Process { host, .. } = &mut self.body {
                    *host = None;
                }
                Report::Exit(how.clone())
            } else if let Some(process) = message.get("survivor") {
                Report::Survivor(process.clone())
            } else {
                Report::Lost(message.str("failed").unwrap_or("an unknown message").to_owned())
            });
        }
        if failed || channel.ended() {
            self.channel = None;
            self.reports.push_back(Report::Lost("it ended too early".to_owned()));
        }
    }

    /// The next report.
    pub(super) fn next(&mut self) -> Option<Report> {
        self.reports.pop_front()
    }

    /// Whether a survivor is among the reports that were not yet looked at.
    pub(super) fn found_survivors(&self) -> bool {
        self.reports.iter().any(|report| matches!(report, Report::Survivor(_)))
    }

    /// The descriptor to poll.
    pub(super) fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.channel.as_ref().map(AsFd::as_fd)
    }

    /// Ends what is within reach where the supervisor failed: itself, all that is still below it, and the process group
    /// of the host.
    pub(super) fn destroy(&mut self) {
        self.channel = None;
        // The keeper of a thread has no need of us: the end of its channel is enough.
        let Body::Process { child, host } = &mut self.body else { return };
        // A supervisor that was stopped cannot be left to kill its children. They are looked for again, since those of
        // what dies in between move up to it; what forks faster than this is out of reach.
        for _ in 0..DESTROY_ROUNDS {
            let left = processes::below(Pid::from_child(child));
            if left.is_empty() {
                break;
            }
            for process in left {
                let _ = rustix::process::kill_process(process.pid, Signal::KILL);
            }
        }
        if let Some(host) = host.take() {
            let _ = rustix::process::kill_process_group(host, Signal::KILL);
        }
        let _ = child.kill();
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        // The end of the channel makes it kill everything and exit.
        self.channel = None;
        match &mut self.body {
            Body::Process { child, .. } => drop(child.wait()),
            // It comes back in time, whatever the host does. Its panic would have nothing to say.
            Body::Thread(keeper) => drop(keeper.take().map(JoinHandle::join)),
        }
    }
}
