//! What the baseline has to do with runs, for a terminal.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::RunReport;
use super::text::{plain, styled, warned};
use crate::diagnostic::Diagnostic;

/// Entries of the baseline that have lost their failure, each with its line in the file.
#[must_use]
pub fn stale(runs: &[RunReport]) -> String {
    let mut places: BTreeMap<(&str, usize, &str), Vec<&RunReport>> = BTreeMap::new();
    for run in runs {
        for stale in &run.stale {
            let key = (stale.at.source.name.as_str(), stale.at.span.start, stale.message.as_str());
            places.entry(key).or_default().push(run);
        }
    }
    let mut out = String::new();
    for ((_, start, message), runs) in places {
        let Some((run, stale)) = runs.first().and_then(|run| {
            Some((run, run.stale.iter().find(|stale| stale.at.span.start == start && stale.message == message)?))
        }) else {
            continue;
        };
        let diagnostic = Diagnostic::error(&stale.at.source, stale.at.span.clone(), message)
            .label("no longer true")
            .help("remove it, or name the revision or versions in which it still holds");
        let wheres: Vec<String> = runs.iter().map(|run| run.coordinates()).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(out, "\n{}", diagnostic.render_styled());
        let _ = writeln!(out, "  run: {} {} at {}", run.host.name, run.scenario, wheres.join(", "));
    }
    out
}

/// One line for each entry of the baseline that did happen.
#[must_use]
pub fn known_failures(runs: &[RunReport]) -> String {
    let mut seen: BTreeMap<(&str, &str, &str), Vec<String>> = BTreeMap::new();
    for run in runs {
        for (finding, reason) in run.known_findings() {
            let wheres = seen.entry((&run.scenario, &finding.requirement, reason)).or_default();
            let at = run.coordinates();
            if !wheres.contains(&at) {
                wheres.push(at);
            }
        }
    }
    // What one cause does to several requirements is one line.
    let mut lines: BTreeMap<(&str, &str, Vec<String>), Vec<&str>> = BTreeMap::new();
    for ((scenario, requirement, reason), wheres) in seen {
        lines.entry((scenario, reason, wheres)).or_default().push(requirement);
    }
    let mut out = String::new();
    for ((scenario, reason, wheres), requirements) in lines {
        let lead = if out.is_empty() { "\n" } else { "" };
        let word = styled(warned(), "known");
        let (ids, at) = (requirements.join(", "), wheres.join(", "));
        let _ = writeln!(out, "{lead}{word}: {ids} in {scenario} at {at}: {}", plain(reason));
    }
    out
}
