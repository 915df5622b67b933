//! Writing without waiting: a queue in front of a descriptor.

use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd};

use super::source::Fd;

/// A queue of byte strings, each with a note that is handed back when its first byte is on its way. So what was never
/// sent is never recorded as sent.
#[derive(Debug)]
pub struct Sink<T> {
    fd: Option<Fd>,
    queue: VecDeque<Entry<T>>,
    /// Bytes of the first entry that are already written.
    written: usize,
    /// Bytes of all entries that are not yet written.
    held: usize,
}

#[derive(Debug)]
struct Entry<T> {
    bytes: Vec<u8>,
    note: Option<T>,
}

/// How far a sink came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pumped {
    /// The queue is empty.
    Idle,
    /// The other side must read first.
    Blocked,
    /// The other side no longer reads; what was queued is dropped.
    Broken,
}

impl<T> Sink<T> {
    /// A queue in front of `fd`.
    #[must_use]
    pub const fn new(fd: Fd) -> Self {
        Self { fd: Some(fd), queue: VecDeque::new(), written: 0, held: 0 }
    }

    /// Appends bytes. They are written by [`Sink::pump`]; on a closed sink they are dropped.
    pub fn push(&mut self, bytes: Vec<u8>, note: T) {
        if self.fd.is_some() {
            self.held += bytes.len();
            self.queue.push_back(Entry { bytes, note: Some(note) });
        }
    }

    /// Writes what fits. `begun` gets the notes of the entries whose first byte was written.
    pub fn pump(&mut self, begun: &mut Vec<T>) -> Pumped {
        let Some(fd) = &self.fd else { return Pumped::Idle };
        while let Some(entry) = self.queue.front_mut() {
            let rest = &entry.bytes[self.written..];
            let sent = if rest.is_empty() { 0 } else { fd.write(rest).unwrap_or(usize::MAX) };
            if sent == usize::MAX {
                self.close();
                return Pumped::Broken;
            }
            if sent == 0 && !rest.is_empty() {
                return Pumped::Blocked;
            }
            begun.extend(entry.note.take());
            self.written += sent;
            self.held -= sent;
            if self.written == entry.bytes.len() {
                self.written = 0;
                self.queue.pop_front();
            }
        }
        Pumped::Idle
    }

    /// Drops what is queued and closes the descriptor.
    pub fn close(&mut self) {
        self.fd = None;
        self.queue.clear();
        self.written = 0;
        self.held = 0;
    }

    /// Bytes that are not yet written.
    #[must_use]
    pub const fn held(&self) -> usize {
        self.held
    }

    /// The descriptor, while it is open.
    #[must_use]
    pub const fn fd(&self) -> Option<&Fd> {
        self.fd.as_ref()
    }

    /// Whether the descriptor is open.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.fd.is_some()
    }

    /// Whether something waits to be written.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.queue.is_empty()
    }

    /// The descriptor to poll for room, where something waits for it.
    #[must_use]
    pub fn blocked_on(&self) -> Option<BorrowedFd<'_>> {
        self.fd.as_ref().filter(|_| !self.queue.is_empty()).map(AsFd::as_fd)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn what_is_not_sent_is_not_noted() {
        let (mut reader, writer) = std::io::pipe().unwrap();
        let mut sink = Sink::new(Fd::writer(writer.into()));
        let mut begun = Vec::new();
        sink.push(vec![b'a'; 1 << 20], 1);
        sink.push(b"tail".to_vec(), 2);
        assert_eq!(sink.pump(&mut begun), Pumped::Blocked);
        assert_eq!(begun, [1]);
        assert!(sink.blocked_on().is_some());
        assert!((1..(1 << 20) + 4).contains(&sink.held()), "{}", sink.held());

        let mut buffer = vec![0; 1 << 16];
        let mut got = 0;
        while got < (1 << 20) + 4 {
            got += reader.read(&mut buffer).unwrap();
            sink.pump(&mut begun);
        }
        assert_eq!(begun, [1, 2]);
        assert!(sink.is_idle());
        assert_eq!(sink.held(), 0);

        drop(reader);
        sink.push(b"lost".to_vec(), 3);
        assert_eq!(sink.pump(&mut begun), Pumped::Broken);
        assert_eq!(begun, [1, 2]);
        assert!(!sink.is_open());
    }
}
