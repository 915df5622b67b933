//! Accepted transcripts of a suite: each test holds its own against the section of its file, and one whole run of all tests can
//! accept them.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::invocation::{Accepted, Failure};
use crate::plan::{Plan, PlanKey, Planned};
use crate::report::{Change, ChangeKind, Detail, SnapshotMode, Snapshots};
use crate::snapshot;
use crate::snapshot::store::{self, Ledger, Scope, Standing};
use crate::trace::Trace;

/// The variable that accepts what the run gives.
const ACCEPT: &str = "HOPCHECK_ACCEPT";

/// The accepted transcripts of a suite.
#[derive(Debug)]
pub(super) struct Transcripts {
    folder: PathBuf,
    mode: SnapshotMode,
    /// What this process gave, to be accepted at its end.
    given: Mutex<Vec<(PlanKey, String)>>,
}

impl Transcripts {
    /// The folder, and whether it is to be rewritten.
    pub(super) fn new(folder: PathBuf) -> Self {
        let accept = env::var_os(ACCEPT).is_some_and(|word| !word.is_empty() && word != "0");
        let mode = if accept { SnapshotMode::Accept } else { SnapshotMode::Compare };
        Self { folder, mode, given: Mutex::new(Vec::new()) }
    }

    /// Takes the transcript of a run, and tells how it differs from the accepted one. Nothing is written: another test may be
    /// at work on the other sections of the same file.
    ///
    /// # Errors
    /// A file that cannot be read, or a scenario that cannot name one (usage).
    pub(super) fn take(&self, plan: &Plan, trace: &Trace) -> Result<Option<String>, Failure> {
        let transcript = snapshot::transcript(plan, trace);
        if self.mode == SnapshotMode::Accept {
            self.given.lock().unwrap_or_else(PoisonError::into_inner).push((plan.key.clone(), transcript));
            return Ok(None);
        }
        let planned = Planned::Run(Box::new(plan.clone()));
        let mut ledger = Ledger::new([&planned]).map_err(|error| Failure::Usage(error.to_string()))?;
        ledger.add(&plan.key, transcript);
        let scope = Scope {
            hosts: vec![plan.key.host_file_name()],
            scenarios: vec![plan.key.scenario.clone()],
            revision: Some(plan.key.revision),
            transport: Some(plan.key.transport),
        };
        let name = store::name(&plan.key);
        let path = self.folder.join(format!("{name}.snap"));
        let kind = match ledger.compare(&scope, &name, read(&path)?.as_deref()) {
            Standing::Same | Standing::Nothing | Standing::Unknown => return Ok(None),
            Standing::New { .. } => ChangeKind::New,
            Standing::Drift { accepted, contents } => ChangeKind::Drift { accepted, contents },
            Standing::Stale => ChangeKind::Stale,
        };
        let change = Change { name, file: path.display().to_string(), kind };
        let told = Snapshots { changes: vec![change], ..Snapshots::default() };
        Ok(Some(format!("{}  `{ACCEPT}=1 cargo test` accepts what it gives\n", told.details(Detail::All))))
    }

    /// Writes what this process gave, where that is asked for: what it did not run stays, and what no plan of the suite gives
    /// any more goes.
    ///
    /// # Errors
    /// A file that cannot be written (usage).
    pub(super) fn accept(&self, plans: &[Planned], scope: Scope) -> Result<Option<Snapshots>, Failure> {
        let given = self.given.lock().unwrap_or_else(PoisonError::into_inner);
        if given.is_empty() {
            return Ok(None);
        }
        let mut accepted = Accepted::new(&self.folder, self.mode, scope, plans)?;
        for (key, transcript) in given.iter() {
            accepted.add_transcript(key, transcript.clone());
        }
        let mut told = accepted.settle()?;
        // What did not run in this process was not asked for, and what broke has failed its test.
        told.unknown.clear();
        Ok(Some(told))
    }
}

fn read(path: &Path) -> Result<Option<String>, Failure> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(cause) => Err(Failure::Usage(format!("cannot read {}: {cause}", path.display()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invocation::judge;

    fn transcripts(folder: &Path, mode: SnapshotMode) -> Transcripts {
        Transcripts { folder: folder.to_owned(), mode, given: Mutex::new(Vec::new()) }
    }

    #[test]
    fn a_test_is_held_against_what_a_run_of_all_tests_accepted() {
        let recorded = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../hosts/traces/claude-code/call/lookup@2025-11-25+stdio.jsonl");
        let (planned, trace) = judge::read(&recorded).unwrap();
        let Planned::Run(plan) = &planned else { panic!("it was run") };
        let folder = tempfile::tempdir().unwrap();
        let compare = transcripts(folder.path(), SnapshotMode::Compare);
        let file = folder.path().join("claude-code/call/lookup.snap");

        let new = compare.take(plan, &trace).unwrap().unwrap();
        assert!(new.contains("lookup.snap") && new.contains("HOPCHECK_ACCEPT=1"), "{new}");
        assert!(!file.exists());

        let accept = transcripts(folder.path(), SnapshotMode::Accept);
        assert_eq!(accept.take(plan, &trace).unwrap(), None);
        let scope = Scope { hosts: vec!["claude-code".to_owned()], ..Scope::default() };
        let stale = folder.path().join("claude-code/call/gone.snap");
        fs::create_dir_all(stale.parent().unwrap()).unwrap();
        fs::write(&stale, "---\n---\n").unwrap();
        let told = accept.accept(std::slice::from_ref(&planned), scope).unwrap().unwrap();
        assert_eq!((told.changes.len(), stale.exists()), (2, false));
        assert_eq!(compare.take(plan, &trace).unwrap(), None);

        let accepted = fs::read_to_string(&file).unwrap();
        fs::write(&file, accepted.replace("tools/call", "tools/cull")).unwrap();
        let drift = compare.take(plan, &trace).unwrap().unwrap();
        assert!(drift.contains("tools/cull") && drift.contains("tools/call"), "{drift}");
    }
}
