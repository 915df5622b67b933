//! What is newer than the pack of a host, for a terminal: it will fail when the author moves to a newer pack.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::RunReport;
use super::text::{plain, styled, warned};
use crate::check::finding::{Finding, Level, Verdict};

/// One line for each thing that would fail without the pack.
#[must_use]
pub fn newer(runs: &[RunReport]) -> String {
    let mut seen: BTreeMap<(&str, &str, &str), Vec<String>> = BTreeMap::new();
    for run in runs {
        for finding in run.findings.iter().filter(|finding| is_newer(finding)) {
            let key = (run.scenario.as_str(), finding.requirement.as_str(), finding.message.as_str());
            seen.entry(key).or_default().push(run.coordinates());
        }
    }
    let mut out = String::new();
    for ((scenario, requirement, message), wheres) in seen {
        let lead = if out.is_empty() { "\n" } else { "" };
        let (word, at) = (styled(warned(), "newer"), wheres.join(", "));
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{lead}{word}: {requirement} in {scenario} at {at}: {}", plain(message));
    }
    out
}

/// A requirement that binds is told as a trait only where a pack says so.
fn is_newer(finding: &Finding) -> bool {
    finding.verdict == Verdict::Trait && finding.level != Level::Trait
}
