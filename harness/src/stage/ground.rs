//! What a host stands on: the supervisor of a program, with the network that it gives it, or this program itself for a
//! library.

use std::io;
use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, Ordering};

use super::console::HostEnds;
use super::door::Door;
use super::launch::{Isolation, Supervisor};
use super::sandbox::{Keep, Sandbox};
use super::{Isolate, StageError, StageOptions, Subject};
use crate::driver::Library;
use crate::host::render::Rendered;
use crate::json::Json;

/// Prepared for a host, before anything of the run is known.
pub(super) enum Ground<'s> {
    Program { supervisor: Supervisor, listener: TcpListener, isolation: Isolation },
    Library(&'s Library),
}

/// What starts the host.
pub(super) enum Launcher<'s> {
    Program(Supervisor),
    Library(&'s Library),
}

/// Whether this machine has refused isolation before: then nobody asks again.
static REFUSED: AtomicBool = AtomicBool::new(false);

impl<'s> Ground<'s> {
    pub(super) fn new(subject: Subject<'s>, options: &StageOptions) -> Result<Self, StageError> {
        match (subject, options.isolate) {
            (Subject::Library(_), Isolate::Yes) => {
                let why = "the host is a library and has the network of this program";
                Err(StageError::Isolation(io::Error::new(io::ErrorKind::Unsupported, why)))
            }
            (Subject::Library(library), _) => Ok(Self::Library(library)),
            (Subject::Program(_), Isolate::Yes) => {
                start(options, Isolation::Network).map_err(StageError::Isolation)
            }
            (Subject::Program(_), Isolate::Auto)
                if cfg!(target_os = "linux") && !REFUSED.load(Ordering::Relaxed) =>
            {
                start(options, Isolation::Network).or_else(|_| {
                    // A supervisor that failed half way may have no loopback, so another one is needed.
                    REFUSED.store(true, Ordering::Relaxed);
                    start(options, Isolation::None).map_err(StageError::Supervisor)
                })
            }
            (Subject::Program(_), Isolate::Auto | Isolate::No) => {
                start(options, Isolation::None).map_err(StageError::Supervisor)
            }
        }
    }

    /// Which isolation holds.
    pub(super) const fn isolation(&self) -> Isolation {
        match self {
            Self::Program { isolation, .. } => *isolation,
            Self::Library(_) => Isolation::None,
        }
    }

    /// What starts the host, and the endpoint of its model, below `/TOKEN`.
    pub(super) fn open(self, token: &str) -> io::Result<(Launcher<'s>, Door)> {
        Ok(match self {
            Self::Program { supervisor, listener, .. } => {
                (Launcher::Program(supervisor), Door::new(listener, token)?)
            }
            Self::Library(library) => (Launcher::Library(library), Door::closed()),
        })
    }
}

fn start<'s>(options: &StageOptions, isolation: Isolation) -> io::Result<Ground<'s>> {
    let (supervisor, listener) = Supervisor::start(&options.self_exe, isolation)?;
    Ok(Ground::Program { supervisor, listener, isolation })
}

impl Launcher<'_> {
    /// Starts the host; gives what supervises it, and what there is to say of its process.
    pub(super) fn launch(
        self,
        rendered: &Rendered,
        sandbox: &Sandbox,
        keep: Keep,
        ends: HostEnds,
    ) -> Result<(Supervisor, Json), StageError> {
        let failed = |program: &str, cause| StageError::Host { program: program.to_owned(), cause };
        match self {
            Self::Program(mut supervisor) => {
                let remove = (keep == Keep::No).then(|| sandbox.path());
                let pid = supervisor
                    .launch(rendered, &sandbox.work(), remove, ends.streams())
                    .map_err(|cause| failed(rendered.argv.first().map_or("", String::as_str), cause))?;
                let names = rendered.env.iter().map(|(name, _)| name);
                let facts = Json::object([
                    ("argv", Json::array(rendered.argv.iter())),
                    ("env", Json::array(names)),
                    ("pid", pid.into()),
                ]);
                Ok((supervisor, facts))
            }
            Self::Library(library) => {
                let supervisor = Supervisor::of_library(library, ends.into_streams(), sandbox.path())
                    .map_err(|cause| failed("the thread of the host", cause))?;
                Ok((supervisor, Json::empty()))
            }
        }
    }
}
