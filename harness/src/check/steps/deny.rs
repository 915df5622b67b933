//! `expect.deny`: no call joins the use, and a refusal is told or the run ends.

use super::{Judged, close, emitted, every};
use crate::check::sheet::{Sheet, Tally};
use crate::check::view::{Emitted, Run, View};
use crate::check::{arguments, gates, once, schema};
use crate::host::profile::SchemaGate;
use crate::json::NumberModel;
use crate::plan::PlannedUse;
use crate::scenario::ast::DenyBy;

pub(super) fn check(view: &View<'_>, sheet: &mut Sheet<'_>, planned: &PlannedUse, by: Option<DenyBy>) {
    let unclaimed = view.plan.profile.claims.schema_gate == SchemaGate::Unclaimed;
    if by == Some(DenyBy::Schema) && unclaimed {
        record_schema_gate(view, sheet, planned);
        return;
    }
    let judged = every(view, |run| judge(view, run, planned));
    close(sheet, "expect.deny", &planned.span, judged, "nothing was called, and the model was told");
}

fn judge(view: &View<'_>, run: &Run<'_>, planned: &PlannedUse) -> Judged {
    let used = match emitted(run, planned) {
        Ok(used) => used,
        Err(judged) => return judged,
    };
    let mut tally = gates::stays_closed(run, used);
    tally.absorb(ends_in_refusal(run, used));
    if tally.has_failed() || run.exchanges[used.asked].offers(&planned.tool) {
        return Judged::Facts(tally);
    }
    // A name that the host does not know is not called either; only the twin shows that it would have been.
    match view.twin().and_then(|twin| reach(twin, used)) {
        Some(proof) => {
            tally.absorb(proof);
            Judged::Facts(tally)
        }
        None => Judged::Untestable(format!(
            "`{}` is not offered, and no twin shows that `{}` would have been called",
            planned.tool, used.published
        )),
    }
}

/// A refusal is told in the next model request, or the run ends there.
pub(super) fn ends_in_refusal(run: &Run<'_>, used: &Emitted<'_>) -> Tally {
    let mut tally = once::one_result(run, used);
    if run.follow(used).is_none() {
        match run.own_exit() {
            Some(exit) => tally.holds([used.reply, exit]),
            None => tally.fails(
                format!("neither was a refusal of `{}` told, nor did the run end by itself", used.planned.tool),
                [used.reply],
            ),
        }
    }
    tally
}

/// The call of the same use, by the same name, in the twin.
fn reach(twin: &Run<'_>, used: &Emitted<'_>) -> Option<Tally> {
    let other = twin.emitted(used.planned.index).filter(|other| other.published == used.published)?;
    let (_, call) = twin.calls(other).find(|(conn, call)| {
        conn.server == used.planned.tool.server
            && call.param("name").and_then(|name| name.as_str()) == Some(&used.planned.tool.tool)
            && call.result().is_some()
    })?;
    let mut tally = Tally::default();
    tally.holds([other.reply, call.event]);
    Some(tally)
}

/// No gate is claimed: whatever happens to arguments that fail the schema is a trait, by the keyword that they break.
fn record_schema_gate(view: &View<'_>, sheet: &mut Sheet<'_>, planned: &PlannedUse) {
    // Further runs would record the same again.
    let Some(run) = view.judged().next() else { return };
    let used = match emitted(run, planned) {
        Ok(used) => used,
        Err(judged) => return close(sheet, "expect.deny", &planned.span, judged, ""),
    };
    let schema = schema::of(view.plan, &planned.tool);
    let given = used.arguments();
    let broken = given.as_ref().and_then(|given| schema::violation(schema?, given));
    let question = run.question(planned.index).map(|question| question.event);
    let (value, what) = match (run.calls(used).next(), &given) {
        // It was the user who stopped it. Whether a gate behind the question would have is not known.
        (None, _) if question.is_some() => ("asked", "put before the user, who denied them"),
        (None, _) => ("blocked", "not sent"),
        (Some((_, call)), Some(given)) if given.equals(&arguments::sent(call), NumberModel::Decimal) => {
            ("forwarded", "sent as they were")
        }
        (Some((_, call)), _) => {
            let fits = schema.is_some_and(|schema| schema::violation(schema, &arguments::sent(call)).is_none());
            if fits { ("coerced", "made to fit the schema") } else { ("altered", "changed") }
        }
    };
    let name = format!("schema-gate.{}", broken.unwrap_or("other"));
    let message = format!("arguments of `{}` that fail the schema were {what}", planned.tool);
    let follow = run.follow(used).map(|exchange| exchange.event);
    let calls = run.calls(used).map(|(_, call)| call.event);
    let events = [used.reply].into_iter().chain(question).chain(calls).chain(follow);
    sheet.record(&name, value, message, events, Some(&planned.span));
}
