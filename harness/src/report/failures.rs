//! What does not hold, told once: the scenario line, and the events that show it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use anstyle::Style;

use super::text::{plain, style, styled};
use super::{HostReport, RunReport};
use crate::check::finding::{Finding, Outcome, Verdict};
use crate::diagnostic::{Diagnostic, Severity};
use crate::snapshot::Line;

/// Lines of the transcript shown before and after evidence.
const AROUND: usize = 2;
/// Most lines of one excerpt.
const EXCERPT: usize = 16;
/// Longest line of one excerpt, in characters: a page of JSON hides what it is shown for.
const WIDTH: usize = 160;
/// Where a list of requirements is broken, in characters.
const LIST: usize = 110;

/// How many failures are shown in full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// The first ones; the rest is counted.
    First(usize),
    /// All.
    All,
}

/// One finding, with all the runs that have it.
type Group<'r> = Vec<(&'r RunReport, &'r Finding)>;

/// What does not hold, told once. The first group is shown, the others are named.
struct Trouble<'r>(Vec<Group<'r>>);

/// Every failing finding: the scenario line that does not hold, and the events that show it.
///
/// The same finding in several revisions or transports is shown once. So is what one cause does to several requirements:
/// failures with the same words and the same evidence, and everything that could not be judged since there is no record.
#[must_use]
pub fn failures(runs: &[RunReport], detail: Detail) -> String {
    let troubles = troubles(groups(runs));
    let most = match detail {
        Detail::First(most) => most,
        Detail::All => troubles.len(),
    };
    let mut out = String::new();
    for trouble in troubles.iter().take(most) {
        trouble.write(&mut out);
    }
    if troubles.len() > most {
        let _ = writeln!(out, "\n{} more findings are not shown; --verbose shows all", troubles.len() - most);
    }
    out
}

/// The failing findings in order of appearance, those of one place and kind together.
fn groups(runs: &[RunReport]) -> Vec<Group<'_>> {
    type Key<'r> = (&'r HostReport, &'r str, &'r str, Verdict, Option<(usize, usize)>);
    let mut places: BTreeMap<Key<'_>, usize> = BTreeMap::new();
    let mut groups: Vec<Group<'_>> = Vec::new();
    for run in runs {
        for finding in run.problems() {
            let span = finding.at.as_ref().map(|place| (place.span.start, place.span.end));
            let key = (&run.host, run.scenario.as_str(), finding.requirement.as_str(), finding.verdict, span);
            let at = *places.entry(key).or_insert(groups.len());
            if at == groups.len() {
                groups.push(Vec::new());
            }
            groups[at].push((run, finding));
        }
    }
    groups
}

/// The groups that have one cause together.
fn troubles(groups: Vec<Group<'_>>) -> Vec<Trouble<'_>> {
    type Cause<'r> = (&'r HostReport, &'r str, Verdict, Option<(&'r str, &'r [u32])>);
    let mut places: BTreeMap<Cause<'_>, usize> = BTreeMap::new();
    let mut troubles: Vec<Trouble<'_>> = Vec::new();
    for group in groups {
        let Some((run, finding)) = group.first() else { continue };
        let told = (finding.message.as_str(), finding.evidence.as_slice());
        // Without a record there is one cause, in however many words.
        let told = (finding.verdict == Verdict::Fail || !finding.evidence.is_empty()).then_some(told);
        let cause = (&run.host, run.scenario.as_str(), finding.verdict, told);
        match places.get(&cause) {
            Some(at) => troubles[*at].0.push(group),
            None => {
                places.insert(cause, troubles.len());
                troubles.push(Trouble(vec![group]));
            }
        }
    }
    troubles
}

fn severity(finding: &Finding) -> Severity {
    if finding.verdict == Verdict::Fail && !finding.level.fails() { Severity::Warning } else { Severity::Error }
}

impl Trouble<'_> {
    fn write(&self, out: &mut String) {
        // What fails the run leads, whatever comes with it.
        let grave = |group: &&Group<'_>| group.first().is_some_and(|(_, one)| severity(one) == Severity::Error);
        let Some(lead) = self.0.iter().find(grave).or(self.0.first()) else { return };
        let Some((run, finding)) = lead.first() else { return };
        head(out, finding);
        let wheres: Vec<String> = lead.iter().map(|(run, _)| run.coordinates()).collect();
        let _ = writeln!(out, "  run: {} {} at {}", run.host.name, run.scenario, wheres.join(", "));
        excerpt(out, &run.transcript, &finding.evidence);
        let others = self.0.iter().filter(|group| !std::ptr::eq(*group, lead)).filter_map(|group| group.first());
        let names: Vec<String> = others
            .map(|(_, other)| match other.verdict {
                Verdict::Untestable => other.requirement.clone(),
                _ => format!("{} ({})", other.requirement, other.level),
            })
            .collect();
        if !names.is_empty() {
            let word = if finding.verdict == Verdict::Untestable { "also untestable" } else { "also broken" };
            list(out, word, &names);
        }
        if let Some(trace) = &run.trace {
            let _ = writeln!(out, "  trace: {trace}");
        }
        let _ = writeln!(out, "  see: hopcheck explain {}", finding.requirement);
    }
}

