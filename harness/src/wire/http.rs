//! HTTP/1.1 as far as a scripted endpoint needs it: requests out of bytes, responses into bytes. No input or output.

use std::fmt::Write as _;

/// Most header fields of a request.
const MAX_HEADERS: usize = 100;

/// A longer head is no request that a host sends.
const MAX_HEAD: usize = 64 << 10;

/// A longer body is refused: no model API takes one of more than 32 MB.
const MAX_BODY: usize = 32 << 20;

/// A whole request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The method, as it was written.
    pub method: String,
    /// The target, as it was written.
    pub target: String,
    /// The header fields in order, values as text.
    pub headers: Vec<(String, String)>,
    /// The body, with chunks joined.
    pub body: Vec<u8>,
    /// What becomes of the connection after the response.
    pub after: After,
}

impl Request {
    /// The first header field of that name, in any case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        header(&self.headers, name)
    }
}

/// What becomes of a connection after a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// It waits for another request.
    Keep,
    /// It is closed.
    Close,
}

/// What a parser needs or has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// More bytes.
    More,
    /// `100 Continue` must be sent, then more bytes.
    Continue,
    /// A request.
    Request(Request),
    /// Something that cannot be served: the status to answer with, and the reason. The connection is of no further use.
    Bad(u16, &'static str),
}

/// Bytes of one connection, on their way to become requests.
#[derive(Debug, Default)]
pub struct Parser {
    buffer: Vec<u8>,
    /// The head that was read, while its body is not complete.
    head: Option<Head>,
}

#[derive(Debug)]
struct Head {
    request: Request,
    body: Body,
}

#[derive(Clone, Copy, Debug)]
enum Body {
    /// So many bytes.
    Sized(usize),
    /// Chunks.
    Chunked,
}

impl Parser {
    /// Takes in bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// Whether a request has begun and is not complete.
    #[must_use]
    pub fn in_the_middle(&self) -> bool {
        self.head.is_some() || !self.buffer.is_empty()
    }

    /// Bytes of what is not complete.
    #[must_use]
    pub fn held(&self) -> usize {
        self.buffer.len() + self.head.as_ref().map_or(0, |head| head.request.body.len())
    }

    /// The next request, or what is missing for it.
    pub fn take(&mut self) -> Next {
        let mut expects = false;
        let mut head = match self.head.take() {
            Some(head) => head,
            None => match self.read_head() {
                Ok(Some(head)) => {
                    expects = head.request.header("expect").is_some();
                    head
                }
                Ok(None) => return Next::More,
                Err((status, reason)) => return Next::Bad(status, reason),
            },
        };
        match self.read_body(&mut head) {
            Ok(true) => Next::Request(head.request),
            Ok(false) => {
                self.head = Some(head);
                if expects { Next::Continue } else { Next::More }
            }
            Err((status, reason)) => Next::Bad(status, reason),
        }
    }

    fn read_head(&mut self) -> Result<Option<Head>, (u16, &'static str)> {
        let mut fields = [httparse::EMPTY_HEADER; MAX_HEADERS];
        let mut parsed = httparse::Request::new(&mut fields);
        let len = match parsed.parse(&self.buffer) {
            Ok(httparse::Status::Complete(len)) => len,
            Ok(httparse::Status::Partial) if self.buffer.len() > MAX_HEAD => {
                return Err((431, "the head is too long"));
            }
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(_) => return Err((400, "no HTTP request")),
        };
        let text = |field: &httparse::Header<'_>| {
            (field.name.to_owned(), String::from_utf8_lossy(field.value).into_owned())
        };
        let headers: Vec<_> = parsed.headers.iter().map(text).collect();
        let closes = header(&headers, "connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
        let after = if closes || parsed.version == Some(0) { After::Close } else { After::Keep };
        let body = body_of(&headers)?;
        let request = Request {
            method: parsed.method.unwrap_or_default().to_owned(),
            target: parsed.path.unwrap_or_default().to_owned(),
            headers,
            body: Vec::new(),
            after,
        };
        self.buffer.drain(..len);
        Ok(Some(Head { request, body }))
    }

