//! A trace as the checks see it: read once, per host run, with requests beside their responses and hops joined.

mod given_up;
mod model;
mod wire;

pub(crate) use model::{Emitted, Exchange, HopCall, Offered, Question, Search, markers};
pub(crate) use wire::{Conn, Line, Rpc, Side};

use std::rc::Rc;

use regex_lite::Regex;

use super::reading::{self, Reading};
use crate::json::Json;
use crate::model::{ErrorFlag, ToolResult};
use crate::plan::{Plan, PlannedServer};
use crate::scenario::ast::ToolRef;
use crate::trace::Trace;
use crate::trace::event::{Event, Kind};

/// What a host run is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// It is judged.
    Judged,
    /// It is the twin: it proves names and reach, and is held to the invariants only.
    Twin,
}

/// One host run.
pub(crate) struct Run<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) role: Role,
    /// All its events, in order of recording.
    pub(crate) events: Vec<&'a Event>,
    /// Its connections, in order of their first event.
    pub(crate) conns: Vec<Conn<'a>>,
    /// Its model requests with their replies, in order.
    pub(crate) exchanges: Vec<Exchange<'a>>,
    /// The tool uses that the model emitted, in order.
    pub(crate) uses: Vec<Emitted<'a>>,
    /// The searches for tools that the model emitted, in order.
    pub(crate) searches: Vec<Search<'a>>,
    /// The questions to the user, in order.
    pub(crate) questions: Vec<Question<'a>>,
    /// Every entry of every list that was read.
    listed: Vec<(ToolRef, &'a Event)>,
    strips: Rc<[Regex]>,
}

/// What the model was told of a use in the request that must tell it.
pub(crate) struct Told<'r, 'a> {
    pub(crate) exchange: &'r Exchange<'a>,
    pub(crate) result: &'r ToolResult,
    pub(crate) reading: &'r Reading,
    /// The error flag, where the API or the wrapping of the host has one.
    pub(crate) flag: Option<bool>,
}

/// A whole trace.
pub(crate) struct View<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) runs: Vec<Run<'a>>,
}

/// One call with the tool use that it is joined to.
#[derive(Clone, Copy)]
pub(crate) struct Hop<'r, 'a> {
    pub(crate) run: &'r Run<'a>,
    pub(crate) used: &'r Emitted<'a>,
    pub(crate) conn: &'r Conn<'a>,
    pub(crate) call: &'r Rpc<'a>,
}

impl Hop<'_, '_> {
    /// The events of call and answer.
    pub(crate) fn wire(&self) -> Vec<u32> {
        [self.call.event.n].into_iter().chain(self.call.answer().map(|answer| answer.event.n)).collect()
    }
}

impl<'a> View<'a> {
    pub(crate) fn new(plan: &'a Plan, trace: &'a Trace) -> Self {
        let mut numbers: Vec<u32> = trace.events.iter().map(|event| event.run).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let strips: Rc<[Regex]> = reading::strips(plan).into();
        let runs = numbers.into_iter().map(|number| Run::new(plan, trace, number, Rc::clone(&strips))).collect();
        Self { plan, runs }
    }

    /// The runs that the scenario's expectations speak of.
    pub(crate) fn judged(&self) -> impl Iterator<Item = &Run<'a>> {
        self.runs.iter().filter(|run| run.role == Role::Judged)
    }

    /// The hops of all runs.
    pub(crate) fn hops(&self) -> impl Iterator<Item = Hop<'_, 'a>> {
        self.runs.iter().flat_map(Run::hops)
    }

    pub(crate) fn twin(&self) -> Option<&Run<'a>> {
        self.runs.iter().find(|run| run.role == Role::Twin)
    }
}

impl<'a> Run<'a> {
    fn new(plan: &'a Plan, trace: &'a Trace, number: u32, strips: Rc<[Regex]>) -> Self {
        let events: Vec<&Event> = trace.events.iter().filter(|event| event.run == number).collect();
        let start = events.iter().find(|event| event.kind == Kind::RunStart);
        let role = match start.and_then(|event| event.data.str("role")) {
            Some("twin") => Role::Twin,
            _ => Role::Judged,
        };
        let conns = wire::connections(&events);
        let exchanges = model::exchanges(plan, &events);
        let questions = model::questions(plan, number, &events);
        let listed = listed(&conns);
        let (uses, searches) = (Vec::new(), Vec::new());
        let mut run = Self { plan, role, events, conns, exchanges, uses, searches, questions, listed, strips };
        run.uses = model::emitted(&run);
        run.searches = model::searches(&run);
        run
    }

