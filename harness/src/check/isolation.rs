//! `hop.isolation`: one sick server does not hide the tools of another.

use super::sheet::{Sheet, Tally};
use super::stable_list::{is_deferred, removal};
use super::view::{Conn, Exchange, Run, Side, View, after};
use crate::json::Json;
use crate::plan::PlannedServer;
use crate::rpc::Message;
use crate::trace::event::Event;

pub(super) fn check(view: &View<'_>, sheet: &mut Sheet<'_>) {
    let mut tally = Tally::default();
    for run in &view.runs {
        if let Some(symptom) = symptom(run) {
            others_are_offered(run, symptom, &mut tally);
            others_are_listed(run, symptom, &mut tally);
        }
    }
    sheet.close("hop.isolation", tally, "the tools of the healthy servers were offered");
}

/// What first shows that some server is sick: words that are no message, or that it gave the host no list that can be used.
fn symptom<'a>(run: &Run<'a>) -> Option<&'a Event> {
    let signs = run.plan.servers.iter().flat_map(|server| {
        let listed = gave_list(run, &server.key);
        run.conns_of(&server.key)
            .filter_map(move |conn| garbage(conn).or_else(|| if listed { None } else { sign(conn) }))
    });
    signs.min_by_key(|event| event.n)
}

/// A list with nothing but entries that a host can use. One bad entry makes a list that a host may refuse as a whole.
fn gave_list(run: &Run<'_>, key: &str) -> bool {
    let lists = run.conns_of(key).flat_map(|conn| &conn.rpcs).filter(|rpc| rpc.method == "tools/list");
    lists.filter_map(|rpc| rpc.result()).any(|(_, page)| {
        let Some(Json::Array(tools)) = page.get("tools") else { return false };
        tools.iter().all(|tool| tool.at(&["inputSchema", "type"]).and_then(Json::as_str) == Some("object"))
    })
}

fn garbage<'a>(conn: &Conn<'a>) -> Option<&'a Event> {
    let of_server = conn.lines.iter().filter(|line| line.side == Side::Server);
    of_server.into_iter().find(|line| matches!(line.message, Message::Malformed(_))).map(|line| line.event)
}

/// A sign of sickness on a connection: it broke, or an opening or a list was refused, was never answered, or was answered
/// with what cannot be used.
fn sign<'a>(conn: &Conn<'a>) -> Option<&'a Event> {
    let failed = conn.rpcs.iter().filter(|rpc| ["initialize", "tools/list"].contains(&rpc.method.as_str()));
    let failed = failed.filter_map(|rpc| match rpc.answer() {
        Some(answer) if rpc.method == "tools/list" || answer.body.is_err() => Some(answer.event),
        Some(_) => None,
        None => Some(rpc.event),
    });
    failed.chain(conn.broken()).min_by_key(|event| event.n)
}

/// What was listed a whole turn ago is offered: the host had time for it.
fn others_are_offered(run: &Run<'_>, symptom: &Event, tally: &mut Tally) {
    let exchanges: Vec<_> = run.main_line().filter(|exchange| exchange.request.is_some()).collect();
    for pair in exchanges.windows(2) {
        let (before, now) = (pair[0], pair[1]);
        if after(symptom, now.event) {
            continue;
        }
        let listed = run.listed_before(now.event);
        for (tool, answer) in &listed {
            if now.offers(tool) {
                tally.holds([symptom, *answer, now.event]);
            } else if !after(answer, before.event)
                && removal(run.plan, tool, &listed).is_none()
                && !is_deferred(run, tool, now)
            {
                let reason = format!("`{tool}` is not offered while another server is sick");
                tally.fails(reason, [symptom, *answer, now.event]);
            }
        }
    }
}

/// A host that never comes to ask the healthy for their tools hides them as well.
fn others_are_listed(run: &Run<'_>, symptom: &Event, tally: &mut Tally) {
    let Some(last) = run.main_line().last() else { return };
    for server in run.plan.servers.iter().filter(|server| is_healthy(server)) {
        let listed = |exchange: &Exchange<'_>| {
            run.listed_before(exchange.event).iter().any(|(tool, _)| tool.server == server.key)
        };
        if !listed(last) {
            let reason = format!("`{}` was never asked for its tools while another server is sick", server.key);
            tally.fails(reason, [symptom, last.event]);
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
