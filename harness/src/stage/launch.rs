//! The supervisor, as hopcheck sees it.

use std::collections::VecDeque;
use std::io;
use std::net::TcpListener;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, waitid};

use crate::driver::Library;
use crate::host::render::Rendered;
use crate::json::Json;
use crate::wire::channel::{Channel, Wait};
use crate::wire::signal::signal_name;

use super::processes::{self, Left, Mark};
use super::stop::StopWatch;
use super::supervisor::{NETWORK, NEXT};
use super::thread::{self, Streams};
use super::watch::{Marks, Watched};

/// How long processes may take to die of SIGKILL, on a machine that is very busy.
const DEATH: Duration = Duration::from_secs(10);

/// Signals by which a program ends that has a fault of its own. Every other one was sent by somebody.
const CRASHES: [Signal; 7] =
    [Signal::ABORT, Signal::BUS, Signal::FPE, Signal::ILL, Signal::SEGV, Signal::SYS, Signal::TRAP];

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
    /// The supervisor cannot do its work any more.
    Lost(Lost),
}

/// How a supervisor was lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Lost {
    /// Somebody killed or stopped it with the signal of this name. hopcheck does not, and nobody else knows of it.
    Signal(String),
    /// It failed by itself.
    Failed(String),
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
        stops: StopWatch,
        /// What all processes of the run carry.
        mark: Option<Mark>,
        /// The host, while it lives.
        host: Option<Pid>,
    },
    /// The keeper of a host on a thread, until it is joined.
    Thread(Option<JoinHandle<()>>),
}

impl Body {
    /// Why its channel has ended. A process has ended as well, or is about to.
    fn how_it_ended(&self) -> Lost {
        let status = match self {
            Self::Process { child, .. } => {
                let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
                waitid(WaitId::Pid(Pid::from_child(child)), ended).ok().flatten()
            }
            Self::Thread(_) => None,
        };
        match status.and_then(|status| status.terminating_signal()) {
            Some(signal) if CRASHES.iter().any(|crash| crash.as_raw() == signal) => {
                Lost::Failed(format!("it crashed with {}", signal_name(signal)))
            }
            Some(signal) => Lost::Signal(signal_name(signal)),
            None => Lost::Failed("it ended too early".to_owned()),
        }
    }

    /// Whether it was stopped, or has ended.
    const fn is_alarmed(&self) -> bool {
        match self {
            Self::Process { stops, .. } => stops.is_ready(),
            Self::Thread(_) => false,
        }
    }

