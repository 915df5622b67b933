//! `pagination.*`: lists in pages (`server/utilities/pagination`).

use super::per_conn;
use crate::check::sheet::{Sheet, Tally};
use crate::check::steps::list::{self, Chain};
use crate::check::view::{Conn, Rpc, View, after};
use crate::json::Json;

pub(super) fn check(view: &View<'_>, sheet: &mut Sheet<'_>) {
    sheet.close("pagination.cursor-verbatim", per_conn(view, verbatim), "every cursor came back as it was given");
    sheet.close("pagination.missing-cursor-ends", per_conn(view, ends), "a missing cursor ended the list");
    sheet.close("pagination.both-flows", read_to_the_end(view), "every list was read to its end");
    sheet.close("pagination.empty-string-cursor-continues", empty(view), "an empty cursor led to the next page");
}

fn lists<'v, 'a>(conn: &'v Conn<'a>) -> impl Iterator<Item = &'v Rpc<'a>> {
    conn.rpcs.iter().filter(|rpc| rpc.method == "tools/list")
}

fn verbatim(conn: &Conn<'_>, tally: &mut Tally) {
    let invented = list::invented_cursors(conn);
    for (cursor, event) in &invented {
        tally.fails(format!("the cursor {cursor} was never given by `{}`", conn.server), [*event]);
    }
    let asked = lists(conn).filter(|rpc| rpc.param("cursor").is_some());
    tally.holds(asked.map(|rpc| rpc.event).filter(|event| !invented.iter().any(|(_, other)| other.n == event.n)));
}

/// After a last page nothing is asked for with a cursor that nobody gave.
fn ends(conn: &Conn<'_>, tally: &mut Tally) {
    let last = lists(conn).find_map(|rpc| rpc.result().filter(|(_, page)| page.get("nextCursor").is_none()));
    let Some((answer, _)) = last else { return };
    match list::invented_cursors(conn).into_iter().find(|(_, event)| after(event, answer)) {
        Some((cursor, event)) => {
            tally.fails(
                format!("the list of `{}` had ended, and {cursor} was asked for", conn.server),
                [answer, event],
            );
        }
        // Some later message shows that the host did not just stop there.
        None => tally.holds(
            conn.host_lines().filter(|line| after(line.event, answer)).flat_map(|line| [answer, line.event]),
        ),
    }
}

fn read_to_the_end(view: &View<'_>) -> Tally {
    let mut tally = Tally::default();
    for run in &view.runs {
        for server in &run.plan.servers {
            let mut partial = Vec::new();
            let mut complete = Vec::new();
            for conn in run.conns_of(&server.key).filter(|conn| conn.broken().is_none()) {
                match list::chain(conn) {
                    Chain::Complete(events) => {
                        complete.extend(events);
                        // A list that was read again is a witness as well.
                        complete.extend(lists(conn).filter_map(|rpc| rpc.result()).map(|(answer, _)| answer));
                    }
                    Chain::Partial(events) if events.len() > 1 => partial.extend(events),
                    Chain::Partial(_) | Chain::None => {}
                }
            }
            if complete.is_empty() && !partial.is_empty() {
                tally.fails(format!("the list of `{}` was not read to its end", server.key), partial);
            } else {
                tally.holds(complete);
            }
        }
    }
    tally
}

fn empty(view: &View<'_>) -> Tally {
    per_conn(view, |conn, tally| {
        let is_empty = |cursor: Option<&Json>| cursor.and_then(Json::as_str) == Some("");
        for (answer, _) in
            lists(conn).filter_map(|rpc| rpc.result()).filter(|(_, page)| is_empty(page.get("nextCursor")))
        {
            let next = lists(conn).find(|rpc| is_empty(rpc.param("cursor")) && !after(answer, rpc.event));
            match next {
                Some(next) => tally.holds([answer, next.event]),
                None => tally.fails(format!("the list of `{}` ended at an empty cursor", conn.server), [answer]),
            }
        }
    })
}
