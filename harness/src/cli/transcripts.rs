//! The transcripts of the built-in suite.

use crate::invocation::{self, Failure, Ran, hosts, job, pool, select};
use crate::plan::{Select, SelectRevisions};
use crate::snapshot;

/// A transcript of the built-in suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transcript {
    /// `HOST/AREA/NAME[CASE]`.
    pub name: String,
    /// The text of its snapshot file.
    pub text: String,
}

/// The transcripts of the reference host in all revisions, in order of their names.
///
/// # Errors
/// What kept a run from being recorded.
pub fn reference_transcripts() -> Result<Vec<Transcript>, String> {
    transcripts().map_err(|failure| failure.to_string())
}

fn transcripts() -> Result<Vec<Transcript>, Failure> {
    let hosts = hosts::resolve(&[])?;
    let select = Select { revisions: SelectRevisions::All, seed: invocation::random_seed(), ..Select::default() };
    let jobs = job::plans(&hosts, &select::scenarios(&[])?, &select)?;
    let mut results: Vec<Option<Ran>> = jobs.iter().map(|_| None).collect();
    job::run(jobs, pool::workers(None), &invocation::options()?, |at, ran| results[at] = Some(ran));
    let mut sections: Vec<(String, Vec<(String, String)>)> = Vec::new();
    for ran in results.into_iter().flatten() {
        let Ran::Run { plan, staged, .. } = ran else { continue };
        let staged = staged.map_err(|error| Failure::Harness(format!("{}: {error}", plan.key)))?;
        let name = format!("{}/{}", plan.key.host_file_name(), plan.key.scenario);
        let section =
            (format!("{}+{}", plan.key.revision, plan.key.transport), snapshot::transcript(&plan, &staged.trace));
        match sections.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => known.push(section),
            None => sections.push((name, vec![section])),
        }
    }
    sections.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(sections.into_iter().map(|(name, sections)| Transcript { name, text: snapshot::file(&sections) }).collect())
}
