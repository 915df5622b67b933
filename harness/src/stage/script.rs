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

/// What follows from a request, however it came.
pub(super) enum Asked {
    /// It is answered.
    Reply { request: Draft, reply: Draft, answer: Box<Answer>, script: Script },
    /// The plan ends the host here, by the signal of this name.
    Stop { request: Draft, signal: &'static str },
}

/// What follows from a request over HTTP.
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
        match self.ask(&body, &request.body, Some(path)) {
            Asked::Stop { request, signal } => Exchange::Stop { request, signal },
            Asked::Reply { request, reply, answer, script } => {
                Exchange::Reply { request, reply, response: self.response(&answer), script }
            }
        }
    }

    /// Answers a request, given as JSON and as the bytes that it was parsed from. It has a path where it came by HTTP.
    pub(super) fn ask(&mut self, body: &Json, bytes: &[u8], path: Option<&str>) -> Asked {
        let answer = self.engine.answer(body, bytes);
        if answer.main
            && let Ok(parsed) = self.engine.api().parse(body)
        {
            self.last = Some(parsed);
        }
        let request = self.asked(&answer, body, bytes, path);
        if let Some(signal) = self.stop(&answer) {
            return Asked::Stop { request, signal };
        }
        let over = answer.main && answer.turn.is_none_or(|turn| turn + 1 == self.plan.turns.len());
        let script = if over { Script::Over } else { Script::GoesOn };
        Asked::Reply { request, reply: self.reply(&answer), answer: Box::new(answer), script }
    }

    fn asked(&self, answer: &Answer, body: &Json, bytes: &[u8], path: Option<&str>) -> Draft {
        let payload = match self.prompts {
            Prompts::Keep => bytes.to_vec(),
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
        draft = draft.fact("repeated", answer.repeated).fact("prefix", answer.prefix).fact("len", bytes.len());
        if let Some(path) = path {
            draft = draft.fact("path", path);
        }
        draft.fact("api", api.as_str())
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

    fn reply(&self, answer: &Answer) -> Draft {
        let api = self.engine.api();
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
        match &answer.reply {
            Some(given) => reply.bytes(api.blocks(given).to_bytes()),
            None => reply.fact("status", u32::from(answer.status)).bytes(self.refusal(answer)),
        }
    }

    fn response(&self, answer: &Answer) -> Response {
        let api = self.engine.api();
        match &answer.reply {
            Some(given) if answer.stream => Response::events(api.stream(given)),
            Some(given) => Response::json(200, api.whole(given).to_bytes()),
            None => Response::json(answer.status, self.refusal(answer)),
        }
    }

    fn refusal(&self, answer: &Answer) -> Vec<u8> {
        let reason = answer.refuse.as_deref().unwrap_or("refused");
        self.engine.api().error(answer.status, reason).to_bytes()
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
