//! `stdio.probe.*`: how a host of both eras finds out which one a server speaks (2026-07-28,
//! `basic/transports/stdio#backward-compatibility`).

use super::lifecycle::claimed;
use super::modern::{VERSION, of_meta};
use crate::check::sheet::{Sheet, Tally};
use crate::check::view::{View, after};
use crate::json::Json;
use crate::revision::{Era, Revision, Transport};

/// Codes that only a modern server gives.
const MODERN_ERRORS: [i64; 3] = [-32020, -32021, -32022];

pub(super) fn check(view: &View<'_>, sheet: &mut Sheet<'_>) {
    let claimed = claimed(view, Transport::Stdio);
    let both = [Era::Legacy, Era::Modern].iter().all(|era| claimed.iter().any(|revision| revision.era() == *era));
    let mut first = Tally::default();
    let mut version = Tally::default();
    let mut fallback = Tally::default();
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
                let modern =
                    error.get("code").and_then(Json::as_i64).is_some_and(|code| MODERN_ERRORS.contains(&code));
                let next = conn.rpcs.iter().find(|rpc| after(rpc.event, answer));
                match next.filter(|_| modern) {
                    Some(next) if next.method == "initialize" => {
                        fallback.fails("a modern error led to `initialize`", [answer, next.event]);
                    }
                    Some(next) => fallback.holds([answer, next.event]),
                    None => {}
                }
            }
        }
    }
    sheet.close("stdio.probe.discover-first", first, "`server/discover` opened every connection");
    sheet.close("stdio.probe.version-in-meta", version, "the probe names a modern version");
    sheet.close("stdio.probe.modern-error-no-fallback", fallback, "a modern error did not lead to `initialize`");
}
