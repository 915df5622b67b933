//! `hopcheck explain`: all that is known of a requirement.

use std::fmt::Write as _;

use super::args::ExplainArgs;
use super::exit::Exit;
use super::{faults, output};
use crate::diagnostic::did_you_mean;
use crate::invocation::{Failure, select};
use crate::requirement::{self, Requirement};

/// Explains one requirement.
pub(super) fn explain(args: &ExplainArgs) -> Result<Exit, Failure> {
    let id = args.requirement.as_str();
    let all = requirement::all();
    let Some(requirement) = all.iter().find(|requirement| requirement.id == id) else {
        let help = match did_you_mean(id, all.iter().map(|requirement| requirement.id.as_str())) {
            Some(close) => format!("did you mean `{close}`?"),
            None => "`hopcheck list requirements` lists them all".to_owned(),
        };
        return Err(Failure::Usage(format!("no requirement `{id}`: {help}")));
    };
    output::out(&text(requirement))?;
    Ok(Exit::Expected)
}

fn text(requirement: &Requirement) -> String {
    let bold = anstyle::Style::new().bold();
    let id = requirement.id.as_str();
    // Writing to a string cannot fail.
    let mut out = format!("{bold}{id}{bold:#}\n  {}\n\n", requirement.summary);
    let mut row = |name: &str, text: &str| {
        if !text.is_empty() {
            let _ = writeln!(out, "  {name:12} {text}");
        }
    };
    row("level", requirement.level.as_str());
    let levels = requirement.levels();
    if levels.iter().any(|(_, level)| *level != requirement.level) {
        for (revision, level) in levels {
            row("", &format!("{revision} {level}"));
        }
    }
    row("shown by", requirement.vantage());
    row("judged", if requirement.judged() { "yes" } else { "no: it has no check yet" });
    if let Some(host) = requirement.host() {
        row("host", &format!("only {host}"));
    }
    row("see", &requirement.see().join(", "));
    if let Some(entry) = requirement.catalogued {
        let why = match entry.keyword.as_str() {
            "bcp14" => "an upper-case keyword",
            "schema" => "the schema",
            "lowercase" => "a lower-case keyword, which does not bind",
            "implied" => "described behaviour, which does not bind",
            _ => "good practice, which does not bind",
        };
        row("rests on", why);
        row("note", entry.revision_note.as_deref().unwrap_or_default());
        let mut name = "source";
        for (revision, place) in &entry.source {
            row(name, &format!("{revision} {place}"));
            name = "";
        }
    }
    let mut errors = Vec::new();
    let scenarios: Vec<String> = select::builtin(&mut errors)
        .iter()
        .filter(|scenario| scenario.requirements.iter().any(|named| named.value == id))
        .map(|scenario| scenario.id.to_string())
        .collect();
    row("scenarios", &scenarios.join(", "));
    for kind in faults::Kind::ALL {
        let names: Vec<&str> = faults::all()
            .iter()
            .filter(|fault| fault.kind == kind && fault.about.contains(&id))
            .map(|fault| fault.name)
            .collect();
        row(&format!("{} faults", kind.as_str()), &names.join(", "));
    }
    out
}
