//! `expect.connect`: the servers are opened as the revision says, one live process at a time.

use std::ops::Range;

use super::{Judged, close, every, unreached};
use crate::check::sheet::{Sheet, Tally};
use crate::check::view::{Conn, Run, View, after, reacts};
use crate::diagnostic::Spanned;
use crate::json::Json;
use crate::revision::Era;
use crate::trace::event::{Event, Kind};

/// The `_meta` member that names the version of a modern request.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

pub(super) fn check(
    view: &View<'_>,
    sheet: &mut Sheet<'_>,
    servers: &[Spanned<String>],
    spawns: Option<&Spanned<u32>>,
    span: &Range<usize>,
) {
    let keys: Vec<&str> = if servers.is_empty() {
        view.plan.servers.iter().map(|server| server.key.as_str()).collect()
    } else {
        servers.iter().map(|server| server.value.as_str()).collect()
    };
    let judged = every(view, |run| {
        if !run.is_alive() {
            return unreached(run);
        }
        let mut tally = Tally::default();
        for key in &keys {
            opens(run, key, &mut tally);
            one_at_a_time(run, key, &mut tally);
            if let Some(spawns) = spawns {
                number(run, key, spawns.value, &mut tally);
            }
        }
        Judged::Facts(tally)
    });
    close(sheet, "expect.connect", span, judged, "every server was opened in order");
}

fn opens(run: &Run<'_>, key: &str, tally: &mut Tally) {
    let opened: Vec<_> = run.conns_of(key).filter_map(|conn| opening(conn, run)).flatten().collect();
    if !opened.is_empty() {
        tally.holds(opened);
        return;
    }
    let reason = match (run.conns_of(key).next(), run.plan.key.revision.era()) {
        (None, _) => format!("the host never connected to `{key}`"),
        (Some(conn), Era::Legacy) => format!("`{key}` was not opened: {}", handshake_gap(conn)),
        (Some(_), Era::Modern) => {
            format!("`{key}` never got a request of its revision that it could answer")
        }
    };
    tally.fails(reason, run.conns_of(key).flat_map(|conn| conn.events.iter().copied().take(1)));
}

/// The events that opened a connection.
pub(in crate::check) fn opening<'a>(conn: &Conn<'a>, run: &Run<'a>) -> Option<Vec<&'a Event>> {
    match run.plan.key.revision.era() {
        Era::Legacy => {
            let init = conn.initialize()?;
            let (answer, _) = init.result()?;
            let initialized = conn.initialized()?;
            let in_order = !after(init.event, initialized) && reacts(initialized, answer);
            in_order.then(|| vec![init.event, answer, initialized])
        }
        Era::Modern => {
            let answered = conn.rpcs.iter().filter_map(|rpc| {
                let version = rpc.param("_meta")?.get(VERSION).and_then(Json::as_str)?;
                let (answer, _) = rpc.result()?;
                (version == run.plan.key.revision.as_str()).then_some([rpc.event, answer])
            });
            let events: Vec<_> = answered.flatten().collect();
            (!events.is_empty()).then_some(events)
        }
    }
}

fn handshake_gap(conn: &Conn<'_>) -> &'static str {
    match conn.initialize() {
        None => "`initialize` was never sent",
        Some(init) if init.result().is_none() => "`initialize` had no result",
        Some(_) if conn.initialized().is_none() => "`notifications/initialized` was never sent",
        Some(_) => "`notifications/initialized` came before the response to `initialize`",
    }
}

/// A process is live until the host closes or signals it, or until it goes away. Several one after the other are legal.
pub(in crate::check) fn one_at_a_time(run: &Run<'_>, key: &str, tally: &mut Tally) {
    let mut live: Option<(&Conn<'_>, &Event)> = None;
    for conn in run.conns_of(key) {
        let Some(start) = conn.first(Kind::ServerStart) else {
            continue;
        };
        if let Some((before, first)) = live
            && before.end().is_none_or(|end| after(end, start))
        {
            tally.fails(format!("two processes of `{key}` were live at the same time"), [first, start]);
        }
        live = Some((conn, start));
    }
}

fn number(run: &Run<'_>, key: &str, wanted: u32, tally: &mut Tally) {
    let starts: Vec<_> = run.of(Kind::ServerStart).filter(|event| event.server.as_deref() == Some(key)).collect();
    if starts.len() == wanted as usize {
        tally.holds(starts);
    } else {
        tally.fails(format!("`{key}` was started {} times, not {wanted}", starts.len()), starts);
    }
}
