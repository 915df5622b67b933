//! Calls in flight: sent side by side, awaited together, each with its own deadline.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::error::Error;
use crate::fault::Fault;
use crate::host::{Host, Pumped};
use crate::server::Answer;
use crate::told::{self, CallResult, Told};

/// How often a server may answer that it wants to be called again.
const MOST_ROUNDS: u8 = 8;

/// What the lie about the limit for one call puts in its place.
const NO_LIMIT: Duration = Duration::from_secs(600);

/// A call that has passed the gates.
#[derive(Debug, Clone)]
pub(crate) struct Planned {
    /// Index of the server.
    pub(crate) server: usize,
    /// The registered name.
    pub(crate) tool: String,
    /// The name for the wire, as JSON text.
    pub(crate) wire_name: String,
    /// The arguments, as JSON text on one line.
    pub(crate) arguments: String,
}

struct Call {
    /// The place of the tool use in its reply.
    at: usize,
    use_id: String,
    planned: Planned,
    /// The request that is awaited.
    id: Option<u64>,
    until: Instant,
    rounds: u8,
    told: Option<Told>,
}

/// The calls of one reply.
#[derive(Default)]
pub(crate) struct Flight {
    calls: Vec<Call>,
}

impl Flight {
    /// Adds a call.
    pub(crate) fn plan(&mut self, at: usize, use_id: String, planned: Planned) {
        self.calls.push(Call { at, use_id, planned, id: None, until: Instant::now(), rounds: 0, told: None });
    }

    /// Makes all calls and waits for all of them. The results are keyed by the place of their tool use.
    pub(crate) fn fly(mut self, host: &mut Host) -> Result<BTreeMap<usize, Told>, Error> {
        self.reconnect(host)?;
        for call in &mut self.calls {
            call.send(host, "");
        }
        while self.calls.iter().any(|call| call.told.is_none()) {
            let until = self.calls.iter().filter(|call| call.told.is_none()).map(|call| call.until).min();
            match host.pump(until)? {
                Pumped::Answers(server, answers) => {
                    for answer in answers {
                        if let Err(error) = &answer.outcome
                            && host.lies.tell(Fault::EndOnRpcError)
                        {
                            return Err(Error::Model(format!("a call failed: {}", error.message)));
                        }
                        self.on_answer(host, server, &answer)?;
                    }
                }
                Pumped::Model(_) | Pumped::Other => {}
            }
            self.look_around(host);
        }
        Ok(self.calls.into_iter().filter_map(|call| Some((call.at, call.told?))).collect())
    }

    /// Opens lost connections again, once, before anything is sent on them.
    fn reconnect(&mut self, host: &mut Host) -> Result<(), Error> {
        let mut servers: Vec<_> = self.calls.iter().map(|call| call.planned.server).collect();
        servers.sort_unstable();
        servers.dedup();
        if host.lies.tell(Fault::CallWithoutHandshake) {
            for server in servers {
                host.servers[server].restart_silently(&mut host.reactor);
            }
            return Ok(());
        }
        let mut lost = false;
        for server in servers {
            if host.servers[server].is_lost() {
                lost = true;
                host.servers[server].restart(&mut host.reactor);
            }
        }
        if lost {
            host.settle()?;
        }
        Ok(())
    }

