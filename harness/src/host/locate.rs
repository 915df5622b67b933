//! Where a host's program is, and which version it says it has.

use std::env;
use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use regex_lite::Regex;
use rustix::process::{Pid, Signal};

use super::profile::{DriveKind, Profile};

/// A version query that takes longer than this has hung: the slowest known runtime starts in about a second.
const VERSION_LIMIT: Duration = Duration::from_secs(30);

/// A host that can be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// Program and leading arguments.
    pub bin: Vec<String>,
    /// The version that it reports; empty where it reports none.
    pub version: String,
}

/// A host that cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum LocateError {
    /// The program is nowhere.
    #[error("{host} is not installed: {hint}")]
    NotInstalled {
        /// The host.
        host: String,
        /// How to get it.
        hint: String,
    },
    /// It has no program.
    #[error("{host} is a library: a test program of its own runs it, with `hopcheck::Suite::host`")]
    Library {
        /// The host.
        host: String,
    },
    /// There is no place for a throw-away home.
    #[error("cannot make a temporary folder: {0}")]
    NoHome(std::io::Error),
    /// The program is there but does not run.
    #[error("cannot start {program}: {cause}")]
    NotStarted {
        /// The program.
        program: String,
        /// Why.
        cause: String,
    },
}

/// How to get a host, in one sentence.
#[must_use]
pub fn install_hint(profile: &Profile) -> String {
    let bin = &profile.bin;
    let mut ways = Vec::new();
    if let Some(package) = &bin.npm {
        ways.push(format!("install the npm package {package}"));
    }
    if !bin.names.is_empty() {
        ways.push(format!("put {} on PATH", bin.names.join(" or ")));
    }
    if let Some(variable) = &bin.env {
        ways.push(format!("set {variable} to its path"));
    }
    if ways.is_empty() { "the profile names no program".to_owned() } else { ways.join(", or ") }
}

/// Finds the program: the variable wins, then `PATH`; built-in hosts are subcommands of `self_exe`.
///
/// # Errors
/// [`LocateError::NotInstalled`] with the ways to get it, or [`LocateError::Library`].
pub fn find(profile: &Profile, self_exe: &Path) -> Result<Vec<String>, LocateError> {
    let bin = &profile.bin;
    if profile.drives.iter().any(|drive| drive.kind == DriveKind::InProcess) {
        return Err(LocateError::Library { host: profile.title.clone() });
    }
    if let Some(subcommand) = &bin.builtin {
        return Ok(vec![self_exe.to_string_lossy().into_owned(), subcommand.clone()]);
    }
    let missing = |hint: String| LocateError::NotInstalled { host: profile.title.clone(), hint };
    if let Some(variable) = &bin.env
        && let Some(path) = env::var_os(variable).filter(|path| !path.is_empty())
    {
        let path = PathBuf::from(path);
        return match path.canonicalize() {
            Ok(path) => Ok(vec![path.to_string_lossy().into_owned()]),
            Err(cause) => Err(missing(format!("{variable} names {}: {cause}", path.display()))),
        };
    }
    let folders = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&folders)
        .flat_map(|folder| bin.names.iter().map(move |name| folder.join(name)))
        .find(|path| path.is_file());
    match found {
        Some(path) => Ok(vec![path.to_string_lossy().into_owned()]),
        None => Err(missing(install_hint(profile))),
    }
}

/// Finds the program and asks for its version, in an empty environment and a throw-away home.
///
/// # Errors
/// A program that is missing, does not start or does not answer.
pub fn locate(profile: &Profile, self_exe: &Path) -> Result<Located, LocateError> {
    ask(profile, find(profile, self_exe)?)
}

/// Asks a program for its version, in an empty environment and a throw-away home. `bin` is the program with its leading
/// arguments.
///
/// # Errors
/// A program that does not start or does not answer.
pub fn ask(profile: &Profile, bin: Vec<String>) -> Result<Located, LocateError> {
    if profile.version.args.is_empty() {
        return Ok(Located { bin, version: String::new() });
    }
    let failed = |cause: String| LocateError::NotStarted { program: bin[0].clone(), cause };
    let home = tempfile::tempdir().map_err(LocateError::NoHome)?;
    let mut child = Command::new(&bin[0])
        .args(&bin[1..])
        .args(&profile.version.args)
        .env_clear()
        .env("HOME", home.path())
        .env("PATH", "/usr/bin:/bin")
        .current_dir(home.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .map_err(|cause| failed(cause.to_string()))?;
    let (sender, receiver) = mpsc::channel();
    if let Some(stdout) = child.stdout.take() {
        std::thread::spawn(move || {
            let mut text = String::new();
            // A version is a short line; more is not read.
            let read = stdout.take(64 * 1024).read_to_string(&mut text);
            let _ = sender.send(read.map(|_| text));
        });
    }
    let answer = receiver.recv_timeout(VERSION_LIMIT);
    // The program has answered or never will; in both cases nothing of it may stay. A helper that left its group does:
    // only a run has a supervisor to find it.
    let _ = rustix::process::kill_process_group(Pid::from_child(&child), Signal::KILL);
    let _ = child.kill();
    let _ = child.wait();
    let text = match answer {
        Ok(Ok(text)) => text,
        Ok(Err(cause)) => return Err(failed(cause.to_string())),
        Err(_) => return Err(failed("it does not answer the version query".to_owned())),
    };
    let pattern = Regex::new(&profile.version.pattern).map_err(|cause| failed(cause.to_string()))?;
    let version = pattern
        .captures(&text)
        .and_then(|groups| groups.get(1))
        .map(|group| group.as_str().to_owned())
        .unwrap_or_default();
    Ok(Located { bin, version })
}
