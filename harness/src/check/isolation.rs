//! `hop.isolation`: one sick server does not hide the tools of another.

use super::sheet::{Sheet, Tally};
use super::stable_list::{is_deferred, may_change, removal};
use super::view::{Conn, Exchange, Run, Side, View, after};
use crate::json::Json;
use crate::plan::PlannedServer;
use crate::rpc::Message;
use crate::trace::event::Event;

pub(super) fn check(view: &View<'_>, sheet: &mut Sheet<'_>) {
    let mut tally = Tally::default();
    for run in &view.runs {
        let symptoms = symptoms(run);
        if !symptoms.is_empty() {
            others_are_offered(run, &symptoms, &mut tally);
            others_are_listed(run, &symptoms, &mut tally);
        }
    }
    sheet.close("hop.isolation", tally, "the tools of the healthy servers were offered");
}

/// What shows that some server is sick: words that are no message, or that it gave the host no list that can be used.
fn symptoms<'a>(run: &Run<'a>) -> Vec<&'a Event> {
    let signs = run.plan.servers.iter().flat_map(|server| {
        let listed = gave_list(run, &server.key);
        run.conns_of(&server.key).flat_map(move |conn| {
            let signs = if listed { Vec::new() } else { signs(conn) };
            garbage(conn).into_iter().chain(signs)
        })
    });
    signs.collect()
}

/// A list with nothing but entries that a host can use. One bad entry makes a list that a host may refuse as a whole.
fn gave_list(run: &Run<'_>, key: &str) -> bool {
    let lists = run.conns_of(key).flat_map(|conn| &conn.rpcs).filter(|rpc| rpc.method == "tools/list");
    lists.filter_map(|rpc| rpc.result()).any(|(_, page)| {
        let Some(Json::Array(tools)) = page.get("tools") else { return false };
        tools.iter().all(|tool| tool.at(&["inputSchema", "type"]).and_then(Json::as_str) == Some("object"))
    })
}

/// Words that are no message.
fn garbage<'a>(conn: &Conn<'a>) -> Vec<&'a Event> {
    let of_server = conn.lines.iter().filter(|line| line.side == Side::Server);
    of_server.filter(|line| matches!(line.message, Message::Malformed(_))).map(|line| line.event).collect()
}

/// Signs of sickness on a connection: it broke, or an opening or a list was refused, was never answered, or was answered
/// with what cannot be used.
fn signs<'a>(conn: &Conn<'a>) -> Vec<&'a Event> {
    let failed = conn.rpcs.iter().filter(|rpc| ["initialize", "tools/list"].contains(&rpc.method.as_str()));
    let failed = failed.filter_map(|rpc| match rpc.answer() {
        Some(answer) if rpc.method == "tools/list" || answer.body.is_err() => Some(answer.event),
        Some(_) => None,
        None => Some(rpc.event),
    });
    failed.chain(conn.broken()).collect()
}

/// The pages that a server gave of its list.
fn lists<'r, 'a>(run: &'r Run<'a>, key: &'r str) -> impl Iterator<Item = &'a Event> + use<'r, 'a> {
    let lists = run.conns_of(key).flat_map(|conn| &conn.rpcs).filter(|rpc| rpc.method == "tools/list");
    lists.filter_map(|rpc| rpc.result().map(|(answer, _)| answer))
}

/// What was listed a whole turn ago is offered: the host had time for it.
fn others_are_offered(run: &Run<'_>, symptoms: &[&Event], tally: &mut Tally) {
    let exchanges: Vec<_> = run.main_line().filter(|exchange| exchange.request.is_some()).collect();
    for pair in exchanges.windows(2) {
        let (before, now) = (pair[0], pair[1]);
        if symptoms.iter().all(|symptom| after(symptom, now.event)) {
            continue;
        }
        let listed = run.listed_before(now.event);
        for (tool, answer) in &listed {
            if now.offers(tool) {
                tally.holds(symptoms.iter().copied().chain(lists(run, &tool.server)).chain([now.event]));
            } else if !after(answer, before.event)
                && removal(run.plan, tool, &listed).is_none()
                && !is_deferred(run, tool, now)
                && !may_change(run, &tool.server, now.event)
            {
                let reason = format!("`{tool}` is not offered while another server is sick");
                tally.fails(reason, symptoms.iter().copied().chain([*answer, now.event]));
            }
        }
    }
}

/// A host that never comes to ask the healthy for their tools hides them as well.
fn others_are_listed(run: &Run<'_>, symptoms: &[&Event], tally: &mut Tally) {
    let Some(last) = run.main_line().last() else { return };
    for server in run.plan.servers.iter().filter(|server| is_healthy(server)) {
        let listed = |exchange: &Exchange<'_>| {
            run.listed_before(exchange.event).iter().any(|(tool, _)| tool.server == server.key)
        };
        if !listed(last) {
            let reason = format!("`{}` was never asked for its tools while another server is sick", server.key);
            tally.fails(reason, symptoms.iter().copied().chain([last.event]));
        }
    }
}

/// Nothing is said of the server but what it offers and answers.
fn is_healthy(server: &PlannedServer) -> bool {
    let script = &server.script;
    let usable = |schema: Option<&Json>| schema.is_some_and(|schema| schema.str("type") == Some("object"));
    let declares = script.capabilities.get("tools").is_some();
    let tools = !script.tools.is_empty() && script.tools.iter().all(|tool| usable(tool.input_schema.as_ref()));
    script.on.is_empty() && declares && tools
}
