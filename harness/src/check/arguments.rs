//! `hop.arguments`: the arguments on the wire equal those of the model.

use super::schema;
use super::sheet::{Sheet, Tally};
use super::view::{Emitted, Rpc, Run, View};
use crate::host::profile::ArgumentsClaim;
use crate::json::{Json, NumberModel};
use crate::scenario::ast::{DenyBy, Input, Outcome, UseKind};

pub(super) fn check(view: &View<'_>, sheet: &mut Sheet<'_>) {
    let mut tally = Tally::default();
    for run in &view.runs {
        for used in run.uses.iter().filter(|used| is_subject(run, used)) {
            tally.absorb(calls(run, used));
        }
    }
    sheet.close("hop.arguments", tally, "every call carries the model's arguments");
}

/// Malformed text, arguments that fail the schema, and steps that only record have traits instead.
pub(super) fn is_subject(run: &Run<'_>, used: &Emitted<'_>) -> bool {
    let by_schema = used.planned.kind == UseKind::Deny { by: Some(DenyBy::Schema) };
    let raw = matches!(used.planned.input, Input::Raw(_));
    !by_schema && !raw && outcome(run, used) == Outcome::Assert
}

/// Whether the step of a use asserts.
pub(super) fn outcome(run: &Run<'_>, used: &Emitted<'_>) -> Outcome {
    run.plan.scenario.steps.get(used.planned.step).map_or(Outcome::Assert, |step| step.outcome)
}

/// The arguments of the calls of one use.
pub(super) fn calls(run: &Run<'_>, used: &Emitted<'_>) -> Tally {
    let mut tally = Tally::default();
    let Some(wanted) = expected(run, used) else {
        return tally;
    };
    let answer = run.question(used.planned.index).and_then(|question| question.answer);
    let answer = answer.filter(|_| used.arguments().as_ref() != Some(&wanted));
    for (_, call) in run.calls(used) {
        let evidence = [Some(used.reply), answer, Some(call.event)].into_iter().flatten();
        let sent = sent(call);
        if agree(run, used, &wanted, &sent) {
            tally.holds(evidence);
        } else {
            tally.fails(difference(&wanted, &sent), evidence);
        }
    }
    tally
}

/// What must be on the wire: the model's arguments, or those that an answer put in their place.
pub(super) fn expected(run: &Run<'_>, used: &Emitted<'_>) -> Option<Json> {
    let replaced = run.question(used.planned.index).and_then(|question| question.updated_input());
    replaced.or_else(|| used.arguments())
}

/// The arguments of a call. None at all are the same as `{}`.
pub(super) fn sent(call: &Rpc<'_>) -> Json {
    call.param("arguments").cloned().unwrap_or_else(Json::empty)
}

fn agree(run: &Run<'_>, used: &Emitted<'_>, wanted: &Json, sent: &Json) -> bool {
    // Most parsers keep the last of duplicate members, and no rule forbids it.
    let wanted = &without_duplicates(wanted);
    if wanted.equals(sent, NumberModel::Decimal) {
        return true;
    }
    match run.plan.profile.claims.arguments {
        ArgumentsClaim::Exact => false,
        ArgumentsClaim::StripNull => without_null(wanted).equals(sent, NumberModel::Decimal),
        ArgumentsClaim::CoerceBySchema => {
            schema::of(run.plan, &used.planned.tool).is_some_and(|schema| schema::coerces(schema, wanted, sent))
        }
    }
}

fn without_duplicates(json: &Json) -> Json {
    match json {
        Json::Array(items) => Json::Array(items.iter().map(without_duplicates).collect()),
        Json::Object(members) => {
            let last = |at: usize| !members[at + 1..].iter().any(|(key, _)| *key == members[at].0);
            let kept = (0..members.len()).filter(|&at| last(at));
            Json::Object(kept.map(|at| (members[at].0.clone(), without_duplicates(&members[at].1))).collect())
        }
        other => other.clone(),
    }
}

fn without_null(json: &Json) -> Json {
    match json {
        Json::Array(items) => Json::Array(items.iter().map(without_null).collect()),
        Json::Object(members) => {
            let kept = members.iter().filter(|(_, value)| *value != Json::Null);
            Json::Object(kept.map(|(key, value)| (key.clone(), without_null(value))).collect())
        }
        other => other.clone(),
    }
}

/// The first difference, as a sentence.
fn difference(wanted: &Json, sent: &Json) -> String {
    for (key, value) in wanted.members() {
        let name = key.to_lossy();
        match sent.members().iter().rev().find(|(other, _)| other == key) {
            None => return format!("the argument `{name}` disappeared"),
            Some((_, other)) if !value.equals(other, NumberModel::Decimal) => {
                return format!(
                    "the argument `{name}` is {} on the wire where the model gave {}",
                    brief(other),
                    brief(value)
                );
            }
            Some(_) => {}
        }
    }
    match sent.members().iter().find(|(key, _)| !wanted.members().iter().any(|(known, _)| known == key)) {
        Some((key, value)) => format!("the argument `{}` appeared as {}", key.to_lossy(), brief(value)),
        None => format!("the arguments are {} on the wire where the model gave {}", brief(sent), brief(wanted)),
    }
}

/// JSON for a message: the whole of it where it is short.
pub(super) fn brief(json: &Json) -> String {
    const MOST: usize = 80;
    let text = json.to_string();
    if text.chars().count() <= MOST {
        return text;
    }
    let head: String = text.chars().take(MOST).collect();
    format!("{head}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(text: &str) -> Json {
        Json::parse(text).unwrap()
    }

    #[test]
    fn the_last_of_duplicates_is_kept() {
        assert_eq!(
            without_duplicates(&json(r#"{"a":1,"b":{"c":1,"c":2},"a":3}"#)),
            json(r#"{"b":{"c":2},"a":3}"#)
        );
    }

    #[test]
    fn null_is_stripped_from_objects_only() {
        assert_eq!(without_null(&json(r#"{"a":null,"b":[null,{"c":null}]}"#)), json(r#"{"b":[null,{}]}"#));
    }

    #[test]
    fn the_difference_is_named() {
        for (wanted, sent, expected) in [
            (r#"{"a":1}"#, "{}", "the argument `a` disappeared"),
            (r#"{"a":1}"#, r#"{"a":"1"}"#, "the argument `a` is \"1\" on the wire where the model gave 1"),
            ("{}", r#"{"a":1}"#, "the argument `a` appeared as 1"),
            ("{}", "[]", "the arguments are [] on the wire where the model gave {}"),
        ] {
            assert_eq!(difference(&json(wanted), &json(sent)), expected);
        }
    }
}