    /// The events of one kind.
    pub(crate) fn of(&self, kind: Kind) -> impl Iterator<Item = &'a Event> {
        self.events.iter().copied().filter(move |event| event.kind == kind)
    }

    /// Whether the host reached a server or the model at all. A host that did nothing passes nothing.
    pub(crate) fn is_alive(&self) -> bool {
        self.events
            .iter()
            .any(|event| matches!(event.kind, Kind::ModelRequest | Kind::ServerStart | Kind::ToServer))
    }

    /// The first signs of life, as evidence.
    pub(crate) fn first_contact(&self) -> Vec<&'a Event> {
        [Kind::ServerStart, Kind::ToServer, Kind::ModelRequest]
            .iter()
            .filter_map(|kind| self.of(*kind).next())
            .collect()
    }

    /// The connections of one server.
    pub(crate) fn conns_of<'r>(&'r self, server: &'r str) -> impl Iterator<Item = &'r Conn<'a>> {
        self.conns.iter().filter(move |conn| conn.server == server)
    }

    /// All requests of the host over all connections, with their connection.
    pub(crate) fn rpcs(&self) -> impl Iterator<Item = (&Conn<'a>, &Rpc<'a>)> {
        self.conns.iter().flat_map(|conn| conn.rpcs.iter().map(move |rpc| (conn, rpc)))
    }

    /// The requests of one method, with their connection.
    pub(crate) fn rpcs_of<'r>(&'r self, method: &'r str) -> impl Iterator<Item = (&'r Conn<'a>, &'r Rpc<'a>)> {
        self.rpcs().filter(move |(_, rpc)| rpc.method == method)
    }

    /// The main line of the conversation.
    pub(crate) fn main_line(&self) -> impl Iterator<Item = &Exchange<'a>> {
        self.exchanges.iter().filter(|exchange| exchange.main)
    }

    /// The use of that index, where the model emitted it.
    pub(crate) fn emitted(&self, index: usize) -> Option<&Emitted<'a>> {
        self.uses.iter().find(|used| used.planned.index == index)
    }

    /// The connection and request of a joined call.
    pub(crate) fn call(&self, call: &HopCall) -> (&Conn<'a>, &Rpc<'a>) {
        let conn = &self.conns[call.conn];
        (conn, &conn.rpcs[call.rpc])
    }

    /// The calls joined to a use, in order.
    pub(crate) fn calls<'r>(&'r self, used: &'r Emitted<'a>) -> impl Iterator<Item = (&'r Conn<'a>, &'r Rpc<'a>)> {
        used.calls.iter().map(|call| self.call(call))
    }

    /// Each call with its use, in the order of the uses.
    pub(crate) fn hops(&self) -> impl Iterator<Item = Hop<'_, 'a>> {
        self.uses
            .iter()
            .flat_map(move |used| self.calls(used).map(move |(conn, call)| Hop { run: self, used, conn, call }))
    }

    /// The `tools/call` requests that belong to no use.
    pub(crate) fn stray_calls(&self) -> Vec<&Rpc<'a>> {
        let joined: Vec<u32> =
            self.uses.iter().flat_map(|used| self.calls(used)).map(|(_, rpc)| rpc.event.n).collect();
        self.rpcs_of("tools/call").map(|(_, rpc)| rpc).filter(|rpc| !joined.contains(&rpc.event.n)).collect()
    }

    /// The main-line request that must tell the result of a use: the first one beyond the reply that emitted it.
    pub(crate) fn follow(&self, used: &Emitted<'a>) -> Option<&Exchange<'a>> {
        used.follow.map(|at| &self.exchanges[at])
    }

    /// How the host's model API marks errors.
    pub(crate) fn error_flag(&self) -> ErrorFlag {
        crate::model::api(self.plan.profile.model.api).error_flag()
    }

    /// What the model was told of a use, where exactly one result stands in the request that must tell it.
    pub(crate) fn told<'r>(&'r self, used: &'r Emitted<'a>) -> Option<Told<'r, 'a>> {
        let exchange = self.follow(used)?;
        let [result] = exchange.results(&used.id)[..] else {
            return None;
        };
        let reading = used.reading.get_or_init(|| Reading::new(result, &self.strips));
        let flag = match self.error_flag() {
            // The absence of the member says that it is no error.
            ErrorFlag::Member => Some(result.is_error.unwrap_or(false)),
            ErrorFlag::None => result.is_error.or(reading.flag()),
        };
        Some(Told { exchange, result, reading, flag })
    }

    /// The question about a use.
    pub(crate) fn question(&self, index: usize) -> Option<&Question<'a>> {
        self.questions.iter().find(|question| question.of_use == Some(index))
    }

    /// How the run ended: `exit`, `deadline`, `interrupted`, `flood` or `failed`.
    pub(crate) fn end_reason(&self) -> Option<&'a str> {
        self.of(Kind::RunEnd).last().and_then(|event| event.data.str("reason"))
    }

    /// The event by which the host ended by itself, where it did.
    pub(crate) fn own_exit(&self) -> Option<&'a Event> {
        let exit = self.of(Kind::HostExit).last()?;
        let by_itself = exit.data.get("code").is_some() || exit.data.str("thread") == Some("returned");
        (self.end_reason() == Some("exit") && by_itself).then_some(exit)
    }

    /// What the server of that key was planned to be.
    pub(crate) fn server(&self, key: &str) -> Option<&'a PlannedServer> {
        self.plan.servers.iter().find(|server| server.key == key)
    }

    /// The entry of a tool in the answer that named it last before `event`, with that answer.
    pub(crate) fn entry_before<'r>(&'r self, tool: &'r ToolRef, event: &Event) -> Option<(&'a Event, &'r Json)> {
        let (_, answer) = self.listed.iter().rfind(|(known, answer)| known == tool && !after(answer, event))?;
        let rpc = self.conns_of(&tool.server).flat_map(|conn| &conn.rpcs);
        let page = rpc.filter_map(Rpc::result).find(|(of, _)| of.n == answer.n)?.1;
        let tools = page.get("tools").map(Json::items).unwrap_or_default();
        Some((*answer, tools.iter().rfind(|entry| entry.str("name") == Some(&tool.tool))?))
    }

    /// The tools that were listed in answers before `event`, each with the answer that named it last.
    pub(crate) fn listed_before(&self, event: &Event) -> Vec<(ToolRef, &'a Event)> {
        let mut tools: Vec<(ToolRef, &'a Event)> = Vec::new();
        for (tool, answer) in self.listed.iter().filter(|(_, answer)| !after(answer, event)) {
            match tools.iter_mut().find(|(known, _)| known == tool) {
                Some((_, named)) => *named = answer,
                None => tools.push((tool.clone(), answer)),
            }
        }
        tools
    }
}

