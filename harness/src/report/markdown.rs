//! The Markdown report: hosts × areas, then what failed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::{HostReport, Report, RunReport, Snapshots, Summary};
use crate::check::finding::{Outcome, Verdict};

/// The report of a whole invocation.
#[must_use]
pub fn markdown(report: Report<'_>) -> String {
    let runs = report.runs;
    let mut hosts: BTreeMap<&HostReport, Vec<&RunReport>> = BTreeMap::new();
    for run in runs {
        hosts.entry(&run.host).or_default().push(run);
    }
    let mut areas: Vec<&str> = runs.iter().map(RunReport::area).collect();
    areas.sort_unstable();
    areas.dedup();

    // Writing to a string cannot fail.
    let mut out = String::from("# hopcheck\n\n");
    let _ = writeln!(out, "| host | version | {} |", areas.join(" | "));
    let _ = writeln!(out, "|---|---|{}", "---|".repeat(areas.len()));
    for (host, runs) in &hosts {
        let cells = areas.iter().map(|area| cell(runs.iter().copied().filter(|run| run.area() == *area)));
        let cells: Vec<String> = cells.collect();
        let _ = writeln!(out, "| {} | {} | {} |", escape(&host.name), escape(&host.version), cells.join(" | "));
    }
    out.push_str("\nA cell counts runs: passed / judged, then what did not pass. `–`: nothing applies.\n");
    for (host, runs) in &hosts {
        problems(&mut out, host, runs);
    }
    if let Some(snapshots) = report.snapshots {
        changes(&mut out, snapshots);
    }
    out
}

fn changes(out: &mut String, snapshots: &Snapshots) {
    let _ = writeln!(out, "\n## Snapshots\n\n{}", snapshots.summary().trim_end());
    for (at, change) in snapshots.changes.iter().enumerate() {
        let gap = if at == 0 { "\n" } else { "" };
        let _ = writeln!(out, "{gap}- {}: {}", change.kind.as_str(), escape(&change.name));
    }
}

fn cell<'r>(runs: impl Iterator<Item = &'r RunReport>) -> String {
    let summary = Summary::of(runs);
    if summary.ran() == 0 {
        return "–".to_owned();
    }
    let mut text = format!("{}/{}", summary.count(Outcome::Pass), summary.ran());
    for outcome in [Outcome::Fail, Outcome::Untestable, Outcome::Error, Outcome::Warn, Outcome::Known] {
        if summary.count(outcome) > 0 {
            let _ = write!(text, ", {} {outcome}", summary.count(outcome));
        }
    }
    text
}

fn problems(out: &mut String, host: &HostReport, runs: &[&RunReport]) {
    // One line per requirement and message; a host that lies does so in every scenario.
    let mut seen: BTreeMap<(&str, Verdict, &str), Vec<String>> = BTreeMap::new();
    for run in runs {
        for finding in run.problems() {
            let key = (finding.requirement.as_str(), finding.verdict, finding.message.as_str());
            seen.entry(key).or_default().push(format!("{} ({})", run.scenario, run.coordinates()));
        }
        if run.outcome == Outcome::Error {
            let reason = run.reason.as_deref().unwrap_or("no reason was recorded");
            let key = ("error", Verdict::Untestable, reason);
            seen.entry(key).or_default().push(format!("{} ({})", run.scenario, run.coordinates()));
        }
    }
    let known: BTreeSet<(&str, &str, &str)> = runs
        .iter()
        .flat_map(|run| {
            run.known_findings().map(|(f, reason)| (run.scenario.as_str(), f.requirement.as_str(), reason))
        })
        .collect();
    let stale: BTreeSet<(&str, String)> = runs
        .iter()
        .flat_map(|run| run.stale.iter().map(|stale| (stale.message.as_str(), stale.at.to_string())))
        .collect();
    if seen.is_empty() && known.is_empty() && stale.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n## {} {}\n", escape(&host.name), escape(&host.version));
    for (message, place) in stale {
        let _ = writeln!(out, "- baseline: {} — {}", escape(message), escape(&place));
    }
    for (scenario, requirement, reason) in known {
        let _ = writeln!(out, "- `{requirement}` known: {} — {scenario}", escape(reason));
    }
    for ((requirement, verdict, message), places) in seen {
        let more = places.len() - 1;
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let _ = writeln!(
            out,
            "- `{requirement}` {verdict}: {} — {}{more}",
            escape(message),
            places.first().map_or("", String::as_str)
        );
    }
}

/// Host text must not become markup.
fn escape(text: &str) -> String {
    text.chars().fold(String::new(), |mut out, character| {
        if matches!(character, '|' | '<' | '>' | '*' | '_' | '[' | ']' | '`' | '\\' | '#') {
            out.push('\\');
        }
        out.push(if character.is_control() { ' ' } else { character });
        out
    })
}
