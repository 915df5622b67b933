//! What the director says to what it is shown.

use std::cell::Cell;
use std::time::{Duration, Instant};

use super::{Direction, Director, Load};
use crate::check::testing::{plan_of, profile};
use crate::json::Json;
use crate::plan::Plan;
use crate::trace::event::{Event, Kind, Payload};

const TOGETHER: &str = r#"
title = "Two at once"
[server.orders]
script = "orders"
[[server.orders.on]]
event = "request"
method = "tools/call"
do = [{ hold = "batch" }]
[[step]]
together = [{ call = "orders/lookup_order" }, { call = "orders/create_note" }]
release = { hold = "batch", order = "reverse" }
settle = 100
[[step]]
call = "orders/lookup_order"
with = { order_id = "B-2001" }
"#;

const INTERRUPT: &str = r#"
title = "A call is given up"
[limits]
call = 200
[server.orders]
script = "orders"
[[server.orders.on]]
event = "request"
method = "tools/call"
do = [{ hold = "slow" }]
[[step]]
call = "orders/create_note"
told = { before = "call-limit" }
during = [{ interrupt = "user" }, { expect = "cancelled", settle = 50 }, { release = "slow" }]
[[step]]
prompt = "Go on."
"#;

const CHANGE: &str = r#"
title = "A tool comes"
[server.orders]
script = "orders"
[[step]]
change = "orders"
add = ["archive_order"]
settle = 100
[[step]]
call = "orders/lookup_order"
"#;

/// A director with the events that it is shown and a clock.
struct Play<'p> {
    director: Director<'p>,
    now: Instant,
    n: u32,
    load: Cell<Load>,
}

impl<'p> Play<'p> {
    fn new(plan: &'p Plan) -> Self {
        Self { director: Director::new(plan), now: Instant::now(), n: 0, load: Cell::new(Load::Calm) }
    }

    fn see(&mut self, kind: Kind, cause: Option<u32>, payload: &str, data: Json) -> u32 {
        self.n += 1;
        let event = Event {
            n: self.n,
            us: 0,
            run: 1,
            tick: self.n,
            kind,
            server: Some("orders".to_owned()),
            conn: Some(1),
            step: None,
            cause,
            payload: Some(Payload::Whole(payload.as_bytes().to_vec())),
            data,
        };
        self.director.see(&event, self.now);
        self.n
    }

    fn model(&mut self, kind: Kind, turn: usize) {
        self.see(kind, None, "{}", Json::object([("main", Json::from(true)), ("turn", turn.into())]));
    }

    fn host(&mut self, id: u32, method: &str, params: &str) -> u32 {
        let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#);
        self.see(Kind::ToServer, None, &line, Json::Null)
    }

    fn answer(&mut self, cause: u32, result: &str) {
        let line = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
        self.see(Kind::ToHost, Some(cause), &line, Json::Null);
    }

    fn next(&mut self) -> Option<String> {
        let load = self.load.get();
        self.director.next(self.now, || load).map(|direction| match direction {
            Direction::Interrupt { .. } => "interrupt".to_owned(),
            Direction::Change { change, .. } => format!("change {}", change.server.value),
            Direction::Release { calls, .. } => {
                let ids: Vec<String> = calls.iter().map(|call| call.id.to_string()).collect();
                format!("release {}", ids.join(" "))
            }
            Direction::Quiet { waited_for, .. } => format!("no {waited_for}"),
            Direction::Overdue { index, .. } => format!("overdue {index}"),
        })
    }

    /// All that is said now.
    fn all(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.next()).collect()
    }

    fn wait(&mut self, ms: u64) {
        self.now += Duration::from_millis(ms);
    }
}

fn plan(text: &str) -> Plan {
    plan_of(text, &profile("reference", None), "2025-11-25")
}

#[test]
fn replies_go_in_their_order_once_all_calls_are_in_flight() {
    let plan = plan(TOGETHER);
    let mut play = Play::new(&plan);
    play.model(Kind::ModelRequest, 0);
    play.model(Kind::ModelReply, 0);
    play.host(7, "tools/call", "{}");
    assert_eq!(play.next(), None);
    assert!(play.director.timer().is_some() && !play.director.holds());
    play.host(8, "tools/call", "{}");
    assert_eq!(play.all(), ["release 8 7"]);
    assert_eq!(play.director.timer(), None);
}

