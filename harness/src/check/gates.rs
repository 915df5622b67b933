//! `hop.gates`: a denied tool causes no call on any server, and an allowed one is called.

use super::arguments::outcome;
use super::sheet::{Sheet, Tally};
use super::view::{Emitted, Role, Run, View, after};
use crate::host::profile::SchemaGate;
use crate::scenario::ast::{Answer, DenyBy, Input, Outcome, Permissions, UseKind};

pub(super) fn check(view: &View<'_>, sheet: &mut Sheet<'_>) {
    let mut tally = Tally::default();
    for run in &view.runs {
        for used in run.uses.iter().filter(|used| outcome(run, used) == Outcome::Assert) {
            match gate(run, used) {
                Gate::Closed => tally.absorb(stays_closed(run, used)),
                Gate::Open => tally.absorb(is_open(run, used)),
                Gate::Unknown => {}
            }
        }
    }
    sheet.close("hop.gates", tally, "what is denied was not called, and what is allowed was");
}

/// What the rules make of a use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gate {
    Closed,
    Open,
    /// The scenario does not say, or it is recorded elsewhere.
    Unknown,
}

pub(super) fn gate(run: &Run<'_>, used: &Emitted<'_>) -> Gate {
    match (&used.planned.kind, run.role) {
        // The twin runs with other rules.
        (UseKind::Deny { .. }, Role::Twin) => Gate::Unknown,
        (UseKind::Deny { by: Some(DenyBy::Schema) }, _) => match run.plan.profile.claims.schema_gate {
            SchemaGate::Claimed => Gate::Closed,
            SchemaGate::Unclaimed => Gate::Unknown,
        },
        (UseKind::Deny { .. } | UseKind::Ask { answer: Answer::Deny }, _) => Gate::Closed,
        // Nothing can be said of a malformed use.
        _ if matches!(used.planned.input, Input::Raw(_)) => Gate::Unknown,
        (UseKind::Ask { .. }, _) => Gate::Open,
        (UseKind::Call, _) if is_allowed(run, used) => Gate::Open,
        (UseKind::Call, _) => Gate::Unknown,
    }
}

fn is_allowed(run: &Run<'_>, used: &Emitted<'_>) -> bool {
    match &run.plan.scenario.permissions {
        Permissions::Implied => true,
        Permissions::None => false,
        Permissions::Rules(rules) => rules.allow.iter().any(|pattern| pattern.value.matches(&used.planned.tool)),
    }
}

/// The model asked, nothing was sent, and the model was told of it.
pub(super) fn stays_closed(run: &Run<'_>, used: &Emitted<'_>) -> Tally {
    let mut tally = Tally::default();
    let tool = &used.planned.tool;
    for (conn, call) in run.calls(used) {
        let reason = format!("the denied `{tool}` was called at `{}`", conn.server);
        tally.fails(reason, [used.reply, call.event]);
    }
    // Two doors: arguments that fail the schema are no question for the user.
    if used.planned.kind == (UseKind::Deny { by: Some(DenyBy::Schema) })
        && let Some(question) = run.question(used.planned.index)
    {
        let reason = format!("the user was asked about `{tool}` although its arguments fail the schema");
        tally.fails(reason, [used.reply, question.event]);
    }
    if let Some(told) = run.told(used) {
        tally.holds([used.reply, told.exchange.event]);
    }
    tally
}

/// An allowed use is called, where its server can be reached at all.
pub(super) fn is_open(run: &Run<'_>, used: &Emitted<'_>) -> Tally {
    let mut tally = Tally::default();
    if let Some((_, call)) = run.calls(used).next() {
        tally.holds([used.reply, call.event]);
        return tally;
    }
    // A user who interrupts may do so before the host comes to the call.
    let Some(follow) = run.follow(used).filter(|_| run.interruption(used).is_none()) else {
        return tally;
    };
    let reachable = run.conns_of(&used.planned.tool.server).any(|conn| {
        let listed = conn.rpcs.iter().any(|rpc| rpc.method == "tools/list" && rpc.result().is_some());
        listed && conn.broken().is_none_or(|end| after(end, follow.event))
    });
    if reachable {
        let reason = format!("the allowed `{}` was not called", used.planned.tool);
        tally.fails(reason, [used.reply, follow.event]);
    }
    tally
}
