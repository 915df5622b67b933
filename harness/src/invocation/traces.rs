//! Where traces are kept.

use std::fs;
use std::path::{Path, PathBuf};

use super::Failure;
use crate::check::finding::Outcome;
use crate::plan::PlanKey;

/// A folder of traces.
#[derive(Debug)]
pub enum Traces {
    /// The user asked for all of them.
    All(PathBuf),
    /// Only those that a person has to look at, in a folder that goes away where there are none.
    Problems(PathBuf),
}

impl Traces {
    /// A folder that keeps everything.
    ///
    /// # Errors
    /// It cannot be made (usage).
    pub fn all(folder: &Path) -> Result<Self, Failure> {
        fs::create_dir_all(folder)
            .map_err(|cause| Failure::Usage(format!("cannot make {}: {cause}", folder.display())))?;
        Ok(Self::All(folder.to_owned()))
    }

    /// A temporary folder for what did not pass.
    ///
    /// # Errors
    /// It cannot be made (harness).
    pub fn problems() -> Result<Self, Failure> {
        let folder = tempfile::Builder::new()
            .prefix("hopcheck-traces-")
            .tempdir()
            .map_err(|cause| Failure::harness("cannot make a temporary folder", cause))?;
        Ok(Self::Problems(folder.keep()))
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        match self {
            Self::All(folder) | Self::Problems(folder) => folder,
        }
    }

    /// The file to which a run streams its trace, so that it is there even where hopcheck is killed. Where only problems
    /// are kept there is none: most runs have no problem, and their files would be made to be removed.
    ///
    /// # Errors
    /// The folder cannot be made (usage).
    pub fn sink(&self, key: &PlanKey) -> Result<Option<PathBuf>, Failure> {
        match self {
            Self::All(_) => self.path(key).map(Some),
            Self::Problems(_) => Ok(None),
        }
    }

    /// The file of a plan, with its folder made.
    ///
    /// # Errors
    /// The folder cannot be made (usage).
    pub fn path(&self, key: &PlanKey) -> Result<PathBuf, Failure> {
        let path = self.folder().join(format!("{}.jsonl", key.path()));
        let folder = path.parent().unwrap_or(self.folder());
        fs::create_dir_all(folder)
            .map_err(|cause| Failure::Usage(format!("cannot make {}: {cause}", folder.display())))?;
        Ok(path)
    }

    /// Whether the trace of such a run stays.
    #[must_use]
    pub fn keeps(&self, outcome: Outcome) -> bool {
        match self {
            Self::All(_) => true,
            Self::Problems(_) => !matches!(outcome, Outcome::Pass | Outcome::Known | Outcome::NotApplicable),
        }
    }

    /// Takes away the folders that nothing was kept in.
    pub fn tidy(&self) {
        if let Self::Problems(folder) = self {
            remove_empty(folder);
        }
    }
}

fn remove_empty(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            remove_empty(&entry.path());
        }
    }
    // Refused where something is in it, and that is the point.
    let _ = fs::remove_dir(folder);
}