    /// The signal that stopped it, once.
    fn stop_signal(&mut self) -> Option<i32> {
        match self {
            Self::Process { stops, .. } => stops.signal(),
            Self::Thread(_) => None,
        }
    }
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
        let body =
            Body::Process { stops: StopWatch::new(Pid::from_child(&child))?, child, mark: None, host: None };
        let channel = Some(Channel::new(ours.into()));
        Self { channel, body, reports: VecDeque::new() }.ready()
    }

    /// Asks it for another run; gives it with a new listener.
    pub(super) fn again(self) -> io::Result<(Self, TcpListener)> {
        self.channel.as_ref().ok_or(io::ErrorKind::NotConnected)?.send(&Json::from(NEXT), &[])?;
        self.ready()
    }

    /// Waits until it has bound a listener.
    fn ready(mut self) -> io::Result<(Self, TcpListener)> {
        let channel = self.channel.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        let answer = channel.wait_take();
        let listener = channel.take_fd();
        match (answer?, listener) {
            (Some(message), Some(listener)) if message.get("ready").is_some() => {
                let mark = message.get("mark").and_then(Json::as_i64);
                if let Body::Process { mark: known, .. } = &mut self.body {
                    *known = mark.and_then(|mark| mark.try_into().ok()).map(Mark);
                }
                Ok((self, TcpListener::from(listener)))
            }
            (Some(message), _) => Err(io::Error::other(message.str("failed").unwrap_or("no answer").to_owned())),
            (None, _) => Err(io::Error::other("the supervisor did not start")),
        }
    }

    /// Makes it remove a folder when it ends, however hopcheck does. Told before the folder is there, none is forgotten.
    pub(super) fn adopt(&self, folder: &Path) {
        self.tell(&Json::object([("remove", folder.to_string_lossy().as_ref())]));
    }

    /// Starts a host that is a library, on a thread of this program. `folder` is that of the run.
    pub(super) fn of_library(library: &Library, streams: Streams, folder: &Path) -> io::Result<Self> {
        let (channel, keeper) = thread::start(library, streams, folder.to_owned())?;
        Ok(Self { channel: Some(channel), body: Body::Thread(Some(keeper)), reports: VecDeque::new() })
    }

    /// Starts the host, and gives its process id: none where the host was faster than the supervisor, and killed or
    /// stopped it before it could tell.
    pub(super) fn launch(
        &mut self,
        rendered: &Rendered,
        cwd: &Path,
        streams: [BorrowedFd<'_>; 3],
    ) -> io::Result<Option<i64>> {
        let message = Json::object([
            ("argv", Json::array(rendered.argv.iter())),
            ("env", Json::object(rendered.env.iter().map(|(name, value)| (name, value)))),
            ("cwd", cwd.to_string_lossy().as_ref().into()),
        ]);
        self.channel.as_ref().ok_or(io::ErrorKind::NotConnected)?.send(&message, &streams)?;
        let Some(answer) = self.answer()? else { return Ok(None) };
        let pid = answer.get("started").and_then(Json::as_i64);
        if let Body::Process { host, .. } = &mut self.body {
            *host = pid.and_then(|pid| Pid::from_raw(i32::try_from(pid).ok()?));
        }
        match pid {
            Some(pid) => Ok(Some(pid)),
            None => Err(io::Error::other(answer.str("failed").unwrap_or("no answer").to_owned())),
        }
    }

    /// Waits for the answer to a launch; there is none from a supervisor that somebody has killed or stopped.
    fn answer(&mut self) -> io::Result<Option<Json>> {
        loop {
            let channel = self.channel.as_mut().ok_or(io::ErrorKind::NotConnected)?;
            channel.receive(Wait::Never)?;
            if let Some(message) = channel.take() {
                return Ok(Some(message));
            }
            if channel.ended() {
                return match self.body.how_it_ended() {
                    Lost::Signal(_) => Ok(None),
                    Lost::Failed(reason) => Err(io::Error::other(format!("the supervisor is lost: {reason}"))),
                };
            }
            if self.body.is_alarmed() {
                return Ok(None);
            }
            let mut fds = Watched::default();
            self.watch(&mut fds);
            let mut marks = fds.wait(Vec::new(), None)?;
            self.mark(&mut marks);
        }
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
                Report::Lost(Lost::Failed(message.str("failed").unwrap_or("an unknown message").to_owned()))
            });
        }
        if failed || channel.ended() {
            self.channel = None;
            self.reports.push_back(Report::Lost(self.body.how_it_ended()));
        } else if let Some(signal) = self.body.stop_signal() {
            self.reports.push_back(Report::Lost(Lost::Signal(signal_name(signal))));
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

    /// Whether it can have another run, after one that ended by itself and left no process behind.
    pub(super) fn is_free(&self) -> bool {
        let Body::Process { host: None, .. } = &self.body else { return false };
        let connected = self.channel.as_ref().is_some_and(|channel| !channel.ended());
        connected && self.reports.is_empty() && !self.body.is_alarmed()
    }

    pub(super) fn watch<'f>(&'f self, fds: &mut Watched<'f>) {
        if let Some(channel) = &self.channel {
            fds.input(channel);
        }
        if let Body::Process { stops, .. } = &self.body {
            stops.watch(fds);
        }
    }

    pub(super) fn mark(&mut self, marks: &mut Marks) {
        // The channel is looked at on every turn.
        if self.channel.is_some() {
            marks.next();
        }
        if let Body::Process { stops, .. } = &mut self.body {
            stops.mark(marks);
        }
    }

    /// Ends what the supervisor would have ended, and the supervisor: where it was killed, what is left hangs elsewhere
    /// in the tree by now; where it was stopped, it cannot kill anybody.
    pub(super) fn destroy(&mut self) -> Left {
        self.channel = None;
        // The keeper of a thread has no need of us: the end of its channel is enough.
        let Body::Process { child, host, mark, .. } = &mut self.body else { return Left::Nothing };
        if let Some(host) = host.take() {
            let _ = rustix::process::kill_process_group(host, Signal::KILL);
        }
        let _ = child.kill();
        mark.map_or(Left::Nothing, |mark| processes::kill_marked(mark, DEATH))
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        // The end of the channel makes it kill everything and exit.
        self.channel = None;
        match &mut self.body {
            Body::Process { child, stops, .. } => {
                let _ = child.wait();
                // With the process its watch ends as well.
                stops.join();
            }
            // It comes back in time, whatever the host does. Its panic would have nothing to say.
            Body::Thread(keeper) => drop(keeper.take().map(JoinHandle::join)),
        }
    }
}
