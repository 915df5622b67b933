//! What a host stands on: the supervisor of a program, with the network that it gives it, or this program itself for a
//! library.

use std::io;
use std::net::TcpListener;
use std::sync::OnceLock;

use super::console::HostEnds;
use super::door::Door;
use super::launch::{Isolation, Supervisor};
use super::sandbox::{Keep, Sandbox};
use super::{Isolate, StageError, StageOptions};
use crate::driver::Library;
use crate::host::profile::DriveKind;
use crate::host::render::Rendered;
use crate::json::Json;
use crate::plan::Plan;

/// The host of a run.
#[derive(Clone, Debug)]
pub enum Launch {
    /// A program with its leading arguments.
    Program(Vec<String>),
    /// A library, which is run on a thread of this program.
    Library(Library),
}

impl<P: AsRef<[String]> + ?Sized> From<&P> for Launch {
    fn from(program: &P) -> Self {
        Self::Program(program.as_ref().to_vec())
    }
}

impl From<Library> for Launch {
    fn from(library: Library) -> Self {
        Self::Library(library)
    }
}

impl Launch {
    /// That the drive of the plan is one for such a host.
    pub(super) fn fits(&self, plan: &Plan) -> Result<(), StageError> {
        let described = match plan.profile.drives.get(plan.drive).map(|drive| drive.kind) {
            Some(DriveKind::InProcess) => LIBRARY,
            _ => PROGRAM,
        };
        let given = match self {
            Self::Program(_) => PROGRAM,
            Self::Library(_) => LIBRARY,
        };
        if described == given {
            return Ok(());
        }
        Err(StageError::OtherSort { profile: plan.profile.name.clone(), described, given })
    }
}

const PROGRAM: &str = "a program";
const LIBRARY: &str = "a library";

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

/// Why this machine has refused isolation, where it has: then nobody asks again.
static REFUSED: OnceLock<String> = OnceLock::new();

/// Why this machine does not cut hosts off from the network, where [`Isolate::Auto`] has learnt that it does not.
#[must_use]
pub fn isolation_refused() -> Option<&'static str> {
    REFUSED.get().map(String::as_str)
}

impl<'s> Ground<'s> {
    pub(super) fn new(launch: &'s Launch, options: &StageOptions) -> Result<Self, StageError> {
        match (launch, options.isolate) {
            (Launch::Library(_), Isolate::Yes) => {
                let why = "the host is a library and has the network of this program";
                Err(StageError::Isolation(io::Error::new(io::ErrorKind::Unsupported, why)))
            }
            (Launch::Library(library), _) => Ok(Self::Library(library)),
            (Launch::Program(_), _) => {
                let (supervisor, listener, isolation) = supervised(options)?;
                Ok(Self::Program { supervisor, listener, isolation })
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

    /// The sandbox of the run.
    pub(super) fn sandbox(&self, keep: Keep) -> io::Result<Sandbox> {
        match self {
            Self::Program { supervisor, .. } => sandbox(supervisor, keep),
            Self::Library(_) => Sandbox::new(Sandbox::choose()?),
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

/// A supervisor, with the listener that it bound and the isolation that holds.
pub(super) fn supervised(options: &StageOptions) -> Result<(Supervisor, TcpListener, Isolation), StageError> {
    let start = |isolation| {
        let waiting = options.supervisors.as_ref().and_then(|supervisors| supervisors.take(isolation));
        let started = match waiting {
            Some(ready) => Ok(ready),
            None => Supervisor::start(&options.self_exe, isolation),
        };
        started.map(|(supervisor, listener)| (supervisor, listener, isolation))
    };
    match options.isolate {
        Isolate::Yes => start(Isolation::Network).map_err(StageError::Isolation),
        Isolate::Auto if cfg!(target_os = "linux") && REFUSED.get().is_none() => {
            start(Isolation::Network).or_else(|reason| {
                // A supervisor that failed half way may have no loopback, so another one is needed.
                REFUSED.get_or_init(|| reason.to_string());
                start(Isolation::None).map_err(StageError::Supervisor)
            })
        }
        Isolate::Auto | Isolate::No => start(Isolation::None).map_err(StageError::Supervisor),
    }
}

/// A sandbox. The supervisor, which removes it should hopcheck be killed, is told before it is there.
pub(super) fn sandbox(supervisor: &Supervisor, keep: Keep) -> io::Result<Sandbox> {
    let path = Sandbox::choose()?;
    if keep == Keep::No {
        supervisor.adopt(&path);
    }
    Sandbox::new(path)
}

impl Launcher<'_> {
    /// Starts the host; gives what supervises it, and what there is to say of its process.
    pub(super) fn launch(
        self,
        rendered: &Rendered,
        sandbox: &Sandbox,
        ends: HostEnds,
    ) -> Result<(Supervisor, Json), StageError> {
        let failed = |program: &str, cause| StageError::Host { program: program.to_owned(), cause };
        match self {
            Self::Program(mut supervisor) => {
                let pid = supervisor
                    .launch(rendered, &sandbox.work(), ends.streams())
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
