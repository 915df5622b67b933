//! Scenario files: text to typed, spanned [`ast::Scenario`].

pub mod ast;
pub mod keys;
pub mod live;

mod during;
pub mod native;
mod permissions;
mod refs;
mod servers;
mod small;
mod steps;

use std::sync::Arc;

use crate::decode::{Data, Reporter, Value, keys::quoted, patch, shape, suggest, syntax};
use crate::diagnostic::{Diagnostic, Source, Spanned};
use crate::revision::Transport;
use ast::{Feature, Limits, Scenario, ScenarioId, Step, Verb};

/// Files that a scenario may name, already in memory: this module reads nothing itself.
pub trait Library {
    /// The server script of that name.
    fn script(&self, name: &str) -> Option<Arc<Source>>;
    /// The names of all server scripts.
    fn script_names(&self) -> Vec<String>;
    /// Whether a requirement has this id.
    fn is_requirement(&self, id: &str) -> bool;
    /// The ids of all requirements.
    fn requirement_ids(&self) -> Vec<String>;
}

/// Reads a scenario file: one scenario per case, or one for a file without cases.
///
/// # Errors
/// Everything that is wrong with the file, in all its cases.
pub fn parse(
    source: &Arc<Source>,
    area: &str,
    name: &str,
    library: &dyn Library,
) -> Result<Vec<Scenario>, Vec<Diagnostic>> {
    let mut out = Reporter::new(source);
    let mut root = syntax::read(source, &mut out);
    let id = |case: Option<String>| ScenarioId { area: area.to_owned(), name: name.to_owned(), case };
    let Some(cases) = take_cases(&mut root) else {
        let scenario = scenario(&root, id(None), library, &mut out);
        return out.finish(vec![scenario]);
    };
    shape::check(&cases, &keys::CASES, &mut out);
    check_case_names(&cases, &mut out);
    let mut scenarios = Vec::new();
    for case in cases.list("case") {
        let mut varied = root.clone();
        patch::apply(&mut varied, case, &mut out);
        scenarios.push(scenario(&varied, id(case.string("name")), library, &mut out));
    }
    // A `case` without a readable case would hide every mistake of the rest of the file.
    if scenarios.is_empty() {
        scenario(&root, id(None), library, &mut out);
    }
    out.finish(scenarios)
}

/// Cuts `[[case]]` out of the tree, so that a case cannot change the cases.
fn take_cases(root: &mut Value) -> Option<Value> {
    let span = root.span.clone();
    let Data::Table(members) = &mut root.data else { return None };
    let at = members.iter().position(|member| member.key.value == "case")?;
    let cases = members.remove(at);
    Some(Value { data: Data::Table(vec![cases]), span })
}

fn check_case_names(cases: &Value, out: &mut Reporter) {
    let mut seen: Vec<&str> = Vec::new();
    for value in cases.list("case").iter().filter_map(|case| case.get("name")) {
        let Some(name) = value.as_str() else { continue };
        if seen.contains(&name) {
            out.error(value.span.clone(), format!("a second case `{name}`"))
                .label("cases are told apart by their names");
        }
        // The name stands in scenario ids and in file names of traces.
        if name.chars().any(|c| !(c.is_ascii_alphanumeric() || "-_.".contains(c))) {
            out.error(value.span.clone(), format!("`{name}` cannot name a case"))
                .label("letters, digits, `-`, `_` and `.` only");
        }
        seen.push(name);
    }
}

/// The typed form; what is missing or wrong was reported by the shape pass and is left out.
fn scenario(root: &Value, id: ScenarioId, library: &dyn Library, out: &mut Reporter) -> Scenario {
    shape::check(root, &keys::SCENARIO, out);
    let (servers, names) = servers::read(root, library, out);
    let nothing = Value::empty_table(0..0);
    let strings = |key: &str| root.get(key).map(Value::spanned_strings).unwrap_or_default();
    check_requirements(&strings("requirements"), library, out);
    let limits = limits(root.get("limits").unwrap_or(&nothing));
    let steps: Vec<Step> = root.list("step").iter().filter_map(|step| steps::read(step, &names, out)).collect();
    check_bounds(&steps, limits, out);
    Scenario {
        id,
        source: Arc::clone(out.source()),
        title: root
            .get("title")
            .and_then(Value::spanned_str)
            .unwrap_or_else(|| Spanned::new(String::new(), root.span.clone())),
        requirements: strings("requirements"),
        revisions: small::revisions(root.get("revisions"), out),
        transports: root.list("transports").iter().filter_map(|word| Transport::parse(word.as_str()?)).collect(),
        hosts: strings("hosts"),
        needs: strings("needs")
            .into_iter()
            .filter_map(|word| Some(Spanned::new(Feature::parse(&word.value)?, word.span)))
            .collect(),
        runs: root.get("runs").and_then(Value::as_integer).unwrap_or(1),
        natives: native::read(root.get("native"), &names, out),
        permissions: permissions::read(root.get("permissions"), &names, out),
        limits,
        steps,
        expect: small::counts(root.get("expect").unwrap_or(&nothing), out),
        servers,
    }
}

fn limits(table: &Value) -> Limits {
    let number = |key: &str| table.get(key).and_then(Value::as_integer);
    Limits { start: number("start"), call: number("call") }
}

/// Reports results that have to be told in time, where nobody sets one.
fn check_bounds(steps: &[Step], limits: Limits, out: &mut Reporter) {
    if limits.call.is_some() || out.is_damaged() {
        return;
    }
    let uses = steps.iter().flat_map(|step| match &step.verb {
        Verb::Uses { uses, .. } => uses.as_slice(),
        _ => &[],
    });
    for before in uses.filter_map(|one| one.told.as_ref()?.before.as_ref()) {
        out.error(before.span.clone(), "a bound without a limit")
            .label("there is no limit for one call")
            .help("set it in milliseconds: `[limits]` with `call = 1000`");
    }
}

fn check_requirements(ids: &[Spanned<String>], library: &dyn Library, out: &mut Reporter) {
    for id in ids.iter().filter(|id| !id.value.is_empty() && !library.is_requirement(&id.value)) {
        let known = library.requirement_ids();
        let wording =
            out.error(id.span.clone(), format!("unknown requirement `{}`", id.value)).label("not in the registry");
        match suggest(&id.value, known.iter().map(String::as_str)) {
            Some(close) => wording.help(format!("did you mean `{close}`?")),
            None => wording.help("`hopcheck list requirements` lists them all"),
        };
    }
}

/// Reports a name that is not among the known ones.
fn report_unknown(place: &Spanned<String>, what: &str, known: &[&str], owner: &str, out: &mut Reporter) {
    let wording =
        out.error(place.span.clone(), format!("unknown {what} `{}`", place.value)).label(format!("not {owner}"));
    match suggest(&place.value, known.iter().copied()) {
        Some(close) => wording.help(format!("did you mean `{close}`?")),
        None if known.is_empty() => wording.help(format!("there is no {what} at all")),
        None => wording.help(format!("known: {}", quoted(known.iter().copied()))),
    };
}

#[cfg(test)]
mod tests;
