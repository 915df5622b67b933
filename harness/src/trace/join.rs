//! Which `tools/call` belongs to which tool use: the join of the model lane and the wire lane.
//!
//! A call is joined by the model's id where the host puts it on the wire, else by the only tool use in flight, else by
//! what it carries. A join never decides a verdict by itself: a call with a wrong name or changed arguments must still
//! find its tool use, so that the checks can say what is wrong with it.

use crate::json::{Json, NumberModel};
use crate::scenario::ast::ToolRef;
use crate::trace::event::Event;

/// A tool use that the model emitted.
#[derive(Clone, Debug)]
pub struct UseSite<'a> {
    /// The model's id of it.
    pub id: &'a str,
    /// The tool that was meant.
    pub tool: &'a ToolRef,
    /// The name under which it was emitted.
    pub published: &'a str,
    /// The arguments, where they are JSON.
    pub input: Option<Json>,
    /// The reply that carried it.
    pub emitted: &'a Event,
    /// The model request that told its result, where one did.
    pub told: Option<&'a Event>,
    /// What the model was told; only used to tell equal tool uses apart.
    pub result: String,
}

/// A `tools/call` on the wire.
#[derive(Clone, Debug)]
pub struct CallSite<'a> {
    /// The line.
    pub event: &'a Event,
    /// The server that got it.
    pub server: &'a str,
    /// Its params.
    pub params: Json,
    /// The text blocks of its response; only used to tell equal tool uses apart.
    pub answer: Vec<String>,
}

/// How a call found its tool use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum JoinedBy {
    /// By the id of the tool use, at the place that the profile names.
    Id,
    /// By being in flight when no other tool use was.
    Alone,
    /// By name and arguments among several.
    Arguments,
}

impl JoinedBy {
    /// Its word in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Id => "id",
            Self::Alone => "alone",
            Self::Arguments => "arguments",
        }
    }
}

/// A call with its tool use, both as indices into the given slices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Joined {
    /// The call.
    pub call: usize,
    /// The tool use.
    pub site: usize,
    /// How they were joined.
    pub by: JoinedBy,
}

/// How much a call looks like a tool use, from the closest down. Each pass joins what the pass before left over, so
/// that a damaged call cannot take the tool use of an undamaged one.
const PASSES: &[fn(&CallSite<'_>, &UseSite<'_>) -> bool] = &[
    |call, site| {
        same_server(call, site) && same_name(call, site) && same_arguments(call, site) && told_so(call, site)
    },
    |call, site| same_server(call, site) && same_name(call, site) && same_arguments(call, site),
    |call, site| like_name(call, site) && same_arguments(call, site),
    |call, site| same_server(call, site) && same_name(call, site),
    like_name,
    same_arguments,
    |_, _| true,
];

/// The passes that may join outside the time in which a tool use is in flight: only a call that is the same in all.
const ANY_TIME: usize = 2;

/// Joins calls to tool uses. `pointer` is the place in `params` where the host puts the model's id, if it does.
///
/// The result is ordered by call. A call that belongs to no tool use is left out.
#[must_use]
pub fn join(sites: &[UseSite<'_>], calls: &[CallSite<'_>], pointer: Option<&str>) -> Vec<Joined> {
    let mut join = Join { sites, calls, of_call: vec![None; calls.len()] };
    join.by_id(pointer);
    join.alone();
    join.by_arguments();
    let found = join.of_call.into_iter().enumerate();
    found.filter_map(|(call, joined)| joined.map(|(site, by)| Joined { call, site, by })).collect()
}

struct Join<'s, 'a> {
    sites: &'s [UseSite<'a>],
    calls: &'s [CallSite<'a>],
    of_call: Vec<Option<(usize, JoinedBy)>>,
}

impl Join<'_, '_> {
    fn by_id(&mut self, pointer: Option<&str>) {
        let Some(pointer) = pointer else { return };
        for (call, joined) in self.calls.iter().zip(&mut self.of_call) {
            let id = call.params.pointer(pointer).and_then(Json::as_str);
            let site = id.and_then(|id| self.sites.iter().position(|site| site.id == id));
            *joined = site.map(|site| (site, JoinedBy::Id));
        }
    }

