//! What a host may do and must never be failed for.

use std::sync::Arc;

use super::{Habits, plan_of, profile, record};
use crate::check::faults::edit::{Tape, arrays, at_mut, is_result, remove};
use crate::check::finding::{Finding, Verdict};
use crate::check::judge;
use crate::check::view::View;
use crate::host::profile::SchemaGate;
use crate::json::Json;
use crate::plan::Plan;
use crate::trace::Trace;
use crate::trace::event::Kind;

const CALLS: &str = r#"
title = "Two uses in one turn, then one more"
[server.orders]
script = "orders"
[[step]]
connect = "orders"
[[step]]
list = "orders"
offers = ["lookup_order"]
[[step]]
together = [
  { call = "orders/lookup_order", with = { order_id = "B-2001" } },
  { call = "orders/create_note", with_json = '{"text":"x"}' },
]
[[step]]
call = "orders/lookup_order"
with = { order_id = "C-3003" }
[[step]]
say = "Done."
"#;

const ERAS: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// Changes the record of a correct host as `change` says; nothing of it may fail.
#[track_caller]
fn check(text: &str, revisions: &[&str], change: impl Fn(&View<'_>, &mut Tape)) -> Vec<Finding> {
    let mut all = Vec::new();
    for revision in revisions {
        let plan = plan_of(text, &profile("reference", None), revision);
        let findings = judge(&plan, &changed(&plan, &change));
        let bad: Vec<_> = findings
            .iter()
            .filter(|finding| matches!(finding.verdict, Verdict::Fail | Verdict::Untestable))
            .map(|finding| format!("{} {}: {}", finding.verdict, finding.requirement, finding.message))
            .collect();
        assert!(bad.is_empty(), "{revision}: {}", bad.join("\n"));
        all.extend(findings);
    }
    all
}

fn changed(plan: &Plan, change: &impl Fn(&View<'_>, &mut Tape)) -> Trace {
    let trace = record(plan, Habits::KeepsIds);
    let mut tape = Tape::new(&trace);
    change(&View::new(plan, &trace), &mut tape);
    tape.trace()
}

#[track_caller]
fn value<'f>(findings: &'f [Finding], name: &str) -> &'f str {
    let found = findings.iter().find(|finding| finding.requirement == name);
    found.unwrap_or_else(|| panic!("no {name}")).value.as_deref().unwrap()
}

/// Repeats a request of the first connection with its answer at the end of the connection.
fn again(view: &View<'_>, tape: &mut Tape, method: &str) {
    let conn = &view.runs[0].conns[0];
    let rpc = conn.rpcs.iter().find(|rpc| rpc.method == method).unwrap();
    let last = conn.rpcs.last().unwrap().answer().unwrap().event.n;
    for n in [rpc.answer().unwrap().event.n, rpc.event.n] {
        let mut event = tape.copy(n).unwrap();
        let mut line = event.json().unwrap();
        line.set("id", 77);
        event.payload = Some(crate::trace::event::Payload::Whole(line.to_bytes()));
        tape.after(last, event).unwrap();
    }
}

#[test]
fn a_further_list_is_legal() {
    check(CALLS, &ERAS, |view, tape| again(view, tape, "tools/list"));
}

#[test]
fn a_second_discover_is_legal() {
    check(CALLS, &["2026-07-28"], |view, tape| again(view, tape, "server/discover"));
}

#[test]
fn a_probe_and_a_ping_before_the_handshake_are_legal() {
    check(CALLS, &["2025-11-25"], |view, tape| {
        let init = view.runs[0].conns[0].rpcs[0].event.n;
        for (id, method) in [(78, "ping"), (79, "server/discover")] {
            let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#);
            let event = tape.line(init, &line).unwrap();
            tape.before(init, event).unwrap();
        }
    });
}

#[test]
fn a_call_may_start_in_the_turn_of_the_reply() {
    check(CALLS, &ERAS, |view, tape| {
        let used = &view.runs[0].uses[0];
        let call = view.runs[0].calls(used).next().unwrap().1.event.n;
        // Recorded in front of it, but in the same turn of the recorder loop: nobody knows which was first.
        tape.move_before(call, used.reply.n).unwrap();
        let tick = tape.copy(used.reply.n).unwrap().tick;
        tape.event(call, |event| event.tick = tick).unwrap();
    });
}

#[test]
fn parallel_calls_and_results_may_come_in_any_order() {
    check(CALLS, &ERAS, |view, tape| {
        let run = &view.runs[0];
        let (first, second) = (&run.uses[0], &run.uses[1]);
        let call = |used| run.calls(used).next().unwrap().1;
        tape.move_after(call(first).event.n, call(second).event.n).unwrap();
        tape.move_after(call(first).answer().unwrap().event.n, call(first).event.n).unwrap();
        let follow = run.follow(first).unwrap().event.n;
        tape.json(follow, |body| {
            arrays(body, &mut |items| {
                if items.iter().any(|item| is_result(item, &first.id)) {
                    items.reverse();
                }
            });
        });
    });
}

