//! `hop.isolation`: one broken server does not hide the tools of another.

use super::sheet::{Sheet, Tally};
use super::stable_list::{is_deferred, removal};
use super::view::{Run, View, after};
use crate::trace::event::Event;

pub(super) fn check(view: &View<'_>, sheet: &mut Sheet<'_>) {
    let mut tally = Tally::default();
    for run in &view.runs {
        if let Some(broken) = broken(run) {
            others_are_offered(run, broken, &mut tally);
        }
    }
    sheet.close("hop.isolation", tally, "the tools of the healthy servers were offered");
}

/// The end of a server that never listed anything.
fn broken<'a>(run: &Run<'a>) -> Option<&'a Event> {
    run.plan.servers.iter().find_map(|server| {
        let listed = run
            .conns_of(&server.key)
            .flat_map(|conn| &conn.rpcs)
            .any(|rpc| rpc.method == "tools/list" && rpc.result().is_some());
        if listed { None } else { run.conns_of(&server.key).find_map(|conn| conn.broken()) }
    })
}

fn others_are_offered(run: &Run<'_>, broken: &Event, tally: &mut Tally) {
    let exchanges: Vec<_> = run.main_line().filter(|exchange| exchange.request.is_some()).collect();
    let [.., before, last] = exchanges[..] else { return };
    let listed = run.listed_before(last.event);
    for (tool, answer) in &listed {
        if last.offers(tool) {
            tally.holds([broken, *answer, last.event]);
        } else if is_deferred(run, tool, last) {
            // Nobody looked for it, so nothing shows whether it could have been found.
        } else if !after(answer, before.event) && removal(run.plan, tool, &listed).is_none() {
            // It was listed a whole turn ago, so the host had time to offer it.
            let reason = format!("`{tool}` is not offered while another server is broken");
            tally.fails(reason, [broken, *answer, last.event]);
        }
    }
}
