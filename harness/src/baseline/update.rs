//! A baseline brought up to date with what runs showed: what is still true stays as it was written, comments included.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::{Baseline, Known, KnownVerdict, hits};
use crate::check::finding::{Finding, Outcome, Verdict};
use crate::diagnostic::Diagnostic;
use crate::json::Json;
use crate::report::RunReport;
use crate::revision::{Revision, Transport};

/// What an update makes of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Update {
    /// The new text.
    pub text: String,
    /// Failures that are new in it. Their reasons are empty, so the file is not accepted before a person has written them.
    pub added: usize,
    /// Failures that went from it.
    pub removed: usize,
}

/// The text of an empty baseline.
#[must_use]
pub fn blank(host: &str) -> String {
    format!("# Known failures. One that goes away must go from here as well.\nhost = {}\n", quoted(host))
}

/// Where a run was carried out.
type Place = (Revision, Transport);

/// The runs of one scenario that showed something of the host.
fn judged<'r>(runs: &'r [RunReport], scenario: &str) -> impl Iterator<Item = &'r RunReport> {
    runs.iter().filter(move |run| {
        run.scenario == scenario && !matches!(run.outcome, Outcome::Error | Outcome::NotApplicable)
    })
}

/// Brings a baseline up to date with runs of its host, whether or not it has been applied to them.
///
/// Entries of scenarios, revisions, transports and versions that did not run stay as they are.
///
/// # Errors
/// An entry that is not written as a `[[known]]` table, and so cannot be taken out alone.
pub fn update(baseline: &Baseline, runs: &[RunReport]) -> Result<Update, Diagnostic> {
    let text = &baseline.source.text;
    let blocks = blocks(baseline)?;
    let mut out = text[..blocks.first().map_or(text.len(), |block| block.start)].trim_end().to_owned() + "\n";
    let mut covered: BTreeSet<(&str, Place, &str, bool)> = BTreeSet::new();
    let mut removed = 0;
    for (known, block) in baseline.known.iter().zip(blocks) {
        let spoken: Vec<&RunReport> =
            judged(runs, &known.scenario.value).filter(|run| known.speaks_of(run)).collect();
        let all: BTreeSet<Place> = spoken.iter().map(|run| (run.revision, run.transport)).collect();
        let mut still: BTreeMap<BTreeSet<Place>, Vec<&str>> = BTreeMap::new();
        for requirement in &known.requirements {
            let id = requirement.value.as_str();
            let places: BTreeSet<Place> = spoken
                .iter()
                .filter(|run| !hits(&run.findings, id, known.verdict).is_empty())
                .map(|run| (run.revision, run.transport))
                .collect();
            let untestable = known.verdict == KnownVerdict::Untestable;
            covered.extend(places.iter().map(|&place| (known.scenario.value.as_str(), place, id, untestable)));
            removed += usize::from(places.is_empty() && !all.is_empty());
            if !places.is_empty() {
                still.entry(places).or_default().push(id);
            }
        }
        let whole = still.len() == 1
            && still.get(&all).is_some_and(|requirements| requirements.len() == known.requirements.len());
        if all.is_empty() || whole {
            out.push_str(&format!("\n{}\n", text[block].trim()));
            continue;
        }
        for (at, (places, requirements)) in still.iter().enumerate() {
            let comments: String = text[block.clone()]
                .lines()
                .take_while(|line| line.starts_with('#'))
                .map(|l| format!("{l}\n"))
                .collect();
            let entry = entry(known, requirements, places, &all);
            out.push_str(&format!("\n{}{entry}", if at == 0 { comments } else { String::new() }));
        }
    }
    let new = new_failures(runs, &covered);
    let added = new.values().map(Vec::len).sum();
    for ((scenario, untestable, places), requirements) in new {
        let all: BTreeSet<Place> = judged(runs, scenario).map(|run| (run.revision, run.transport)).collect();
        let verdict = if untestable { KnownVerdict::Untestable } else { KnownVerdict::Fail };
        out.push_str(&format!(
            "\n[[known]]\nscenario = {}\n{}{}{}reason = \"\"\n",
            quoted(scenario),
            list("requirement", requirements.iter().copied()),
            verdict_line(verdict),
            coordinates(&places, &all),
        ));
    }
    Ok(Update { text: out, added, removed })
}

