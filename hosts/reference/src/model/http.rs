//! As much HTTP/1.1 as it takes to talk to a model endpoint: one connection, one request at a time.

use std::io::{self, Write};
use std::net::TcpStream;
use std::os::fd::OwnedFd;

use crate::reactor::{Framing, Reactor, Token};

/// Where the model endpoint is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Endpoint {
    /// Host and port, as they go into the `Host` header.
    authority: String,
    /// The path that the paths of the API are appended to.
    prefix: String,
}

impl Endpoint {
    /// Reads a base URL. Only plain HTTP is spoken.
    pub(crate) fn parse(base_url: &str) -> Option<Self> {
        let rest = base_url.strip_prefix("http://")?;
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        let authority = if authority.contains(':') { authority.to_owned() } else { format!("{authority}:80") };
        let path = path.trim_end_matches('/');
        let prefix = if path.is_empty() { String::new() } else { format!("/{path}") };
        Some(Self { authority, prefix })
    }
}

/// The connection to the endpoint.
pub(crate) struct Connection {
    endpoint: Endpoint,
    stream: Option<TcpStream>,
}

/// Whether a request went out on a connection that had served one before. Such a one may have been closed meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Freshness {
    New,
    Reused,
}

impl Connection {
    /// A connection that will be opened with the first request.
    pub(crate) fn new(endpoint: Endpoint) -> Self {
        Self { endpoint, stream: None }
    }

    /// Sends a POST. The answer comes through the reactor.
    pub(crate) fn post(
        &mut self,
        reactor: &mut Reactor,
        path: &str,
        headers: &str,
        body: &str,
    ) -> io::Result<Freshness> {
        let request = format!(
            "POST {}{path} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nAccept: text/event-stream\r\nContent-Length: {}\r\n{headers}\r\n{body}",
            self.endpoint.prefix,
            self.endpoint.authority,
            body.len(),
        );
        if let Some(stream) = &mut self.stream {
            if stream.write_all(request.as_bytes()).is_ok() {
                return Ok(Freshness::Reused);
            }
            self.close(reactor);
        }
        let mut stream = TcpStream::connect(&self.endpoint.authority)?;
        stream.set_nodelay(true)?;
        reactor.add(Token::Model, OwnedFd::from(stream.try_clone()?), Framing::Bytes);
        stream.write_all(request.as_bytes())?;
        self.stream = Some(stream);
        Ok(Freshness::New)
    }

    /// Ends the connection; the next request opens another.
    pub(crate) fn close(&mut self, reactor: &mut Reactor) {
        reactor.remove(Token::Model);
        self.stream = None;
    }
}

/// How the end of a body is known.
#[derive(Debug)]
enum Body {
    /// The head is not complete yet.
    Unknown,
    Length(usize),
    /// Chunks; the number is what is left of the current one, and the state where in the framing the reader is.
    Chunked(Chunk),
    /// Everything until the connection is closed.
    UntilClosed,
    Complete,
}

#[derive(Debug)]
enum Chunk {
    Size,
    Data(usize),
    /// The line end behind the data.
    DataEnd,
    Trailer,
}

/// Reads one response.
#[derive(Debug)]
pub(crate) struct ResponseReader {
    /// Bytes of the head, or of a line of the chunk framing.
    pending: Vec<u8>,
    body: Body,
    /// The status, as soon as the head is complete.
    pub(crate) status: Option<u16>,
    /// Whether the endpoint will take another request on this connection.
    pub(crate) keeps_alive: bool,
}

impl ResponseReader {
    /// A reader for the next response of a connection.
    pub(crate) fn new() -> Self {
        Self { pending: Vec::new(), body: Body::Unknown, status: None, keeps_alive: true }
    }

    /// Whether nothing has come yet.
    pub(crate) fn is_untouched(&self) -> bool {
        self.status.is_none() && self.pending.is_empty()
    }

    /// Whether the whole response has been read.
    pub(crate) fn is_complete(&self) -> bool {
        matches!(self.body, Body::Complete)
    }

    /// The connection was closed. It is fine only where that is what ends the body.
    pub(crate) fn end(&mut self) -> Result<(), String> {
        self.keeps_alive = false;
        match self.body {
            Body::UntilClosed | Body::Complete => {
                self.body = Body::Complete;
                Ok(())
            }
            Body::Unknown | Body::Length(_) | Body::Chunked(_) => {
                Err("the connection was closed in the middle of a response".to_owned())
            }
        }
    }

