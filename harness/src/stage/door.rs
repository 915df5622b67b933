//! The endpoint that plays the model: connections of the host, requests in, responses out.

use std::io;
use std::net::TcpListener;
use std::os::fd::{BorrowedFd, OwnedFd};

use super::recorder::{Draft, Recorder};
use super::watch::{Marks, Reach, Watched, accepted};
use crate::trace::event::Kind;
use crate::wire::http::{After, CONTINUE, Next, Parser, Request, Response};
use crate::wire::sink::{Pumped, Sink};
use crate::wire::source::Fd;

/// What is read from one connection before the others get their turn.
const BUDGET: usize = 4 << 20;

/// Connections that are open at a time. A host that opens more must not use up the descriptors of hopcheck, which other
/// runs need as well.
const MAX_VISITORS: usize = 64;

pub(super) struct Door {
    /// None for a host that asks no model.
    listener: Option<TcpListener>,
    accepts: bool,
    /// Connections beyond the limit, which were closed at once and are not yet recorded.
    refused: usize,
    visitors: Vec<Visitor>,
    /// Connections so far.
    came: u64,
    /// `/TOKEN`: nobody else on this machine can guess it.
    base: String,
    /// The authorities that the host may call us by. A page in a browser has another one.
    authorities: [String; 2],
    buffer: Vec<u8>,
}

/// A connection of the host: a name that it keeps while others come and go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct VisitorId(u64);

#[derive(Debug)]
struct Visitor {
    id: VisitorId,
    parser: Parser,
    /// Drafts are recorded when their first byte is sent.
    sink: Sink<Option<Draft>>,
    ready: bool,
    /// No more requests come.
    ended: bool,
    /// It is closed when everything is sent.
    closing: bool,
}

/// A request of the host.
pub(super) enum Visit {
    /// Below the run's own path; `path` is what follows it.
    Model { visitor: VisitorId, request: Request, path: String },
    /// Anything else, with what it is answered.
    Noise { visitor: VisitorId, reason: String, request: Option<Request>, response: Response },
}

