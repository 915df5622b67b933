//! `tools.list-changed.removed-tool-not-called`: a tool that vanished from a list that the host read.

use crate::check::sheet::{Sheet, Tally};
use crate::check::view::{Conn, Rpc, Run, View, after};
use crate::json::Json;
use crate::scenario::ast::ToolRef;
use crate::trace::event::Event;

pub(super) fn check(view: &View<'_>, sheet: &mut Sheet<'_>) {
    let mut tally = Tally::default();
    for run in &view.runs {
        for conn in &run.conns {
            for pair in lists(conn).windows(2) {
                for name in pair[0].names.iter().filter(|name| !pair[1].names.contains(name)) {
                    let tool = ToolRef { server: conn.server.to_owned(), tool: name.clone() };
                    vanished(run, conn, &tool, &pair[1], &mut tally);
                }
            }
        }
    }
    sheet.close(
        "tools.list-changed.removed-tool-not-called",
        tally,
        "what vanished was neither offered nor called",
    );
}

/// A list that was read to its end.
struct Walk<'a> {
    names: Vec<String>,
    end: &'a Event,
}

/// The lists of a connection that were read to their ends, in order.
fn lists<'a>(conn: &Conn<'a>) -> Vec<Walk<'a>> {
    let pages: Vec<&Rpc<'a>> = conn.rpcs.iter().filter(|rpc| rpc.method == "tools/list").collect();
    let mut walks = Vec::new();
    let mut names = Vec::new();
    for page in pages {
        let Some((end, result)) = page.result() else { continue };
        if page.param("cursor").is_none() {
            names.clear();
        }
        let tools = result.get("tools").map(Json::items).unwrap_or_default();
        names.extend(tools.iter().filter_map(|tool| tool.str("name").map(str::to_owned)));
        if result.get("nextCursor").is_none() {
            walks.push(Walk { names: std::mem::take(&mut names), end });
        }
    }
    walks
}

/// From the list without it on, up to one that has it again, a tool is neither offered nor called. What may have been
/// decided before the list was read says nothing, so only what follows a reply of the model from then on counts.
fn vanished(run: &Run<'_>, conn: &Conn<'_>, tool: &ToolRef, gone: &Walk<'_>, tally: &mut Tally) {
    let again = lists(conn).into_iter().find(|walk| walk.end.n > gone.end.n && walk.names.contains(&tool.tool));
    let replies: Vec<&Event> = run.main_line().filter_map(|exchange| exchange.reply).collect();
    let counts = |event: &Event| {
        let told = replies.iter().any(|reply| after(reply, gone.end) && after(event, reply));
        told && again.as_ref().is_none_or(|again| !after(event, again.end))
    };
    for call in conn.rpcs.iter().filter(|rpc| rpc.method == "tools/call" && counts(rpc.event)) {
        if call.param("name").and_then(Json::as_str) == Some(&tool.tool) {
            tally.fails(format!("`{tool}` was called when its server listed it no more"), [gone.end, call.event]);
        }
    }
    for exchange in run.main_line().filter(|exchange| counts(exchange.event)) {
        if exchange.offers(tool) {
            let reason = format!("`{tool}` was offered when its server listed it no more");
            tally.fails(reason, [gone.end, exchange.event]);
        } else {
            tally.holds([gone.end, exchange.event]);
        }
    }
}
