//! `hop.wire-name`: the wire carries the registered name byte for byte.

use super::sheet::{Sheet, Tally};
use super::view::{Emitted, Run, View};
use crate::json::Json;

pub(super) fn check(view: &View<'_>, sheet: &mut Sheet<'_>) {
    let mut tally = Tally::default();
    for run in &view.runs {
        for used in &run.uses {
            tally.absorb(calls(run, used));
        }
    }
    sheet.close("hop.wire-name", tally, "every call carries the registered name");
}

/// Server and name of the calls of one use.
pub(super) fn calls(run: &Run<'_>, used: &Emitted<'_>) -> Tally {
    let mut tally = Tally::default();
    let tool = &used.planned.tool;
    for (conn, call) in run.calls(used) {
        let name = call.param("name");
        if conn.server != tool.server {
            let reason = format!("`{tool}` was called at the server `{}`", conn.server);
            tally.fails(reason, [used.reply, call.event]);
        } else if name.and_then(Json::as_str) == Some(&tool.tool) {
            tally.holds([used.reply, call.event]);
        } else {
            let name = name.cloned().unwrap_or(Json::Null);
            let reason = format!("the wire carries the name {name} where `{}` is registered", tool.tool);
            tally.fails(reason, [used.reply, call.event]);
        }
    }
    tally
}
