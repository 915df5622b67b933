//! `expect.run-ends`: the host ends by itself within its deadlines, without a crash or a flood, and leaves the process
//! alone that watches over it.

use super::quote;
use crate::check::sheet::{Sheet, Tally};
use crate::check::view::{Run, View};
use crate::trace::event::{Event, Kind, Lane};

pub(super) fn check(view: &View<'_>, sheet: &mut Sheet<'_>) {
    let mut tally = Tally::default();
    for run in &view.runs {
        judge(run, &mut tally);
    }
    sheet.close("expect.run-ends", tally, "the host ended by itself");
}

fn judge(run: &Run<'_>, tally: &mut Tally) {
    for deadline in run.of(Kind::Deadline) {
        let phase = deadline.data.str("phase").unwrap_or("run");
        let reason = format!("the deadline for {phase} expired; {}", last_events(run, deadline));
        tally.fails(reason, [deadline]);
    }
    for dropped in run.of(Kind::Dropped) {
        let stream = dropped.data.str("stream").unwrap_or("output");
        tally.fails(format!("the host flooded {stream}"), [dropped]);
    }
    for lost in run.of(Kind::SupervisorLost) {
        let signal = lost.data.str("signal").unwrap_or("a signal");
        tally.fails(
            format!("the host, or a process of it, sent {signal} to the process that watches over it"),
            [lost],
        );
    }
    if run.end_reason() == Some("flood") {
        let end = run.of(Kind::RunEnd).last();
        let of = end.and_then(|end| end.data.str("of")).unwrap_or("bytes");
        tally.fails(format!("the host asked for more {of} than a run may hold"), end);
    }
    let Some(exit) = run.of(Kind::HostExit).last() else {
        if run.end_reason() == Some("exit") {
            tally.fails("the host never ended", run.of(Kind::RunEnd));
        }
        return;
    };
    if exit.data.str("thread") == Some("panicked") {
        let message = exit.data.str("message").unwrap_or_default();
        let reason = format!("the host panicked: {}; {}", quote(message), last_events(run, exit));
        tally.fails(reason, [exit]);
        return;
    }
    match (exit.data.str("signal"), run.end_reason()) {
        (Some(signal), Some("exit")) if run.plan.stop.is_none() => {
            tally.fails(format!("the host was ended by {signal}; {}", last_events(run, exit)), [exit]);
        }
        // A host that did nothing has ended, and passes nothing.
        (_, Some("exit")) if run.is_alive() => tally.holds(run.first_contact().into_iter().chain([exit])),
        // The event that made the end is a finding already, or no fault of the host.
        _ => {}
    }
}

/// The last event of each lane before `end`, so that a reader sees where the host stood.
fn last_events(run: &Run<'_>, end: &Event) -> String {
    let last = |lane: Lane| run.events.iter().rev().find(|event| event.kind.lane() == lane && event.n < end.n);
    let words: Vec<String> = [Lane::Model, Lane::Wire, Lane::Process, Lane::User]
        .into_iter()
        .filter_map(|lane| {
            last(lane).map(|event| format!("{} {} ({})", lane.as_str(), event.kind.as_str(), event.n))
        })
        .collect();
    format!("last events: {}", words.join(", "))
}
