//! From a message of the host to work: what the script says, then what a well-behaved server does.

use std::collections::VecDeque;

use super::act::{Act, Work};
use super::conn::Stage;
use super::engine::Server;
use super::modern::Reaction;
use super::reply::{self, INVALID_REQUEST, PARSE_ERROR};
use super::rules::Event;
use super::script::{Action, Body, On};
use super::subscription::LISTEN;
use super::{legacy, marker, modern};
use crate::json::Json;
use crate::revision::{Era, Revision};
use crate::rpc::{self, Message};

/// A request whose id can be answered.
struct Request {
    id: Json,
    method: String,
    params: Option<Json>,
}

impl Server {
    /// The work that a line causes.
    pub(super) fn read(&mut self, at: u32, line: &[u8]) -> VecDeque<Work> {
        match Json::parse(line) {
            Ok(Json::Array(items)) => self.batch(at, &items),
            Ok(json) => self.message(at, &json),
            Err(error) => self.complain(PARSE_ERROR, &format!("Parse error: {error}")),
        }
    }

    fn message(&mut self, at: u32, json: &Json) -> VecDeque<Work> {
        match Message::from_json(json) {
            Message::Request { id, method, params } if rpc::is_id(&id) => {
                self.request(at, &Request { id, method, params })
            }
            Message::Request { .. } => {
                self.complain(INVALID_REQUEST, "Invalid request: id must be a string or integer")
            }
            Message::Notification { method, params } => self.notification(at, &method, params.as_ref()),
            Message::Result { id, .. } | Message::Error { id, .. } => self.response(at, &id),
            Message::Batch(_) => self.complain(INVALID_REQUEST, "Invalid request: a batch in a batch"),
            Message::Malformed(reason) => {
                let message = format!("Invalid request: {reason}");
                match json.get("id").filter(|id| rpc::is_id(id)) {
                    Some(id) => refuse(id, &message),
                    None => self.complain(INVALID_REQUEST, &message),
                }
            }
        }
    }

    fn request(&mut self, at: u32, request: &Request) -> VecDeque<Work> {
        let Request { method, params, .. } = request;
        let mut work = VecDeque::new();
        let era = self.offer.revision.era();
        if era == Era::Modern && self.conn(at).stage == Stage::Fresh {
            self.conn(at).stage = Stage::Connected;
            work.extend(self.happen(at, Event::bare(On::Connect)));
        }
        let tool = params.as_ref().filter(|_| method == "tools/call").and_then(|params| params.str("name"));
        let actions = self.rules.fire(at, Event { on: On::Request, method: Some(method), tool });
        let refused = actions.iter().any(|action| matches!(action, Action::Error(_) | Action::Silence));
        let conn = self.conn(at);
        conn.requests += 1;
        if era == Era::Legacy && method == "initialize" && !refused {
            conn.stage = conn.stage.max(Stage::Initialized);
        }
        let call = conn.requests;
        let word = marker::word(self.offer.seed, &self.offer.key, at, call);
        let form = Form::new(request, word, &actions);

        // `hold` replaces the reply by the same reply later, so the reply is made here all the same.
        let replaced = actions.iter().any(|action| action.replaces_reply() && !matches!(action, Action::Hold(_)));
        // A scripted result ends a subscription, which has to be open for that.
        let ends = method == LISTEN && actions.iter().any(|action| matches!(action, Action::Reply(_)));
        let reaction = (!replaced || ends).then(|| self.well_behaved(at, request));
        let mut default = None;
        match reaction {
            // The acknowledgement is not the reply. It comes first, or what the script notifies would come before it.
            Some(Reaction::Listen(subscription)) => form.push(&mut work, [Work::Listen(subscription)]),
            Some(Reaction::Body(body)) if !replaced => default = Some(body),
            _ => {}
        }
        for action in actions {
            match action {
                Action::Reply(result) => form.push(&mut work, self.answer(&form, &Body::Result(result))),
                Action::Error(error) => form.push(&mut work, self.answer(&form, &Body::Error(error))),
                other => work.extend(side_act(other)),
            }
        }
        if let Some(body) = default {
            form.push(&mut work, self.answer(&form, &body));
        }
        work
    }

    fn well_behaved(&mut self, at: u32, request: &Request) -> Reaction {
        let Request { id, method, params } = request;
        // Not `self.conn`: the offer is read beside it, and the connection is there since its request was counted.
        let conn = self.conns.entry(at).or_default();
        match self.offer.revision.era() {
            Era::Legacy => legacy::answer(&self.offer, conn, method, params.as_ref()).into(),
            Era::Modern => modern::react(&self.offer, conn, id, method, params.as_ref()),
        }
    }

    /// The messages of one reply: once, and as often again as the script wants.
    fn answer(&self, form: &Form<'_>, body: &Body) -> Vec<Work> {
        let body = match reply::expand(body, &form.word) {
            Body::Result(result) => {
                Body::Result(self.offer.complete(&form.request.method, &form.request.id, result))
            }
            error @ Body::Error(_) => error,
        };
        let message = reply::response(&form.shown_id, &body);
        let one = Work::Answer { to: form.request.id.clone(), message };
        let mut work = vec![one; form.copies];
        if form.request.method == LISTEN {
            work.push(Work::Unlisten { id: form.request.id.clone() });
        }
        work
    }

