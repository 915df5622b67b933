//! Traits: what hosts do where nothing binds them. Recorded per version, never failed.

use std::collections::BTreeSet;

use super::arguments;
use super::offers;
use super::reading;
use super::sheet::Sheet;
use super::stable_list::is_gated;
use super::view::{Emitted, Run, View};
use crate::json::{Json, NumberModel};
use crate::model::ErrorFlag;
use crate::plan::Plan;
use crate::scenario::ast::{Answer, DenyBy, Input, Permissions, ToolRef, UseKind};
use crate::trace::event::{Event, Kind};

pub(super) fn check(view: &View<'_>, sheet: &mut Sheet<'_>) {
    spawns(view, sheet);
    opening(view, sheet);
    offers::record(view, sheet);
    environment(view, sheet);
    of_uses(view, sheet, "name-from", "published names were taken from", |_, used| {
        Some((used.name_from.clone(), vec![used.reply]))
    });
    of_uses(view, sheet, "joined-by", "calls were joined by", |run, used| {
        let words: BTreeSet<&str> = used.calls.iter().map(|call| call.by.as_str()).collect();
        let calls = run.calls(used).map(|(_, call)| call.event);
        (!words.is_empty()).then(|| (words.into_iter().collect::<Vec<_>>().join(", "), calls.collect()))
    });
    of_uses(view, sheet, "denied-visible", "tools that are denied are", |run, used| {
        visible(run, used, Gated::Denied)
    });
    of_uses(view, sheet, "asked-visible", "tools that are asked about are", |run, used| {
        visible(run, used, Gated::Asked)
    });
    of_uses(view, sheet, "denial-shape", "a denial is told as", denial_shape);
    of_uses(view, sheet, "ended-without-result", "the run ended without the result of", ended_without_result);
    of_uses(view, sheet, "abort-signal", "when the user gave a call up, its cancellation was", abort_signal);
    of_uses(view, sheet, "error-visible", "an error result shows as", error_visible);
    of_uses(view, sheet, "structured-told", "structured content is told as", structured_told);
    of_uses(view, sheet, "malformed-input", "malformed arguments were", malformed_input);
    of_uses(view, sheet, "empty-arguments", "no arguments travel as", empty_arguments);
    of_uses(view, sheet, "numbers-respelled", "numbers were written", numbers_respelled);
}

/// One trait over all uses of the judged runs: the values that occurred, each once.
fn of_uses<'a>(
    view: &View<'a>,
    sheet: &mut Sheet<'_>,
    name: &str,
    words: &str,
    of: impl Fn(&Run<'a>, &Emitted<'a>) -> Option<(String, Vec<&'a Event>)>,
) {
    let mut values = BTreeSet::new();
    let mut evidence = Vec::new();
    for run in view.judged() {
        for (value, events) in run.uses.iter().filter_map(|used| of(run, used)) {
            values.insert(value);
            evidence.extend(events);
        }
    }
    if !values.is_empty() {
        let value = values.into_iter().collect::<Vec<_>>().join(", ");
        sheet.record(name, value.clone(), format!("{words} {value}"), evidence, None);
    }
}

/// How many processes of each server the host started.
fn spawns(view: &View<'_>, sheet: &mut Sheet<'_>) {
    let mut counts = Vec::new();
    let mut evidence = Vec::new();
    for server in &view.plan.servers {
        let per_run = view.judged().map(|run| {
            let starts = run.of(Kind::ServerStart).filter(|event| event.server.as_deref() == Some(&server.key));
            starts.collect::<Vec<_>>()
        });
        let per_run: Vec<_> = per_run.collect();
        let most = per_run.iter().map(Vec::len).max().unwrap_or(0);
        evidence.extend(per_run.into_iter().flatten());
        counts.push(most.to_string());
    }
    if !evidence.is_empty() {
        let value = counts.join(", ");
        sheet.record("spawns", value.clone(), format!("processes started per server: {value}"), evidence, None);
    }
}

/// What of the host's own environment reaches its servers: names of variables that were given to the host, and that nobody
/// configured for the server. The variables that a program needs to be found and to run are no news.
fn environment(view: &View<'_>, sheet: &mut Sheet<'_>) {
    const ORDINARY: [&str; 4] = ["HOME", "PATH", "LANG", "TMPDIR"];
    let names = |event: &Event| -> BTreeSet<String> {
        let names = event.data.get("env").map(Json::items).unwrap_or_default();
        names.iter().filter_map(Json::as_str).map(str::to_owned).collect()
    };
    let mut passed = BTreeSet::new();
    let mut evidence = Vec::new();
    for run in view.judged() {
        let Some(host) = run.of(Kind::HostStart).next() else { continue };
        let own = names(host);
        for start in run.of(Kind::ServerStart).filter(|start| start.data.get("env").is_some()) {
            let given = names(start);
            passed.extend(own.intersection(&given).filter(|name| !ORDINARY.contains(&name.as_str())).cloned());
            evidence.extend([host, start]);
        }
    }
    if !evidence.is_empty() {
        let value =
            if passed.is_empty() { "none".to_owned() } else { passed.into_iter().collect::<Vec<_>>().join(", ") };
        let message = format!("variables of the host that reach servers: {value}");
        sheet.record("environment-passed", value, message, evidence, None);
    }
}

