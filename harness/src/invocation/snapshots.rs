//! The folder of accepted transcripts, `DIR/HOST/AREA/NAME[CASE].snap`.
//!
//! A transcript that is not as accepted is written beside the accepted one as `.snap.new`, which is where
//! `cargo insta review` finds it. In the part of the folder that an invocation speaks of, there are afterwards no other
//! `.snap.new` files than those of this invocation.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::Failure;
use crate::check::finding::Outcome;
use crate::plan::{Plan, PlanKey, Planned};
use crate::report::{Change, ChangeKind, SnapshotMode, Snapshots};
use crate::snapshot::store::{Ledger, Scope, Standing};
use crate::snapshot::{self, wrap};
use crate::stage;
use crate::trace::Trace;

/// Endings of accepted files, and of those that a person has to look at.
const SNAP: &str = ".snap";
const NEW: &str = ".snap.new";

/// The accepted transcripts, and those of this invocation.
#[derive(Debug)]
pub struct Accepted<'a> {
    folder: &'a Path,
    mode: SnapshotMode,
    scope: Scope,
    ledger: Ledger,
    /// The first reason why a `.snap.new` file could not be written.
    unwritten: Option<String>,
}

impl<'a> Accepted<'a> {
    /// The folder, ready for the transcripts of these plans.
    ///
    /// # Errors
    /// Plans that cannot be told apart by their names, or a folder that cannot be made (usage).
    pub fn new<'p>(
        folder: &'a Path,
        mode: SnapshotMode,
        scope: Scope,
        plans: impl IntoIterator<Item = &'p Planned>,
    ) -> Result<Self, Failure> {
        let ledger = Ledger::new(plans).map_err(|error| Failure::Usage(error.to_string()))?;
        if mode == SnapshotMode::Accept {
            fs::create_dir_all(folder)
                .map_err(|cause| Failure::Usage(format!("cannot make {}: {cause}", folder.display())))?;
        }
        Ok(Self { folder, mode, scope, ledger, unwritten: None })
    }

    /// Takes the transcript of a run. One that ended in an error has none that could be accepted.
    pub fn add(&mut self, plan: &Plan, trace: &Trace, outcome: Outcome) {
        if outcome != Outcome::Error {
            self.ledger.add(&plan.key, snapshot::transcript(plan, trace));
        }
    }

    /// Takes a transcript that was made before.
    pub fn add_transcript(&mut self, key: &PlanKey, transcript: String) {
        self.ledger.add(key, transcript);
    }

    /// Compares, and accepts where that is asked for.
    ///
    /// # Errors
    /// A file that cannot be read, or that cannot be accepted (usage).
    pub fn settle(mut self) -> Result<Snapshots, Failure> {
        let mut told = Snapshots { mode: self.mode, ..Snapshots::default() };
        let mut names: BTreeSet<String> = self.ledger.names().map(str::to_owned).collect();
        for host in &self.scope.hosts {
            collect(self.folder, host, &mut names)?;
        }
        names.retain(|name| self.scope.has_file(name));
        if stage::interrupter().is_ok_and(stage::Interrupter::interrupted) {
            told.unknown.extend(names);
            return Ok(told);
        }
        for name in names {
            let path = self.path(&name, SNAP);
            let text = match fs::read_to_string(&path) {
                Ok(text) => Some(text),
                Err(cause) if cause.kind() == io::ErrorKind::NotFound => None,
                Err(cause) => return Err(Failure::Usage(format!("cannot read {}: {cause}", path.display()))),
            };
            let kind = match self.ledger.compare(&self.scope, &name, text.as_deref()) {
                Standing::Unknown => {
                    told.unknown.push(name);
                    continue;
                }
                Standing::Same | Standing::Nothing => {
                    told.same += usize::from(text.is_some());
                    remove(&self.path(&name, NEW));
                    continue;
                }
                Standing::New { contents } => {
                    self.write(&name, &contents)?;
                    ChangeKind::New
                }
                Standing::Drift { accepted, contents } => {
                    self.write(&name, &contents)?;
                    ChangeKind::Drift { accepted, contents }
                }
                Standing::Stale => {
                    self.discard(&name)?;
                    ChangeKind::Stale
                }
            };
            told.changes.push(Change { name, file: path.display().to_string(), kind });
        }
        told.unwritten = self.unwritten;
        Ok(told)
    }

    fn path(&self, name: &str, ending: &str) -> PathBuf {
        self.folder.join(format!("{name}{ending}"))
    }

    /// Writes what a run gave, as the accepted file or beside it.
    fn write(&mut self, name: &str, contents: &str) -> Result<(), Failure> {
        let (ending, other) = match self.mode {
            SnapshotMode::Accept => (SNAP, Some(NEW)),
            // A folder that is not there is more likely misspelt than wanted full of files to look at.
            SnapshotMode::Compare if !self.folder.exists() => return Ok(()),
            SnapshotMode::Compare => (NEW, None),
        };
        let path = self.path(name, ending);
        if let Err(cause) = write_whole(&path, &wrap(contents)) {
            let reason = format!("cannot write {}: {cause}", path.display());
            if self.mode == SnapshotMode::Accept {
                return Err(Failure::Usage(reason));
            }
            // It may well be read-only. The difference is told all the same.
            self.unwritten.get_or_insert(reason);
        }
        if let Some(other) = other {
            remove(&self.path(name, other));
        }
        Ok(())
    }

    /// Takes a stale file away, where that is asked for, and the folders that held nothing else.
    fn discard(&self, name: &str) -> Result<(), Failure> {
        remove(&self.path(name, NEW));
        if self.mode == SnapshotMode::Compare {
            return Ok(());
        }
        let path = self.path(name, SNAP);
        fs::remove_file(&path)
            .map_err(|cause| Failure::Usage(format!("cannot remove {}: {cause}", path.display())))?;
        for folder in path.ancestors().skip(1).take_while(|folder| *folder != self.folder) {
            if fs::remove_dir(folder).is_err() {
                break;
            }
        }
        Ok(())
    }
}

/// Adds the names of all files of a host, accepted or not, however deep they lie.
fn collect(root: &Path, inside: &str, names: &mut BTreeSet<String>) -> Result<(), Failure> {
    let folder = root.join(inside);
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(cause) => return Err(Failure::Usage(format!("cannot read {}: {cause}", folder.display()))),
    };
    for entry in entries.flatten() {
        // A name that is no text was not written by hopcheck.
        let Ok(name) = entry.file_name().into_string() else { continue };
        let inside = format!("{inside}/{name}");
        // Links are not followed: they could lead out of the folder, or in circles.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            collect(root, &inside, names)?;
        } else if let Some(name) = inside.strip_suffix(NEW).or_else(|| inside.strip_suffix(SNAP)) {
            names.insert(name.to_owned());
        }
    }
    Ok(())
}

/// Writes a file as a whole or not at all.
fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    // As any file that a program makes; temporary ones are closed to others by default.
    let open = fs::Permissions::from_mode(0o666);
    let mut file = tempfile::Builder::new().prefix(".hopcheck-").permissions(open).tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.persist(path)?;
    Ok(())
}

fn remove(path: &Path) {
    // It may never have been there.
    let _ = fs::remove_file(path);
}