/// Every entry of every list that was read, with its answer, in order of the requests.
fn listed<'a>(conns: &[Conn<'a>]) -> Vec<(ToolRef, &'a Event)> {
    let mut entries = Vec::new();
    for conn in conns {
        for rpc in conn.rpcs.iter().filter(|rpc| rpc.method == "tools/list") {
            let Some((answer, page)) = rpc.result() else { continue };
            let tools = page.get("tools").map(Json::items).unwrap_or_default();
            entries.extend(tools.iter().filter_map(|tool| {
                let tool = ToolRef { server: conn.server.to_owned(), tool: tool.str("name")?.to_owned() };
                Some((tool, answer))
            }));
        }
    }
    entries
}

/// Whether `a` certainly happened after `b`. Events of one tick on different streams are concurrent and never ordered.
pub(crate) fn after(a: &Event, b: &Event) -> bool {
    a.n > b.n && (a.tick != b.tick || same_stream(a, b))
}

/// Whether something that the host wrote can be a reaction to something that was written to it. All that is read in a turn of the
/// recorder loop is read before anything is answered in it, so what stands in the same turn was sent too early to be one.
pub(crate) fn reacts(written: &Event, to: &Event) -> bool {
    written.n > to.n && written.tick > to.tick
}

/// Whether both were read from, or written to, the same stream, so that their order is a fact even within one tick.
fn same_stream(a: &Event, b: &Event) -> bool {
    a.kind == b.kind && a.server == b.server && a.conn == b.conn
}
