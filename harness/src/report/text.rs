//! The report for a terminal. All texts carry ANSI styles; the writer strips them where nobody wants colour.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};

use super::{HostReport, RunReport, Summary};
use crate::check::finding::Outcome;

pub(super) const fn style(outcome: Outcome) -> Style {
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

/// Text of a host must not steer the terminal.
pub(super) fn plain(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}
