//! `expect.counts`: messages of a kind are as many as `[expect]` says.

use super::{Judged, close, every};
use crate::check::sheet::{Sheet, Tally};
use crate::check::view::{Run, View};
use crate::rpc::Message;
use crate::scenario::ast::{CountExpectation, CountRange};

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
    let method = expected.what.method();
    let sent = lines.iter().filter(|line| match &line.message {
        Message::Request { method: sent, .. } | Message::Notification { method: sent, .. } => sent == method,
        _ => false,
    });
    let events: Vec<_> = sent.map(|line| line.event).collect();
    let mut tally = Tally::default();
    let count = u32::try_from(events.len()).unwrap_or(u32::MAX);
    let evidence = lines.iter().map(|line| line.event);
    if expected.range.contains(count) {
        tally.holds(evidence);
    } else {
        let reason = format!("`{method}` was sent {count} times, not {}", range(expected.range));
        tally.fails(reason, evidence);
    }
    Judged::Facts(tally)
}

fn range(range: CountRange) -> String {
    match (range.min, range.max) {
        (min, max) if min == max => min.to_string(),
        (0, max) => format!("at most {max}"),
        (min, u32::MAX) => format!("at least {min}"),
        (min, max) => format!("{min} to {max}"),
    }
}
