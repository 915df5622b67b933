//! What a server sends: answers, requests and notifications.

use std::time::Instant;

use serde_json::value::RawValue;

use super::{Answer, Era, LONGEST_REPLY, Server, State};
use crate::fault::Fault;
use crate::json::Members;
use crate::modern;
use crate::rpc::{self, Incoming, METHOD_NOT_FOUND, RpcError};

impl Server {
    /// Takes in one line. What comes back are answers to calls.
    pub(crate) fn on_line(&mut self, line: &[u8]) -> Vec<Answer> {
        let mut answers = Vec::new();
        if matches!(self.state, State::Failed(_)) {
            return answers;
        }
        let line = self.lies.bend_incoming(line);
        for message in rpc::parse(&line) {
            match message {
                Incoming::Response { id: Some(id), outcome } => answers.extend(self.on_response(id, outcome)),
                Incoming::Response { id: None, .. } => {}
                Incoming::Request { id, method } => self.on_request(id, &method),
                Incoming::Notification { method, params } => self.on_notification(&method, params),
            }
        }
        answers
    }

    fn on_response(&mut self, id: u64, outcome: Result<&RawValue, RpcError>) -> Option<Answer> {
        match self.state {
            State::Probing { id: probe, attempt } if probe == id => self.on_probe(outcome, attempt),
            State::Initializing { id: handshake } if handshake == id => self.on_handshake(outcome),
            _ if self.subscription == Some(id) => self.subscription = None,
            _ if self.listing.as_ref().is_some_and(|listing| listing.id == id) => self.on_page(outcome),
            _ => {
                return Some(Answer { id, outcome: outcome.map(RawValue::to_owned) });
            }
        }
        None
    }

    fn on_request(&mut self, id: &RawValue, method: &str) {
        // A modern client never answers, and a modern server never asks.
        if self.era == Era::Modern && !self.lies.tell(Fault::AnswerModernRequests) {
            return;
        }
        let line = match method {
            "ping" if self.lies.tell(Fault::IgnorePing) => return,
            "ping" => rpc::empty_result(id.get()),
            _ if self.lies.tell(Fault::IgnoreUnknownRequest) => return,
            _ => rpc::refusal(id.get(), METHOD_NOT_FOUND, "Method not found"),
        };
        self.send(&line, Instant::now() + LONGEST_REPLY);
    }

    fn on_notification(&mut self, method: &str, params: Option<&RawValue>) {
        match method {
            "notifications/tools/list_changed"
                if self.concerns_us(params) && !self.lies.tell(Fault::IgnoreListChanged) =>
            {
                if self.lies.tell(Fault::MissEarlyChange) && self.listing.is_some() {
                    return;
                }
                if self.lies.tell(Fault::RefreshForever) {
                    self.owed += 1;
                    return self.list_what_is_owed();
                }
                if self.is_ready() && self.listing.is_none() && !self.followed {
                    self.followed = true;
                    self.list();
                } else {
                    self.changed = true;
                }
            }
            "notifications/cancelled"
                if self.era == Era::Modern
                    && self.subscription.is_some()
                    && cancelled(params) == self.subscription =>
            {
                self.subscription = None;
            }
            _ => {}
        }
    }

    /// Whether a change of the list is one that this connection may speak of.
    fn concerns_us(&self, params: Option<&RawValue>) -> bool {
        match self.era {
            Era::Unknown => false,
            Era::Legacy => self.offers.tools,
            Era::Modern => self.subscription.is_some() && modern::subscription_of(params) == self.subscription,
        }
    }
}

fn cancelled(params: Option<&RawValue>) -> Option<u64> {
    Members::of(params?)?.get("requestId")?.get().parse().ok()
}
