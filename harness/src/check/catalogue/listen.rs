//! `subscriptions.*`: streams that carry news of changes (2026-07-28, `basic/patterns/subscriptions`).

use super::per_conn;
use crate::check::sheet::{Sheet, Tally};
use crate::check::view::{Conn, Rpc, View};
use crate::json::Json;
use crate::trace::event::Event;

/// The request that opens a stream.
const LISTEN: &str = "subscriptions/listen";

/// Members of a filter with the capability that each needs.
const TYPES: [(&str, [&str; 2]); 4] = [
    ("toolsListChanged", ["tools", "listChanged"]),
    ("promptsListChanged", ["prompts", "listChanged"]),
    ("resourcesListChanged", ["resources", "listChanged"]),
    ("resourceSubscriptions", ["resources", "subscribe"]),
];

pub(super) fn check(view: &View<'_>, sheet: &mut Sheet<'_>) {
    let filters = per_conn(view, |conn, tally| requests(conn).for_each(|rpc| filter(rpc, tally)));
    sheet.close("subscriptions.opt-in-filter", filters, "every stream for changes was opened with a filter");
    let gated = per_conn(view, |conn, tally| requests(conn).for_each(|rpc| declared(conn, rpc, tally)));
    sheet.close("subscriptions.capability-gated", gated, "only what the server declares was listened to");
}

fn requests<'v, 'a>(conn: &'v Conn<'a>) -> impl Iterator<Item = &'v Rpc<'a>> {
    conn.rpcs.iter().filter(|rpc| rpc.method == LISTEN)
}

/// The request for changes of the list of tools, and the notification that acknowledged it.
pub(in crate::check) fn tools_stream<'a>(conn: &Conn<'a>) -> Option<(&'a Event, &'a Event)> {
    let wants = |rpc: &&Rpc<'_>| asked(rpc).get("toolsListChanged").and_then(Json::as_bool) == Some(true);
    let request = requests(conn).find(wants)?;
    let acknowledged = |event: &&&Event| {
        let line = event.json();
        let is =
            line.as_ref().and_then(|line| line.str("method")) == Some("notifications/subscriptions/acknowledged");
        // The stream of the host's lines and that of the server's have no common order, but an answer has its question.
        is && event.n > request.event.n
    };
    let acknowledged = conn.events.iter().find(acknowledged)?;
    Some((request.event, acknowledged))
}

fn asked(rpc: &Rpc<'_>) -> Json {
    rpc.param("notifications").cloned().unwrap_or_else(Json::empty)
}

/// A filter is an object of the members that the revision has, flags and a list of addresses.
fn filter(rpc: &Rpc<'_>, tally: &mut Tally) {
    let fits = |(key, value): &(crate::json::Text, Json)| match TYPES.iter().find(|(known, _)| key == known) {
        Some(("resourceSubscriptions", _)) => matches!(value, Json::Array(_)),
        Some(_) => value.as_bool().is_some(),
        None => false,
    };
    match rpc.param("notifications") {
        Some(filter) if filter.is_object() && filter.members().iter().all(fits) => tally.holds([rpc.event]),
        Some(filter) => tally.fails(format!("a stream was asked for with the filter {filter}"), [rpc.event]),
        None => tally.fails("a stream was asked for without a filter", [rpc.event]),
    }
}

fn declared(conn: &Conn<'_>, rpc: &Rpc<'_>, tally: &mut Tally) {
    let discovered = conn.rpcs.iter().filter(|rpc| rpc.method == "server/discover").find_map(Rpc::result);
    let Some((answer, capabilities)) =
        discovered.and_then(|(answer, result)| Some((answer, result.get("capabilities")?)))
    else {
        return;
    };
    let filter = asked(rpc);
    let wants = |key: &str| filter.get(key).is_some_and(|value| *value != Json::from(false));
    let undeclared = TYPES
        .iter()
        .find(|(key, path)| wants(key) && capabilities.at(path.as_slice()).and_then(Json::as_bool) != Some(true));
    match undeclared {
        Some((key, _)) => {
            tally.fails(
                format!("`{key}` was listened to, and the server does not declare it"),
                [answer, rpc.event],
            );
        }
        None => tally.holds([answer, rpc.event]),
    }
}
