//! Asking a host for its version, as strictly watched over as a run.

use std::io::{self, PipeReader};
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use regex_lite::Regex;
use rustix::fs::{Mode, OFlags};

use super::launch::{Lost, Report, Supervisor};
use super::watch::Watched;
use super::{Keep, PATH, StageError, StageOptions, ground};
use crate::host::locate::{LocateError, Located, find};
use crate::host::profile::Profile;
use crate::host::render::Rendered;
use crate::wire::source::Fd;

/// A version query that takes longer than this has hung: the slowest known runtime starts in about a second.
const LIMIT: Duration = Duration::from_secs(30);

/// A version is a short line; more is not read.
const LONGEST: usize = 64 << 10;

/// Finds the program of a host and asks for its version, in an empty environment and a throw-away home. Nothing of it
/// stays, whatever it leaves behind.
///
/// # Errors
/// A program that is missing, does not start or does not answer; a machine that does not let us ask.
pub fn locate(profile: &Profile, self_exe: &Path) -> Result<Located, LocateError> {
    ask_version(profile, find(profile, self_exe)?, self_exe)
}

/// Asks a program for its version, as [`locate`] does. `bin` is the program with its leading arguments.
///
/// # Errors
/// A program that does not start or does not answer; a machine that does not let us ask.
pub fn ask_version(profile: &Profile, bin: Vec<String>, self_exe: &Path) -> Result<Located, LocateError> {
    if profile.version.args.is_empty() {
        return Ok(Located { bin, version: String::new() });
    }
    let failed = |cause: String| LocateError::NotStarted { program: bin[0].clone(), cause };
    let pattern = Regex::new(&profile.version.pattern).map_err(|cause| failed(cause.to_string()))?;
    let argv = bin.iter().chain(&profile.version.args).cloned().collect();
    let text = match ask(argv, &StageOptions::new(self_exe)) {
        Ok(Answer::Text(text)) => text,
        Ok(Answer::Silence) => return Err(failed("it does not answer the version query".to_owned())),
        Ok(Answer::Attack(signal)) => {
            return Err(failed(format!("it sent {signal} to the process that watches over it")));
        }
        Err(StageError::Host { cause, .. }) => return Err(failed(cause.to_string())),
        Err(error) => return Err(LocateError::NoStage(error.to_string())),
    };
    let version = pattern
        .captures(&text)
        .and_then(|groups| groups.get(1))
        .map(|group| group.as_str().to_owned())
        .unwrap_or_default();
    Ok(Located { bin, version })
}

/// What came of a query.
enum Answer {
    /// What the program wrote until it ended.
    Text(String),
    /// It did not end in time.
    Silence,
    /// It turned on its supervisor, with the signal of this name.
    Attack(String),
}

fn ask(argv: Vec<String>, options: &StageOptions) -> Result<Answer, StageError> {
    let (mut supervisor, _listener, _) = ground::supervised(options)?;
    let sandbox = ground::sandbox(&supervisor, Keep::No)?;
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let folders = [("HOME", text(&sandbox.home())), ("PATH", PATH.to_owned()), ("TMPDIR", text(&sandbox.tmp()))];
    let env = folders.map(|(name, value)| (name.to_owned(), value)).to_vec();
    let rendered = Rendered { argv, env, ..Rendered::default() };

    let nothing =
        rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty()).map_err(io::Error::from)?;
    let (output, theirs) = io::pipe()?;
    let streams = [nothing.as_fd(), theirs.as_fd(), nothing.as_fd()];
    supervisor.launch(&rendered, &sandbox.work(), streams).map_err(|cause| StageError::Host {
        program: rendered.argv.first().cloned().unwrap_or_default(),
        cause,
    })?;
    drop((theirs, nothing));
    let answer = listen(&mut supervisor, output);
    // With its channel the supervisor kills all that is left, and only then it ends.
    drop(supervisor);
    answer
}

/// Reads until the program has ended. What it wrote is in the pipe by then, whoever else holds the other end.
fn listen(supervisor: &mut Supervisor, output: PipeReader) -> Result<Answer, StageError> {
    let until = Instant::now() + LIMIT;
    let mut output = Some(Fd::reader(OwnedFd::from(output)));
    let mut text = Vec::new();
    loop {
        let mut fds = Watched::default();
        supervisor.watch(&mut fds);
        output.iter().for_each(|output| fds.input(output));
        let mut marks = fds.wait(Vec::new(), Some(until))?;
        supervisor.mark(&mut marks);
        supervisor.receive();
        drain(&mut output, &mut text);
        while let Some(report) = supervisor.next() {
            match report {
                Report::Exit(_) | Report::Gone => {
                    drain(&mut output, &mut text);
                    return Ok(Answer::Text(String::from_utf8_lossy(&text).into_owned()));
                }
                Report::Survivor(_) => {}
                Report::Lost(lost) => {
                    // What the program started is out of the supervisor's reach.
                    let _ = supervisor.destroy();
                    return match lost {
                        Lost::Signal(signal) => Ok(Answer::Attack(signal)),
                        Lost::Failed(reason) => Err(StageError::Supervisor(io::Error::other(reason))),
                    };
                }
            }
        }
        if until <= Instant::now() {
            return Ok(Answer::Silence);
        }
    }
}

/// Takes in what is there, up to what a version may be.
fn drain(output: &mut Option<Fd>, text: &mut Vec<u8>) {
    let mut buffer = [0; 4096];
    while let Some(fd) = output {
        match fd.read(&mut buffer) {
            Ok(None) => return,
            Ok(Some(got)) if got > 0 && text.len() < LONGEST => text.extend_from_slice(&buffer[..got]),
            // At its end, or too long: a program that goes on writing finds the pipe closed.
            Ok(Some(_)) | Err(_) => *output = None,
        }
    }
}
