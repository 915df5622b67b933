//! The opening of a connection: the probe, the handshake behind it, and what follows a welcome.

use std::time::Instant;

use serde_json::value::RawValue;

use super::{Era, LONGEST_PROBE, Server, State};
use crate::config::Protocol;
use crate::fault::{Fault, Lies};
use crate::legacy::{self, Offers};
use crate::modern::{self, Probe};
use crate::rpc::{self, METHOD_NOT_FOUND, RpcError};

impl Server {
    pub(super) fn probe(&mut self, attempt: u8) {
        self.era = Era::Modern;
        let params = self.params("", "");
        self.era = Era::Unknown;
        let id = self.take_id();
        self.state = State::Probing { id, attempt };
        self.until = match self.protocol {
            Protocol::Auto => Instant::now() + (self.limits.start / 2).min(LONGEST_PROBE),
            Protocol::Legacy | Protocol::Modern => self.start_by,
        };
        self.send(&rpc::request(id, "server/discover", params.as_deref()), self.start_by);
    }

    pub(super) fn initialize(&mut self) {
        self.era = Era::Legacy;
        let id = self.take_id();
        self.state = State::Initializing { id };
        self.until = self.start_by;
        self.send(&rpc::request(id, "initialize", Some(&legacy::initialize_params(self.lies))), self.start_by);
        if self.lies.tell(Fault::ListBeforeHandshake) {
            let id = self.take_id();
            self.send(&rpc::request(id, "tools/list", None), self.start_by);
        }
    }

    fn open(&mut self, offers: Offers) {
        self.offers = offers;
        self.state = State::Ready;
        if self.era == Era::Modern && offers.tools && offers.list_changed {
            // Before the list, so that no change can fall between the two.
            let id = self.take_id();
            self.subscription = Some(id);
            let params = self.params(listen_params(self.lies), "");
            self.send(&rpc::request(id, "subscriptions/listen", params.as_deref()), self.start_by);
        }
        if self.listed && self.lies.tell(Fault::KeepDeadTools) {
            return;
        }
        if offers.tools || self.lies.tell(Fault::ListWithoutCapability) {
            self.list();
        } else {
            self.tools = Vec::new();
            self.list_version += 1;
            self.listed = true;
        }
    }

    pub(super) fn on_probe(&mut self, outcome: Result<&RawValue, RpcError>, attempt: u8) {
        let method_unknown = outcome.as_ref().err().is_some_and(|error| error.number() == Some(METHOD_NOT_FOUND));
        match modern::read_probe(outcome) {
            Probe::Modern(offers) => {
                self.era = Era::Modern;
                self.open(offers);
            }
            Probe::AskAgain | Probe::Refused(_) if self.lies.tell(Fault::HandshakeAfterModernError) => {
                self.initialize()
            }
            Probe::AskAgain if attempt < 2 => self.probe(attempt + 1),
            Probe::AskAgain => self.fail("refuses the protocol version that it names"),
            Probe::Refused(reason) => self.fail(&reason),
            Probe::Legacy if self.protocol == Protocol::Modern => {
                self.fail("is a legacy server, and the config allows only modern ones")
            }
            Probe::Legacy if self.lies.tell(Fault::FallBackOnOneCode) && !method_unknown => {
                self.fail("refused server/discover")
            }
            Probe::Legacy => self.initialize(),
        }
    }

    pub(super) fn on_handshake(&mut self, outcome: Result<&RawValue, RpcError>) {
        match legacy::read_initialize(outcome, self.lies) {
            Ok(offers) => {
                if !self.lies.tell(Fault::SkipInitialized) {
                    self.send(&rpc::notification("notifications/initialized", None), self.start_by);
                }
                self.open(offers);
            }
            Err(reason) => self.fail(&reason),
        }
    }
}

/// What a stream for changes is opened for.
fn listen_params(lies: Lies) -> &'static str {
    if lies.tell(Fault::ListenToAll) {
        return "\"notifications\":{\"toolsListChanged\":true,\"promptsListChanged\":true}";
    }
    if lies.tell(Fault::ListenToNothing) {
        return "";
    }
    "\"notifications\":{\"toolsListChanged\":true}"
}