#[test]
fn one_process_per_call_is_legal_and_need_not_list() {
    let findings = check(CALLS, &["2025-11-25"], |view, tape| {
        let run = &view.runs[0];
        let conn = &run.conns[0];
        let (_, call) = run.calls(&run.uses[2]).next().unwrap();
        let mut at = call.event.n;
        let eof = conn.first(Kind::WireEof).unwrap().n;
        tape.move_before(eof, at).unwrap();
        at = eof;
        let init = conn.initialize().unwrap();
        let opening = [
            conn.first(Kind::ServerStart).unwrap().n,
            init.event.n,
            init.answer().unwrap().event.n,
            conn.initialized().unwrap().n,
        ];
        for n in opening.into_iter().rev() {
            let mut event = tape.copy(n).unwrap();
            event.conn = Some(50);
            tape.after(at, event).unwrap();
        }
        for n in [call.event.n, call.answer().unwrap().event.n] {
            tape.event(n, |event| event.conn = Some(50)).unwrap();
        }
        tape.spread();
    });
    assert_eq!(value(&findings, "trait.spawns"), "2");
}

#[test]
fn numbers_may_be_written_anew_and_arguments_left_out() {
    let text = CALLS
        .replace(r#"'{"text":"x"}'"#, r#"'{"text":"x","order_id":"A"}'"#)
        .replace("orders/create_note", "echo/echo")
        + "[server.echo]\nscript = \"echo\"\n";
    let text = text.replace(r#"with_json = '{"text":"x","order_id":"A"}'"#, r#"with_json = '{"n":1.0,"e":1e2}'"#);
    let findings = check(&text, &ERAS, |view, tape| {
        let run = &view.runs[0];
        let (_, call) = run.calls(&run.uses[1]).next().unwrap();
        tape.json(call.event.n, |line| {
            let arguments = at_mut(line, &["params", "arguments"]).unwrap();
            *arguments = Json::parse(r#"{"e":100,"n":1}"#).unwrap();
        });
    });
    assert_eq!(value(&findings, "trait.numbers-respelled"), "1.0 as 1, 1e2 as 100");
    let none = text.replace(r#"with_json = '{"n":1.0,"e":1e2}'"#, "with_json = '{}'");
    let findings = check(&none, &ERAS, |view, tape| {
        let run = &view.runs[0];
        let (_, call) = run.calls(&run.uses[1]).next().unwrap();
        tape.json(call.event.n, |line| remove(at_mut(line, &["params"]).unwrap(), "arguments"));
    });
    assert_eq!(value(&findings, "trait.empty-arguments"), "absent");
}

#[test]
fn results_may_be_wrapped() {
    check(CALLS, &ERAS, |view, tape| {
        let run = &view.runs[0];
        for used in &run.uses {
            tape.json(run.follow(used).unwrap().event.n, |body| {
                arrays(body, &mut |items| {
                    for item in items.iter_mut().filter(|item| is_result(item, &used.id)) {
                        let inner = item.get("content").unwrap().to_string();
                        item.set("content", format!("Took 4 ms.\n{}", Json::object([("output", inner)])));
                    }
                });
            });
        }
    });
}

/// The call of the first use again, after whatever `licence` put behind its first answer.
fn retried(answer: &str) -> Vec<Finding> {
    let plan = plan_of(CALLS, &profile("reference", None), "2026-07-28");
    let trace = changed(&plan, &|view: &View<'_>, tape: &mut Tape| {
        let run = &view.runs[0];
        let (_, call) = run.calls(&run.uses[2]).next().unwrap();
        let response = call.answer().unwrap().event.n;
        let mut first = tape.copy(call.event.n).unwrap();
        let mut line = first.json().unwrap();
        line.set("id", 70);
        first.payload = Some(crate::trace::event::Payload::Whole(line.to_bytes()));
        let mut refused = tape.copy(response).unwrap();
        refused.payload = Some(crate::trace::event::Payload::Whole(answer.as_bytes().to_vec()));
        tape.before(call.event.n, first).unwrap();
        // The copy has the number of the call and stands in front of it.
        tape.after(call.event.n, refused).unwrap();
    });
    judge(&plan, &trace)
}

#[test]
fn a_second_call_needs_a_licence() {
    let verdict = |findings: &[Finding]| {
        findings.iter().find(|finding| finding.requirement == "hop.once").map(|finding| finding.verdict)
    };
    for licence in [
        r#"{"jsonrpc":"2.0","id":70,"result":{"resultType":"input_required","inputRequests":{}}}"#,
        r#"{"jsonrpc":"2.0","id":70,"error":{"code":-32020,"message":"x"}}"#,
        r#"{"jsonrpc":"2.0","id":70,"error":{"code":-32022,"message":"x"}}"#,
    ] {
        assert_eq!(verdict(&retried(licence)), Some(Verdict::Pass), "{licence}");
    }
    for none in [
        r#"{"jsonrpc":"2.0","id":70,"result":{"content":[],"isError":true}}"#,
        r#"{"jsonrpc":"2.0","id":70,"error":{"code":-32603,"message":"x"}}"#,
    ] {
        assert_eq!(verdict(&retried(none)), Some(Verdict::Fail), "{none}");
    }
}

/// The one finding of that id.
#[track_caller]
fn one<'f>(findings: &'f [Finding], id: &str) -> &'f Finding {
    let found: Vec<_> = findings.iter().filter(|finding| finding.requirement == id).collect();
    assert_eq!(found.len(), 1, "{id}: {found:?}");
    found[0]
}

/// A host that closes and signals from two threads is recorded in this order and in that.
#[test]
fn one_signal_next_to_the_end_of_input_decides_nothing() {
    let id = "stdio.shutdown.close-stdin-first";
    let text = &CALLS.replacen("[server.orders]", &format!("requirements = [\"{id}\"]\n[server.orders]"), 1);
    let signals = |before: &'static [&'static str], after: &'static [&'static str]| {
        move |view: &View<'_>, tape: &mut Tape| {
            let eof = view.runs[0].conns[0].first(Kind::WireEof).unwrap().n;
            let signal = |tape: &Tape, name: &str| {
                let mut event = tape.copy(eof).unwrap();
                event.kind = Kind::ServerSignal;
                event.data = Json::object([("signal", name)]);
                event
            };
            for name in before {
                let event = signal(tape, name);
                tape.before(eof, event).unwrap();
            }
            for name in after {
                let event = signal(tape, name);
                tape.after(eof, event).unwrap();
            }
        }
    };
    for (before, after) in [(&["SIGTERM"][..], &[][..]), (&[][..], &["SIGTERM"][..])] {
        let findings = check(text, &ERAS, signals(before, after));
        for finding in findings.iter().filter(|finding| finding.requirement == id) {
            assert_eq!(finding.verdict, Verdict::NotApplicable, "{before:?} {after:?}: {finding:?}");
        }
    }
    let plan = plan_of(text, &profile("reference", None), "2025-11-25");
    let verdict = |before, after| one(&judge(&plan, &changed(&plan, &signals(before, after))), id).verdict;
    assert_eq!(verdict(&[], &[]), Verdict::Pass);
    assert_eq!(verdict(&["SIGINT", "SIGTERM"], &[]), Verdict::Fail);
}

