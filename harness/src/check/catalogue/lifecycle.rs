//! `lifecycle.*`: the handshake of the legacy era (`basic/lifecycle`).

use super::per_conn;
use crate::check::sheet::{Sheet, Tally};
use crate::check::view::{Conn, Rpc, View, after, reacts};
use crate::json::Json;
use crate::revision::{Era, Revision, Transport};
use crate::rpc::Message;

/// Requests that are free before the handshake: pings, and the probe of a host that speaks both eras.
const FREE: [&str; 2] = ["ping", "server/discover"];

pub(super) fn check(view: &View<'_>, sheet: &mut Sheet<'_>) {
    if view.plan.key.revision.era() == Era::Modern {
        return;
    }
    sheet.close("lifecycle.initialize-first", per_conn(view, first), "`initialize` came first");
    sheet.close("lifecycle.initialize.fields", per_conn(view, fields), "`initialize` has all its fields");
    sheet.close(
        "lifecycle.initialized-notification",
        per_conn(view, initialized),
        "`notifications/initialized` followed",
    );
    sheet.close(
        "lifecycle.no-early-requests",
        per_conn(view, early),
        "no request came before the handshake was answered",
    );
    versions(view, sheet);
}

fn is_free(rpc: &Rpc<'_>) -> bool {
    FREE.contains(&rpc.method.as_str())
}

fn first(conn: &Conn<'_>, tally: &mut Tally) {
    let messages = conn.host_lines().filter(|line| match &line.message {
        Message::Request { method, .. } => !FREE.contains(&method.as_str()),
        _ => true,
    });
    let Some(line) = messages.into_iter().next() else { return };
    match &line.message {
        Message::Request { method, .. } if method == "initialize" => tally.holds([line.event]),
        Message::Request { method, .. } | Message::Notification { method, .. } => {
            tally.fails(format!("`{method}` came before `initialize`"), [line.event]);
        }
        _ => {}
    }
}

fn fields(conn: &Conn<'_>, tally: &mut Tally) {
    for rpc in conn.rpcs.iter().filter(|rpc| rpc.method == "initialize") {
        let info =
            |key: &str| matches!(rpc.param("clientInfo").and_then(|info| info.get(key)), Some(Json::String(_)));
        let missing = [
            ("protocolVersion", matches!(rpc.param("protocolVersion"), Some(Json::String(_)))),
            ("capabilities", matches!(rpc.param("capabilities"), Some(Json::Object(_)))),
            ("clientInfo.name", info("name")),
            ("clientInfo.version", info("version")),
        ];
        match missing.iter().find(|(_, there)| !there) {
            Some((field, _)) => tally.fails(format!("`initialize` lacks `{field}`"), [rpc.event]),
            None => tally.holds([rpc.event]),
        }
    }
}

/// After a success the notification comes before any other request; after an error it never comes.
fn initialized(conn: &Conn<'_>, tally: &mut Tally) {
    let Some(answer) = conn.initialize().and_then(|init| init.answer()) else { return };
    let notified = conn.initialized();
    if answer.body.is_err() {
        if let Some(notified) = notified {
            tally.fails("`notifications/initialized` followed an error", [answer.event, notified]);
        }
        return;
    }
    let early = conn.rpcs.iter().find(|rpc| {
        let other = rpc.method != "initialize" && !is_free(rpc);
        other && notified.is_none_or(|notified| after(notified, rpc.event))
    });
    match (early, notified) {
        (Some(early), notified) => {
            let reason = format!("`{}` came before `notifications/initialized`", early.method);
            tally.fails(reason, [answer.event, early.event].into_iter().chain(notified));
        }
        (None, Some(notified)) if reacts(notified, answer.event) => tally.holds([answer.event, notified]),
        (None, Some(notified)) => {
            let reason = "`notifications/initialized` came before the response to `initialize`";
            tally.fails(reason, [answer.event, notified]);
        }
        (None, None) => {}
    }
}

fn early(conn: &Conn<'_>, tally: &mut Tally) {
    let Some(init) = conn.initialize() else { return };
    let answer = init.answer().map(|answer| answer.event);
    for rpc in conn.rpcs.iter().filter(|rpc| rpc.method != "initialize" && !is_free(rpc)) {
        match answer {
            Some(answer) if reacts(rpc.event, answer) => tally.holds([answer, rpc.event]),
            _ => {
                let reason = format!("`{}` came before the response to `initialize`", rpc.method);
                tally.fails(reason, [init.event, rpc.event].into_iter().chain(answer));
            }
        }
    }
}

fn versions(view: &View<'_>, sheet: &mut Sheet<'_>) {
    let claimed = claimed(view, Transport::Stdio);
    let latest = claimed.iter().copied().filter(|revision| revision.era() == Era::Legacy).max();
    let mut supported = Tally::default();
    let mut newest = Tally::default();
    let mut disconnected = Tally::default();
    for conn in view.runs.iter().flat_map(|run| &run.conns) {
        let Some(init) = conn.initialize() else { continue };
        if let Some(version) = init.param("protocolVersion").and_then(Json::as_str) {
            let revision = Revision::parse(version);
            match revision {
                Some(revision) if claimed.is_empty() || claimed.contains(&revision) => {
                    supported.holds([init.event])
                }
                Some(_) => {
                    supported.fails(format!("the host sent {version}, which it does not claim"), [init.event])
                }
                None => supported.fails(format!("`{version}` is no version of the protocol"), [init.event]),
            }
            if let Some(latest) = latest {
                if revision == Some(latest) {
                    newest.holds([init.event]);
                } else {
                    newest.fails(format!("the host sent {version} and claims {latest}"), [init.event]);
                }
            }
        }
        disconnect(conn, init, &claimed, &mut disconnected);
    }
    sheet.close("lifecycle.version.sends-supported", supported, "the host sent a version that it supports");
    sheet.close("lifecycle.version.sends-latest", newest, "the host sent the latest version that it supports");
    let holds = "the host disconnected from a version that it does not support";
    sheet.close("lifecycle.version.disconnect-if-unsupported", disconnected, holds);
}

/// The revisions that the host claims for a transport.
pub(super) fn claimed(view: &View<'_>, transport: Transport) -> Vec<Revision> {
    let wire = &view.plan.profile.claims.wire;
    wire.iter().filter(|(of, _)| *of == transport).flat_map(|(_, revisions)| revisions).copied().collect()
}

/// Where the server answers with a version that the host does not claim, nothing more is sent.
fn disconnect(conn: &Conn<'_>, init: &Rpc<'_>, claimed: &[Revision], tally: &mut Tally) {
    let Some((answer, result)) = init.result() else { return };
    let Some(version) = result.str("protocolVersion") else { return };
    if claimed.is_empty() || Revision::parse(version).is_some_and(|revision| claimed.contains(&revision)) {
        return;
    }
    match (conn.host_lines().find(|line| after(line.event, answer)), conn.end()) {
        (Some(line), _) => {
            tally.fails(format!("the host went on with {version}, which it does not claim"), [answer, line.event]);
        }
        (None, Some(end)) => tally.holds([answer, end]),
        (None, None) => {}
    }
}
