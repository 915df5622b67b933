//! Lies about the end of a run, and about the model's side of it.

use super::edit::Tape;
use super::{TraceFault, fault};
use crate::check::view::{Run, View};
use crate::json::Json;
use crate::plan::{Plan, PlannedServer};
use crate::trace::Trace;
use crate::trace::event::{Event, Kind};

pub(super) const FAULTS: &[TraceFault] = &[
    fault("survivor", &["hop.clean-end", "expect.stop"], "A process outlived the host.", |plan, trace| {
        ended(plan, trace, |_, exit, tape| {
            let data = Json::object([("pid", Json::from(4711)), ("command", "server".into())]);
            tape.after(exit.n, of(exit, Kind::Survivor, data))
        })
    }),
    fault(
        "survivors-counted",
        &["hop.clean-end"],
        "Processes were left when the host had ended.",
        |plan, trace| {
            ended(plan, trace, |run, _, tape| {
                let gone = run.of(Kind::Gone).last()?;
                tape.event(gone.n, |event| event.data = Json::object([("survivors", 2)]))
            })
        },
    ),
    fault(
        "deadline",
        &["expect.run-ends", "expect.say"],
        "The host had to be ended at its deadline.",
        |plan, trace| {
            ended(plan, trace, |run, exit, tape| {
                let data = Json::object([("phase", Json::from("run")), ("ms", 60_000.into())]);
                tape.before(exit.n, of(exit, Kind::Deadline, data))?;
                tape.event(exit.n, |event| event.data = Json::object([("signal", "SIGKILL")]))?;
                tape.event(run.of(Kind::RunEnd).last()?.n, |event| {
                    event.data = Json::object([("reason", "deadline")])
                })
            })
        },
    ),
    fault("crash", &["expect.run-ends", "expect.say"], "The host crashed after the final text.", |plan, trace| {
        ended(plan, trace, |_, exit, tape| {
            tape.event(exit.n, |event| event.data = Json::object([("signal", "SIGSEGV")]))
        })
    }),
    fault("flood", &["expect.run-ends"], "The host flooded its output.", |plan, trace| {
        ended(plan, trace, |_, exit, tape| {
            let data = Json::object([("stream", Json::from("standard error")), ("dropped", 1_000_000.into())]);
            tape.before(exit.n, of(exit, Kind::Dropped, data))
        })
    }),
    fault("flood-of-messages", &["expect.run-ends"], "The host sent messages without end.", |plan, trace| {
        ended(plan, trace, |run, exit, tape| {
            tape.event(exit.n, |event| event.data = Json::object([("signal", "SIGKILL")]))?;
            tape.event(run.of(Kind::RunEnd).last()?.n, |event| event.data = Json::object([("reason", "flood")]))
        })
    }),
    fault("supervisor-killed", &["expect.run-ends"], "The host killed its parent.", |plan, trace| {
        ended(plan, trace, |run, exit, tape| {
            // Nobody was left to tell of the exit.
            tape.event(exit.n, |event| {
                (event.kind, event.data) = (Kind::SupervisorLost, Json::object([("signal", "SIGKILL")]));
            })?;
            tape.event(run.of(Kind::RunEnd).last()?.n, |event| event.data = Json::object([("reason", "orphaned")]))
        })
    }),
    fault("final-text-unasked", &["expect.say"], "The host never asked for the final text.", |plan, trace| {
        ended(plan, trace, |run, _, tape| {
            let last = run.main_line().last().filter(|exchange| exchange.turn == Some(plan.turns.len() - 1))?;
            tape.drop_all(&[last.event.n, last.reply?.n]);
            Some(())
        })
    }),
    fault(
        "unusable-tool-name",
        &["expect.model-api"],
        "A tool was offered under a name that the model API refuses.",
        |plan, trace| {
            ended(plan, trace, |run, _, tape| {
                let exchange = run.main_line().find(|exchange| !exchange.offers.is_empty())?;
                let name = exchange.offers.first()?.published.name.clone();
                tape.json(exchange.event.n, |body| {
                    super::edit::arrays(body, &mut |items| {
                        for item in items.iter_mut().filter(|item| item.str("name") == Some(&name)) {
                            item.set("name", "not a name");
                        }
                    });
                })
            })
        },
    ),
    fault("variable-of-another", &["claim.18-secrets"], "A server got the variable of another.", |plan, trace| {
        let own = plan.servers.first()?.canary();
        let other = plan.servers.iter().map(PlannedServer::canary).find(|other| *other != own)?;
        ended(plan, trace, |run, _, tape| {
            let key = plan.servers.first()?.key.as_str();
            let start = run.of(Kind::ServerStart).find(|start| start.server.as_deref() == Some(key))?;
            tape.event(start.n, |event| event.data.set("canaries", Json::array([own, other])))
        })
    }),
];

/// The first judged run that ended by itself, with its exit.
fn ended(
    plan: &Plan,
    trace: &Trace,
    lie: impl FnOnce(&Run<'_>, &Event, &mut Tape) -> Option<()>,
) -> Option<Trace> {
    let view = View::new(plan, trace);
    let (run, exit) = view.judged().find_map(|run| Some((run, run.own_exit()?)))?;
    let mut tape = Tape::new(trace);
    lie(run, exit, &mut tape)?;
    Some(tape.trace())
}

fn of(like: &Event, kind: Kind, data: Json) -> Event {
    Event { kind, data, payload: None, cause: None, server: None, conn: None, ..like.clone() }
}
