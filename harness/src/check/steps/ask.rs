//! `expect.ask`: the user is asked before any call, sees tool and arguments, and the outcome follows the answer.

use super::call::{called, result};
use super::deny::ends_in_refusal;
use super::{Judged, emitted};
use crate::check::arguments::brief;
use crate::check::gates;
use crate::check::sheet::Tally;
use crate::check::view::{Emitted, Question, Run, after};
use crate::json::{Json, NumberModel};
use crate::plan::PlannedUse;
use crate::scenario::ast::{Answer, UseKind};

pub(super) fn judge(run: &Run<'_>, planned: &PlannedUse, answer: Answer) -> Judged {
    let used = match emitted(run, planned) {
        Ok(used) => used,
        Err(judged) => return judged,
    };
    let mut tally = Tally::default();
    match run.question(planned.index) {
        Some(question) => {
            shows(used, question, &mut tally);
            comes_first(run, used, question, &mut tally);
        }
        None if was_always_allowed(run, planned) => {}
        None => {
            let first = run.calls(used).next().map(|(_, call)| call.event);
            let reason = format!("the user was never asked about `{}`", planned.tool);
            tally.fails(reason, [used.reply].into_iter().chain(first));
        }
    }
    match answer {
        Answer::Allow | Answer::Always => {
            tally.absorb(called(run, used));
            tally.absorb(result(run, used));
        }
        Answer::Deny => {
            tally.absorb(gates::stays_closed(run, used));
            tally.absorb(ends_in_refusal(run, used));
        }
    }
    Judged::Facts(tally)
}

/// The question shows the tool, and the arguments where it shows any.
fn shows(used: &Emitted<'_>, question: &Question<'_>, tally: &mut Tally) {
    let shown = question.event.data.str("name").unwrap_or_default();
    if shown != used.published.name && !shown.contains(&used.planned.tool.tool) {
        let reason = format!("the user was asked about `{shown}` where the model uses `{}`", used.published);
        tally.fails(reason, [used.reply, question.event]);
    }
    let input = question.event.data.str("input").map(|text| Json::parse(text.as_bytes()));
    match (input, used.arguments()) {
        (Some(Ok(input)), Some(given)) if !input.equals(&given, NumberModel::Decimal) => {
            let reason = format!("the user was shown {} where the model gave {}", brief(&input), brief(&given));
            tally.fails(reason, [used.reply, question.event]);
        }
        (None, Some(given)) if !given.members().is_empty() => {
            tally.fails(
                format!("the user was not shown the arguments {}", brief(&given)),
                [used.reply, question.event],
            );
        }
        _ => tally.holds([used.reply, question.event]),
    }
}

/// The question comes before any call of the use, and so does the answer that allows it.
fn comes_first(run: &Run<'_>, used: &Emitted<'_>, question: &Question<'_>, tally: &mut Tally) {
    for (_, call) in run.calls(used) {
        if after(question.event, call.event) {
            let reason = format!("`{}` was called before the user was asked", used.planned.tool);
            tally.fails(reason, [call.event, question.event]);
            continue;
        }
        match question.answer {
            Some(answer) if !after(answer, call.event) => tally.holds([question.event, answer, call.event]),
            later => {
                let reason = format!("`{}` was called before the user answered", used.planned.tool);
                tally.fails(reason, [question.event, call.event].into_iter().chain(later));
            }
        }
    }
}

/// Whether the user has allowed the tool for good before; then no further question is due.
fn was_always_allowed(run: &Run<'_>, planned: &PlannedUse) -> bool {
    run.plan.uses[..planned.index.min(run.plan.uses.len())].iter().any(|before| {
        let always = before.kind == UseKind::Ask { answer: Answer::Always } && before.tool == planned.tool;
        always && run.question(before.index).and_then(|question| question.answer_word()) == Some("always")
    })
}
