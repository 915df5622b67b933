//! The baseline of an invocation.

use std::collections::BTreeSet;
use std::path::Path;

use super::{Failure, Job, files};
use crate::baseline::{Baseline, decode};

/// Reads a baseline.
///
/// # Errors
/// It cannot be read, or everything that is wrong with it.
pub fn read(path: &Path) -> Result<Baseline, Failure> {
    decode::parse(&files::read(path)?).map_err(Failure::Files)
}

/// Makes sure that a baseline is of a host that is run: it would be without effect otherwise, and nobody would see.
///
/// # Errors
/// Its host is not among those of the jobs.
pub fn check_host(baseline: &Baseline, jobs: &[Job]) -> Result<(), Failure> {
    let hosts: BTreeSet<String> = jobs.iter().map(|job| job.planned.key().host_selector()).collect();
    if hosts.is_empty() || hosts.contains(&baseline.host.value) {
        return Ok(());
    }
    let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
    Err(Failure::Files(vec![baseline.wrong_host(&hosts)]))
}