    /// Moves what is there of the body; says whether it is complete.
    fn read_body(&mut self, head: &mut Head) -> Result<bool, (u16, &'static str)> {
        match head.body {
            Body::Sized(len) if self.buffer.len() < len => Ok(false),
            Body::Sized(len) => {
                let rest = self.buffer.split_off(len);
                head.request.body = std::mem::replace(&mut self.buffer, rest);
                Ok(true)
            }
            Body::Chunked => self.read_chunks(&mut head.request.body),
        }
    }

    fn read_chunks(&mut self, body: &mut Vec<u8>) -> Result<bool, (u16, &'static str)> {
        let mut at = 0;
        let complete = loop {
            let rest = &self.buffer[at..];
            let (head, size) = match httparse::parse_chunk_size(rest) {
                Ok(httparse::Status::Complete((head, size))) => {
                    (head, usize::try_from(size).unwrap_or(usize::MAX))
                }
                Ok(httparse::Status::Partial) => break false,
                Err(_) => return Err((400, "a broken chunk")),
            };
            if size > MAX_BODY - body.len() {
                return Err((413, "the body is too long"));
            }
            if size == 0 {
                // Trailer fields are allowed; nobody needs them.
                match end_of_trailers(&rest[head..]) {
                    Some(end) => at += head + end,
                    None => break false,
                }
                break true;
            }
            let Some(chunk) = rest.get(head..head + size + 2) else { break false };
            body.extend_from_slice(&chunk[..size]);
            at += head + size + 2;
        };
        self.buffer.drain(..at);
        Ok(complete)
    }
}

fn end_of_trailers(bytes: &[u8]) -> Option<usize> {
    if bytes.starts_with(b"\r\n") {
        return Some(2);
    }
    bytes.windows(4).position(|four| four == b"\r\n\r\n").map(|at| at + 4)
}

fn body_of(headers: &[(String, String)]) -> Result<Body, (u16, &'static str)> {
    if let Some(coding) = header(headers, "transfer-encoding") {
        let chunked = coding.eq_ignore_ascii_case("chunked");
        return if chunked { Ok(Body::Chunked) } else { Err((501, "an unknown transfer coding")) };
    }
    match header(headers, "content-length").map(str::parse) {
        None => Ok(Body::Sized(0)),
        Some(Ok(len)) if len <= MAX_BODY => Ok(Body::Sized(len)),
        Some(Ok(_)) => Err((413, "the body is too long")),
        Some(Err(_)) => Err((400, "a broken content-length")),
    }
}

fn header<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

/// The interim response to `Expect: 100-continue`.
pub const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// A response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The content type.
    pub content_type: &'static str,
    /// The body.
    pub body: Vec<u8>,
}

impl Response {
    /// A JSON body.
    #[must_use]
    pub const fn json(status: u16, body: Vec<u8>) -> Self {
        Self { status, content_type: "application/json", body }
    }

    /// A body of server-sent events.
    #[must_use]
    pub const fn events(body: Vec<u8>) -> Self {
        Self { status: 200, content_type: "text/event-stream", body }
    }

    /// A short text.
    #[must_use]
    pub fn text(status: u16, body: &str) -> Self {
        Self { status, content_type: "text/plain; charset=utf-8", body: body.as_bytes().to_vec() }
    }

