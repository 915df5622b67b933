//! The program of the host under test: named, built, or left to the profile.

use std::path::PathBuf;

use super::build::Package;
use super::place::Place;
use crate::driver::Library;
use crate::host::profile::{DriveKind, Profile};
use crate::invocation::Failure;

/// Where the host comes from.
#[derive(Clone, Debug, Default)]
pub(super) enum Program {
    /// The profile says.
    #[default]
    Profile,
    /// A file.
    File(PathBuf),
    /// A package of this workspace, which cargo builds.
    Package(Package),
    /// A library in this program.
    Library(Library),
}

/// Where it was found.
pub(super) enum At {
    /// The profile says where.
    Profile,
    /// A file.
    File(PathBuf),
    /// In this program.
    Library(Library),
}

impl Program {
    /// That the profile describes such a host.
    ///
    /// # Errors
    /// It describes another (usage).
    pub(super) fn fits(&self, profile: &Profile) -> Result<(), Failure> {
        let is_library = profile.drives.iter().any(|drive| drive.kind == DriveKind::InProcess);
        let name = &profile.name;
        let file = &profile.source.name;
        match self {
            Self::Profile if profile.bin.builtin.is_some() => {
                Err(Failure::Usage(format!("`{name}` is part of hopcheck: run it with `hopcheck run`")))
            }
            Self::Library(_) if !is_library => Err(Failure::Usage(format!(
                "{file} describes a program, and the suite has a library: give the profile `kind = \"in-process\"` in its \
                 only `[[drive]]`, and take `bin` and `[model]` out of it"
            ))),
            Self::Profile | Self::File(_) | Self::Package(_) if is_library => Err(Failure::Usage(format!(
                "{file} describes a library, and the suite has none: hand it over with `Suite::host`"
            ))),
            _ => Ok(()),
        }
    }

    /// The same, with what was said of its build.
    ///
    /// # Errors
    /// Something was, and nothing is built (usage).
    pub(super) fn built(self, binary: Option<String>, arguments: Vec<String>) -> Result<Self, Failure> {
        match self {
            Self::Package(package) => Ok(Self::Package(Package { binary, arguments, ..package })),
            other if binary.is_none() && arguments.is_empty() => Ok(other),
            _ => {
                Err(Failure::Usage("`bin_named` and `build_args` go with `bin_of`, which is not there".to_owned()))
            }
        }
    }

    /// The place of the host, which is made where it has to be.
    ///
    /// # Errors
    /// A file that is not there, or a package that does not build (host).
    pub(super) fn locate(&self, place: &Place) -> Result<At, Failure> {
        match self {
            Self::Profile => Ok(At::Profile),
            Self::Library(library) => Ok(At::Library(library.clone())),
            Self::File(path) => {
                let path = place.package.join(path);
                let missing = |cause| Failure::Host(format!("cannot find the host {}: {cause}", path.display()));
                path.canonicalize().map(At::File).map_err(missing)
            }
            Self::Package(package) => package.locate(place).map(At::File),
        }
    }
}