fn head(out: &mut String, finding: &Finding) {
    let severity = severity(finding);
    let title = format!("{} {}: {}", finding.requirement, finding.verdict, plain(&finding.message));
    out.push('\n');
    match &finding.at {
        Some(place) => {
            let diagnostic = Diagnostic {
                severity,
                title,
                source: Arc::clone(&place.source),
                span: place.span.clone(),
                label: format!("level {}", finding.level),
                help: Vec::new(),
            };
            out.push_str(&diagnostic.render_styled());
            out.push('\n');
        }
        None => {
            let (word, like) = match severity {
                Severity::Warning => ("warning", Outcome::Warn),
                Severity::Error => ("error", Outcome::Fail),
            };
            let _ = writeln!(out, "{}: {title}", styled(style(like), word));
        }
    }
}

/// Names after a word, broken between names.
fn list(out: &mut String, word: &str, names: &[String]) {
    let mut line = format!("  {word}:");
    for (at, name) in names.iter().enumerate() {
        if line.len() + name.len() > LIST {
            let _ = writeln!(out, "{line}");
            line = "   ".to_owned();
        }
        let comma = if at + 1 < names.len() { "," } else { "" };
        let _ = write!(line, " {name}{comma}");
    }
    let _ = writeln!(out, "{line}");
}

/// The lines of the transcript around the evidence, which is marked.
fn excerpt(out: &mut String, transcript: &[Line], evidence: &[u32]) {
    let width = crate::snapshot::lane_width(transcript);
    // A transcript has an order that is the same on every run; a failure is read in the order in which it happened.
    let mut transcript: Vec<&Line> = transcript.iter().collect();
    transcript.sort_by_key(|line| line.event);
    let is_evidence = |line: &Line| evidence.contains(&line.event);
    let hits: Vec<usize> =
        transcript.iter().enumerate().filter(|(_, line)| is_evidence(line)).map(|(at, _)| at).collect();
    let near = |at: usize| hits.iter().any(|hit| hit.abs_diff(at) <= AROUND);
    let mut last = None;
    for (shown, (at, line)) in transcript.iter().enumerate().filter(|(at, _)| near(*at)).enumerate() {
        if shown == EXCERPT {
            out.push_str("         …\n");
            break;
        }
        if last.is_some_and(|last| last + 1 != at) {
            out.push_str("         …\n");
        }
        let mark = if is_evidence(line) { '>' } else { ' ' };
        let text = cut(format!("  {mark} {:4} {}", line.event, line.render(width)));
        let style = if is_evidence(line) { Style::new().bold() } else { Style::new() };
        let _ = writeln!(out, "{}", styled(style, text));
        last = Some(at);
    }
}

fn cut(text: String) -> String {
    match text.char_indices().nth(WIDTH) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}
