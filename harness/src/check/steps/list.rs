//! `expect.list` and `expect.offers`: every page is asked for, and the right tools are offered.

use std::ops::Range;

use super::{Judged, close, every, unreached};
use crate::check::catalogue::listen;
use crate::check::sheet::{Sheet, Tally};
use crate::check::stable_list::is_gated;
use crate::check::view::{Conn, Exchange, Rpc, Run, View, after};
use crate::diagnostic::Spanned;
use crate::json::Json;
use crate::revision::Era;
use crate::scenario::ast::{Step, ToolRef, Verb};
use crate::trace::event::{Event, Kind};

pub(super) fn check(view: &View<'_>, sheet: &mut Sheet<'_>, index: usize, step: &Step) {
    let Verb::List { server, offers, hidden, alive, listens } = &step.verb else {
        return;
    };
    let key = server.value.as_str();
    let judged = every(view, |run| {
        if !run.is_alive() {
            return unreached(run);
        }
        let mut tally = pages(run, key);
        if let Some(alive) = alive {
            tally.absorb(alive_at_first_request(run, key, alive.value));
        }
        if run.plan.key.revision.era() == Era::Modern
            && let Some(listens) = listens
        {
            listening(run, key, listens.value, &mut tally);
        }
        Judged::Facts(tally)
    });
    close(sheet, "expect.list", &step.span, judged, "every page was asked for");
    if !offers.is_empty() || !hidden.is_empty() {
        let judged = every(view, |run| offered(run, key, index, offers, hidden));
        close(
            sheet,
            "expect.offers",
            &place(offers, hidden, step),
            judged,
            "the right tools were offered on every turn",
        );
    }
}

/// The names that the expectation is about.
fn place(offers: &[Spanned<String>], hidden: &[Spanned<String>], step: &Step) -> Range<usize> {
    let spans = || offers.iter().chain(hidden).map(|name| &name.span);
    let start = spans().map(|span| span.start).min();
    let end = spans().map(|span| span.end).max();
    start.zip(end).map_or_else(|| step.span.clone(), |(start, end)| start..end)
}

/// Some connection read the list to its end, and no cursor was changed on the way.
pub(in crate::check) fn pages(run: &Run<'_>, key: &str) -> Tally {
    let mut tally = Tally::default();
    let mut complete = Vec::new();
    let mut partial = Vec::new();
    for conn in run.conns_of(key) {
        match chain(conn) {
            Chain::Complete(events) => complete.extend(events),
            Chain::Partial(events) => partial.extend(events),
            Chain::None => {}
        }
        for (cursor, event) in invented_cursors(conn) {
            tally.fails(format!("the cursor {cursor} was never given by `{key}`"), [event]);
        }
    }
    if !complete.is_empty() {
        tally.holds(complete);
    } else if partial.is_empty() {
        tally.fails(format!("the host never asked `{key}` for its tools"), run.first_contact());
    } else {
        tally.fails(format!("the host did not ask `{key}` for every page of its tools"), partial);
    }
    tally
}

pub(in crate::check) enum Chain<'a> {
    /// The list was read to its end; the events of its pages.
    Complete(Vec<&'a Event>),
    /// It was begun.
    Partial(Vec<&'a Event>),
    None,
}

/// Follows the cursors of a connection from each `tools/list` without one.
pub(in crate::check) fn chain<'a>(conn: &Conn<'a>) -> Chain<'a> {
    let lists: Vec<_> = conn.rpcs.iter().filter(|rpc| rpc.method == "tools/list").collect();
    let (mut complete, mut partial) = (Vec::new(), Vec::new());
    for (at, _) in lists.iter().enumerate().filter(|(_, rpc)| rpc.param("cursor").is_none()) {
        match walk(&lists[at..]) {
            Chain::Complete(events) => complete.extend(events),
            Chain::Partial(events) => partial.extend(events),
            Chain::None => {}
        }
    }
    match lists.first() {
        Some(_) if !complete.is_empty() => Chain::Complete(complete),
        Some(first) if partial.is_empty() => Chain::Partial(vec![first.event]),
        Some(_) => Chain::Partial(partial),
        None => Chain::None,
    }
}

/// Follows the cursors from the first of these requests.
fn walk<'a>(lists: &[&Rpc<'a>]) -> Chain<'a> {
    let mut events = Vec::new();
    let mut seen: Vec<&Json> = Vec::new();
    let mut next = lists.first();
    while let Some(rpc) = next {
        let Some((answer, page)) = rpc.result() else { break };
        events.extend([rpc.event, answer]);
        let Some(cursor) = page.get("nextCursor") else {
            return Chain::Complete(events);
        };
        // A server that gives a cursor again goes in circles; to stop there is all that a host can do.
        if seen.contains(&cursor) {
            return Chain::Complete(events);
        }
        seen.push(cursor);
        next = lists.iter().find(|rpc| rpc.param("cursor") == Some(cursor) && rpc.result().is_some());
    }
    if events.is_empty() { Chain::None } else { Chain::Partial(events) }
}

/// Cursors that came back without having been given before on the connection.
pub(in crate::check) fn invented_cursors<'a>(conn: &Conn<'a>) -> Vec<(Json, &'a Event)> {
    let lists = || conn.rpcs.iter().filter(|rpc| rpc.method == "tools/list");
    let asked = lists().filter_map(|rpc| Some((rpc.param("cursor")?, rpc.event)));
    let given = |cursor: &Json, event: &Event| {
        lists()
            .filter_map(|rpc| rpc.result())
            .any(|(answer, page)| page.get("nextCursor") == Some(cursor) && !after(answer, event))
    };
    asked.filter(|(cursor, event)| !given(cursor, event)).map(|(cursor, event)| (cursor.clone(), event)).collect()
}

