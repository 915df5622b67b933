//! The model lane: requests with their replies, offers, emitted uses with their results, and questions to the user.

use std::cell::OnceCell;

use super::Run;
use crate::check::reading::Reading;
use crate::host::names::Names as Rule;
use crate::json::Json;
use crate::model::{Item, Names, Offer, Request, ToolResult, api};
use crate::plan::{Plan, PlannedSearch, PlannedUse, Published};
use crate::scenario::ast::{Input, ToolRef};
use crate::trace::event::{Event, Kind};
use crate::trace::join::{self, CallSite, JoinedBy, UseSite};

/// A model request with its reply.
pub(crate) struct Exchange<'a> {
    pub(crate) event: &'a Event,
    /// Whether it belongs to the conversation of the script.
    pub(crate) main: bool,
    /// The reply of the script that it asks for; main line only.
    pub(crate) turn: Option<usize>,
    /// The body, where it could be parsed.
    pub(crate) request: Option<Request>,
    /// Our tools among the offered ones, in order.
    pub(crate) offers: Vec<Offered>,
    /// Offers that are named like the tools of a server of ours and are none of them.
    pub(crate) surplus: Vec<(String, Published)>,
    pub(crate) reply: Option<&'a Event>,
}

/// A tool of ours that the host offered.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Offered {
    pub(crate) tool: ToolRef,
    pub(crate) published: Published,
    /// The place of its entry among all that was offered, where it has one of its own.
    pub(crate) at: Option<usize>,
}

/// A search for a tool that the model emitted.
pub(crate) struct Search<'a> {
    pub(crate) planned: &'a PlannedSearch,
    /// The model's id of it in this run.
    pub(crate) id: String,
    pub(crate) reply: &'a Event,
    /// The request that the reply answered, as an index into the run's exchanges.
    pub(crate) asked: usize,
    /// The main-line request that must tell its result, as an index into the run's exchanges.
    pub(crate) follow: Option<usize>,
}

/// A tool use that the model emitted.
pub(crate) struct Emitted<'a> {
    pub(crate) planned: &'a PlannedUse,
    /// The model's id of it in this run.
    pub(crate) id: String,
    pub(crate) reply: &'a Event,
    /// The request that the reply answered, as an index into the run's exchanges.
    pub(crate) asked: usize,
    pub(crate) published: Published,
    /// Where the name came from: `offer` or `rule`.
    pub(crate) name_from: String,
    /// The argument text.
    pub(crate) input: String,
    /// The main-line request that must tell its result, as an index into the run's exchanges.
    pub(crate) follow: Option<usize>,
    pub(crate) calls: Vec<HopCall>,
    /// Its result, read when it is first asked for.
    pub(super) reading: OnceCell<Reading>,
}

/// A call joined to a use, by connection and request.
pub(crate) struct HopCall {
    pub(crate) conn: usize,
    pub(crate) rpc: usize,
    pub(crate) by: JoinedBy,
}

/// A question to the user with its answer.
pub(crate) struct Question<'a> {
    pub(crate) event: &'a Event,
    /// The use that it is about, as an index into the plan's uses.
    pub(crate) of_use: Option<usize>,
    pub(crate) answer: Option<&'a Event>,
}

impl Exchange<'_> {
    /// The results that this request tells of a use.
    pub(crate) fn results(&self, id: &str) -> Vec<&ToolResult> {
        self.tool_results().filter(|result| result.id == id).collect()
    }

    /// All results that this request tells.
    pub(crate) fn tool_results(&self) -> impl Iterator<Item = &ToolResult> {
        let items = self.request.as_ref().map(|request| request.items.as_slice()).unwrap_or_default();
        items.iter().filter_map(|item| match item {
            Item::ToolResult(result) => Some(result),
            _ => None,
        })
    }

    /// How our tool is offered.
    pub(crate) fn entry(&self, tool: &ToolRef) -> Option<&Offer> {
        self.entry_of(self.offers.iter().find(|offer| offer.tool == *tool)?)
    }

    /// Whether our tool is offered.
    pub(crate) fn offers(&self, tool: &ToolRef) -> bool {
        self.offers.iter().any(|offer| offer.tool == *tool)
    }

    /// Whether our tool is offered without any search, or was found by one of these.
    pub(crate) fn offers_now(&self, tool: &ToolRef, searches: &[&str]) -> bool {
        let found = |offer: &Offered| self.entry_of(offer).and_then(|entry| entry.found.as_deref());
        let offers = self.offers.iter().filter(|offer| offer.tool == *tool);
        offers.into_iter().any(|offer| found(offer).is_none_or(|id| searches.contains(&id)))
    }

    /// The entry of one of our offers.
    pub(crate) fn entry_of(&self, offer: &Offered) -> Option<&Offer> {
        self.request.as_ref()?.offers.get(offer.at?)
    }
}

impl Emitted<'_> {
    /// The arguments, where they are JSON. No arguments at all count as the empty object.
    pub(crate) fn arguments(&self) -> Option<Json> {
        match &self.planned.input {
            Input::Absent => Some(Json::empty()),
            Input::Json(_) | Input::Raw(_) => Json::parse(&self.input).ok(),
        }
    }
}

