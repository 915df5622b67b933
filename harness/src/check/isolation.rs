//! `hop.isolation`: one broken server does not hide the tools of another.

use super::sheet::{Sheet, Tally};
use super::stable_list::{may_change, removal};
use super::view::{Run, View, after};
use crate::trace::event::Event;

pub(super) fn check(view: &View<'_>, sheet: &mut Sheet<'_>) {
    let mut tally = Tally::default();
    for run in &view.runs {
        let broken = broken(run);
        if !broken.is_empty() {
            others_are_offered(run, &broken, &mut tally);
        }
    }
    sheet.close("hop.isolation", tally, "the tools of the healthy servers were offered");
}

/// The ends of servers that never listed anything.
fn broken<'a>(run: &Run<'a>) -> Vec<&'a Event> {
    let sick = run.plan.servers.iter().filter(|server| lists(run, &server.key).next().is_none());
    sick.flat_map(|server| run.conns_of(&server.key).filter_map(|conn| conn.broken())).collect()
}

/// The pages that a server gave of its list.
fn lists<'r, 'a>(run: &'r Run<'a>, key: &'r str) -> impl Iterator<Item = &'a Event> + use<'r, 'a> {
    let lists = run.conns_of(key).flat_map(|conn| &conn.rpcs).filter(|rpc| rpc.method == "tools/list");
    lists.filter_map(|rpc| rpc.result().map(|(answer, _)| answer))
}

fn others_are_offered(run: &Run<'_>, broken: &[&Event], tally: &mut Tally) {
    let exchanges: Vec<_> = run.main_line().filter(|exchange| exchange.request.is_some()).collect();
    let [.., before, last] = exchanges[..] else { return };
    let listed = run.listed_before(last.event);
    for (tool, answer) in &listed {
        if last.offers(tool) {
            tally.holds(broken.iter().copied().chain(lists(run, &tool.server)).chain([last.event]));
        } else if !after(answer, before.event)
            && removal(run.plan, tool, &listed).is_none()
            && !may_change(run, &tool.server, last.event)
        {
            // It was listed a whole turn ago, so the host had time to offer it.
            let reason = format!("`{tool}` is not offered while another server is broken");
            tally.fails(reason, broken.iter().copied().chain([*answer, last.event]));
        }
    }
}