/// Whether some connection opened a stream for changes of the list. Where none is wanted, that the host read the list without one
/// is all there is to see.
fn listening(run: &Run<'_>, key: &str, wanted: bool, tally: &mut Tally) {
    let stream = run.conns_of(key).find_map(listen::tools_stream);
    match (stream, wanted) {
        (Some((request, acknowledged)), true) => tally.holds([request, acknowledged]),
        (Some((request, _)), false) => {
            tally.fails(format!("a stream for changes of `{key}` was opened"), [request]);
        }
        (None, true) => {
            tally.fails(format!("no stream for changes of `{key}` was opened"), run.first_contact());
        }
        (None, false) => {}
    }
}

/// The connections that were open when the model was first asked.
fn alive_at_first_request(run: &Run<'_>, key: &str, wanted: u32) -> Tally {
    let mut tally = Tally::default();
    let Some(first) = run.main_line().next() else {
        return tally;
    };
    let open = |conn: &&Conn<'_>| {
        let started = conn.events.first().is_some_and(|start| !after(start, first.event));
        started && conn.end().is_none_or(|end| after(end, first.event))
    };
    let starts: Vec<_> = run.conns_of(key).filter(open).filter_map(|conn| conn.events.first().copied()).collect();
    let reason =
        format!("{} connections of `{key}` were open at the first model request, not {wanted}", starts.len());
    let evidence = starts.iter().copied().chain([first.event]);
    if starts.len() == wanted as usize {
        tally.holds(evidence)
    } else {
        tally.fails(reason, evidence)
    }
    tally
}

/// The time between two changes of a server: by the steps, or by a restart as something else. What a `list` step says of its
/// tools holds from the change before it to the one behind it.
struct Window<'a> {
    from: Option<&'a Event>,
    to: Option<&'a Event>,
    restarts: Vec<&'a Event>,
}

impl<'a> Window<'a> {
    fn of(run: &Run<'a>, key: &str, step: usize) -> Self {
        let changes = || run.of(Kind::Change).filter(|change| change.server.as_deref() == Some(key));
        let place = |change: &Event| change.step.map(|at| at as usize);
        let generations = run.server(key).map(|server| server.script.generations.as_slice()).unwrap_or_default();
        let begins = |nth: usize| generations.iter().any(|generation| generation.from as usize == nth);
        let starts = run.of(Kind::ServerStart).filter(|start| start.server.as_deref() == Some(key));
        Self {
            from: changes().filter(|change| place(change) < Some(step)).last(),
            to: changes().find(|change| place(change) > Some(step)),
            restarts: starts.zip(1..).filter(|(_, nth)| begins(*nth)).map(|(start, _)| start).collect(),
        }
    }

    /// The requests that belong to it, of those from some turn on. The request whose reply is held for a change was made
    /// before it.
    fn within<'r>(&self, exchanges: impl Iterator<Item = &'r Exchange<'a>>) -> Vec<&'r Exchange<'a>>
    where
        'a: 'r,
    {
        let mut exchanges: Vec<_> = exchanges
            .filter(|exchange| self.from.is_none_or(|from| after(exchange.event, from)))
            .filter(|exchange| self.to.is_none_or(|to| !after(exchange.event, to)))
            .collect();
        if let Some(first) = exchanges.first().map(|exchange| exchange.event) {
            let restart = self.restarts.iter().find(|start| after(start, first));
            exchanges.retain(|exchange| restart.is_none_or(|start| !after(exchange.event, start)));
        }
        exchanges
    }
}

/// Where tools are searched for, each name of the step was searched for in a turn of its own, and what was not found is
/// not offered. What an earlier search found says nothing of what the host offers now.
fn offered(
    run: &Run<'_>,
    key: &str,
    step: usize,
    offers: &[Spanned<String>],
    hidden: &[Spanned<String>],
) -> Judged {
    // A step behind the last reply speaks of that one.
    let last = run.plan.turns.len().saturating_sub(1);
    let turn = run.plan.next_turns.get(step).map(|&turn| turn.min(last));
    let later = run.main_line().filter(|exchange| exchange.request.is_some() && exchange.turn >= turn);
    let exchanges = Window::of(run, key, step).within(later);
    if exchanges.is_empty() {
        return Judged::Untestable("the model was never asked after this step".to_owned());
    }
    let searches: Vec<&str> = run
        .searches
        .iter()
        .filter(|search| search.planned.step == step)
        .map(|search| search.id.as_str())
        .collect();
    let mut tally = Tally::default();
    let tool = |name: &Spanned<String>| ToolRef { server: key.to_owned(), tool: name.value.clone() };
    for exchange in exchanges {
        for tool in offers.iter().map(tool) {
            if exchange.offers(&tool) {
                tally.holds([exchange.event]);
            } else if !is_gated(run.plan, &tool) {
                tally.fails(format!("`{tool}` is not offered"), [exchange.event]);
            }
        }
        let listed = run.listed_before(exchange.event);
        for tool in hidden.iter().map(tool) {
            if exchange.offers_now(&tool, &searches) {
                tally.fails(format!("`{tool}` is offered and should be hidden"), [exchange.event]);
            } else if let Some((_, answer)) = listed.iter().find(|(known, _)| *known == tool) {
                // Hidden is only what the host knew of.
                tally.holds([*answer, exchange.event]);
            }
        }
    }
    Judged::Facts(tally)
}