    fn notification(&mut self, at: u32, method: &str, params: Option<&Json>) -> VecDeque<Work> {
        let actions = self.rules.fire(at, Event::of(On::Notification, method));
        let cancelled = params.and_then(|params| params.get("requestId"));
        if let (true, Some(id)) = (method == "notifications/cancelled", cancelled) {
            // A script that ignores the cancellation can still answer, which no well-behaved server does.
            if !actions.contains(&Action::Ignore) {
                self.cancel(at, id);
            }
        }
        let mut work = side_acts(actions);
        let opens = method == "notifications/initialized" && self.offer.revision.era() == Era::Legacy;
        if opens && self.conn(at).stage == Stage::Initialized {
            self.conn(at).stage = Stage::Connected;
            work.extend(self.happen(at, Event::bare(On::Connect)));
        }
        work
    }

    fn response(&mut self, at: u32, id: &Json) -> VecDeque<Work> {
        let method = self.conn(at).asked(id).map(str::to_owned);
        self.happen(at, Event { on: On::Response, method: method.as_deref(), tool: None })
    }

    /// The work of an event that has no reply.
    pub(super) fn happen(&mut self, at: u32, event: Event<'_>) -> VecDeque<Work> {
        side_acts(self.rules.fire(at, event))
    }

    /// Batches: received by every server of 2025-03-26 (`basic#batching`) and by none of another revision, where they
    /// are not mentioned or gone.
    fn batch(&mut self, at: u32, items: &[Json]) -> VecDeque<Work> {
        if self.offer.revision != Revision::V2025_03_26 {
            return self.complain(INVALID_REQUEST, "Invalid request: batches are not supported");
        }
        if items.is_empty() {
            return self.complain(INVALID_REQUEST, "Invalid request: the batch is empty");
        }
        let (mut answers, mut now, mut later) = (Vec::new(), VecDeque::new(), VecDeque::new());
        for item in items {
            // `initialize` must not be in a batch, as nothing may precede its answer (`basic/lifecycle#initialization`).
            let mut work = match item.get("id").filter(|_| item.str("method") == Some("initialize")) {
                Some(id) if rpc::is_id(id) => refuse(id, "Invalid request: initialize in a batch"),
                _ => self.message(at, item),
            };
            let wait = work.iter().position(|work| matches!(work, Work::Wait(_))).unwrap_or(work.len());
            later.push_back(work.split_off(wait));
            for work in work {
                match work {
                    Work::Answer { message, .. } | Work::Complain { message } => answers.push(message),
                    other => now.push_back(other),
                }
            }
        }
        if !answers.is_empty() {
            // Replies that a script wants before its process ends come before it here too.
            let end = now.iter().position(Work::ends_output).unwrap_or(now.len());
            now.insert(end, Work::Complain { message: Json::Array(answers) });
        }
        now.extend(later.into_iter().filter(|rest| !rest.is_empty()).map(Work::Apart));
        now
    }

    fn complain(&self, code: i64, message: &str) -> VecDeque<Work> {
        VecDeque::from([Work::Complain { message: reply::complaint(self.offer.revision, code, message) }])
    }
}

/// How the replies to one request are sent.
struct Form<'a> {
    request: &'a Request,
    /// The word for the placeholder, the same in all places.
    word: String,
    shown_id: Json,
    copies: usize,
    hold: Option<String>,
}

impl<'a> Form<'a> {
    fn new(request: &'a Request, word: String, actions: &[Action]) -> Self {
        let mut form = Self { request, word, shown_id: request.id.clone(), copies: 1, hold: None };
        for action in actions {
            match action {
                Action::Id(id) => form.shown_id = id.clone(),
                Action::Duplicate(more) => form.copies += *more as usize,
                Action::Hold(name) => form.hold = Some(name.clone()),
                _ => {}
            }
        }
        form
    }

    fn push(&self, to: &mut VecDeque<Work>, work: impl IntoIterator<Item = Work>) {
        match &self.hold {
            Some(name) => to.push_back(Work::Hold {
                name: name.clone(),
                to: self.request.id.clone(),
                work: work.into_iter().collect(),
            }),
            None => to.extend(work),
        }
    }
}

/// The work of actions where there is nothing to reply to.
pub(super) fn side_acts(actions: Vec<Action>) -> VecDeque<Work> {
    actions.into_iter().filter_map(side_act).collect()
}

/// The work of an action beside a reply. The actions that shape a reply are in its [`Form`]; without a request they
/// mean nothing.
fn side_act(action: Action) -> Option<Work> {
    Some(match action {
        Action::Raw(bytes) => Work::Do(Act::Raw(bytes)),
        Action::Notify { method, params } => Work::Notify { method, params },
        Action::Request { method, params } => Work::Ask { method, params },
        Action::Stderr(text) => Work::Do(Act::Stderr(text.into_bytes())),
        Action::Release(name) => Work::Release(name),
        Action::Exit(code) => Work::Do(Act::Exit(code)),
        Action::Kill(signal) => Work::Do(Act::Kill(signal)),
        Action::CloseStdout => Work::Do(Act::CloseStdout),
        Action::Delay(ms) => Work::Wait(ms),
        Action::Reply(_)
        | Action::Error(_)
        | Action::Hold(_)
        | Action::Silence
        | Action::Duplicate(_)
        | Action::Id(_)
        | Action::Ignore => return None,
    })
}

/// An error that answers a message which is no request.
fn refuse(id: &Json, message: &str) -> VecDeque<Work> {
    VecDeque::from([Work::Answer {
        to: id.clone(),
        message: reply::response(id, &reply::error(INVALID_REQUEST, message)),
    }])
}
