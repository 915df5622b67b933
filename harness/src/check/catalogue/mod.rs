//! Rules of the specification that the wire shows at no cost. They are judged on every trace that has a subject for them.

mod asked;
pub(super) mod base;
mod cancel;
mod lifecycle;
pub(super) mod listen;
mod modern;
mod pagination;
mod probe;
mod stdio;
pub(super) mod timeout;
mod told;
mod tools;
mod vanished;

use super::sheet::{Sheet, Tally};
use super::view::{Conn, Line, Rpc, View};

pub(super) fn check(view: &View<'_>, sheet: &mut Sheet<'_>) {
    base::check(view, sheet);
    asked::check(view, sheet);
    cancel::check(view, sheet);
    timeout::check(view, sheet);
    listen::check(view, sheet);
    lifecycle::check(view, sheet);
    modern::check(view, sheet);
    probe::check(view, sheet);
    tools::check(view, sheet);
    vanished::check(view, sheet);
    told::check(view, sheet);
    pagination::check(view, sheet);
    stdio::check(view, sheet);
}

/// Why a trace that has a subject for a rule does not decide it, where that is no fault of the host.
pub(super) fn undecided(id: &str, view: &View<'_>) -> Option<String> {
    (id == "stdio.shutdown.close-stdin-first").then(|| stdio::at_once(view)).flatten()
}

/// All connections of a trace.
fn conns<'v, 'a>(view: &'v View<'a>) -> impl Iterator<Item = &'v Conn<'a>> {
    view.runs.iter().flat_map(|run| &run.conns)
}

/// Facts about every connection.
pub(super) fn per_conn(view: &View<'_>, mut fact: impl FnMut(&Conn<'_>, &mut Tally)) -> Tally {
    let mut tally = Tally::default();
    conns(view).for_each(|conn| fact(conn, &mut tally));
    tally
}

/// Facts about every request of the host.
fn per_request(view: &View<'_>, mut fact: impl FnMut(&Rpc<'_>, &mut Tally)) -> Tally {
    per_conn(view, |conn, tally| conn.rpcs.iter().for_each(|rpc| fact(rpc, tally)))
}

/// Facts about every message of the host.
fn per_line(view: &View<'_>, mut fact: impl FnMut(&Line<'_>, &mut Tally)) -> Tally {
    per_conn(view, |conn, tally| conn.host_lines().for_each(|line| fact(line, tally)))
}