/// What a host says of itself when it opens a connection.
fn opening(view: &View<'_>, sheet: &mut Sheet<'_>) {
    let mut probe = BTreeSet::new();
    let mut requested = BTreeSet::new();
    let mut capabilities = BTreeSet::new();
    let mut evidence = Vec::new();
    let mut asking = Vec::new();
    let mut declaring = Vec::new();
    for conn in view.judged().flat_map(|run| &run.conns) {
        let Some(first) = conn.rpcs.first() else { continue };
        evidence.push(first.event);
        probe.insert(first.method.clone());
        for rpc in &conn.rpcs {
            let meta = |key: &str| rpc.param("_meta").and_then(|meta| meta.get(key));
            let version = rpc.param("protocolVersion").or_else(|| meta("io.modelcontextprotocol/protocolVersion"));
            if version.and_then(Json::as_str).is_some_and(|version| requested.insert(version.to_owned())) {
                asking.push(rpc.event);
            }
            let declared = meta("io.modelcontextprotocol/clientCapabilities")
                .or_else(|| rpc.param("capabilities").filter(|_| rpc.method == "initialize"));
            let names = declared.map(Json::members).unwrap_or_default();
            let known = capabilities.len();
            capabilities.extend(names.iter().map(|(name, _)| name.to_lossy().into_owned()));
            if capabilities.len() > known {
                declaring.push(rpc.event);
            }
        }
    }
    let list = |words: BTreeSet<String>| words.into_iter().collect::<Vec<_>>().join(", ");
    if let Some(first) = evidence.first().copied() {
        let (probe, requested) = (list(probe), list(requested));
        let message = format!("connections are opened by {probe}");
        sheet.record("era-probe", probe, message, evidence, None);
        let message = format!("versions asked for: {requested}");
        sheet.record("protocol-requested", requested, message, asking.into_iter().chain([first]), None);
        let names = if capabilities.is_empty() { "none".to_owned() } else { list(capabilities) };
        let message = format!("capabilities of the client: {names}");
        sheet.record("client-capabilities", names, message, declaring.into_iter().chain([first]), None);
    }
}

/// Whether the server is told of a call that the user gave up. Before 2026-07-28 that is the host's choice.
fn abort_signal<'a>(run: &Run<'a>, used: &Emitted<'a>) -> Option<(String, Vec<&'a Event>)> {
    let interrupt = run.interruption(used)?;
    let (conn, call) = run.calls(used).next()?;
    let cancelled = conn.cancellation(call);
    let value = if cancelled.is_some() { "sent" } else { "left out" };
    Some((value.to_owned(), [interrupt, call.event].into_iter().chain(cancelled).collect()))
}

/// What stands between the model and a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gated {
    Denied,
    Asked,
}

fn visible<'a>(run: &Run<'a>, used: &Emitted<'a>, gated: Gated) -> Option<(String, Vec<&'a Event>)> {
    let tool = &used.planned.tool;
    let asked = &run.exchanges[used.asked];
    let listed = run.listed_before(asked.event).iter().any(|(known, _)| known == tool);
    let value = if asked.offers(tool) { "visible" } else { "hidden" };
    let of = if is_denied_tool(run.plan, tool) { Gated::Denied } else { Gated::Asked };
    (is_gated(run.plan, tool) && of == gated && listed).then(|| (value.to_owned(), vec![asked.event]))
}

/// Denied by a rule, or by a step that leaves it to the host how.
fn is_denied_tool(plan: &Plan, tool: &ToolRef) -> bool {
    let by_rule = match &plan.scenario.permissions {
        Permissions::Rules(rules) => rules.deny.iter().any(|pattern| pattern.value.matches(tool)),
        Permissions::Implied | Permissions::None => false,
    };
    let by_step = |kind: &UseKind| matches!(kind, UseKind::Deny { by } if *by != Some(DenyBy::Schema));
    by_rule || plan.uses.iter().any(|planned| planned.tool == *tool && by_step(&planned.kind))
}

fn is_denied(used: &Emitted<'_>) -> bool {
    matches!(used.planned.kind, UseKind::Deny { .. } | UseKind::Ask { answer: Answer::Deny })
}

