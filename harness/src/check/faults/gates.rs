//! Lies about permissions, questions and the schema gate.

use super::edit::{Tape, arrays, emitted, is_result};
use super::{TraceFault, fault};
use crate::check::gates::{Gate, gate};
use crate::check::view::{Emitted, Run};
use crate::json::Json;
use crate::plan::Plan;
use crate::scenario::ast::{Answer, DenyBy, Permissions, UseKind};
use crate::trace::Trace;
use crate::trace::event::{Event, Kind};

pub(super) const FAULTS: &[TraceFault] = &[
    fault(
        "denied-and-called",
        &["hop.gates", "expect.deny", "tools.human-in-loop.can-deny"],
        "A denied tool was called.",
        |plan, trace| call_after_reply(plan, trace, is_denied),
    ),
    fault(
        "denied-beside-allowance-and-called",
        &["claim.11-deny-ask-allow"],
        "An allowance won over a denial.",
        |plan, trace| {
            call_after_reply(plan, trace, |run, used| {
                let Permissions::Rules(rules) = &run.plan.scenario.permissions else { return false };
                is_denied(run, used) && rules.allow.iter().any(|pattern| pattern.value.matches(&used.planned.tool))
            })
        },
    ),
    fault(
        "refusal-dropped",
        &["expect.deny", "hop.once"],
        "The model was not told of a denial.",
        |plan, trace| {
            emitted(
                plan,
                trace,
                |run, used| is_denied(run, used) && run.told(used).is_some(),
                |run, used, tape| {
                    let id = used.id.as_str();
                    tape.json(run.follow(used)?.event.n, |body| {
                        arrays(body, &mut |items| items.retain(|item| !is_result(item, id)));
                    })
                },
            )
        },
    ),
    fault("never-asked", &["expect.ask"], "The user was not asked.", |plan, trace| {
        asked(plan, trace, |_, question, answer, tape| {
            tape.drop_all(&[question.n, answer.n]);
            Some(())
        })
    }),
    fault(
        "asked-after-the-call",
        &["expect.ask"],
        "The user was asked when the call had been made.",
        |plan, trace| {
            asked(plan, trace, |call, question, answer, tape| {
                tape.move_after(question.n, call?)?;
                tape.move_after(answer.n, question.n)
            })
        },
    ),
    fault(
        "called-before-the-answer",
        &["expect.ask"],
        "The call did not wait for the user's answer.",
        |plan, trace| asked(plan, trace, |call, _, answer, tape| tape.move_after(answer.n, call?)),
    ),
    fault("asked-about-another-tool", &["expect.ask"], "The user was shown another tool.", |plan, trace| {
        asked(plan, trace, |_, question, _, tape| tape.event(question.n, |event| event.data.set("name", "Read")))
    }),
    fault("asked-with-other-arguments", &["expect.ask"], "The user was shown other arguments.", |plan, trace| {
        asked(plan, trace, |_, question, _, tape| {
            tape.event(question.n, |event| event.data.set("input", r#"{"text":"something harmless"}"#))
        })
    }),
    fault(
        "called-in-spite-of-no",
        &["expect.ask", "hop.gates"],
        "The user said no, and the tool was called.",
        |plan, trace| {
            call_after_reply(plan, trace, |_, used| used.planned.kind == UseKind::Ask { answer: Answer::Deny })
        },
    ),
    fault(
        "asked-about-a-wrong-shape",
        &["hop.gates", "claim.09-two-doors", "expect.deny"],
        "The user was asked about arguments that fail the schema.",
        |plan, trace| {
            emitted(
                plan,
                trace,
                |run, used| by_schema(used) && gate(run, used) == Gate::Closed,
                |_, used, tape| {
                    let mut question = tape.copy(used.reply.n)?;
                    question.kind = Kind::Question;
                    question.cause = None;
                    question.payload = None;
                    question.data = Json::object([
                        ("id", Json::from("q")),
                        ("use", used.planned.index.into()),
                        ("name", Json::from(&used.published.name)),
                        ("input", Json::from(&used.input)),
                    ]);
                    tape.after(used.reply.n, question)
                },
            )
        },
    ),
    fault(
        "wrong-shape-called",
        &["claim.09-two-doors", "hop.gates"],
        "Arguments that fail the schema were sent.",
        |plan, trace| {
            call_after_reply(plan, trace, |run, used| by_schema(used) && gate(run, used) == Gate::Closed)
        },
    ),
];

fn by_schema(used: &Emitted<'_>) -> bool {
    used.planned.kind == UseKind::Deny { by: Some(DenyBy::Schema) }
}

fn is_denied(_: &Run<'_>, used: &Emitted<'_>) -> bool {
    matches!(used.planned.kind, UseKind::Deny { .. }) && !by_schema(used)
}

/// A call of a use that must not be called, right after the reply that carried it.
fn call_after_reply(plan: &Plan, trace: &Trace, fits: impl Fn(&Run<'_>, &Emitted<'_>) -> bool) -> Option<Trace> {
    emitted(plan, trace, fits, |run, used, tape| {
        let conn = run.conns_of(&used.planned.tool.server).next()?;
        let like = conn.rpcs.iter().find(|rpc| rpc.method == "tools/list")?;
        let mut params = like.params.clone().unwrap_or_else(Json::empty);
        params.set("name", &used.planned.tool.tool);
        params.set("arguments", used.arguments()?);
        let line = Json::object([
            ("jsonrpc", Json::from("2.0")),
            ("id", 9000.into()),
            ("method", "tools/call".into()),
            ("params", params),
        ]);
        let event = tape.line(like.event.n, &line.to_string())?;
        // A question stands between; the call comes after it as it does with a host that ignores the answer.
        let after = run.question(used.planned.index).and_then(|question| question.answer).unwrap_or(used.reply);
        tape.after(after.n, event)
    })
}

/// The first use that was asked about and called, with its call, question and answer.
fn asked(
    plan: &Plan,
    trace: &Trace,
    lie: impl FnOnce(Option<u32>, &Event, &Event, &mut Tape) -> Option<()>,
) -> Option<Trace> {
    let fits = |run: &Run<'_>, used: &Emitted<'_>| {
        let question = run.question(used.planned.index);
        matches!(used.planned.kind, UseKind::Ask { .. })
            && question.is_some_and(|question| question.answer.is_some())
            && !used.calls.is_empty()
    };
    emitted(plan, trace, fits, |run, used, tape| {
        let question = run.question(used.planned.index)?;
        let call = run.calls(used).next().map(|(_, call)| call.event.n);
        lie(call, question.event, question.answer?, tape)
    })
}
