//! `stdio.*`: framing and shutdown of the stdio transport (`basic/transports#stdio`, `basic/lifecycle#stdio`).

use super::base::whole_lines;
use super::per_conn;
use crate::check::sheet::{Sheet, Tally};
use crate::check::steps::connect;
use crate::check::view::{Conn, View, after};
use crate::json::Json;
use crate::rpc::{self, Message};
use crate::trace::event::{Event, Kind};

/// Lines that one message may be spread over before the search for its end is given up.
const MOST_LINES: usize = 64;

pub(super) fn check(view: &View<'_>, sheet: &mut Sheet<'_>) {
    sheet.close("stdio.newline-delimited", framing(view), "each message is one line");
    sheet.close("stdio.no-embedded-newlines", per_conn(view, embedded), "no message has a newline in it");
    let only = per_conn(view, |conn, tally| {
        for event in whole_lines(conn) {
            match rpc::parse(event.bytes().unwrap_or_default()) {
                Message::Malformed(reason) => tally.fails(format!("a line is no MCP message: {reason}"), [event]),
                _ => tally.holds([event]),
            }
        }
    });
    sheet.close("stdio.stdin-only-mcp", only, "nothing but messages was written");
    // A host that was stopped by us did not choose how to shut down.
    if view.plan.stop.is_none() {
        sheet.close(
            "stdio.shutdown.close-stdin-first",
            per_conn(view, shutdown),
            "standard input was closed first",
        );
    }
    sheet.close("host.one-client-per-server", one_client(view), "each server had one client at a time");
}

fn framing(view: &View<'_>) -> Tally {
    let mut tally = Tally::default();
    for run in &view.runs {
        for conn in &run.conns {
            for event in conn.events.iter().copied().filter(|event| event.kind == Kind::ToServer) {
                let Some(bytes) = event.bytes() else { continue };
                if event.data.str("end") == Some("eof") {
                    // Who is killed cannot end a line.
                    if run.own_exit().is_some() {
                        tally.fails("the last message does not end with a newline", [event]);
                    }
                } else if Json::parse(bytes).is_ok() {
                    tally.holds([event]);
                } else {
                    tally.fails("a line is no message of its own", [event]);
                }
            }
        }
    }
    tally
}

/// A message with a newline in it arrives as lines that are JSON only together.
fn embedded(conn: &Conn<'_>, tally: &mut Tally) {
    let lines: Vec<&Event> = whole_lines(conn).collect();
    let mut at = 0;
    while let Some(event) = lines.get(at) {
        if Json::parse(event.bytes().unwrap_or_default()).is_ok() {
            tally.holds([*event]);
            at += 1;
            continue;
        }
        let mut joined = event.bytes().unwrap_or_default().to_vec();
        let rest = lines[at + 1..].iter().take(MOST_LINES);
        let together = rest.enumerate().find(|(_, line)| {
            joined.push(b'\n');
            joined.extend_from_slice(line.bytes().unwrap_or_default());
            Json::parse(&joined).is_ok()
        });
        match together {
            Some((more, last)) => {
                tally.fails(format!("a message is spread over {} lines", more + 2), [*event, *last]);
                at += more + 2;
            }
            None => at += 1,
        }
    }
}

/// The host ends a connection by closing the server's standard input, before any signal.
///
/// A host may close and signal at the same moment from two threads, so one signal next to the end of input proves nothing
/// either way, and a server that dies of it never sees the end. A second signal with the input still open does, and so
/// does a signal that no server survives. An end without any signal is the proof of the contrary.
fn shutdown(conn: &Conn<'_>, tally: &mut Tally) {
    let eof = conn.first(Kind::WireEof);
    let open = |event: &&Event| eof.is_none_or(|eof| after(eof, event));
    let early: Vec<&Event> = signals(conn).filter(open).collect();
    if early.len() > 1 || early.iter().any(|event| event.kind == Kind::ServerExit) {
        tally.fails(format!("`{}` got signals while its input was open", conn.server), early);
    } else if let Some(eof) = eof.filter(|_| signals(conn).next().is_none()) {
        tally.holds([eof]);
    }
}

/// The signals of the host to a server. SIGKILL cannot be reported by the server; it shows in how the server ended.
fn signals<'v>(conn: &'v Conn<'v>) -> impl Iterator<Item = &'v Event> {
    let fact = |event: &Event, key: &str, value: &str| event.data.str(key) == Some(value);
    conn.events.iter().copied().filter(move |event| match event.kind {
        Kind::ServerSignal => true,
        Kind::ServerExit => fact(event, "by", "host") && fact(event, "signal", "SIGKILL"),
        _ => false,
    })
}

/// Why nothing can be said of the order of a shutdown, where the host closed and signalled at once.
pub(super) fn at_once(view: &View<'_>) -> Option<String> {
    let conn =
        super::conns(view).find(|conn| conn.first(Kind::WireEof).is_some() && signals(conn).next().is_some())?;
    let server = &conn.server;
    Some(format!(
        "`{server}` got a signal next to the end of its input, and which was to come first cannot be told"
    ))
}

fn one_client(view: &View<'_>) -> Tally {
    let mut tally = Tally::default();
    for run in &view.runs {
        for server in &run.plan.servers {
            connect::one_at_a_time(run, &server.key, &mut tally);
            tally.holds(run.conns_of(&server.key).filter_map(|conn| conn.first(Kind::ServerStart)));
        }
    }
    tally
}