#[test]
fn a_host_that_sends_one_call_at_a_time_is_not_kept_waiting_for_ever() {
    let plan = plan(TOGETHER);
    let mut play = Play::new(&plan);
    play.model(Kind::ModelRequest, 0);
    play.model(Kind::ModelReply, 0);
    play.wait(90);
    let first = play.host(7, "tools/call", "{}");
    play.wait(90);
    // The call began the quiet time anew.
    assert_eq!(play.next(), None);
    play.wait(20);
    assert_eq!(play.all(), ["no calls", "release 7"]);
    play.answer(first, "{}");
    // What comes now is not held up again.
    play.host(8, "tools/call", "{}");
    assert_eq!(play.all(), ["release 8"]);
    // The next turn has no order of its own.
    play.model(Kind::ModelRequest, 1);
    play.model(Kind::ModelReply, 1);
    play.host(9, "tools/call", "{}");
    assert_eq!((play.all(), play.director.timer()), (Vec::new(), None));
}

#[test]
fn a_busy_machine_gets_more_time() {
    let plan = plan(TOGETHER);
    let mut play = Play::new(&plan);
    play.model(Kind::ModelReply, 0);
    play.load.set(Load::Busy);
    for _ in 0..3 {
        play.wait(100);
        assert_eq!(play.next(), None);
    }
    play.wait(100);
    assert_eq!(play.next().as_deref(), Some("no calls"));
}

#[test]
fn a_turn_that_makes_no_call_has_nothing_to_wait_for() {
    let plan = plan(TOGETHER);
    let mut play = Play::new(&plan);
    play.model(Kind::ModelReply, 0);
    play.model(Kind::ModelRequest, 1);
    play.wait(1000);
    assert_eq!((play.all(), play.director.timer()), (Vec::new(), None));
}

#[test]
fn the_conversation_waits_until_the_acts_during_a_call_are_done() {
    let plan = plan(INTERRUPT);
    let mut play = Play::new(&plan);
    play.model(Kind::ModelReply, 0);
    play.host(7, "tools/call", "{}");
    assert_eq!(play.all(), ["interrupt"]);
    assert!(play.director.holds());
    // Another request that is cancelled is not the one.
    let cancelled = |id: u32| format!(r#"{{"requestId":{id}}}"#);
    play.see(Kind::ToServer, None, &notification(&cancelled(6)), Json::Null);
    assert_eq!(play.next(), None);
    play.see(Kind::ToServer, None, &notification(&cancelled(7)), Json::Null);
    assert_eq!(play.all(), ["release 7"]);
    assert!(!play.director.holds());
}

fn notification(params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{params}}}"#)
}

#[test]
fn what_does_not_come_ends_with_the_quiet_time() {
    let plan = plan(INTERRUPT);
    let mut play = Play::new(&plan);
    play.model(Kind::ModelReply, 0);
    play.host(7, "tools/call", "{}");
    assert_eq!(play.all(), ["interrupt"]);
    play.wait(50);
    assert_eq!(play.all(), ["no cancelled", "release 7"]);
    // A result that nobody is told is overdue, but not for ever.
    play.wait(800);
    assert_eq!(play.all(), ["overdue 0"]);
    play.wait(8000);
    assert_eq!((play.all(), play.director.timer()), (Vec::new(), None));
}

#[test]
fn a_reply_is_held_until_the_changed_list_was_read() {
    let plan = plan(CHANGE);
    let mut play = Play::new(&plan);
    play.model(Kind::ModelRequest, 0);
    assert!(play.director.holds());
    assert_eq!(play.all(), ["change orders"]);
    let first = play.host(7, "tools/list", "{}");
    play.answer(first, r#"{"tools":[],"nextCursor":"x"}"#);
    assert_eq!(play.next(), None);
    assert!(play.director.holds());
    let second = play.host(8, "tools/list", r#"{"cursor":"x"}"#);
    play.answer(second, r#"{"tools":[]}"#);
    assert_eq!(play.next(), None);
    assert!(!play.director.holds());
    // A host that asks for the same reply again gets it without another change.
    play.model(Kind::ModelReply, 0);
    play.model(Kind::ModelRequest, 0);
    assert_eq!((play.all(), play.director.holds()), (Vec::new(), false));
}

#[test]
fn nothing_is_done_to_a_host_that_is_gone() {
    let plan = plan(CHANGE);
    let mut play = Play::new(&plan);
    play.model(Kind::ModelRequest, 0);
    play.see(Kind::HostExit, None, "", Json::Null);
    assert_eq!((play.all(), play.director.holds()), (Vec::new(), false));
}