    /// The bytes for the wire. To `HEAD` the body is left out.
    #[must_use]
    pub fn to_bytes(&self, method: &str, after: After) -> Vec<u8> {
        let mut head = format!("HTTP/1.1 {} {}\r\n", self.status, reason(self.status));
        // Writing to a string cannot fail.
        let _ = write!(head, "content-type: {}\r\ncontent-length: {}\r\n", self.content_type, self.body.len());
        head.push_str("cache-control: no-cache\r\n");
        head.push_str(if after == After::Close { "connection: close\r\n\r\n" } else { "\r\n" });
        let mut bytes = head.into_bytes();
        if method != "HEAD" {
            bytes.extend_from_slice(&self.body);
        }
        bytes
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        413 => "Content Too Large",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        501 => "Not Implemented",
        _ => "Status",
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SIZED: &str =
        "POST /t/v1/messages?beta=true HTTP/1.1\r\nHost: 127.0.0.1:1\r\nContent-Length: 5\r\n\r\nhello";
    const CHUNKED: &str = "POST /t HTTP/1.1\r\ntransfer-encoding: Chunked\r\nconnection: close\r\n\r\n\
        3\r\nabc\r\n2;x=y\r\nde\r\n0\r\ntrailer: 1\r\n\r\n";

    fn all(parser: &mut Parser) -> (Vec<Request>, Next) {
        let mut requests = Vec::new();
        loop {
            match parser.take() {
                Next::Request(request) => requests.push(request),
                other => return (requests, other),
            }
        }
    }

    #[test]
    fn requests_follow_each_other_on_one_connection() {
        let mut parser = Parser::default();
        parser.push(SIZED.as_bytes());
        parser.push(CHUNKED.as_bytes());
        parser.push(b"GET / HTTP/1.0\r\n\r\nPO");
        let (requests, end) = all(&mut parser);
        assert_eq!(end, Next::More);
        assert!(parser.in_the_middle());
        let seen: Vec<_> =
            requests.iter().map(|r| (r.method.as_str(), r.target.as_str(), &r.body[..], r.after)).collect();
        let expected: [(&str, &str, &[u8], After); 3] = [
            ("POST", "/t/v1/messages?beta=true", b"hello", After::Keep),
            ("POST", "/t", b"abcde", After::Close),
            ("GET", "/", b"", After::Close),
        ];
        assert_eq!(seen, expected);
        assert_eq!(requests[0].header("host"), Some("127.0.0.1:1"));
    }

    #[test]
    fn continue_is_asked_for_once() {
        let mut parser = Parser::default();
        parser.push(b"POST / HTTP/1.1\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n");
        assert_eq!(parser.take(), Next::Continue);
        assert_eq!(parser.take(), Next::More);
        parser.push(b"ok");
        assert!(matches!(parser.take(), Next::Request(request) if request.body == b"ok"));
    }

    #[test]
    fn what_cannot_be_served_is_named() {
        #[track_caller]
        fn check(bytes: &[u8], expected: u16) {
            let mut parser = Parser::default();
            parser.push(bytes);
            assert!(matches!(parser.take(), Next::Bad(status, _) if status == expected), "{expected}");
        }
        check(b"\x16\x03\x01\x02\x00", 400);
        check(b"{\"jsonrpc\":\"2.0\"}\n", 400);
        check(b"POST / HTTP/1.1\r\ncontent-length: x\r\n\r\n", 400);
        check(b"POST / HTTP/1.1\r\ncontent-length: 999999999999\r\n\r\n", 413);
        check(b"POST / HTTP/1.1\r\ntransfer-encoding: gzip\r\n\r\n", 501);
        check(b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n", 400);
        check(&[b"GET /", &[b'a'; MAX_HEAD][..]].concat(), 431);
    }

    #[test]
    fn responses_say_how_long_they_are() {
        let response = Response::events(b"data: {}\n\n".to_vec());
        let text = String::from_utf8(response.to_bytes("POST", After::Keep)).unwrap();
        assert!(
            text.starts_with("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 10\r\n"),
            "{text}"
        );
        assert!(text.ends_with("\r\n\r\ndata: {}\n\n"), "{text}");
        assert!(response.to_bytes("HEAD", After::Close).ends_with(b"connection: close\r\n\r\n"));
    }

    proptest! {
        #[test]
        fn split_frames_equal_whole_ones(cut in 0..SIZED.len() + CHUNKED.len()) {
            let bytes = [SIZED, CHUNKED].concat();
            let mut whole = Parser::default();
            whole.push(bytes.as_bytes());
            let mut split = Parser::default();
            split.push(&bytes.as_bytes()[..cut]);
            let (mut requests, _) = all(&mut split);
            split.push(&bytes.as_bytes()[cut..]);
            requests.extend(all(&mut split).0);
            prop_assert_eq!(requests, all(&mut whole).0);
        }

        #[test]
        fn never_panics(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut parser = Parser::default();
            parser.push(&bytes);
            all(&mut parser);
        }
    }
}
