//! One model request and its reply.

use std::time::Instant;

use crate::error::Error;
use crate::host::{Host, Pumped};
use crate::model::Reply;
use crate::model::http::{Freshness, ResponseReader};
use crate::model::sse::SseReader;

/// What came back from the model.
enum Heard {
    Reply(Reply),
    /// The user has interrupted the turn meanwhile.
    Interruption,
    /// The connection ended before anything came.
    Nothing,
}

impl Host {
    /// Sends one model request and reads the whole reply; nothing, when the user has interrupted it.
    pub(crate) fn ask_model(&mut self) -> Result<Option<Reply>, Error> {
        let now = Instant::now();
        for server in &mut self.servers {
            server.refresh(now);
        }
        self.settle()?;
        self.rebuild();
        self.requests += 1;
        let body = match self.lies.bend_offer(&self.directory.offer, self.requests) {
            Some(offer) => self.api.body(&offer),
            None => self.api.body(&self.directory.offer),
        };
        let headers = self.api.headers(&self.key);
        loop {
            let freshness = self
                .connection
                .post(&mut self.reactor, self.api.path(), &headers, &body)
                .map_err(|error| Error::Model(error.to_string()))?;
            // An endpoint may close an idle connection at the moment of the next request; nothing of that one was read then.
            match self.read_reply()? {
                Heard::Reply(reply) => return Ok(Some(reply)),
                Heard::Interruption => return Ok(None),
                Heard::Nothing if freshness == Freshness::Reused => {}
                Heard::Nothing => {
                    return Err(Error::Model("the connection was closed without a response".to_owned()));
                }
            }
        }
    }

    fn read_reply(&mut self) -> Result<Heard, Error> {
        let mut response = ResponseReader::new();
        let mut events = SseReader::default();
        let mut refused = Vec::new();
        while !response.is_complete() {
            let body = match self.pump(None)? {
                Pumped::Model(Some(bytes)) => response.feed(&bytes).map_err(Error::Model)?,
                Pumped::Model(None) => {
                    if response.is_untouched() {
                        return Ok(Heard::Nothing);
                    }
                    response.end().map_err(Error::Model)?;
                    continue;
                }
                Pumped::Other if self.console.interrupted => {
                    // The rest of the reply must not be taken for the next one.
                    self.connection.close(&mut self.reactor);
                    return Ok(Heard::Interruption);
                }
                Pumped::Answers(..) | Pumped::Other => continue,
            };
            if response.status == Some(200) {
                for event in events.feed(&body) {
                    self.api.on_event(&event).map_err(Error::Model)?;
                }
            } else {
                refused.extend(body);
            }
        }
        if !response.keeps_alive {
            self.connection.close(&mut self.reactor);
        }
        match response.status {
            Some(200) => self.api.finish().map(Heard::Reply).map_err(Error::Model),
            status => {
                let text = String::from_utf8_lossy(&refused);
                Err(Error::Model(format!("status {}: {}", status.unwrap_or_default(), text.trim())))
            }
        }
    }
}
