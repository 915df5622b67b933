//! The transcripts of the built-in suite.

use std::collections::BTreeMap;

use crate::invocation::{self, Failure, Ran, hosts, job, pool, select};
use crate::plan::{Select, SelectRevisions};
use crate::snapshot::{self, Sections, store};

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

/// The variants of the reference host that lead to tools in another way.
const SURFACES: [&str; 3] = ["search", "search-responses", "wrapper"];

/// The area whose transcripts show that way.
const SHOWN: &str = "surface";

fn transcripts() -> Result<Vec<Transcript>, Failure> {
    let select = Select { revisions: SelectRevisions::All, seed: invocation::random_seed(), ..Select::default() };
    let mut jobs = job::plans(&hosts::resolve(&[])?, &select::scenarios(&[])?, &select)?;
    let surfaces = hosts::resolve(&SURFACES.map(|variant| format!("{}:{variant}", hosts::REFERENCE)))?;
    jobs.extend(job::plans(&surfaces, &select::scenarios(&[SHOWN.to_owned()])?, &select)?);
    let mut results: Vec<Option<Ran>> = jobs.iter().map(|_| None).collect();
    job::run(jobs, pool::workers(None), &invocation::options()?, |at, ran| results[at] = Some(ran));
    let mut files: BTreeMap<String, Sections> = BTreeMap::new();
    for ran in results.into_iter().flatten() {
        let Ran::Run { plan, staged, .. } = ran else { continue };
        let staged = staged.map_err(|error| Failure::Harness(format!("{}: {error}", plan.key)))?;
        let transcript = snapshot::transcript(&plan, &staged.trace);
        let pair = (plan.key.revision, plan.key.transport);
        files.entry(store::name(&plan.key)).or_default().0.insert(pair, transcript);
    }
    Ok(files.into_iter().map(|(name, sections)| Transcript { name, text: sections.render() }).collect())
}