impl Door {
    pub(super) fn new(listener: TcpListener, token: &str) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        Ok(Self {
            listener: Some(listener),
            base: format!("/{token}"),
            authorities: [format!("127.0.0.1:{port}"), format!("localhost:{port}")],
            buffer: vec![0; 64 << 10],
            ..Self::closed()
        })
    }

    /// An endpoint that nobody can come to.
    pub(super) fn closed() -> Self {
        Self {
            listener: None,
            accepts: false,
            refused: 0,
            visitors: Vec::new(),
            came: 0,
            base: String::new(),
            authorities: [String::new(), String::new()],
            buffer: Vec::new(),
        }
    }

    /// The base URL, without a slash at the end.
    pub(super) fn url(&self) -> String {
        format!("http://{}{}", self.authorities[0], self.base)
    }

    pub(super) fn watch<'f>(&'f self, fds: &mut Watched<'f>) {
        if let Some(listener) = &self.listener {
            fds.input(listener);
        }
        for visitor in &self.visitors {
            if let Some(fd) = visitor.readable() {
                fds.input(fd);
            }
        }
    }

    pub(super) fn mark(&mut self, marks: &mut Marks) {
        self.accepts = self.listener.is_some() && marks.next();
        for visitor in &mut self.visitors {
            visitor.ready = visitor.readable().is_some() && marks.next();
        }
    }

    pub(super) fn blocked(&self) -> Vec<BorrowedFd<'_>> {
        self.visitors.iter().filter_map(|visitor| visitor.sink.blocked_on()).collect()
    }

    /// Takes in bytes without acting on them; says whether there were any.
    ///
    /// # Errors
    /// The machine has no room for another connection.
    pub(super) fn listen(&mut self, reach: Reach) -> io::Result<bool> {
        if let Some(listener) = self.listener.as_ref().filter(|_| self.accepts || reach == Reach::All) {
            while let Some((stream, _)) = accepted(listener.accept())? {
                if self.visitors.len() >= MAX_VISITORS {
                    self.refused += 1;
                    continue;
                }
                self.came += 1;
                self.visitors.push(Visitor {
                    id: VisitorId(self.came),
                    parser: Parser::default(),
                    sink: Sink::new(Fd::writer(OwnedFd::from(stream))),
                    ready: true,
                    ended: false,
                    closing: false,
                });
            }
        }
        let mut heard = false;
        for visitor in &mut self.visitors {
            if visitor.ready || reach == Reach::All {
                heard |= visitor.read(&mut self.buffer);
            }
        }
        Ok(heard)
    }

    /// Bytes of requests that are not complete.
    pub(super) fn unfinished(&self) -> usize {
        self.visitors.iter().map(|visitor| visitor.parser.held()).sum()
    }

    /// Bytes of responses that are not read.
    pub(super) fn unread(&self) -> usize {
        self.visitors.iter().map(|visitor| visitor.sink.held()).sum()
    }

    /// The next whole request.
    pub(super) fn next(&mut self) -> Option<Visit> {
        for at in 0..self.visitors.len() {
            let visitor = &mut self.visitors[at];
            let id = visitor.id;
            if visitor.closing || !visitor.sink.is_open() {
                continue;
            }
            match visitor.parser.take() {
                Next::Request(request) => return Some(self.judge(id, request)),
                Next::Continue => visitor.sink.push(CONTINUE.to_vec(), None),
                Next::Bad(status, reason) => {
                    let response = Response::text(status, reason);
                    let reason = reason.to_owned();
                    return Some(Visit::Noise { visitor: id, reason, request: None, response });
                }
                Next::More if visitor.ended => {
                    visitor.closing = true;
                    if visitor.parser.in_the_middle() {
                        let (reason, response) =
                            ("a request that was cut short".to_owned(), Response::text(400, ""));
                        return Some(Visit::Noise { visitor: id, reason, request: None, response });
                    }
                }
                Next::More => {}
            }
        }
        None
    }

    fn judge(&self, visitor: VisitorId, request: Request) -> Visit {
        let host = request.header("host").unwrap_or_default();
        let origin = request.header("origin").map(|origin| origin.trim_start_matches("http://"));
        let known = |name: &str| self.authorities.iter().any(|authority| authority == name);
        let below = request.target.strip_prefix(&self.base);
        let path = below.filter(|path| path.is_empty() || path.starts_with(['/', '?'])).map(str::to_owned);
        let noise = |request: Request, reason: &str, status: u16| Visit::Noise {
            visitor,
            reason: reason.to_owned(),
            request: Some(request),
            response: Response::text(status, reason),
        };
        if !known(host) || origin.is_some_and(|origin| !known(origin)) {
            return noise(request, "a host or origin that is not this endpoint", 403);
        }
        match path {
            // Some hosts look whether their base URL is there.
            Some(path) if path.trim_end_matches('/').is_empty() && request.method != "POST" => {
                noise(request, "a look at the base path", 200)
            }
            Some(path) => Visit::Model { visitor, request, path },
            None => noise(request, "a path outside of the run", 404),
        }
    }

    /// Answers a visitor, unless it has left. The draft is recorded when the first byte is sent.
    pub(super) fn answer(
        &mut self,
        visitor: VisitorId,
        request: Option<&Request>,
        response: &Response,
        draft: Option<Draft>,
        rec: &mut Recorder,
    ) {
        let (method, after) = request.map_or(("", After::Close), |request| (&request.method, request.after));
        let Some(visitor) = self.visitors.iter_mut().find(|known| known.id == visitor) else { return };
        visitor.sink.push(response.to_bytes(method, after), draft);
        visitor.closing |= after == After::Close;
        visitor.pump(rec);
    }

    /// Records something that is no model request.
    pub(super) fn record_noise(&self, reason: &str, request: Option<&Request>, rec: &mut Recorder) {
        let mut draft = Draft::new(Kind::ModelNoise).fact("reason", reason);
        if let Some(request) = request {
            // The token of the run is no fact about the host.
            let path = request.target.strip_prefix(&self.base).unwrap_or(&request.target);
            draft = draft.fact("method", request.method.as_str()).fact("path", path);
        }
        rec.record(draft);
    }

    /// Writes what could not be written before, and forgets the connections that are over.
    pub(super) fn pump(&mut self, rec: &mut Recorder) {
        if std::mem::take(&mut self.refused) > 0 {
            self.record_noise(&format!("more than {MAX_VISITORS} connections at a time"), None, rec);
        }
        self.visitors.iter_mut().for_each(|visitor| visitor.pump(rec));
        self.visitors.retain(|visitor| visitor.sink.is_open());
    }
}

impl Visitor {
    fn readable(&self) -> Option<&Fd> {
        self.sink.fd().filter(|_| !self.ended)
    }

    fn read(&mut self, buffer: &mut [u8]) -> bool {
        let mut total = 0;
        while total < BUDGET
            && let Some(fd) = self.readable()
        {
            match fd.read(buffer) {
                Ok(Some(0)) | Err(_) => self.ended = true,
                Ok(Some(got)) => {
                    self.parser.push(&buffer[..got]);
                    total += got;
                }
                Ok(None) => break,
            }
        }
        total > 0
    }

    fn pump(&mut self, rec: &mut Recorder) {
        let mut begun = Vec::new();
        let pumped = self.sink.pump(&mut begun);
        for draft in begun.into_iter().flatten() {
            rec.record(draft);
        }
        if self.closing && pumped == Pumped::Idle {
            self.sink.close();
        }
    }
}
