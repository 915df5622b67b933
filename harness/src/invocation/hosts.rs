//! From `--host` to a profile and a program.

use std::path::Path;
use std::sync::Arc;

use super::{Failure, files};
use crate::diagnostic::{Source, did_you_mean};
use crate::driver::Library;
use crate::host::decode;
use crate::host::locate::{LocateError, Located};
use crate::host::profile::Profile;
use crate::library;
use crate::stage::{self, Launch};

/// The host that needs nothing but this binary.
pub const REFERENCE: &str = "reference";

/// A host that can be run.
#[derive(Clone, Debug)]
pub struct Host {
    /// Its profile, resolved for its version.
    pub profile: Arc<Profile>,
    /// Its program, or the library that it is.
    pub launch: Launch,
    /// The version that it reports; empty where it reports none.
    pub version: String,
}

impl Host {
    /// The version for which the profile was resolved.
    #[must_use]
    pub fn version(&self) -> Option<&str> {
        Some(self.version.as_str()).filter(|version| !version.is_empty())
    }
}

/// The hosts of the command line.
///
/// # Errors
/// A name or file that is none (usage), a host that is not installed (host).
pub fn resolve(selectors: &[String]) -> Result<Vec<Host>, Failure> {
    let default = [REFERENCE.to_owned()];
    let selectors = if selectors.is_empty() { &default } else { selectors };
    // All names first: a wrong name is the user's to mend, whatever is installed.
    let profiles: Vec<(Arc<Source>, Profile)> =
        selectors.iter().map(|selector| profile(selector)).collect::<Result<_, _>>()?;
    profiles.into_iter().map(|(source, profile)| found(&source, &profile)).collect()
}

/// The profile that a selector names, not yet resolved for a version.
///
/// # Errors
/// A name or file that is none, or everything that is wrong with the file.
pub fn profile(selector: &str) -> Result<(Arc<Source>, Profile), Failure> {
    let (source, variant) = source(selector)?;
    let profile = with_variant(&source, variant)?;
    Ok((source, profile))
}

/// A profile in one of its variants, not yet resolved for a version.
///
/// # Errors
/// A variant that it does not have (usage), or everything that is wrong with the file.
pub fn with_variant(source: &Arc<Source>, variant: Option<&str>) -> Result<Profile, Failure> {
    let base = parse(source, None, None)?;
    let Some(variant) = variant else { return Ok(base) };
    if !base.variants.iter().any(|known| known == variant) {
        let close = did_you_mean(variant, base.variants.iter().map(String::as_str));
        let help = match close {
            Some(close) => format!("did you mean `{}:{close}`?", base.name),
            None if base.variants.is_empty() => format!("{} has no variants", base.name),
            None => format!("there are {}", base.variants.join(", ")),
        };
        return Err(Failure::Usage(format!("unknown variant `{variant}` of host `{}`: {help}", base.name)));
    }
    parse(source, Some(variant), None)
}

fn source(selector: &str) -> Result<(Arc<Source>, Option<&str>), Failure> {
    if files::is_path(selector) {
        return Ok((files::read(Path::new(selector))?, None));
    }
    let (name, variant) = match selector.split_once(':') {
        Some((name, variant)) => (name, Some(variant)),
        None => (selector, None),
    };
    let known = library::profiles();
    if let Some((_, source)) = known.iter().find(|(known, _)| known == name) {
        return Ok((Arc::clone(source), variant));
    }
    let names: Vec<&str> = known.iter().map(|(name, _)| name.as_str()).collect();
    let help = match did_you_mean(name, names.iter().copied()) {
        Some(close) => format!("did you mean `{close}`? "),
        None => String::new(),
    };
    Err(Failure::Usage(format!("unknown host `{name}`: {help}known hosts are {}", names.join(", "))))
}

fn parse(source: &Arc<Source>, variant: Option<&str>, version: Option<&str>) -> Result<Profile, Failure> {
    decode::parse(source, variant, version).map_err(Failure::Files)
}

/// Finds the program where the profile says, and resolves the profile for the version that it reports.
///
/// # Errors
/// A program that is not installed, does not start or does not tell its version (host).
pub fn found(source: &Arc<Source>, profile: &Profile) -> Result<Host, Failure> {
    resolved(source, profile.variant.as_deref(), stage::locate(profile, &super::self_exe()?))
}

/// Resolves a profile for a program at a known place: program and leading arguments.
///
/// # Errors
/// A program that does not start or does not tell its version (host).
pub fn at(source: &Arc<Source>, profile: &Profile, bin: Vec<String>) -> Result<Host, Failure> {
    resolved(source, profile.variant.as_deref(), stage::ask_version(profile, bin, &super::self_exe()?))
}

fn resolved(
    source: &Arc<Source>,
    variant: Option<&str>,
    located: Result<Located, LocateError>,
) -> Result<Host, Failure> {
    let located = located.map_err(|error| match error {
        LocateError::NoStage(_) => Failure::Harness(error.to_string()),
        _ => Failure::Host(error.to_string()),
    })?;
    let Located { bin, version } = located;
    launched(source, variant, Launch::Program(bin), version)
}

/// Resolves a profile for a library.
///
/// # Errors
/// Everything that is wrong with the profile (usage).
pub fn library(source: &Arc<Source>, profile: &Profile, library: Library) -> Result<Host, Failure> {
    let version = library.version().to_owned();
    launched(source, profile.variant.as_deref(), Launch::Library(library), version)
}

fn launched(
    source: &Arc<Source>,
    variant: Option<&str>,
    launch: Launch,
    version: String,
) -> Result<Host, Failure> {
    let known = Some(version.as_str()).filter(|version| !version.is_empty());
    let profile = Arc::new(parse(source, variant, known)?);
    Ok(Host { profile, launch, version })
}