fn denial_shape<'a>(run: &Run<'a>, used: &Emitted<'a>) -> Option<(String, Vec<&'a Event>)> {
    let by_schema = used.planned.kind == UseKind::Deny { by: Some(DenyBy::Schema) };
    if !is_denied(used) || by_schema || !used.calls.is_empty() {
        return None;
    }
    if let Some(told) = run.told(used) {
        let value = if told.flag == Some(true) { "told-error" } else { "told-text" };
        return Some((value.to_owned(), vec![used.reply, told.exchange.event]));
    }
    let ended = run.own_exit().filter(|_| run.follow(used).is_none())?;
    Some(("run-ended".to_owned(), vec![used.reply, ended]))
}

fn ended_without_result<'a>(run: &Run<'a>, used: &Emitted<'a>) -> Option<(String, Vec<&'a Event>)> {
    let exit = run.own_exit().filter(|_| run.follow(used).is_none())?;
    Some((used.planned.tool.to_string(), vec![used.reply, exit]))
}

/// Only where the model API has no flag: how an error result can be told from a success.
fn error_visible<'a>(run: &Run<'a>, used: &Emitted<'a>) -> Option<(String, Vec<&'a Event>)> {
    let (_, call) = run.settled_call(used)?;
    let told = run.told(used)?;
    if run.error_flag() == ErrorFlag::Member || !call.is_tool_error() {
        return None;
    }
    let (answer, _) = call.result()?;
    let value = match told.flag {
        Some(true) => "a flag in the text",
        Some(false) => "a success",
        None => "text alone",
    };
    Some((value.to_owned(), vec![answer, told.exchange.event]))
}

fn structured_told<'a>(run: &Run<'a>, used: &Emitted<'a>) -> Option<(String, Vec<&'a Event>)> {
    let (answer, result) = run.settled_call(used)?.1.result()?;
    let structured = result.get("structuredContent")?;
    let told = run.told(used)?;
    let blocks = reading::blocks(result);
    let text = !blocks.is_empty() && told.reading.says(blocks.iter().copied());
    let value = match (text, told.reading.holds(structured)) {
        (true, true) => "both",
        (true, false) => "text",
        (false, true) => "structured",
        (false, false) => "neither",
    };
    Some((value.to_owned(), vec![answer, told.exchange.event]))
}

fn malformed_input<'a>(run: &Run<'a>, used: &Emitted<'a>) -> Option<(String, Vec<&'a Event>)> {
    let Input::Raw(_) = used.planned.input else { return None };
    match run.calls(used).next() {
        Some((_, call)) => {
            let sent = arguments::brief(&arguments::sent(call));
            Some((format!("called with {sent}"), vec![used.reply, call.event]))
        }
        None => {
            let follow = run.follow(used)?;
            Some(("refused".to_owned(), vec![used.reply, follow.event]))
        }
    }
}

fn empty_arguments<'a>(run: &Run<'a>, used: &Emitted<'a>) -> Option<(String, Vec<&'a Event>)> {
    let (_, call) = run.calls(used).next()?;
    let none = match &used.planned.input {
        Input::Absent => true,
        Input::Json(json) => *json == Json::empty(),
        Input::Raw(_) => false,
    };
    let value = match call.param("arguments") {
        None => "absent".to_owned(),
        Some(arguments) => arguments::brief(arguments),
    };
    none.then(|| (value, vec![used.reply, call.event]))
}

/// Numbers of the same value with another text, such as `1.0` that became `1`.
fn numbers_respelled<'a>(run: &Run<'a>, used: &Emitted<'a>) -> Option<(String, Vec<&'a Event>)> {
    let wanted = arguments::expected(run, used)?;
    let (_, call) = run.calls(used).next()?;
    let mut pairs = BTreeSet::new();
    respelled(&wanted, &arguments::sent(call), &mut pairs);
    let value = pairs.into_iter().collect::<Vec<_>>().join(", ");
    (!value.is_empty()).then(|| (value, vec![used.reply, call.event]))
}

fn respelled(wanted: &Json, sent: &Json, pairs: &mut BTreeSet<String>) {
    match (wanted, sent) {
        (Json::Number(a), Json::Number(b)) if a.as_str() != b.as_str() && a.equals(b, NumberModel::Decimal) => {
            pairs.insert(format!("{a} as {b}"));
        }
        (Json::Array(a), Json::Array(b)) => a.iter().zip(b).for_each(|(a, b)| respelled(a, b, pairs)),
        (Json::Object(members), Json::Object(_)) => {
            for (key, value) in members {
                if let Some(other) = key.as_str().and_then(|key| sent.get(key)) {
                    respelled(value, other, pairs);
                }
            }
        }
        _ => {}
    }
}
