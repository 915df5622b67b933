//! The JSON report: the form that scripts rely on.

use super::{Report, RunReport, Stale, Summary};
use crate::check::finding::{Finding, Outcome};
use crate::json::Json;

/// The report of a whole invocation.
#[must_use]
pub fn json(report: Report<'_>) -> Json {
    let mut json = Json::object([
        ("hopcheck", Json::from(env!("CARGO_PKG_VERSION"))),
        ("runs", Json::array(report.runs.iter().map(run))),
        ("summary", summary_json(&Summary::of(report.runs))),
    ]);
    if let Some(snapshots) = report.snapshots {
        json.set("snapshots", snapshots.json());
    }
    json
}

/// The number of runs per outcome.
#[must_use]
pub fn summary_json(summary: &Summary) -> Json {
    Json::object(Outcome::ALL.map(|outcome| (outcome.as_str(), summary.count(outcome))))
}

fn run(run: &RunReport) -> Json {
    Json::object([
        ("scenario", Json::from(run.scenario.as_str())),
        ("host", Json::object([("name", run.host.name.as_str()), ("version", run.host.version.as_str())])),
        ("revision", Json::from(run.revision.as_str())),
        ("transport", Json::from(run.transport.as_str())),
        ("outcome", Json::from(run.outcome.as_str())),
        ("reason", Json::from(run.reason.clone())),
        ("duration_ms", Json::from(run.duration_ms)),
        ("trace", Json::from(run.trace.clone())),
        (
            "findings",
            Json::array(run.findings.iter().enumerate().map(|(at, one)| finding(one, run.known.get(&at)))),
        ),
        ("stale", Json::array(run.stale.iter().map(stale))),
    ])
}

fn stale(stale: &Stale) -> Json {
    Json::object([
        ("requirement", Json::from(stale.requirement.as_str())),
        ("message", Json::from(stale.message.as_str())),
        ("at", Json::from(stale.at.to_string())),
    ])
}

fn finding(finding: &Finding, known: Option<&String>) -> Json {
    Json::object([
        ("requirement", Json::from(finding.requirement.as_str())),
        ("level", Json::from(finding.level.as_str())),
        ("verdict", Json::from(finding.verdict.as_str())),
        ("message", Json::from(finding.message.as_str())),
        ("evidence", Json::array(finding.evidence.iter().copied())),
        ("value", Json::from(finding.value.clone())),
        ("at", Json::from(finding.at.as_ref().map(ToString::to_string))),
        ("known", Json::from(known.cloned())),
    ])
}