    fn on_answer(&mut self, host: &mut Host, server: usize, answer: &Answer) -> Result<(), Error> {
        let in_order = host.lies.tell(Fault::AnswersInOrder) || host.lies.tell(Fault::BelieveLateAnswer);
        let awaited = |call: &Call| call.told.is_none() && call.planned.server == server;
        // An answer that nobody waits for, such as one that comes after its deadline, finds no call.
        let own = self.calls.iter().position(|call| awaited(call) && call.id == Some(answer.id));
        let first = || self.calls.iter().position(|call| in_order && awaited(call));
        let at = match own {
            Some(_) if host.lies.tell(Fault::AnswersInOrder) => first(),
            Some(own) => Some(own),
            None if host.lies.tell(Fault::EndOnLateAnswer) => {
                return Err(Error::Model("an answer came that nobody waits for".to_owned()));
            }
            None => first(),
        };
        let Some(call) = at.map(|at| &mut self.calls[at]) else { return Ok(()) };
        let result = match &answer.outcome {
            Ok(result) => told::read(result, host.lies),
            Err(error) => CallResult::Final(Told::rpc_error(error)),
        };
        match result {
            CallResult::Final(told)
                if told.is_error
                    && answer.outcome.is_ok()
                    && call.rounds == 0
                    && host.lies.tell(Fault::RetryOnError) =>
            {
                call.rounds = 1;
                call.send(host, "");
            }
            CallResult::Final(told) => call.told = Some(told),
            CallResult::InputRequired { state, asks: false } if call.rounds < MOST_ROUNDS => {
                call.rounds += 1;
                let state = state.map(|state| format!(",\"requestState\":{state}")).unwrap_or_default();
                call.send(host, &state);
            }
            CallResult::InputRequired { .. } => {
                call.told = Some(Told::trouble("the server asks for input that this host cannot give"));
            }
        }
        Ok(())
    }

    /// Ends calls whose server is gone, whose time is over, or whose user is tired of waiting.
    fn look_around(&mut self, host: &mut Host) {
        let now = Instant::now();
        for call in self.calls.iter_mut().filter(|call| call.told.is_none()) {
            let server = &mut host.servers[call.planned.server];
            if !server.is_ready() {
                // Whether the tool has run is unknown, so it must not run again.
                call.told =
                    Some(Told::trouble(format!("the server {} {} during the call", server.name, server.reason())));
            } else if host.console.interrupted {
                call.cancel(host, "the user has interrupted the turn");
            } else if now >= call.until {
                let reason = format!("no answer after {} ms", host.call_limit.as_millis());
                call.cancel(host, &reason);
            }
        }
    }
}

impl Call {
    /// Sends the request, with more members behind the arguments.
    fn send(&mut self, host: &mut Host, more: &str) {
        let Planned { server: index, tool, wire_name, arguments } = &self.planned;
        let index = if host.lies.tell(Fault::WrongServer) { (index + 1) % host.servers.len() } else { *index };
        let limit = if host.lies.tell(Fault::IgnoreCallLimit) { NO_LIMIT } else { host.call_limit };
        self.until = Instant::now() + limit;
        let server = &mut host.servers[index];
        if !server.is_ready() {
            self.told = Some(Told::trouble(format!(
                "the server {} cannot be called: it {}",
                server.name,
                server.reason()
            )));
            return;
        }
        let arguments = match server.tools.iter().find(|listed| listed.name == *tool) {
            Some(listed) => host.lies.bend_arguments(arguments, listed.input.text()),
            None if index != self.planned.server => arguments.clone(),
            None => {
                let reason = format!("the server {} does not list {tool} any more", server.name);
                self.told = Some(Told::trouble(reason));
                return;
            }
        };
        let params = format!("\"name\":{wire_name},\"arguments\":{arguments}{more}");
        self.planned.server = index;
        if host.lies.tell(Fault::CancelAnswered) {
            server.cancel_last_call();
        }
        self.id = server.call(&params, &self.use_id);
        if host.lies.tell(Fault::CallTwice) {
            server.call(&params, &self.use_id);
        }
        if host.lies.tell(Fault::ResultBeforeResponse) {
            self.told = Some(Told { parts: vec![told::Part::Text("Done.".to_owned())], is_error: false });
        }
    }

    fn cancel(&mut self, host: &mut Host, reason: &str) {
        if let Some(id) = self.id {
            host.servers[self.planned.server].cancel(id, reason);
        }
        self.told = Some(Told::trouble(format!("the call was given up: {reason}")));
    }
}
