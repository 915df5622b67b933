//! `expect.say`: the final text is served, and the conversation ends.

use std::ops::Range;

use super::{Judged, close, every, unreached};
use crate::check::sheet::{Sheet, Tally};
use crate::check::view::{Run, View};

pub(super) fn check(view: &View<'_>, sheet: &mut Sheet<'_>, step: usize, span: &Range<usize>) {
    let Some(&turn) = view.plan.next_turns.get(step) else { return };
    // Only the last text ends the run; after others the next message follows.
    let ends = if turn + 1 == view.plan.turns.len() { Ends::Run } else { Ends::Turn };
    close(sheet, "expect.say", span, every(view, |run| judge(run, turn, ends)), "the final text was served");
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    Run,
    Turn,
}

fn judge(run: &Run<'_>, turn: usize, ends: Ends) -> Judged {
    if !run.is_alive() {
        return unreached(run);
    }
    let mut tally = Tally::default();
    let asked = run.main_line().find(|exchange| exchange.turn == Some(turn));
    // A stop by signal takes the place of this reply: the host waits for it when the signal comes.
    let stopped = run.plan.stop.is_some_and(|stop| stop.turn == turn);
    match (asked, asked.and_then(|asked| asked.reply)) {
        (Some(asked), None) if stopped => tally.holds([asked.event]),
        (Some(asked), Some(reply)) if reply.data.get("status").is_some() => {
            tally.fails("the final text was refused with an error of the model API", [asked.event, reply]);
        }
        (Some(asked), Some(reply)) => match (ends, run.own_exit()) {
            (Ends::Turn, _) => tally.holds([asked.event, reply]),
            (Ends::Run, Some(exit)) => tally.holds([asked.event, reply, exit]),
            (Ends::Run, None) => {
                tally.fails("the host did not end by itself after the final text", [asked.event, reply]);
            }
        },
        _ => {
            let last = run.main_line().last().map(|exchange| exchange.event);
            tally.fails("the host never asked for the final text", run.first_contact().into_iter().chain(last));
        }
    }
    Judged::Facts(tally)
}
