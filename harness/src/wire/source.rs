//! Reading without waiting, whatever kind of descriptor it is and whoever shares it.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};

/// How a descriptor is kept from blocking us.
///
/// The flag `O_NONBLOCK` belongs to the open file description, which another process may share (a server's standard
/// error is often the host's own). So it is never set on what we were given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    /// A description of our own that does not block.
    Own,
    /// A socket: each call says that it does not wait.
    Socket,
    /// Neither: a poll goes before each call, and writes are short enough for any pipe that is ready.
    Polled,
}

/// A pipe that polls as writable takes at least this much without blocking (`PIPE_BUF` on Linux; macOS has less).
const SAFE_WRITE: usize = if cfg!(target_os = "linux") { 4096 } else { 512 };

/// A descriptor that never blocks.
#[derive(Debug)]
pub struct Fd {
    fd: OwnedFd,
    manner: Manner,
}

impl Fd {
    /// Takes a descriptor to read from.
    #[must_use]
    pub fn reader(fd: OwnedFd) -> Self {
        Self::new(fd, OFlags::RDONLY)
    }

    /// Takes a descriptor to write to.
    #[must_use]
    pub fn writer(fd: OwnedFd) -> Self {
        Self::new(fd, OFlags::WRONLY)
    }

    fn new(fd: OwnedFd, access: OFlags) -> Self {
        let own = match rustix::fs::fstat(&fd).map(|stat| FileType::from_raw_mode(stat.st_mode)) {
            Ok(FileType::Socket) => return Self { fd, manner: Manner::Socket },
            // A regular file would be read from its beginning again.
            Ok(FileType::Fifo | FileType::CharacterDevice) => reopen(&fd, access),
            _ => None,
        };
        match own {
            Some(own) => Self { fd: own, manner: Manner::Own },
            None => Self { fd, manner: Manner::Polled },
        }
    }

    /// Reads what is there. `Ok(None)` means nothing now, `Ok(Some(0))` means the end.
    ///
    /// # Errors
    /// The descriptor failed; a reset connection counts as its end.
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        let got = match self.manner {
            Manner::Own => rustix::io::read(&self.fd, buffer),
            Manner::Socket => rustix::net::recv(&self.fd, buffer, RecvFlags::DONTWAIT).map(|(_, got)| got),
            Manner::Polled if self.ready(PollFlags::IN) => rustix::io::read(&self.fd, buffer),
            Manner::Polled => Err(Errno::AGAIN),
        };
        match got {
            Ok(got) => Ok(Some(got)),
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            Err(Errno::CONNRESET) => Ok(Some(0)),
            Err(error) => Err(error.into()),
        }
    }

    /// Writes what fits. `Ok(0)` means nothing now.
    ///
    /// # Errors
    /// The other side no longer reads, or the descriptor failed.
    pub fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        let sent = match self.manner {
            Manner::Own => rustix::io::write(&self.fd, bytes),
            Manner::Socket => rustix::net::send(&self.fd, bytes, SendFlags::DONTWAIT),
            Manner::Polled if self.ready(PollFlags::OUT) => {
                rustix::io::write(&self.fd, &bytes[..bytes.len().min(SAFE_WRITE)])
            }
            Manner::Polled => Err(Errno::AGAIN),
        };
        match sent {
            Ok(sent) => Ok(sent),
            Err(Errno::AGAIN | Errno::INTR) => Ok(0),
            Err(error) => Err(error.into()),
        }
    }

    fn ready(&self, what: PollFlags) -> bool {
        let mut fds = [PollFd::new(&self.fd, what)];
        matches!(poll(&mut fds, Some(&Timespec::default())), Ok(ready) if ready > 0)
    }
}

impl AsFd for Fd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// On Linux, opening a pipe or terminal through `/proc` gives a new description of the same thing.
fn reopen(fd: &OwnedFd, access: OFlags) -> Option<OwnedFd> {
    use std::os::fd::AsRawFd;
    if !cfg!(target_os = "linux") {
        return None;
    }
    let path = format!("/proc/self/fd/{}", fd.as_raw_fd());
    rustix::fs::open(path, access | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY, Mode::empty()).ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn a_full_pipe_and_an_empty_one_do_not_block_and_keep_their_flags() {
        let (reader, writer) = io::pipe().unwrap();
        let (reader, writer) = (OwnedFd::from(reader), OwnedFd::from(writer));
        let shared = writer.try_clone().unwrap();
        let (reader, writer) = (Fd::reader(reader), Fd::writer(writer));
        let mut buffer = [0; 100];
        assert_eq!(reader.read(&mut buffer).unwrap(), None);
        while writer.write(&[7; 8192]).unwrap() > 0 {}
        assert!(!rustix::fs::fcntl_getfl(&shared).unwrap().contains(OFlags::NONBLOCK));
        assert_eq!(reader.read(&mut buffer).unwrap(), Some(100));
        drop((writer, shared));
        while reader.read(&mut buffer).unwrap() != Some(0) {}
    }

    #[test]
    fn sockets_do_not_block_either() {
        let (a, b) = UnixStream::pair().unwrap();
        let (a, b) = (Fd::writer(a.into()), Fd::reader(b.into()));
        let mut buffer = [0; 100];
        assert_eq!(b.read(&mut buffer).unwrap(), None);
        while a.write(&[7; 8192]).unwrap() > 0 {}
        drop(b);
        assert_eq!(a.write(b"x").unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }

    #[test]
    fn a_writer_learns_that_nobody_reads() {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        let writer = Fd::writer(writer.into());
        assert_eq!(writer.write(b"x").unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }
}
