//! The report for a terminal. All texts carry ANSI styles; the writer strips them where nobody wants colour.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};

use super::{HostReport, RunReport, Summary};
use crate::check::finding::{Finding, Outcome, Verdict};
use crate::diagnostic::{Diagnostic, Severity};
use crate::snapshot::Line;

/// Lines of the transcript shown before and after evidence.
const AROUND: usize = 2;
/// Most lines of one excerpt.
const EXCERPT: usize = 16;
/// Longest line of one excerpt, in characters: a page of JSON hides what it is shown for.
const WIDTH: usize = 160;

const fn style(outcome: Outcome) -> Style {
    let style = Style::new().bold();
    match outcome {
        Outcome::Pass => style.fg_color(Some(anstyle::Color::Ansi(AnsiColor::Green))),
        Outcome::Warn | Outcome::Known => style.fg_color(Some(anstyle::Color::Ansi(AnsiColor::Yellow))),
        Outcome::NotApplicable => Style::new().dimmed(),
        Outcome::Fail | Outcome::Untestable | Outcome::Error => {
            style.fg_color(Some(anstyle::Color::Ansi(AnsiColor::Red)))
        }
    }
}

pub(super) fn styled(style: Style, text: impl std::fmt::Display) -> String {
    format!("{style}{text}{style:#}")
}

/// What a person should know of, and that does not fail.
pub(super) const fn warned() -> Style {
    style(Outcome::Warn)
}

/// One line for a finished run.
#[must_use]
pub fn run_line(run: &RunReport) -> String {
    one_line(run, styled(style(run.outcome), format!("{:14}", run.outcome.as_str())))
}

/// One line for a run that was recorded and not judged: it must not look as if anything had been found to hold.
#[must_use]
pub fn record_line(run: &RunReport) -> String {
    match run.outcome {
        Outcome::Error | Outcome::NotApplicable => run_line(run),
        _ => one_line(run, format!("{:14}", "recorded")),
    }
}

fn one_line(run: &RunReport, word: impl std::fmt::Display) -> String {
    let mut line = format!("{word} {} {} {}", run.host.name, run.scenario, run.coordinates());
    if run.outcome != Outcome::NotApplicable {
        let _ = write!(line, " ({} ms)", run.duration_ms);
    }
    if let Some(reason) = &run.reason {
        let _ = write!(line, ": {}", plain(reason));
    }
    line.push('\n');
    line
}

/// Areas × outcomes for each host.
#[must_use]
pub fn verdict_table(runs: &[RunReport]) -> String {
    let mut hosts: BTreeMap<&HostReport, BTreeMap<&str, Vec<&RunReport>>> = BTreeMap::new();
    for run in runs {
        hosts.entry(&run.host).or_default().entry(run.area()).or_default().push(run);
    }
    let width = runs.iter().map(|run| run.area().len()).max().unwrap_or(0).max("area".len());
    // Most hosts have no baseline.
    let with_baseline = Summary::of(runs).count(Outcome::Known) > 0;
    let outcomes: Vec<Outcome> =
        Outcome::ALL.into_iter().filter(|outcome| with_baseline || *outcome != Outcome::Known).collect();
    let mut out = String::new();
    for (host, areas) in hosts {
        let _ = writeln!(out, "\n{}", styled(Style::new().bold(), format!("{} {}", host.name, host.version)));
        let _ = write!(out, "  {:width$}", "area");
        for outcome in &outcomes {
            let _ = write!(out, "  {:>1$}", outcome.as_str(), outcome.as_str().len());
        }
        out.push('\n');
        let all = areas.values().flatten().copied();
        let total = Summary::of(all);
        for (area, runs) in &areas {
            row(&mut out, area, width, &outcomes, &Summary::of(runs.iter().copied()));
        }
        row(&mut out, "all", width, &outcomes, &total);
    }
    out
}