    fn alone(&mut self) {
        for (call, joined) in self.calls.iter().zip(&mut self.of_call) {
            if joined.is_some() {
                continue;
            }
            let mut flying = (0..self.sites.len()).filter(|&site| in_flight(&self.sites[site], call));
            if let (Some(site), None) = (flying.next(), flying.next()) {
                *joined = Some((site, JoinedBy::Alone));
            }
        }
    }

    fn by_arguments(&mut self) {
        // First each tool use gets the call that is closest to it; what is left over is a second call of some use.
        for pass in PASSES {
            self.pass(|join, call, site| {
                join.is_free(site) && in_flight(&join.sites[site], call) && pass(call, &join.sites[site])
            });
        }
        for pass in PASSES {
            self.pass(|join, call, site| in_flight(&join.sites[site], call) && pass(call, &join.sites[site]));
        }
        // A call at the wrong time: before its tool use was emitted, or after its result was told.
        for pass in &PASSES[..ANY_TIME] {
            self.pass(|join, call, site| join.is_free(site) && pass(call, &join.sites[site]));
            self.pass(|join, call, site| pass(call, &join.sites[site]));
        }
    }

    fn is_free(&self, site: usize) -> bool {
        !self.of_call.iter().flatten().any(|(taken, _)| *taken == site)
    }

