//! `hopcheck show`: a trace for a person, and one hop in three lanes side by side.

use std::fmt::Write as _;

use super::args::ShowArgs;
use super::exit::Exit;
use super::output;
use crate::check::view::{Emitted, Role, Run, View};
use crate::invocation::{Failure, judge};
use crate::json::Json;
use crate::plan::{Plan, Planned};
use crate::snapshot;
use crate::trace::Trace;

/// Width of one lane.
const COLUMN: usize = 44;
/// The lanes of a hop.
const LANES: [&str; 3] = ["model: tool use", "wire: tools/call", "model: tool result"];

/// Shows a trace.
pub(super) fn show(args: &ShowArgs) -> Result<Exit, Failure> {
    let (planned, trace) = judge::read(&args.trace)?;
    let path = args.path.as_deref().map(Path::parse).transpose()?;
    let plan = match planned {
        Planned::Run(plan) => plan,
        Planned::NotApplicable { key, reason, .. } => {
            output::out(&format!("{key}\nnot-applicable: {reason}\n"))?;
            return Ok(Exit::Expected);
        }
    };
    let text = match (args.hop, &path) {
        (None, None) => whole(&plan, &trace),
        (None, Some(path)) => values(&trace, path),
        (Some(number), path) => hop(&plan, &trace, number, path.as_ref())?,
    };
    output::out(&text)?;
    Ok(Exit::Expected)
}

/// The transcript with the numbers of its events.
fn whole(plan: &Plan, trace: &Trace) -> String {
    let lines = snapshot::lines(plan, trace);
    let width = snapshot::lane_width(&lines);
    let mut out = format!("{} (host version {})\n", plan.key, trace.header.host_version);
    for line in &lines {
        // Writing to a string cannot fail.
        let _ = writeln!(out, "{:5} {}", line.event, line.render(width));
    }
    let hops = plan.uses.len();
    if hops > 0 {
        let which = if hops == 1 { "1".to_owned() } else { format!("N, from 1 to {hops},") };
        let _ = writeln!(out, "\n--hop {which} shows one hop side by side");
    }
    out
}

/// The value at a path of every message that has one.
fn values(trace: &Trace, path: &Path) -> String {
    let mut out = String::new();
    for event in &trace.events {
        if let Some(value) = event.json().as_ref().and_then(|json| path.find(json)) {
            let lane = event.server.as_deref().unwrap_or(event.kind.lane().as_str());
            let _ = writeln!(out, "{:5} {lane} {} {value}", event.n, event.kind.as_str());
        }
    }
    out
}

/// One hop: what the model asked for, what the host called, what the model was told.
fn hop(plan: &Plan, trace: &Trace, number: usize, path: Option<&Path>) -> Result<String, Failure> {
    let view = View::new(plan, trace);
    let index = number.checked_sub(1).filter(|index| *index < plan.uses.len()).ok_or_else(|| {
        Failure::Usage(format!(
            "no hop {number}: tool uses that the model has in this scenario: {}",
            plan.uses.len()
        ))
    })?;
    let planned = &plan.uses[index];
    let mut out = format!("hop {number}: {}\n", planned.tool);
    for run in &view.runs {
        let Some(used) = run.emitted(index) else {
            out.push_str("the model never got to this tool use\n");
            continue;
        };
        if view.runs.len() > 1 {
            let _ = writeln!(out, "\n## {}", role(run.role));
        }
        lanes(&mut out, run, used, path);
    }
    Ok(out)
}

const fn role(role: Role) -> &'static str {
    match role {
        Role::Judged => "run",
        Role::Twin => "twin",
    }
}

