//! Messages between hopcheck and its helper processes: one JSON text per line over a Unix socket, descriptors beside.

use std::collections::VecDeque;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
};

use crate::json::Json;

/// The most descriptors in one message: standard input, output and error.
const MAX_FDS: usize = 3;

/// A message larger than this is no message of ours.
const MAX_MESSAGE: usize = 4 << 20;

/// Whether a call may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Until it is done.
    Block,
    /// Not at all.
    Never,
}

/// One end of a channel.
#[derive(Debug)]
pub struct Channel {
    socket: OwnedFd,
    pending: Vec<u8>,
    fds: VecDeque<OwnedFd>,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    Ended,
}

impl Channel {
    /// Wraps a connected stream socket.
    #[must_use]
    pub fn new(socket: OwnedFd) -> Self {
        Self { socket, pending: Vec::new(), fds: VecDeque::new(), state: State::Open }
    }

    /// Sends a message with descriptors beside its first byte. Waits until all is sent.
    ///
    /// # Errors
    /// The other end is gone.
    pub fn send(&self, message: &Json, fds: &[BorrowedFd<'_>]) -> io::Result<()> {
        let line = format!("{message}\n");
        let mut rest = line.as_bytes();
        let mut fds = fds;
        while !rest.is_empty() {
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FDS))];
            let mut control = SendAncillaryBuffer::new(&mut space);
            if !fds.is_empty() && !control.push(SendAncillaryMessage::ScmRights(fds)) {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, "too many descriptors in one message"));
            }
            match rustix::net::sendmsg(&self.socket, &[IoSlice::new(rest)], &mut control, SendFlags::empty()) {
                Ok(sent) => {
                    rest = &rest[sent..];
                    fds = &[];
                }
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Takes in what has arrived. With [`Wait::Block`] it waits for something.
    ///
    /// # Errors
    /// The socket failed; the end of the other side is no error, see [`Channel::ended`].
    pub fn receive(&mut self, wait: Wait) -> io::Result<()> {
        let mut flags = cloexec();
        if wait == Wait::Never {
            flags |= RecvFlags::DONTWAIT;
        }
        let mut buffer = [0; 16 << 10];
        loop {
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_FDS))];
            let mut control = RecvAncillaryBuffer::new(&mut space);
            let mut slices = [IoSliceMut::new(&mut buffer)];
            let got = match rustix::net::recvmsg(&self.socket, &mut slices, &mut control, flags) {
                Ok(message) => message.bytes,
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN) => return Ok(()),
                Err(Errno::CONNRESET) => 0,
                Err(error) => return Err(error.into()),
            };
            for message in control.drain() {
                if let RecvAncillaryMessage::ScmRights(fds) = message {
                    self.fds.extend(fds);
                    if self.fds.len() > MAX_FDS {
                        return Err(io::Error::new(io::ErrorKind::InvalidData, "more descriptors than ours have"));
                    }
                }
            }
            if got == 0 {
                self.state = State::Ended;
                return Ok(());
            }
            self.pending.extend_from_slice(&buffer[..got]);
            if self.pending.len() > MAX_MESSAGE {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "a message without an end"));
            }
            if got < buffer.len() {
                return Ok(());
            }
        }
    }

    /// The next whole message. A line that is no JSON ends the channel: nobody but our helpers writes to it.
    pub fn take(&mut self) -> Option<Json> {
        let end = self.pending.iter().position(|&byte| byte == b'\n')?;
        let message = Json::parse(&self.pending[..end]).ok();
        self.pending.drain(..=end);
        if message.is_none() {
            self.state = State::Ended;
        }
        message
    }

    /// The next message, waiting for it; `None` when the other end is gone.
    ///
    /// # Errors
    /// The socket failed.
    pub fn wait_take(&mut self) -> io::Result<Option<Json>> {
        loop {
            if let Some(message) = self.take() {
                return Ok(Some(message));
            }
            if self.ended() {
                return Ok(None);
            }
            self.receive(Wait::Block)?;
        }
    }

    /// The next descriptor that came beside a message.
    pub fn take_fd(&mut self) -> Option<OwnedFd> {
        self.fds.pop_front()
    }

    /// Whether the other end is gone.
    #[must_use]
    pub fn ended(&self) -> bool {
        self.state == State::Ended
    }

    /// Whether the other end is gone, and nothing that it said is left to take.
    #[must_use]
    pub fn is_spent(&self) -> bool {
        self.ended() && self.pending.is_empty()
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Received descriptors must not leak into processes that another thread is starting just now.
#[cfg(target_os = "linux")]
fn cloexec() -> RecvFlags {
    RecvFlags::CMSG_CLOEXEC
}

/// There is no such flag here.
#[cfg(not(target_os = "linux"))]
fn cloexec() -> RecvFlags {
    RecvFlags::empty()
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn messages_and_descriptors_arrive_in_order() {
        let (a, b) = UnixStream::pair().unwrap();
        let (a, mut b) = (Channel::new(a.into()), Channel::new(b.into()));
        let (reader, writer) = io::pipe().unwrap();
        a.send(&Json::object([("hello", 1_u32)]), &[writer.as_fd()]).unwrap();
        a.send(&Json::from("x".repeat(40_000)), &[]).unwrap();
        drop((a, writer));

        b.receive(Wait::Block).unwrap();
        assert!(!b.is_spent(), "there is more to take");
        assert_eq!(b.wait_take().unwrap().unwrap().to_string(), r#"{"hello":1}"#);
        let mut passed = File::from(b.take_fd().unwrap());
        passed.write_all(b"through").unwrap();
        drop(passed);
        let mut text = String::new();
        io::BufReader::new(reader).read_to_string(&mut text).unwrap();
        assert_eq!(text, "through");
        assert_eq!(b.wait_take().unwrap().unwrap().as_str().unwrap().len(), 40_000);
        assert_eq!(b.wait_take().unwrap(), None);
        assert!(b.ended() && b.is_spent());
    }

    #[test]
    fn never_waits_when_told_so() {
        let (_a, b) = UnixStream::pair().unwrap();
        let mut b = Channel::new(b.into());
        b.receive(Wait::Never).unwrap();
        assert_eq!(b.take(), None);
        assert!(!b.ended());
    }
}
