//! `hopcheck list`: what there is.

use super::args::{Format, ListArgs, Listed};
use super::exit::Exit;
use super::{faults, output};
use crate::host::locate;
use crate::invocation::{self, Failure, hosts, select};
use crate::json::Json;
use crate::library;
use crate::requirement::{self, Requirement};
use crate::scenario::ast::Feature;
use crate::stage;

/// One thing of a list: for programs, and as columns for people.
struct Row {
    json: Json,
    columns: Vec<String>,
}

impl Row {
    fn new<const N: usize>(json: Json, columns: [&str; N]) -> Self {
        Self { json, columns: columns.iter().map(|&column| column.to_owned()).collect() }
    }
}

/// Lists.
pub(super) fn list(args: &ListArgs) -> Result<Exit, Failure> {
    let rows = match args.what {
        Listed::Hosts => hosts()?,
        Listed::Scenarios => scenarios()?,
        Listed::Requirements => requirement::all().iter().map(requirement).collect(),
        Listed::Faults => faults::all().iter().map(fault).collect(),
        Listed::Features => Feature::ALL.iter().map(feature).collect(),
    };
    match args.format {
        Format::Json => {
            let all = Json::array(rows.into_iter().map(|row| row.json));
            output::out(&format!("{all}\n"))?;
        }
        Format::Text => output::out(&table(&rows))?,
    }
    Ok(Exit::Expected)
}

fn table(rows: &[Row]) -> String {
    let columns = rows.iter().map(|row| row.columns.len()).max().unwrap_or(0);
    let width = |at: usize| {
        rows.iter().filter_map(|row| row.columns.get(at)).map(|text| text.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    rows.iter().fold(String::new(), |mut out, row| {
        let cells = row.columns.iter().zip(&widths).map(|(text, &width)| format!("{text:width$}"));
        out.push_str(cells.collect::<Vec<_>>().join("  ").trim_end());
        out.push('\n');
        out
    })
}

fn hosts() -> Result<Vec<Row>, Failure> {
    let exe = invocation::self_exe()?;
    let mut rows = Vec::new();
    for (name, _) in library::profiles() {
        let (_, profile) = hosts::profile(name)?;
        let located = stage::locate(&profile, &exe);
        let mut json = Json::object([
            ("name", Json::from(name)),
            ("title", Json::from(&profile.title)),
            ("variants", Json::from(profile.variants.clone())),
            ("installed", Json::from(located.is_ok())),
        ]);
        let state = match located {
            Ok(located) => {
                json.set("version", located.version.as_str());
                format!("installed {}", located.version)
            }
            Err(locate::LocateError::NotInstalled { hint, .. }) => {
                json.set("install", hint.as_str());
                format!("not installed: {hint}")
            }
            Err(error) => {
                json.set("install", error.to_string());
                error.to_string()
            }
        };
        let variants: Vec<String> = profile.variants.iter().map(|variant| format!("{name}:{variant}")).collect();
        rows.push(Row::new(json, [name, &profile.title, &variants.join(" "), &state]));
    }
    Ok(rows)
}

fn scenarios() -> Result<Vec<Row>, Failure> {
    Ok(select::scenarios(&[])?
        .iter()
        .map(|scenario| {
            let id = scenario.id.to_string();
            let requirements: Vec<&str> = scenario.requirements.iter().map(|id| id.value.as_str()).collect();
            let json = Json::object([
                ("id", Json::from(id.as_str())),
                ("title", Json::from(&scenario.title.value)),
                ("requirements", Json::from(requirements)),
            ]);
            Row::new(json, [&id, &scenario.title.value])
        })
        .collect())
}

fn requirement(requirement: &Requirement) -> Row {
    let id = requirement.id.as_str();
    let json = Json::object([
        ("id", Json::from(id)),
        ("level", requirement.level.as_str().into()),
        ("summary", requirement.summary.as_str().into()),
        ("judged", requirement.judged().into()),
    ]);
    let judged = if requirement.judged() { "judged" } else { "" };
    Row::new(json, [id, requirement.level.as_str(), judged, &requirement.summary])
}

fn fault(fault: &faults::Fault) -> Row {
    let json = Json::object([
        ("name", Json::from(fault.name)),
        ("kind", fault.kind.as_str().into()),
        ("about", Json::array(fault.about.iter().copied())),
        ("summary", fault.summary.into()),
        ("found_by", Json::array(["scenario"])),
    ]);
    Row::new(json, [fault.name, fault.kind.as_str(), &fault.about.join(" "), fault.summary])
}

fn feature(feature: &Feature) -> Row {
    let json = Json::object([("name", feature.as_str()), ("summary", feature.doc())]);
    Row::new(json, [feature.as_str(), feature.doc()])
}