/// What fails a run and is not in the file, by scenario and by where it does.
fn new_failures<'r>(
    runs: &'r [RunReport],
    covered: &BTreeSet<(&str, Place, &str, bool)>,
) -> BTreeMap<(&'r str, bool, BTreeSet<Place>), Vec<&'r str>> {
    let fails = |finding: &&Finding| match finding.verdict {
        Verdict::Untestable => true,
        Verdict::Fail => finding.level.fails(),
        Verdict::Pass | Verdict::Trait | Verdict::NotApplicable => false,
    };
    let mut places: BTreeMap<(&str, bool, &str), BTreeSet<Place>> = BTreeMap::new();
    for run in runs.iter().filter(|run| !matches!(run.outcome, Outcome::Error | Outcome::NotApplicable)) {
        let place = (run.revision, run.transport);
        for finding in run.findings.iter().filter(fails) {
            let (scenario, id) = (run.scenario.as_str(), finding.requirement.as_str());
            let untestable = finding.verdict == Verdict::Untestable;
            if !covered.contains(&(scenario, place, id, untestable)) {
                places.entry((scenario, untestable, id)).or_default().insert(place);
            }
        }
    }
    let mut groups: BTreeMap<(&str, bool, BTreeSet<Place>), Vec<&str>> = BTreeMap::new();
    for ((scenario, untestable, id), places) in places {
        groups.entry((scenario, untestable, places)).or_default().push(id);
    }
    groups
}

/// The text of an entry that is only partly true any more.
fn entry(known: &Known, requirements: &[&str], places: &BTreeSet<Place>, all: &BTreeSet<Place>) -> String {
    let where_ = if places == all {
        let revisions = list("revision", known.revisions.iter().map(|revision| revision.as_str()));
        revisions + &list("transport", known.transports.iter().map(|transport| transport.as_str()))
    } else {
        coordinates(places, all)
    };
    let versions = known
        .versions
        .as_ref()
        .map_or_else(String::new, |req| format!("versions = {}\n", quoted(&req.to_string())));
    format!(
        "[[known]]\nscenario = {}\n{}{}{where_}{versions}reason = {}\n",
        quoted(&known.scenario.value),
        list("requirement", requirements.iter().copied()),
        verdict_line(known.verdict),
        quoted(&known.reason),
    )
}

fn verdict_line(verdict: KnownVerdict) -> String {
    match verdict {
        KnownVerdict::Fail => String::new(),
        KnownVerdict::Untestable => format!("verdict = {}\n", quoted(verdict.as_str())),
    }
}

/// The keys that tell these places from the others.
fn coordinates(places: &BTreeSet<Place>, all: &BTreeSet<Place>) -> String {
    if places == all {
        return String::new();
    }
    let revisions: BTreeSet<&str> = places.iter().map(|(revision, _)| revision.as_str()).collect();
    let transports: BTreeSet<&str> = places.iter().map(|(_, transport)| transport.as_str()).collect();
    let all_transports: BTreeSet<&str> = all.iter().map(|(_, transport)| transport.as_str()).collect();
    let mut out = list("revision", revisions);
    if transports != all_transports {
        out.push_str(&list("transport", transports));
    }
    out
}

/// `key = "one"`, `key = ["one", "two"]`, or nothing.
fn list<'a>(key: &str, words: impl IntoIterator<Item = &'a str>) -> String {
    let words: Vec<String> = words.into_iter().map(quoted).collect();
    match words.as_slice() {
        [] => String::new(),
        [word] => format!("{key} = {word}\n"),
        words => format!("{key} = [{}]\n", words.join(", ")),
    }
}

/// A TOML string; JSON writes strings that TOML reads.
fn quoted(text: &str) -> String {
    Json::from(text).to_string()
}

/// The bytes of each entry: from its comments to those of the next.
fn blocks(baseline: &Baseline) -> Result<Vec<Range<usize>>, Diagnostic> {
    let text = &baseline.source.text;
    let mut starts = Vec::new();
    for known in &baseline.known {
        if !text[known.span.clone()].starts_with("[[") {
            return Err(Diagnostic::error(
                &baseline.source,
                known.span.clone(),
                "an entry that cannot be updated",
            )
            .label("not a table of its own")
            .help("write each known failure under a header `[[known]]`"));
        }
        starts.push(above(text, known.span.start));
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    Ok(starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect())
}

/// The start of the comment lines directly above a line.
fn above(text: &str, at: usize) -> usize {
    let mut start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    while let Some(line) = text[..start].strip_suffix('\n') {
        let previous = line.rfind('\n').map_or(0, |end| end + 1);
        if !line[previous..].starts_with('#') {
            break;
        }
        start = previous;
    }
    start
}
