//! `expect.native`: what a scenario in a host's own words says comes true.

use super::{Judged, close, connect, every, unreached};
use crate::check::sheet::{Sheet, Tally};
use crate::check::view::{Run, View};
use crate::scenario::native::Expect;
use crate::trace::event::{Event, Kind};

pub(super) fn check(view: &View<'_>, sheet: &mut Sheet<'_>) {
    let Some(expect) = view.plan.native().and_then(|native| native.expect.as_ref()) else { return };
    let judged = every(view, |run| {
        if !run.is_alive() {
            return unreached(run);
        }
        let mut tally = Tally::default();
        connected(run, expect, &mut tally);
        named(run, expect, &mut tally);
        never_on_wire(run, expect, &mut tally);
        arrived(run, expect, &mut tally);
        Judged::Facts(tally)
    });
    close(sheet, "expect.native", &expect.span, judged, "what the host's own words mean came true");
}

/// Exactly these servers are opened. That another one is not is seen where the host went on to ask its model.
fn connected(run: &Run<'_>, expect: &Expect, tally: &mut Tally) {
    let Some(wanted) = &expect.connected else { return };
    let asked = run.main_line().next().map(|exchange| exchange.event);
    for server in &run.plan.servers {
        let opened = run.conns_of(&server.key).find_map(|conn| connect::opening(conn, run));
        let is_wanted = wanted.iter().any(|name| name.value == server.key);
        match (is_wanted, opened, asked) {
            (true, Some(events), _) => tally.holds(events),
            (true, None, _) => {
                tally.fails(format!("`{}` was not connected", server.key), run.first_contact());
            }
            (false, Some(events), _) => tally.fails(format!("`{}` was connected", server.key), events),
            (false, None, Some(asked)) => tally.holds([asked]),
            (false, None, None) => {
                let reason = format!("the host never asked its model, so `{}` may still be coming", server.key);
                tally.fails(reason, run.first_contact());
            }
        }
    }
}

/// The host says something of the server, where a person can see it.
fn named(run: &Run<'_>, expect: &Expect, tally: &mut Tally) {
    for name in &expect.named {
        let says = |event: &&Event| {
            let words = event.payload.as_ref().map(|payload| String::from_utf8_lossy(payload.kept()));
            words.is_some_and(|words| words.contains(&name.value))
        };
        match run.of(Kind::HostErr).chain(run.of(Kind::HostOut)).find(says) {
            Some(event) => tally.holds([event]),
            None => {
                let reason = format!("the host's output never names `{}`", name.value);
                tally.fails(reason, run.of(Kind::HostExit).chain(run.first_contact()));
            }
        }
    }
}

/// No argument of a server and no message to one has the text. What was sent is the witness that there was a way for it.
fn never_on_wire(run: &Run<'_>, expect: &Expect, tally: &mut Tally) {
    for text in &expect.never_on_wire {
        let mut seen = Vec::new();
        for event in run.of(Kind::ServerStart).chain(run.of(Kind::ToServer)) {
            let line = event.payload.as_ref().map(|payload| String::from_utf8_lossy(payload.kept()).into_owned());
            let arguments = event.data.get("argv").map(ToString::to_string);
            if line.iter().chain(&arguments).any(|words| words.contains(&text.value)) {
                tally.fails(format!("`{}` reached a server", text.value), [event]);
            }
            seen.push(event);
        }
        tally.holds(seen);
    }
}

/// The variable that is configured for a server reached it with its value.
fn arrived(run: &Run<'_>, expect: &Expect, tally: &mut Tally) {
    for name in &expect.arrived {
        let Some(server) = run.server(&name.value) else { continue };
        let starts: Vec<_> =
            run.of(Kind::ServerStart).filter(|event| event.server.as_deref() == Some(&server.key)).collect();
        let has = |event: &&&Event| {
            let canaries = event.data.get("canaries").map(crate::json::Json::items).unwrap_or_default();
            canaries.iter().any(|canary| canary.as_str() == Some(&server.canary()))
        };
        match starts.iter().find(has) {
            Some(start) => tally.holds([*start]),
            None => {
                let reason = format!("the variable of `{}` did not arrive with its value", server.key);
                tally.fails(reason, starts.into_iter().chain(run.first_contact()));
            }
        }
    }
}