/// The use that a user denied has not met a schema gate.
#[test]
fn a_question_about_wrong_arguments_is_no_schema_gate() {
    let text = r#"
title = "A question about arguments that fail the schema"
[server.orders]
script = "orders"
[permissions]
ask = ["orders/create_note"]
[[step]]
deny = "orders/create_note"
with = { order_id = "A-1042" }
by = "schema"
[[step]]
ask = "orders/create_note"
with = { text = "x" }
answer = "deny"
[[step]]
say = "Done."
"#;
    let mut ungated = (*profile("reference", None)).clone();
    ungated.claims.schema_gate = SchemaGate::Unclaimed;
    let plan = plan_of(text, &Arc::new(ungated), "2025-11-25");
    let asked = |view: &View<'_>, tape: &mut Tape| {
        let uses = &view.runs[0].uses;
        let question = view.runs[0].question(1).unwrap();
        let mut events = [tape.copy(question.event.n).unwrap(), tape.copy(question.answer.unwrap().n).unwrap()];
        events[0].data.set("use", 0);
        events[0].data.set("tool_use", uses[0].id.as_str());
        for event in events.into_iter().rev() {
            tape.after(uses[0].reply.n, event).unwrap();
        }
    };
    let silent = judge(&plan, &changed(&plan, &|_: &View<'_>, _: &mut Tape| ()));
    assert_eq!(value(&silent, "trait.schema-gate.required"), "blocked");
    let findings = judge(&plan, &changed(&plan, &asked));
    assert_eq!(value(&findings, "trait.schema-gate.required"), "asked");
    // It is asked about, not denied.
    assert_eq!(value(&findings, "trait.asked-visible"), "visible");
    assert!(findings.iter().all(|finding| finding.requirement != "trait.denied-visible"));
}

#[test]
fn what_is_denied_and_what_is_asked_about_are_told_apart() {
    let source =
        crate::library::scenarios().iter().find(|source| source.name.ends_with("call/order-service.toml"));
    let plan = plan_of(&source.unwrap().text, &profile("reference", None), "2025-11-25");
    let findings = judge(&plan, &changed(&plan, &|_: &View<'_>, _: &mut Tape| ()));
    let of = |id: &str| one(&findings, id).evidence.len();
    assert_eq!((of("trait.denied-visible"), of("trait.asked-visible")), (1, 1));
}
