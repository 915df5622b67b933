//! Lies about how connections are opened, in both eras.

use super::edit::{Tape, at_mut, remove, request};
use super::{TraceFault, fault};
use crate::check::view::View;
use crate::json::Json;
use crate::plan::Plan;
use crate::revision::Era;
use crate::trace::Trace;
use crate::trace::event::Kind;

pub(super) const FAULTS: &[TraceFault] = &[
    fault(
        "drop-initialize",
        &["hop.order", "lifecycle.initialize-first", "expect.connect"],
        "`initialize` was never sent.",
        drop_initialize,
    ),
    fault(
        "drop-initialized",
        &["hop.order", "lifecycle.initialized-notification", "expect.connect"],
        "`notifications/initialized` was never sent.",
        drop_initialized,
    ),
    fault(
        "no-client-version",
        &["lifecycle.initialize.fields"],
        "`initialize` does not say the version of the client.",
        |plan, trace| {
            initialize(plan, trace, |params| at_mut(params, &["clientInfo"]).map(|info| remove(info, "version")))
        },
    ),
    fault(
        "invented-version",
        &["lifecycle.version.sends-supported"],
        "`initialize` asks for a version that nobody released.",
        |plan, trace| {
            initialize(plan, trace, |params| {
                params.set("protocolVersion", "2025-13-01");
                Some(())
            })
        },
    ),
    fault(
        "older-version",
        &["lifecycle.version.sends-latest"],
        "`initialize` asks for an old version.",
        |plan, trace| {
            initialize(plan, trace, |params| {
                params.set("protocolVersion", "2024-11-05");
                Some(())
            })
        },
    ),
    fault(
        "list-before-handshake",
        &["lifecycle.no-early-requests"],
        "`tools/list` came before the answer to `initialize`.",
        list_before_handshake,
    ),
    fault(
        "no-protocol-version",
        &["modern.meta.protocol-version"],
        "A modern request does not say its version.",
        |plan, trace| strip_meta(plan, trace, "io.modelcontextprotocol/protocolVersion"),
    ),
    fault(
        "no-client-capabilities",
        &["modern.meta.client-capabilities"],
        "A modern request has no capabilities.",
        |plan, trace| strip_meta(plan, trace, "io.modelcontextprotocol/clientCapabilities"),
    ),
    fault(
        "no-client-info",
        &["modern.meta.client-info"],
        "A modern request does not say who asks.",
        |plan, trace| strip_meta(plan, trace, "io.modelcontextprotocol/clientInfo"),
    ),
    fault(
        "ping-a-modern-server",
        &["modern.removed-methods-not-used"],
        "A modern server was pinged.",
        |plan, trace| modern_line(plan, trace, |line| line.set("method", "ping")),
    ),
    fault(
        "initialize-a-modern-server",
        &["modern.no-initialize-on-modern-server"],
        "A server that had answered as a modern one was initialized.",
        |plan, trace| modern_line(plan, trace, |line| line.set("method", "initialize")),
    ),
    fault("drop-probe", &["stdio.probe.discover-first"], "A host of both eras did not probe.", |plan, trace| {
        request(
            plan,
            trace,
            |_, rpc| rpc.method == "server/discover",
            |_, rpc, tape| {
                tape.drop_all(&[rpc.event.n, rpc.answer()?.event.n]);
                Some(())
            },
        )
    }),
    fault(
        "probe-with-an-old-version",
        &["stdio.probe.version-in-meta"],
        "The probe names a legacy version.",
        |plan, trace| {
            request(
                plan,
                trace,
                |_, rpc| rpc.method == "server/discover",
                |_, rpc, tape| {
                    tape.json(rpc.event.n, |line| {
                        if let Some(meta) = at_mut(line, &["params", "_meta"]) {
                            meta.set("io.modelcontextprotocol/protocolVersion", "2025-06-18");
                        }
                    })
                },
            )
        },
    ),
    fault(
        "two-processes-at-once",
        &["expect.connect", "host.one-client-per-server"],
        "A second process of a server was started while the first was live.",
        second_process,
    ),
];

fn initialize(plan: &Plan, trace: &Trace, change: impl FnOnce(&mut Json) -> Option<()>) -> Option<Trace> {
    request(
        plan,
        trace,
        |_, rpc| rpc.method == "initialize",
        |_, rpc, tape| {
            tape.json(rpc.event.n, |line| {
                at_mut(line, &["params"]).and_then(change);
            })
        },
    )
}

fn drop_initialize(plan: &Plan, trace: &Trace) -> Option<Trace> {
    let called = |conn: &crate::check::view::Conn<'_>| conn.rpcs.iter().any(|rpc| rpc.method == "tools/call");
    request(
        plan,
        trace,
        |conn, rpc| rpc.method == "initialize" && called(conn),
        |_, rpc, tape| {
            tape.drop_all(&[rpc.event.n, rpc.answer()?.event.n]);
            Some(())
        },
    )
}

fn drop_initialized(plan: &Plan, trace: &Trace) -> Option<Trace> {
    let called = |conn: &crate::check::view::Conn<'_>| conn.rpcs.iter().any(|rpc| rpc.method == "tools/call");
    request(
        plan,
        trace,
        |conn, rpc| rpc.method == "initialize" && called(conn),
        |conn, _, tape| {
            tape.drop_all(&[conn.initialized()?.n]);
            Some(())
        },
    )
}

fn list_before_handshake(plan: &Plan, trace: &Trace) -> Option<Trace> {
    request(
        plan,
        trace,
        |_, rpc| rpc.method == "initialize",
        |conn, init, tape| {
            let list = conn.rpcs.iter().find(|rpc| rpc.method == "tools/list")?;
            // The answer may be in the turn of its request; the list must come in one before it.
            let answer = init.answer()?.event.n;
            let number = list.event.n;
            tape.move_before(number, init.event.n)?;
            tape.move_after(init.event.n, number)?;
            tape.move_after(answer, init.event.n)
        },
    )
}

fn strip_meta(plan: &Plan, trace: &Trace, key: &str) -> Option<Trace> {
    if plan.key.revision.era() == Era::Legacy {
        return None;
    }
    request(
        plan,
        trace,
        |_, rpc| rpc.method == "tools/list",
        |_, rpc, tape| {
            tape.json(rpc.event.n, |line| {
                if let Some(meta) = at_mut(line, &["params", "_meta"]) {
                    remove(meta, key);
                }
            })
        },
    )
}

/// A further request after the last one of a modern connection.
fn modern_line(plan: &Plan, trace: &Trace, change: impl FnOnce(&mut Json)) -> Option<Trace> {
    if plan.key.revision.era() == Era::Legacy {
        return None;
    }
    request(
        plan,
        trace,
        |_, rpc| rpc.method == "tools/list" && rpc.result().is_some(),
        |conn, _, tape| {
            let last = conn.rpcs.last()?;
            let mut line = tape.copy(last.event.n)?.json()?;
            line.set("id", 9000);
            change(&mut line);
            let event = tape.line(last.event.n, &line.to_string())?;
            tape.after(last.answer()?.event.n, event)
        },
    )
}

fn second_process(plan: &Plan, trace: &Trace) -> Option<Trace> {
    let view = View::new(plan, trace);
    let start = view.judged().flat_map(|run| run.of(Kind::ServerStart)).next()?;
    let mut tape = Tape::new(trace);
    let mut second = tape.copy(start.n)?;
    second.conn = Some(9000);
    tape.after(start.n, second)?;
    Some(tape.trace())
}
