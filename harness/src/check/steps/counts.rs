//! `expect.counts`: messages and processes of a kind are as many as `[expect]` says.

use super::{Judged, close, every};
use crate::check::sheet::{Sheet, Tally};
use crate::check::view::{Line, Run, View};
use crate::rpc::Message;
use crate::scenario::ast::{CountExpectation, Counted};
use crate::trace::event::{Event, Kind};

pub(super) fn check(view: &View<'_>, sheet: &mut Sheet<'_>) {
    for expected in &view.plan.scenario.expect {
        let judged = every(view, |run| judge(run, expected));
        close(
            sheet,
            "expect.counts",
            &expected.span,
            judged,
            &format!("`{}` is in its range", expected.what.as_str()),
        );
    }
}

fn judge(run: &Run<'_>, expected: &CountExpectation) -> Judged {
    // Nothing sent is only a count where something could have been sent, so all that was sent is the evidence.
    let lines: Vec<_> = run.conns.iter().flat_map(|conn| conn.host_lines()).collect();
    if lines.is_empty() {
        return Judged::Untestable("the host sent nothing to any server".to_owned());
    }
    let counted = counted(run, expected.what);
    let mut tally = Tally::default();
    let count = u32::try_from(counted.len()).unwrap_or(u32::MAX);
    let evidence = lines.iter().map(|line| line.event).chain(counted);
    if expected.range.contains(count) {
        tally.holds(evidence);
    } else {
        let reason = format!("`{}` counts {count}, not {}", expected.what.as_str(), expected.range);
        tally.fails(reason, evidence);
    }
    Judged::Facts(tally)
}

fn counted<'a>(run: &Run<'a>, what: Counted) -> Vec<&'a Event> {
    match what {
        Counted::ListRequests => sent(run, "tools/list"),
        Counted::Initialize => sent(run, "initialize"),
        Counted::Discover => sent(run, "server/discover"),
        Counted::Listens => sent(run, "subscriptions/listen"),
        Counted::Calls => sent(run, "tools/call"),
        Counted::Cancelled => sent(run, "notifications/cancelled"),
        Counted::Refreshes => {
            run.conns.iter().flat_map(|conn| conn.walks().skip(1)).map(|rpc| rpc.event).collect()
        }
        Counted::Spawns => run.of(Kind::ServerStart).collect(),
        Counted::Questions => run.of(Kind::Question).collect(),
    }
}

/// The messages of the host with this method. Each message of a batch counts.
fn sent<'a>(run: &Run<'a>, method: &str) -> Vec<&'a Event> {
    let is = |line: &&Line<'a>| match &line.message {
        Message::Request { method: sent, .. } | Message::Notification { method: sent, .. } => sent == method,
        _ => false,
    };
    run.conns.iter().flat_map(|conn| conn.host_lines().filter(is)).map(|line| line.event).collect()
}
