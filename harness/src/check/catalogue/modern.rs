//! `modern.*`: the era without a handshake (2026-07-28, `basic/index#_meta`, `basic/versioning`).

use super::{per_conn, per_request};
use crate::check::sheet::{Sheet, Tally};
use crate::check::view::{Conn, Rpc, View, after};
use crate::json::Json;
use crate::revision::Era;

pub(super) const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const INFO: &str = "io.modelcontextprotocol/clientInfo";

/// Methods that 2026-07-28 removed (`changelog`).
const REMOVED: [&str; 6] =
    ["ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "tasks/list", "tasks/result"];

pub(super) fn check(view: &View<'_>, sheet: &mut Sheet<'_>) {
    if view.plan.key.revision.era() == Era::Legacy {
        return;
    }
    let version = meta(view, VERSION, |value| value.as_str().is_some());
    sheet.close("modern.meta.protocol-version", version, "every request names its protocol version");
    let capabilities = meta(view, CAPABILITIES, Json::is_object);
    sheet.close("modern.meta.client-capabilities", capabilities, "every request has the client's capabilities");
    let info = meta(view, INFO, |value| value.str("name").is_some() && value.str("version").is_some());
    sheet.close("modern.meta.client-info", info, "every request says who asks");
    let again = per_conn(view, initialized_again);
    sheet.close("modern.no-initialize-on-modern-server", again, "no handshake was tried on a modern server");
    let removed = per_request(view, |rpc, tally| {
        if REMOVED.contains(&rpc.method.as_str()) {
            tally.fails(format!("`{}` was removed in 2026-07-28", rpc.method), [rpc.event]);
        } else if rpc.method != "initialize" {
            tally.holds([rpc.event]);
        }
    });
    sheet.close("modern.removed-methods-not-used", removed, "no removed method was sent");
}

/// That every request of the era has a member of `_meta` in the right form. `initialize` is of the other era.
fn meta(view: &View<'_>, key: &str, fits: fn(&Json) -> bool) -> Tally {
    per_request(view, |rpc, tally| {
        if rpc.method == "initialize" {
            return;
        }
        match of_meta(rpc, key) {
            Some(value) if fits(value) => tally.holds([rpc.event]),
            Some(_) => {
                tally.fails(format!("`{}` has a malformed `{key}` in its `_meta`", rpc.method), [rpc.event])
            }
            None => tally.fails(format!("`{}` has no `{key}` in its `_meta`", rpc.method), [rpc.event]),
        }
    })
}

pub(super) fn of_meta<'r>(rpc: &'r Rpc<'_>, key: &str) -> Option<&'r Json> {
    rpc.param("_meta").and_then(|meta| meta.get(key))
}

/// A server is known to be modern once it answered a modern request.
fn initialized_again(conn: &Conn<'_>, tally: &mut Tally) {
    let answer = conn.rpcs.iter().filter(|rpc| rpc.method != "initialize").find_map(|rpc| rpc.result());
    let Some((answer, _)) = answer else { return };
    let later = conn.rpcs.iter().filter(|rpc| after(rpc.event, answer));
    match later.clone().find(|rpc| rpc.method == "initialize") {
        Some(init) => tally
            .fails("`initialize` was sent to a server that had answered as a modern one", [answer, init.event]),
        None => tally.holds(
            conn.rpcs.iter().flat_map(|rpc| [answer, rpc.event]).filter(|_| later.clone().next().is_some()),
        ),
    }
}