fn lanes(out: &mut String, run: &Run<'_>, used: &Emitted<'_>, path: Option<&Path>) {
    let select = |value: Json| match path {
        Some(path) => {
            path.find(&value).map_or_else(|| "(no such member)".to_owned(), |found| found.pretty(COLUMN))
        }
        None => value.pretty(COLUMN),
    };
    // A path speaks of whole messages, as it does without `--hop`; to the eye, the part that matters is enough.
    let part = |name: &str, value: Json| match path {
        Some(_) => select(Json::object([(name, value)])),
        None => select(value),
    };
    let input = Json::parse(&used.input).unwrap_or_else(|_| Json::from(used.input.as_str()));
    let asked = Json::object([("name", Json::from(used.published.to_string())), ("input", input)]);
    let mut wire = Vec::new();
    for (conn, rpc) in run.calls(used) {
        let mut text = format!("event {} to {}\n", rpc.event.n, conn.server);
        text.push_str(&part("params", rpc.params.clone().unwrap_or(Json::Null)));
        if let Some(answer) = rpc.answer() {
            let _ = write!(text, "\n\nevent {} back\n", answer.event.n);
            text.push_str(&match &answer.body {
                Ok(result) => part("result", result.clone()),
                Err(error) => select(Json::object([("error", error.clone())])),
            });
        }
        wire.push(text);
    }
    if wire.is_empty() {
        wire.push("nothing was called".to_owned());
    }
    let told = match run.told(used) {
        Some(told) => {
            let texts = Json::array(told.result.parts.iter().map(|part| match part {
                crate::model::Part::Text(text) => Json::parse(text).unwrap_or_else(|_| Json::from(text.as_str())),
                crate::model::Part::Image(json) | crate::model::Part::Other(json) => json.clone(),
            }));
            let mut value = Json::empty();
            if let Some(flag) = told.result.is_error {
                value.set("is_error", flag);
            }
            value.set("content", texts);
            format!("event {}\n{}", told.exchange.event.n, select(value))
        }
        None => "nothing was told".to_owned(),
    };
    let asked = format!("event {}, name from {}\n{}", used.reply.n, used.name_from, select(asked));
    side_by_side(out, [&asked, &wire.join("\n\n"), &told]);
}

fn side_by_side(out: &mut String, columns: [&str; 3]) {
    let wrapped = columns.map(|text| text.lines().flat_map(wrap).collect::<Vec<String>>());
    let bold = anstyle::Style::new().bold();
    let heads = LANES.map(|lane| format!("{lane:COLUMN$}")).join("  ");
    let _ = writeln!(out, "{bold}{}{bold:#}", heads.trim_end());
    let height = wrapped.iter().map(Vec::len).max().unwrap_or(0);
    for at in 0..height {
        let cells = wrapped.each_ref().map(|lines| {
            let text = lines.get(at).map_or("", String::as_str);
            format!("{text:COLUMN$}")
        });
        let _ = writeln!(out, "{}", cells.join("  ").trim_end());
    }
}

/// A line in pieces that fit a lane.
fn wrap(line: &str) -> Vec<String> {
    let characters: Vec<char> =
        line.chars().map(|character| if character.is_control() { '\u{fffd}' } else { character }).collect();
    if characters.is_empty() {
        return vec![String::new()];
    }
    characters.chunks(COLUMN).map(|piece| piece.iter().collect()).collect()
}

/// A path into a message: `$.params.name`, `$.result.content[0].text`.
#[derive(Debug, PartialEq, Eq)]
struct Path(Vec<String>);

impl Path {
    fn parse(text: &str) -> Result<Self, Failure> {
        let wrong =
            || Failure::Usage(format!("`{text}` is no path; write one like $.params.name or $.content[0]"));
        let mut rest = text.strip_prefix('$').ok_or_else(wrong)?;
        let mut segments = Vec::new();
        while !rest.is_empty() {
            let (segment, after) = if let Some(name) = rest.strip_prefix('.') {
                name.split_at(name.find(['.', '[']).unwrap_or(name.len()))
            } else {
                let (index, after) =
                    rest.strip_prefix('[').and_then(|inner| inner.split_once(']')).ok_or_else(wrong)?;
                (index.trim_matches(['"', '\'']), after)
            };
            if segment.is_empty() {
                return Err(wrong());
            }
            segments.push(segment.to_owned());
            rest = after;
        }
        Ok(Self(segments))
    }

    fn find<'j>(&self, json: &'j Json) -> Option<&'j Json> {
        self.0.iter().try_fold(json, |value, segment| match value {
            Json::Array(items) => items.get(segment.parse::<usize>().ok()?),
            other => other.get(segment),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_name_members_and_items() {
        let json = Json::parse(r#"{"params":{"name":"a","list":[{"x y":1}]}}"#).unwrap();
        let find = |text: &str| Path::parse(text).ok().and_then(|path| path.find(&json).map(ToString::to_string));
        assert_eq!(find("$.params.name").as_deref(), Some("\"a\""));
        assert_eq!(find("$.params.list[0]['x y']").as_deref(), Some("1"));
        assert_eq!(find("$").map(|text| text.len()), Some(json.to_string().len()));
        assert_eq!(find("$.params.none"), None);
        assert!(Path::parse("params.name").is_err());
        assert!(Path::parse("$.").is_err());
        assert!(Path::parse("$[0").is_err());
    }
}
