//! The one place where the host waits: servers, the model and the user are descriptors, and each wait ends with an event or with a deadline.
//!
//! One thread and one `poll` are enough for a host, and they make the order of its acts the order of its code.

use std::collections::VecDeque;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// A line longer than this ends its connection, so that no server can take all memory.
const LONGEST_LINE: usize = 64 << 20;

/// Who an event comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token {
    /// The standard output of the server with this index.
    Server(usize),
    /// The exit of the process of the server with this index.
    Exit(usize),
    /// The connection to the model endpoint.
    Model,
    /// The standard input of the host, when it is a control channel.
    Control,
    /// A signal that asks the host to end.
    Signal,
}

/// What happened.
#[derive(Debug)]
pub(crate) enum Event {
    /// A line came in, without its end.
    Line(Token, Vec<u8>),
    /// Bytes came in.
    Bytes(Token, Vec<u8>),
    /// Nothing more will come; for [`Token::Exit`], the process has ended.
    Closed(Token),
}

impl Event {
    fn token(&self) -> Token {
        match self {
            Self::Line(token, _) | Self::Bytes(token, _) | Self::Closed(token) => *token,
        }
    }
}

/// How the bytes of a source become events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    Lines,
    Bytes,
    /// Readable means over; nothing is read.
    End,
}

struct Source {
    token: Token,
    fd: OwnedFd,
    framing: Framing,
    partial: Vec<u8>,
}

/// All the sources, and the events that nobody has taken yet.
#[derive(Default)]
pub(crate) struct Reactor {
    sources: Vec<Source>,
    ready: VecDeque<Event>,
}

impl Reactor {
    /// Starts to listen to `fd`.
    pub(crate) fn add(&mut self, token: Token, fd: OwnedFd, framing: Framing) {
        self.sources.push(Source { token, fd, framing, partial: Vec::new() });
    }

    /// Closes the descriptors of `token` and forgets what they had said.
    pub(crate) fn remove(&mut self, token: Token) {
        self.sources.retain(|source| source.token != token);
        self.ready.retain(|event| event.token() != token);
    }

    /// The next event, or nothing when the deadline has passed (or when there is nothing left to wait for).
    pub(crate) fn next(&mut self, deadline: Option<Instant>) -> Option<Event> {
        self.next_of(deadline, |_| true)
    }

    /// The next event of a token that is `wanted`. Others stay in their order.
    pub(crate) fn next_of(&mut self, deadline: Option<Instant>, wanted: impl Fn(Token) -> bool) -> Option<Event> {
        loop {
            if let Some(at) = self.ready.iter().position(|event| wanted(event.token())) {
                return self.ready.remove(at);
            }
            if !self.sources.iter().any(|source| wanted(source.token)) {
                return None;
            }
            let patience = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            if !self.wait(patience) {
                return None;
            }
        }
    }

    /// Waits until something is readable and turns it into events. False when nothing came in time.
    fn wait(&mut self, patience: Option<Duration>) -> bool {
        let mut readable: Vec<usize> = {
            let mut fds: Vec<_> =
                self.sources.iter().map(|source| PollFd::new(&source.fd, PollFlags::IN)).collect();
            let timeout = patience.map(|patience| Timespec {
                tv_sec: i64::try_from(patience.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: patience.subsec_nanos().into(),
            });
            match poll(&mut fds, timeout.as_ref()) {
                Ok(0) => return false,
                // A signal is no event of ours; the caller waits again with what is left of its deadline.
                Err(Errno::INTR) => return true,
                Err(_) => return false,
                Ok(_) => {}
            }
            fds.iter().enumerate().filter(|(_, fd)| !fd.revents().is_empty()).map(|(at, _)| at).collect()
        };
        // From the back, because a closed source is taken out; the events are put into the order of the sources again.
        let mut batches = Vec::with_capacity(readable.len());
        while let Some(at) = readable.pop() {
            let mut batch = Vec::new();
            if self.sources[at].read(&mut batch).is_closed() {
                batch.push(Event::Closed(self.sources[at].token));
                self.sources.remove(at);
            }
            batches.push(batch);
        }
        self.ready.extend(batches.into_iter().rev().flatten());
        true
    }
}

/// Whether a source can say more.
enum After {
    Open,
    Closed,
}

impl After {
    fn is_closed(&self) -> bool {
        matches!(self, Self::Closed)
    }
}

impl Source {
    fn read(&mut self, events: &mut Vec<Event>) -> After {
        if self.framing == Framing::End {
            return After::Closed;
        }
        let mut buffer = [0; 16 << 10];
        let bytes = match rustix::io::read(self.fd.as_fd(), &mut buffer) {
            Ok(0) => return After::Closed,
            Ok(count) => &buffer[..count],
            Err(Errno::INTR | Errno::AGAIN) => return After::Open,
            Err(_) => return After::Closed,
        };
        if self.framing == Framing::Bytes {
            events.push(Event::Bytes(self.token, bytes.to_vec()));
            return After::Open;
        }
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let mut line = std::mem::take(&mut self.partial);
            line.extend_from_slice(&rest[..end]);
            events.push(Event::Line(self.token, line));
            rest = &rest[end + 1..];
        }
        self.partial.extend_from_slice(rest);
        if self.partial.len() > LONGEST_LINE { After::Closed } else { After::Open }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn pipe() -> (OwnedFd, std::io::PipeWriter) {
        let (reader, writer) = std::io::pipe().unwrap();
        (reader.into(), writer)
    }

    fn soon() -> Option<Instant> {
        Some(Instant::now() + Duration::from_secs(5))
    }

    #[test]
    fn lines_come_whole_whatever_the_writes_were() {
        let mut reactor = Reactor::default();
        let (reader, mut writer) = pipe();
        reactor.add(Token::Server(0), reader, Framing::Lines);
        writer.write_all(b"one\ntw").unwrap();
        assert!(matches!(reactor.next(soon()), Some(Event::Line(Token::Server(0), line)) if line == b"one"));
        writer.write_all(b"o\n\nlost").unwrap();
        drop(writer);
        assert!(matches!(reactor.next(soon()), Some(Event::Line(_, line)) if line == b"two"));
        assert!(matches!(reactor.next(soon()), Some(Event::Line(_, line)) if line.is_empty()));
        assert!(matches!(reactor.next(soon()), Some(Event::Closed(Token::Server(0)))));
        assert!(reactor.next(None).is_none());
    }

    #[test]
    fn waiting_for_one_loses_nothing_of_the_others() {
        let mut reactor = Reactor::default();
        let (first, mut to_first) = pipe();
        let (second, mut to_second) = pipe();
        reactor.add(Token::Server(0), first, Framing::Lines);
        reactor.add(Token::Server(1), second, Framing::Lines);
        to_first.write_all(b"a\n").unwrap();
        to_second.write_all(b"b\n").unwrap();
        assert!(
            matches!(reactor.next_of(soon(), |token| token == Token::Server(1)), Some(Event::Line(_, line)) if line == b"b")
        );
        assert!(matches!(reactor.next(soon()), Some(Event::Line(_, line)) if line == b"a"));
    }

    #[test]
    fn a_deadline_ends_the_wait() {
        let mut reactor = Reactor::default();
        let (reader, _writer) = pipe();
        reactor.add(Token::Control, reader, Framing::Lines);
        assert!(reactor.next(Some(Instant::now())).is_none());
    }
}
