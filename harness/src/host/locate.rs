//! Where a host's program is.

use std::env;
use std::path::{Path, PathBuf};

use super::profile::{DriveKind, Profile};

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
    /// There is no place to run it in, or nobody to watch over it.
    #[error("cannot ask for a version: {0}")]
    NoStage(String),
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