    /// Takes bytes in and returns what they add to the body.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Result<Vec<u8>, String> {
        if !matches!(self.body, Body::Unknown) {
            return self.feed_body(bytes);
        }
        self.pending.extend_from_slice(bytes);
        let Some(end) = self.read_head()? else {
            return Ok(Vec::new());
        };
        let rest = self.pending.split_off(end);
        self.pending.clear();
        self.feed_body(&rest)
    }

    /// Reads the head, and returns its length when it is complete.
    fn read_head(&mut self) -> Result<Option<usize>, String> {
        let mut headers = [httparse::EMPTY_HEADER; 64];
        let mut head = httparse::Response::new(&mut headers);
        let end = match head.parse(&self.pending) {
            Ok(httparse::Status::Complete(end)) => end,
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(error) => return Err(format!("the response is not HTTP: {error}")),
        };
        let header = |name: &str| {
            head.headers
                .iter()
                .find(|header| header.name.eq_ignore_ascii_case(name))
                .map(|header| String::from_utf8_lossy(header.value))
        };
        let says =
            |name: &str, word: &str| header(name).is_some_and(|value| value.to_ascii_lowercase().contains(word));
        self.status = head.code;
        self.keeps_alive = head.version == Some(1) && !says("connection", "close");
        self.body = if says("transfer-encoding", "chunked") {
            Body::Chunked(Chunk::Size)
        } else if let Some(length) = header("content-length") {
            match length.trim().parse() {
                Ok(0) => Body::Complete,
                Ok(length) => Body::Length(length),
                Err(_) => return Err(format!("the content length {length:?} is not a number")),
            }
        } else {
            Body::UntilClosed
        };
        Ok(Some(end))
    }

    fn feed_body(&mut self, mut bytes: &[u8]) -> Result<Vec<u8>, String> {
        let mut body = Vec::new();
        while !bytes.is_empty() {
            match &mut self.body {
                Body::Unknown | Body::Complete => break,
                Body::UntilClosed => {
                    body.extend_from_slice(bytes);
                    break;
                }
                Body::Length(left) | Body::Chunked(Chunk::Data(left)) => {
                    let (now, later) = bytes.split_at(bytes.len().min(*left));
                    body.extend_from_slice(now);
                    bytes = later;
                    *left -= now.len();
                    if *left == 0 {
                        self.body = match self.body {
                            Body::Chunked(_) => Body::Chunked(Chunk::DataEnd),
                            _ => Body::Complete,
                        };
                    }
                }
                Body::Chunked(_) => {
                    let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
                        self.pending.extend_from_slice(bytes);
                        break;
                    };
                    self.pending.extend_from_slice(&bytes[..end]);
                    bytes = &bytes[end + 1..];
                    let line = std::mem::take(&mut self.pending);
                    self.end_chunk_line(String::from_utf8_lossy(&line).trim())?;
                }
            }
        }
        Ok(body)
    }

    fn end_chunk_line(&mut self, line: &str) -> Result<(), String> {
        let Body::Chunked(state) = &self.body else {
            return Ok(());
        };
        let next = match state {
            Chunk::Size => {
                let digits = line.split(';').next().unwrap_or_default().trim();
                match usize::from_str_radix(digits, 16) {
                    Ok(0) => Chunk::Trailer,
                    Ok(size) => Chunk::Data(size),
                    Err(_) => return Err(format!("the chunk size {line:?} is not a number")),
                }
            }
            Chunk::Trailer if line.is_empty() => {
                self.body = Body::Complete;
                return Ok(());
            }
            Chunk::Trailer => Chunk::Trailer,
            Chunk::DataEnd | Chunk::Data(_) => Chunk::Size,
        };
        self.body = Body::Chunked(next);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_urls() {
        let endpoint =
            |authority: &str, prefix: &str| Some(Endpoint { authority: authority.into(), prefix: prefix.into() });
        assert_eq!(Endpoint::parse("http://127.0.0.1:8080"), endpoint("127.0.0.1:8080", ""));
        assert_eq!(Endpoint::parse("http://127.0.0.1:8080/k/xyz/"), endpoint("127.0.0.1:8080", "/k/xyz"));
        assert_eq!(Endpoint::parse("http://localhost"), endpoint("localhost:80", ""));
        assert_eq!(Endpoint::parse("https://localhost"), None);
    }

    #[track_caller]
    fn check(response: &str, status: u16, body: &str, complete: bool) {
        for size in [1, 7, response.len()] {
            let mut reader = ResponseReader::new();
            let mut seen = Vec::new();
            for piece in response.as_bytes().chunks(size) {
                seen.extend(reader.feed(piece).unwrap());
            }
            assert_eq!(
                (reader.status, String::from_utf8_lossy(&seen).as_ref(), reader.is_complete()),
                (Some(status), body, complete),
                "{response:?}"
            );
        }
    }

    #[test]
    fn bodies_end_in_three_ways() {
        check("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200, "hello", true);
        check("HTTP/1.1 204 No\r\nContent-Length: 0\r\n\r\n", 204, "", true);
        check(
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n",
            200,
            "hello",
            true,
        );
        check("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n", 200, "hello", false);
        check("HTTP/1.1 200 OK\r\n\r\nhello", 200, "hello", false);
    }

    #[test]
    fn a_closed_connection_ends_only_a_body_without_length() {
        let mut open_ended = ResponseReader::new();
        open_ended.feed(b"HTTP/1.1 200 OK\r\n\r\nhello").unwrap();
        assert!(open_ended.end().is_ok() && open_ended.is_complete() && !open_ended.keeps_alive);
        let mut cut = ResponseReader::new();
        cut.feed(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello").unwrap();
        assert!(cut.end().is_err());
        assert!(ResponseReader::new().feed(b"garbage\r\n\r\n").is_err());
    }
}