    fn pass(&mut self, fits: impl Fn(&Self, &CallSite<'_>, usize) -> bool) {
        for call in 0..self.calls.len() {
            if self.of_call[call].is_none() {
                let site = (0..self.sites.len()).find(|&site| fits(self, &self.calls[call], site));
                self.of_call[call] = site.map(|site| (site, JoinedBy::Arguments));
            }
        }
    }
}

/// Whether the tool use was on its way when the call was written. Events of one tick are concurrent, so they overlap.
fn in_flight(site: &UseSite<'_>, call: &CallSite<'_>) -> bool {
    let emitted = site.emitted.n < call.event.n || site.emitted.tick == call.event.tick;
    let open = site.told.is_none_or(|told| call.event.n < told.n || call.event.tick == told.tick);
    emitted && open
}

fn same_server(call: &CallSite<'_>, site: &UseSite<'_>) -> bool {
    call.server == site.tool.server
}

fn same_name(call: &CallSite<'_>, site: &UseSite<'_>) -> bool {
    call.params.str("name") == Some(&site.tool.tool)
}

/// The wire name has the registered name in it, or is the published one: what a host that mixes them up sends.
fn like_name(call: &CallSite<'_>, site: &UseSite<'_>) -> bool {
    let name = call.params.str("name").unwrap_or_default();
    name.contains(&site.tool.tool) || name == site.published
}

fn same_arguments(call: &CallSite<'_>, site: &UseSite<'_>) -> bool {
    let empty = Json::empty();
    let sent = call.params.get("arguments").unwrap_or(&empty);
    site.input.as_ref().is_some_and(|input| input.equals(sent, NumberModel::Decimal))
}

fn told_so(call: &CallSite<'_>, site: &UseSite<'_>) -> bool {
    !call.answer.is_empty() && call.answer.iter().all(|text| site.result.contains(text.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::event::Kind;

    fn event(n: u32, kind: Kind) -> Event {
        Event {
            n,
            us: 0,
            run: 1,
            tick: n,
            kind,
            server: None,
            conn: None,
            step: None,
            cause: None,
            payload: None,
            data: Json::Null,
        }
    }

    fn json(text: &str) -> Json {
        Json::parse(text).unwrap()
    }

    struct World {
        tools: Vec<ToolRef>,
        events: Vec<Event>,
    }

    impl World {
        fn new() -> Self {
            let tool = |tool: &str| ToolRef { server: "orders".to_owned(), tool: tool.to_owned() };
            Self {
                tools: vec![tool("lookup"), tool("refund")],
                events: (0..20).map(|n| event(n, Kind::ToServer)).collect(),
            }
        }

        fn site<'a>(&'a self, id: &'a str, tool: usize, input: &str, from: usize, to: usize) -> UseSite<'a> {
            UseSite {
                id,
                tool: &self.tools[tool],
                published: "",
                input: Some(json(input)),
                emitted: &self.events[from],
                told: Some(&self.events[to]),
                result: String::new(),
            }
        }

        fn call(&self, n: usize, params: &str) -> CallSite<'_> {
            CallSite { event: &self.events[n], server: "orders", params: json(params), answer: Vec::new() }
        }
    }

    #[track_caller]
    fn check(sites: &[UseSite<'_>], calls: &[CallSite<'_>], expected: &[(usize, usize, JoinedBy)]) {
        let found: Vec<_> = join(sites, calls, Some("/_meta/id"))
            .iter()
            .map(|joined| (joined.call, joined.site, joined.by))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn the_id_wins_over_everything() {
        let world = World::new();
        let sites = [world.site("a", 0, r#"{"x":1}"#, 1, 9), world.site("b", 0, r#"{"x":2}"#, 1, 9)];
        let call = world.call(5, r#"{"name":"lookup","arguments":{"x":1},"_meta":{"id":"b"}}"#);
        check(&sites, &[call], &[(0, 1, JoinedBy::Id)]);
    }

    #[test]
    fn alone_joins_whatever_it_carries() {
        let world = World::new();
        let sites = [world.site("a", 0, "{}", 1, 9), world.site("b", 1, "{}", 11, 19)];
        let calls = [world.call(5, r#"{"name":"x","arguments":{"y":1}}"#), world.call(15, r#"{"name":"lookup"}"#)];
        check(&sites, &calls, &[(0, 0, JoinedBy::Alone), (1, 1, JoinedBy::Alone)]);
    }

    #[test]
    fn a_damaged_call_leaves_the_others_alone() {
        let world = World::new();
        let sites = [world.site("a", 0, r#"{"x":1}"#, 1, 9), world.site("b", 1, r#"{"x":1}"#, 1, 9)];
        let calls = [
            world.call(5, r#"{"name":"mcp__orders__lookup","arguments":{"x":1}}"#),
            world.call(6, r#"{"name":"refund","arguments":{"x":1}}"#),
        ];
        check(&sites, &calls, &[(0, 0, JoinedBy::Arguments), (1, 1, JoinedBy::Arguments)]);
    }

    #[test]
    fn a_second_call_belongs_to_the_same_use() {
        let world = World::new();
        let sites = [world.site("a", 0, r#"{"x":1}"#, 1, 9), world.site("b", 1, r#"{"x":1}"#, 1, 9)];
        let call = |n| world.call(n, r#"{"name":"lookup","arguments":{"x":1}}"#);
        let refund = world.call(7, r#"{"name":"refund","arguments":{"x":1}}"#);
        check(
            &sites,
            &[call(5), call(6), refund],
            &[(0, 0, JoinedBy::Arguments), (1, 0, JoinedBy::Arguments), (2, 1, JoinedBy::Arguments)],
        );
    }

    #[test]
    fn an_early_call_is_joined_only_by_all_it_carries() {
        let world = World::new();
        let sites = [world.site("a", 0, r#"{"x":1}"#, 8, 9)];
        check(
            &sites,
            &[world.call(5, r#"{"name":"lookup","arguments":{"x":1}}"#)],
            &[(0, 0, JoinedBy::Arguments)],
        );
        check(&sites, &[world.call(5, r#"{"name":"lookup","arguments":{"x":2}}"#)], &[]);
    }

    #[test]
    fn equal_uses_are_told_apart_by_their_results() {
        let world = World::new();
        let mut sites = [world.site("a", 0, "{}", 1, 9), world.site("b", 0, "{}", 1, 9)];
        sites[0].result = "second".to_owned();
        sites[1].result = "first".to_owned();
        let mut calls = [world.call(5, r#"{"name":"lookup"}"#), world.call(6, r#"{"name":"lookup"}"#)];
        calls[0].answer = vec!["first".to_owned()];
        calls[1].answer = vec!["second".to_owned()];
        check(&sites, &calls, &[(0, 1, JoinedBy::Arguments), (1, 0, JoinedBy::Arguments)]);
    }
}