impl Question<'_> {
    /// The user's answer: `allow`, `deny` or `always`.
    pub(crate) fn answer_word(&self) -> Option<&str> {
        self.answer.and_then(|answer| answer.data.str("answer"))
    }

    /// The arguments that the answer puts in the place of the model's.
    pub(crate) fn updated_input(&self) -> Option<Json> {
        let answer = self.answer?.json()?;
        let mut found = None;
        answer.walk(&mut |value| {
            if let Some(input) = value.get("updatedInput").filter(|input| input.is_object()) {
                found = Some(input.clone());
            }
        });
        found
    }
}

/// The model requests of a run with their replies.
pub(super) fn exchanges<'a>(plan: &'a Plan, events: &[&'a Event]) -> Vec<Exchange<'a>> {
    let (api, ours) = (api(plan.profile.model.api), Ours::new(plan));
    let requests = events.iter().filter(|event| event.kind == Kind::ModelRequest);
    requests
        .map(|&event| {
            let request = event.json().and_then(|body| api.parse(&body).ok());
            let offered = request.as_ref().map(|request| request.offers.as_slice()).unwrap_or_default();
            let offers = request.as_ref().map(|request| ours.identified(request)).unwrap_or_default();
            let surplus = ours.surplus(offered);
            let answers = |reply: &&&Event| reply.kind == Kind::ModelReply && reply.cause == Some(event.n);
            Exchange {
                event,
                main: flag(event, "main"),
                turn: index(&event.data, "turn"),
                offers,
                surplus,
                request,
                reply: events.iter().find(answers).copied(),
            }
        })
        .collect()
}

/// By what offers are told to be ours.
struct Ours {
    names: Names,
    /// What the published names of each server begin with, by the profile's rule.
    prefixes: Vec<(String, Published)>,
}

impl Ours {
    fn new(plan: &Plan) -> Self {
        // Where one tool calls all others, no name says anything of a server.
        let rule = Rule::new(&plan.profile).ok().filter(|_| plan.profile.model.surface.wrapper().is_none());
        let prefix = |key: &String| {
            let published =
                rule.as_ref()?.published(&ToolRef { server: key.clone(), tool: String::new() }).ok()?;
            // A rule without a part for the server tells nothing apart.
            (published.namespace.is_some() || published.name.contains(key.as_str()))
                .then(|| (key.clone(), published))
        };
        let prefixes = plan.servers.iter().filter_map(|server| prefix(&server.key)).collect();
        Self { names: Names::of(plan), prefixes }
    }

    /// Our tools among the offered ones, in order.
    fn identified(&self, request: &Request) -> Vec<Offered> {
        let published = |tool: &ToolRef, at: Option<usize>| match at {
            Some(at) => request.offers[at].published.clone(),
            None => Published { namespace: None, name: tool.to_string() },
        };
        let offered = self.names.offered(request).into_iter();
        offered.map(|(tool, at)| Offered { published: published(&tool, at), tool, at }).collect()
    }

    /// The other offers that are named like ours. Of several servers the one with the longest name is meant.
    fn surplus(&self, offers: &[Offer]) -> Vec<(String, Published)> {
        let others = offers.iter().filter(|offer| self.names.tool(offer).is_none());
        let server = |offer: &Offer| {
            let named = self.prefixes.iter().filter(|(_, prefix)| {
                prefix.namespace == offer.published.namespace && offer.published.name.starts_with(&prefix.name)
            });
            named.max_by_key(|(_, prefix)| prefix.name.len()).map(|(key, _)| key.clone())
        };
        others.filter_map(|offer| Some((server(offer)?, offer.published.clone()))).collect()
    }
}

/// The questions of a run with their answers.
pub(super) fn questions<'a>(plan: &'a Plan, run: u32, events: &[&'a Event]) -> Vec<Question<'a>> {
    let api = api(plan.profile.model.api);
    let asked = events.iter().filter(|event| event.kind == Kind::Question);
    asked
        .map(|&event| {
            let by_id = || {
                let id = event.data.str("tool_use")?;
                plan.uses.iter().position(|planned| api.use_id(plan.key.seed, run, planned.index) == id)
            };
            let answers = |answer: &&&Event| answer.kind == Kind::Answer && answer.cause == Some(event.n);
            Question {
                event,
                of_use: index(&event.data, "use").or_else(by_id),
                answer: events.iter().find(answers).copied(),
            }
        })
        .collect()
}

/// The emitted uses of a run, joined to their calls. The run's other parts must be there already.
pub(super) fn emitted<'a>(run: &Run<'a>) -> Vec<Emitted<'a>> {
    let mut uses: Vec<Emitted<'a>> = Vec::new();
    for (asked, exchange) in run.exchanges.iter().enumerate().filter(|(_, exchange)| exchange.main) {
        let Some(reply) = exchange.reply else {
            continue;
        };
        for entry in reply.data.get("uses").map(Json::items).unwrap_or_default() {
            let planned = index(entry, "use").and_then(|at| run.plan.uses.get(at));
            let Some(planned) = planned else { continue };
            // A repeated request gets the same bytes again; that is the same use, not another one.
            if uses.iter().any(|known| known.planned.index == planned.index) {
                continue;
            }
            uses.push(Emitted {
                planned,
                id: entry.str("id").unwrap_or_default().to_owned(),
                reply,
                asked,
                published: Published {
                    namespace: entry.str("namespace").map(str::to_owned),
                    name: entry.str("name").unwrap_or_default().to_owned(),
                },
                name_from: entry.str("name_from").unwrap_or_default().to_owned(),
                input: entry.str("input").unwrap_or_default().to_owned(),
                follow: follow(run, asked),
                calls: Vec::new(),
                reading: OnceCell::new(),
            });
        }
    }
    join_calls(run, &mut uses);
    uses
}

