//! `stdio.probe.*`: how a host of both eras finds out which one a server speaks (2026-07-28,
//! `basic/transports/stdio#backward-compatibility`).

use super::lifecycle::claimed;
use super::modern::{VERSION, of_meta};
use crate::check::sheet::{Sheet, Tally};
use crate::check::view::{Conn, Run, View, after};
use crate::json::Json;
use crate::revision::{Era, Revision, Transport};
use crate::trace::event::Event;

/// The code of a server that does not know the probe. A host must not wait for just this one.
const METHOD_NOT_FOUND: i64 = -32601;

/// Codes that only a modern server gives.
const MODERN_ERRORS: [i64; 3] = [-32020, -32021, -32022];

pub(super) fn check(view: &View<'_>, sheet: &mut Sheet<'_>) {
    let claimed = claimed(view, Transport::Stdio);
    let both = [Era::Legacy, Era::Modern].iter().all(|era| claimed.iter().any(|revision| revision.era() == *era));
    let mut first = Tally::default();
    let mut version = Tally::default();
    let mut no_fallback = Tally::default();
    let mut fallback = Tally::default();
    let mut other_code = Tally::default();
    for run in &view.runs {
        for server in &run.plan.servers {
            // What was found out holds for the process; only the first connection has to probe.
            let Some(conn) = run.conns_of(&server.key).next() else { continue };
            let Some(rpc) = conn.rpcs.first() else { continue };
            if both && rpc.method == "server/discover" {
                first.holds([rpc.event]);
            } else if both {
                first.fails(format!("`{}` opened the connection to `{}`", rpc.method, server.key), [rpc.event]);
            }
            for probe in conn.rpcs.iter().filter(|rpc| rpc.method == "server/discover") {
                let named = of_meta(probe, VERSION).and_then(Json::as_str).and_then(Revision::parse);
                match named.filter(|revision| revision.era() == Era::Modern) {
                    Some(_) => version.holds([probe.event]),
                    None => version.fails("the probe names no modern version", [probe.event]),
                }
                let Some((answer, error)) = probe.error() else { continue };
                let code = error.get("code").and_then(Json::as_i64);
                if code.is_some_and(|code| MODERN_ERRORS.contains(&code)) {
                    after_modern_error(conn, answer, &mut no_fallback);
                } else if both {
                    after_other_error(run, &server.key, answer, &mut fallback);
                    if code != Some(METHOD_NOT_FOUND) {
                        after_other_error(run, &server.key, answer, &mut other_code);
                    }
                }
            }
        }
    }
    sheet.close("stdio.probe.discover-first", first, "`server/discover` opened every connection");
    sheet.close("stdio.probe.version-in-meta", version, "the probe names a modern version");
    sheet.close(
        "stdio.probe.modern-error-no-fallback",
        no_fallback,
        "a modern error did not lead to `initialize`",
    );
    sheet.close("stdio.probe.other-error-fallback", fallback, "a refused probe was followed by the handshake");
    sheet.close(
        "stdio.probe.fallback-not-single-code",
        other_code,
        "the handshake followed another code than -32601",
    );
}

/// A server that gave a modern error is asked again, or left; it is not initialized.
fn after_modern_error(conn: &Conn<'_>, answer: &Event, tally: &mut Tally) {
    match (conn.rpcs.iter().find(|rpc| after(rpc.event, answer)), conn.end()) {
        (Some(next), _) if next.method == "initialize" => {
            tally.fails("a modern error led to `initialize`", [answer, next.event]);
        }
        (Some(next), _) => tally.holds([answer, next.event]),
        (None, Some(end)) => tally.holds([answer, end]),
        (None, None) => {}
    }
}

/// Any other error says that the server is a legacy one. A host may start it anew for the handshake.
fn after_other_error(run: &Run<'_>, server: &str, answer: &Event, tally: &mut Tally) {
    let mut requests = run.conns_of(server).flat_map(|conn| &conn.rpcs);
    let handshake = requests.find(|rpc| rpc.method == "initialize" && after(rpc.event, answer));
    match (handshake, run.conns_of(server).filter_map(Conn::end).last()) {
        (Some(init), _) => tally.holds([answer, init.event]),
        (None, Some(end)) => tally.fails("a refused probe was not followed by the handshake", [answer, end]),
        (None, None) => {}
    }
}
