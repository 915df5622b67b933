//! The model engine between the door and the trace: what a request and its reply look like as events.

use super::recorder::Draft;
use crate::host::profile::ApiName;
use crate::json::Json;
use crate::model::{Answer, Engine, Ours, Prompts, Request as Parsed, Role, Route};
use crate::plan::Plan;
use crate::trace::event::Kind;
use crate::wire::http::{Request, Response};

/// The model of one host run.
pub(super) struct Model<'p> {
    plan: &'p Plan,
    engine: Engine,
    ours: Ours<'p>,
    prompts: Prompts,
    /// The last main-line request.
    last: Option<Parsed>,
}

/// What follows from a request.
pub(super) enum Exchange {
    /// It is no model request.
    Noise { reason: String, response: Response },
    /// It is answered.
    Reply { request: Draft, reply: Draft, response: Response, script: Script },
    /// The plan ends the host here, by the signal of this name.
    Stop { request: Draft, signal: &'static str },
}

/// Whether the script has more to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Script {
    /// It has, or the request was none of the main line.
    GoesOn,
    /// This was its last reply.
    Over,
}

impl<'p> Model<'p> {
    pub(super) fn new(plan: &'p Plan, run: u32, role: Role, prompts: Prompts) -> Self {
        Self { plan, engine: Engine::new(plan, run, role), ours: Ours::of(plan), prompts, last: None }
    }

    /// The last main-line request, which shows what was offered in the end.
    pub(super) fn into_last(self) -> Option<Parsed> {
        self.last
    }

    pub(super) fn exchange(&mut self, request: &Request, path: &str) -> Exchange {
        let api = self.engine.api();
        let refuse = |status: u16, reason: String| {
            let response = Response::json(status, api.error(status, &reason).to_bytes());
            Exchange::Noise { reason, response }
        };
        match api.route(&request.method, path) {
            Route::Reply => {}
            Route::CountTokens => {
                let response = Response::json(200, api.count_tokens().to_bytes());
                return Exchange::Noise { reason: "a count of tokens".to_owned(), response };
            }
            Route::NotOurs => return refuse(404, "a path that the model API does not have".to_owned()),
        }
        let body = match Json::parse(&request.body) {
            Ok(body) => body,
            Err(error) => return refuse(400, format!("a body that is no JSON: {error}")),
        };
        let answer = self.engine.answer(&body, &request.body);
        if answer.main
            && let Ok(parsed) = api.parse(&body)
        {
            self.last = Some(parsed);
        }
        let asked = self.asked(&answer, &body, request, path);
        if let Some(signal) = self.stop(&answer) {
            return Exchange::Stop { request: asked, signal };
        }
        self.reply(asked, answer)
    }

    fn asked(&self, answer: &Answer, body: &Json, request: &Request, path: &str) -> Draft {
        let payload = match self.prompts {
            Prompts::Keep => request.body.clone(),
            Prompts::Reduce => self.engine.api().reduce(body, &self.ours.keep(self.prompts)).to_bytes(),
        };
        let mut draft = Draft::new(Kind::ModelRequest).bytes(payload).fact("main", answer.main);
        if let Some(turn) = answer.turn {
            draft = draft.fact("turn", turn);
        }
        if let Some(side) = &answer.side {
            draft = draft.fact("side", side.as_str());
        }
        let api: ApiName = self.plan.profile.model.api;
        draft
            .fact("repeated", answer.repeated)
            .fact("prefix", answer.prefix)
            .fact("len", request.body.len())
            .fact("path", path)
            .fact("api", api.as_str())
    }

    /// The signal that the host gets instead of a reply.
    fn stop(&self, answer: &Answer) -> Option<&'static str> {
        use crate::scenario::ast::Stop;
        let stop = self.plan.stop?;
        let turn = answer.turn.unwrap_or(self.plan.turns.len());
        if !answer.main || turn != stop.turn {
            return None;
        }
        match stop.how {
            Stop::Exit => None,
            Stop::Sigint => Some("SIGINT"),
            Stop::Sigterm => Some("SIGTERM"),
            Stop::Sigkill => Some("SIGKILL"),
        }
    }

    fn reply(&self, request: Draft, answer: Answer) -> Exchange {
        let api = self.engine.api();
        let over = answer.main && answer.turn.is_none_or(|turn| turn + 1 == self.plan.turns.len());
        let mut reply = Draft::new(Kind::ModelReply).fact("main", answer.main);
        if let Some(turn) = answer.turn {
            reply = reply.fact("turn", turn);
        }
        let uses: Vec<Json> = answer.uses.iter().map(use_json).collect();
        let searches: Vec<Json> = answer.searches.iter().map(search_json).collect();
        let of_uses = answer.uses.iter().map(|emitted| self.plan.uses[emitted.index].step);
        let of_searches = answer.searches.iter().map(|emitted| self.plan.searches[emitted.index].step);
        let steps: Vec<usize> = of_uses.chain(of_searches).collect();
        let step = steps.first().copied().filter(|first| steps.iter().all(|step| step == first));
        reply = reply.fact("uses", uses).step(step);
        if !searches.is_empty() {
            reply = reply.fact("searches", searches);
        }
        let response = match &answer.reply {
            Some(given) => {
                reply = reply.bytes(api.blocks(given).to_bytes());
                if answer.stream {
                    Response::events(api.stream(given))
                } else {
                    Response::json(200, api.whole(given).to_bytes())
                }
            }
            None => {
                let reason = answer.refuse.as_deref().unwrap_or("refused");
                let body = api.error(answer.status, reason).to_bytes();
                reply = reply.fact("status", u32::from(answer.status)).bytes(body.clone());
                Response::json(answer.status, body)
            }
        };
        let script = if over { Script::Over } else { Script::GoesOn };
        Exchange::Reply { request, reply, response, script }
    }
}

fn use_json(emitted: &crate::model::EmittedUse) -> Json {
    let mut json = Json::object([("id", Json::from(&emitted.id)), ("use", emitted.index.into())]);
    if let Some(namespace) = &emitted.published.namespace {
        json.set("namespace", namespace);
    }
    json.set("name", &emitted.published.name);
    json.set("name_from", emitted.name_from.as_str());
    json.set("input", &emitted.input);
    if let Some(wrapped) = &emitted.wrapped {
        json.set("wrapped", wrapped);
    }
    json
}

fn search_json(emitted: &crate::model::EmittedSearch) -> Json {
    let mut json = Json::object([("id", Json::from(&emitted.id)), ("search", emitted.index.into())]);
    if let Some(tool) = &emitted.tool {
        json.set("name", tool);
    }
    json.set("input", &emitted.input);
    json
}