fn row(out: &mut String, name: &str, width: usize, outcomes: &[Outcome], summary: &Summary) {
    let _ = write!(out, "  {name:width$}");
    for &outcome in outcomes {
        let count = summary.count(outcome);
        let text = if count == 0 { "·".to_owned() } else { count.to_string() };
        let cell = format!("{text:>0$}", outcome.as_str().len());
        let cell = if count == 0 { styled(Style::new().dimmed(), cell) } else { styled(style(outcome), cell) };
        let _ = write!(out, "  {cell}");
    }
    out.push('\n');
}

/// The last line: what came of it all.
#[must_use]
pub fn summary_line(runs: &[RunReport]) -> String {
    let summary = Summary::of(runs);
    let counts: Vec<String> = Outcome::ALL
        .into_iter()
        .filter(|outcome| summary.count(*outcome) > 0)
        .map(|outcome| styled(style(outcome), format!("{} {outcome}", summary.count(outcome))))
        .collect();
    let runs = runs.len();
    format!("\n{runs} {}: {}\n", if runs == 1 { "run" } else { "runs" }, counts.join(", "))
}

/// How many failures are shown in full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// The first ones; the rest is counted.
    First(usize),
    /// All.
    All,
}

/// Every failing finding: the scenario line that does not hold, and the events that show it.
///
/// The same finding in several revisions or transports is shown once.
#[must_use]
pub fn failures(runs: &[RunReport], detail: Detail) -> String {
    type Key<'r> = (&'r HostReport, &'r str, &'r str, Verdict, Option<(usize, usize)>);
    let mut order: Vec<Key<'_>> = Vec::new();
    let mut groups: BTreeMap<Key<'_>, Vec<(&RunReport, &Finding)>> = BTreeMap::new();
    for run in runs {
        for finding in run.problems() {
            let span = finding.at.as_ref().map(|place| (place.span.start, place.span.end));
            let key = (&run.host, run.scenario.as_str(), finding.requirement.as_str(), finding.verdict, span);
            let group = groups.entry(key).or_default();
            if group.is_empty() {
                order.push(key);
            }
            group.push((run, finding));
        }
    }
    let most = match detail {
        Detail::First(most) => most,
        Detail::All => order.len(),
    };
    let mut out = String::new();
    for key in order.iter().take(most) {
        if let Some(group) = groups.get(key) {
            failure(&mut out, group);
        }
    }
    if order.len() > most {
        let _ = writeln!(out, "\n{} more findings are not shown; --verbose shows all", order.len() - most);
    }
    out
}

fn failure(out: &mut String, group: &[(&RunReport, &Finding)]) {
    let Some((run, finding)) = group.first() else { return };
    let title = format!("{} {}: {}", finding.requirement, finding.verdict, plain(&finding.message));
    out.push('\n');
    let severity = if finding.verdict == Verdict::Fail && !finding.level.fails() {
        Severity::Warning
    } else {
        Severity::Error
    };
    match &finding.at {
        Some(place) => {
            let diagnostic = Diagnostic {
                severity,
                title,
                source: std::sync::Arc::clone(&place.source),
                span: place.span.clone(),
                label: format!("level {}", finding.level),
                help: Vec::new(),
            };
            out.push_str(&diagnostic.render_styled());
            out.push('\n');
        }
        None => {
            let word = if severity == Severity::Warning { "warning" } else { "error" };
            let bold = if severity == Severity::Warning { Outcome::Warn } else { Outcome::Fail };
            let _ = writeln!(out, "{}: {title}", styled(style(bold), word));
        }
    }
    let wheres: Vec<String> = group.iter().map(|(run, _)| run.coordinates()).collect();
    let _ = writeln!(out, "  run: {} {} at {}", run.host.name, run.scenario, wheres.join(", "));
    excerpt(out, &run.transcript, &finding.evidence);
    if let Some(trace) = &run.trace {
        let _ = writeln!(out, "  trace: {trace}");
    }
    let _ = writeln!(out, "  see: hopcheck explain {}", finding.requirement);
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

/// Text of a host must not steer the terminal.
pub(super) fn plain(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}
