//! What the harness does while a run is going on, beside the model's replies, and when.

use super::PlannedUse;
use crate::scenario::ast::{Change, Deed, Expected, Release, Scenario, UseKind, Verb};

/// Acts with the moment at which they begin.
#[derive(Clone, Debug, PartialEq)]
pub struct Cue {
    /// The step that orders them.
    pub step: usize,
    /// The turn of the script that they belong to.
    pub turn: usize,
    /// When they begin.
    pub moment: Moment,
    /// What is done, in order.
    pub acts: Vec<CueAct>,
}

/// When acts begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Between the model request that asks for the turn and its reply, which is held until all is done.
    BeforeReply,
    /// When so many calls of the turn have arrived at servers, or, for a host that sends fewer at a time, when none came for a
    /// quiet time.
    InFlight {
        /// The number of calls.
        calls: usize,
        /// The quiet time, in milliseconds.
        settle: u32,
    },
}

/// One act.
#[derive(Clone, Debug, PartialEq)]
pub enum CueAct {
    /// The user interrupts, in the way of the drive.
    Interrupt,
    /// Held replies go.
    Release(Release),
    /// The tools of a server change, and for a quiet time the harness waits for its list to be asked for again.
    Change(Change),
    /// The harness waits at most a quiet time, in milliseconds, for the cancellation of every call in flight.
    AwaitCancelled {
        /// The quiet time.
        settle: u32,
    },
}

/// The cues of a scenario, in the order of its steps. `turns` has for each step the turn of the script that comes next.
pub(super) fn cues(scenario: &Scenario, turns: &[usize], uses: &[PlannedUse]) -> Vec<Cue> {
    let of_step = |(step, turn): (usize, usize)| {
        let (moment, acts) = match &scenario.steps[step].verb {
            Verb::Uses { during, settle, .. } if !during.is_empty() => {
                let is_called =
                    |planned: &&PlannedUse| planned.step == step && !matches!(planned.kind, UseKind::Deny { .. });
                let calls = uses.iter().filter(is_called).count();
                let acts = during.iter().map(|act| of_deed(&act.deed)).collect();
                (Moment::InFlight { calls, settle: *settle }, acts)
            }
            Verb::Change(change) => (Moment::BeforeReply, vec![CueAct::Change(change.clone())]),
            _ => return None,
        };
        Some(Cue { step, turn, moment, acts })
    };
    turns.iter().copied().enumerate().filter_map(of_step).collect()
}

fn of_deed(deed: &Deed) -> CueAct {
    match deed {
        Deed::Interrupt => CueAct::Interrupt,
        Deed::Expect(Expected::Cancelled, settle) => CueAct::AwaitCancelled { settle: *settle },
        Deed::Release(release) => CueAct::Release(release.clone()),
        Deed::Change(change) => CueAct::Change(change.clone()),
    }
}