/// The searches that the model emitted, in order.
pub(super) fn searches<'a>(run: &Run<'a>) -> Vec<Search<'a>> {
    let mut searches: Vec<Search<'a>> = Vec::new();
    for (asked, exchange) in run.exchanges.iter().enumerate().filter(|(_, exchange)| exchange.main) {
        let Some(reply) = exchange.reply else { continue };
        for entry in reply.data.get("searches").map(Json::items).unwrap_or_default() {
            let planned = index(entry, "search").and_then(|at| run.plan.searches.get(at));
            let Some(planned) = planned else { continue };
            // A repeated request gets the same bytes again.
            if searches.iter().all(|known| known.planned.index != planned.index) {
                let id = entry.str("id").unwrap_or_default().to_owned();
                searches.push(Search { planned, id, reply, asked, follow: follow(run, asked) });
            }
        }
    }
    searches
}

/// The first main-line request beyond the position of request `asked`. A repetition of that position is a retry.
fn follow(run: &Run<'_>, asked: usize) -> Option<usize> {
    let turn = run.exchanges[asked].turn;
    let later = run.exchanges.iter().enumerate().skip(asked + 1);
    later.filter(|(_, exchange)| exchange.main && exchange.turn > turn).map(|(at, _)| at).next()
}

fn join_calls<'a>(run: &Run<'a>, uses: &mut [Emitted<'a>]) {
    let mut places = Vec::new();
    let mut calls = Vec::new();
    for (at, conn) in run.conns.iter().enumerate() {
        for (of, rpc) in conn.rpcs.iter().enumerate().filter(|(_, rpc)| rpc.method == "tools/call") {
            places.push((at, of));
            calls.push(CallSite {
                event: rpc.event,
                server: conn.server,
                params: rpc.params.clone().unwrap_or(Json::Null),
                answer: rpc
                    .answer()
                    .map(|answer| signs(answer.body.as_ref().unwrap_or_else(|error| error)))
                    .unwrap_or_default(),
            });
        }
    }
    let sites: Vec<UseSite<'_>> = uses
        .iter()
        .map(|used| {
            let mut telling = run.exchanges.iter().filter(|exchange| !exchange.results(&used.id).is_empty());
            let told = telling.next();
            let results = told.map(|exchange| exchange.results(&used.id)).unwrap_or_default();
            UseSite {
                id: &used.id,
                tool: &used.planned.tool,
                published: &used.published.name,
                input: used.arguments(),
                emitted: used.reply,
                told: told.or(used.follow.map(|at| &run.exchanges[at])).map(|exchange| exchange.event),
                result: results.iter().map(|result| result.text()).collect(),
            }
        })
        .collect();
    // By time of the call, whatever connection it went over.
    let mut order: Vec<usize> = (0..calls.len()).collect();
    order.sort_by_key(|&at| calls[at].event.n);
    let places: Vec<_> = order.iter().map(|&at| places[at]).collect();
    let calls: Vec<_> = order.iter().map(|&at| calls[at].clone()).collect();
    let joined = join::join(&sites, &calls, run.plan.profile.tool_use_id.as_deref());
    for found in joined {
        let (conn, rpc) = places[found.call];
        uses[found.site].calls.push(HopCall { conn, rpc, by: found.by });
    }
}

/// What tells one answer from another: its markers, else its texts.
fn signs(body: &Json) -> Vec<String> {
    let mut texts = Vec::new();
    body.walk(&mut |value| texts.extend(value.as_str().map(str::to_owned)));
    let markers: Vec<String> = texts.iter().flat_map(|text| markers(text)).collect();
    if markers.is_empty() { texts } else { markers }
}

/// The words that the server put in the place of `{{ marker }}`.
pub(crate) fn markers(text: &str) -> Vec<String> {
    let word = |rest: &str| -> Option<String> {
        let word: String = rest.chars().take_while(char::is_ascii_alphanumeric).collect();
        (word.len() == 8).then(|| format!("hcm-{word}"))
    };
    text.split("hcm-").skip(1).filter_map(word).collect()
}

fn flag(event: &Event, key: &str) -> bool {
    event.data.get(key).and_then(Json::as_bool).unwrap_or(false)
}

fn index(data: &Json, key: &str) -> Option<usize> {
    data.get(key).and_then(Json::as_i64).and_then(|value| usize::try_from(value).ok())
}
