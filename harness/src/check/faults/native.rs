//! Lies about what a scenario in a host's own words says.

use super::edit::Tape;
use super::{TraceFault, fault};
use crate::check::view::{Run, View};
use crate::json::Json;
use crate::plan::Plan;
use crate::scenario::native::Expect;
use crate::trace::Trace;
use crate::trace::event::{Kind, Payload};

pub(super) const FAULTS: &[TraceFault] = &[
    fault(
        "broken-entry-unnamed",
        &["expect.native"],
        "Nothing names the server that is broken.",
        |plan, trace| {
            expecting(plan, trace, |run, expect, tape| {
                let name = &expect.named.first()?.value;
                for event in run.of(Kind::HostErr).chain(run.of(Kind::HostOut)) {
                    let text = String::from_utf8_lossy(event.bytes()?).replace(name.as_str(), "…");
                    tape.event(event.n, |event| event.payload = Some(Payload::Whole(text.into_bytes())))?;
                }
                Some(())
            })
        },
    ),
    fault(
        "broken-entry-takes-others",
        &["expect.native"],
        "With one entry broken, another server was never opened.",
        |plan, trace| {
            expecting(plan, trace, |run, expect, tape| {
                let key = &expect.connected.as_ref()?.first()?.value;
                let lines: Vec<u32> =
                    run.conns_of(key).flat_map(|conn| &conn.events).map(|event| event.n).collect();
                tape.drop_all(&lines);
                (!lines.is_empty()).then_some(())
            })
        },
    ),
    fault(
        "broken-entry-opened",
        &["expect.native"],
        "The server of the broken entry was opened.",
        |plan, trace| {
            expecting(plan, trace, |run, expect, tape| {
                let wanted = expect.connected.as_ref()?;
                let broken =
                    plan.servers.iter().find(|server| !wanted.iter().any(|name| name.value == server.key))?;
                let events: Vec<u32> = run
                    .conns_of(&wanted.first()?.value)
                    .flat_map(|conn| &conn.events)
                    .map(|event| event.n)
                    .collect();
                for n in events {
                    tape.event(n, |event| event.server = Some(broken.key.clone()))?;
                }
                Some(())
            })
        },
    ),
    fault(
        "placeholder-on-the-wire",
        &["expect.native"],
        "A placeholder reached a server as it stood.",
        |plan, trace| {
            expecting(plan, trace, |run, expect, tape| {
                let text = &expect.never_on_wire.first()?.value;
                let start = run.of(Kind::ServerStart).next()?;
                tape.event(start.n, |event| event.data.set("argv", Json::array([text.as_str()])))
            })
        },
    ),
    fault(
        "variable-lost",
        &["expect.native"],
        "The variable of a server did not arrive with its value.",
        |plan, trace| {
            expecting(plan, trace, |run, expect, tape| {
                expect.arrived.first()?;
                let start = run.of(Kind::ServerStart).next()?;
                tape.event(start.n, |event| event.data.set("canaries", Json::Array(Vec::new())))
            })
        },
    ),
];

/// The first judged run of a scenario in the host's own words.
fn expecting(
    plan: &Plan,
    trace: &Trace,
    lie: impl FnOnce(&Run<'_>, &Expect, &mut Tape) -> Option<()>,
) -> Option<Trace> {
    let expect = plan.native()?.expect.as_ref()?;
    let view = View::new(plan, trace);
    let mut tape = Tape::new(trace);
    lie(view.judged().next()?, expect, &mut tape)?;
    Some(tape.trace())
}
