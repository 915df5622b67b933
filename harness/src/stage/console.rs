//! The host's own standard streams.

use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags};

use super::recorder::{Draft, Recorder};
use super::thread::Streams;
use super::watch::{Marks, Reach, Watched};
use crate::drive::Stdin;
use crate::trace::event::Kind;
use crate::wire::lines::{Content, Line, Lines};
use crate::wire::sink::Sink;
use crate::wire::source::Fd;

/// What is kept of a host's output: enough for a long conversation, too little to fill a disk.
const CAP: usize = 4 << 20;

/// What is read from one stream before the others get their turn.
const BUDGET: usize = 1 << 20;

/// Our ends of the host's standard streams.
pub(super) struct Console {
    input: Option<Sink<Option<Draft>>>,
    output: Stream,
    errors: Stream,
    /// Bytes that were recorded of both.
    kept: usize,
    buffer: Vec<u8>,
}

struct Stream {
    kind: Kind,
    name: &'static str,
    fd: Option<Fd>,
    lines: Lines,
    heard: Vec<Line>,
    dropped: u64,
    ready: bool,
}

/// The host's ends, to be passed to it.
pub(super) struct HostEnds {
    input: OwnedFd,
    output: PipeWriter,
    errors: PipeWriter,
}

impl HostEnds {
    /// For a host on a thread, which has no third stream.
    pub(super) fn into_streams(self) -> Streams {
        Streams { input: self.input, output: self.output }
    }

    pub(super) fn streams(&self) -> [BorrowedFd<'_>; 3] {
        [self.input.as_fd(), self.output.as_fd(), self.errors.as_fd()]
    }
}

impl Console {
    pub(super) fn new(stdin: Stdin) -> io::Result<(Self, HostEnds)> {
        let (their_input, input) = match stdin {
            Stdin::Null => (rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?, None),
            Stdin::Pipe => {
                let (reader, writer) = io::pipe()?;
                (reader.into(), Some(Sink::new(Fd::writer(writer.into()))))
            }
        };
        let (output, their_output) = io::pipe()?;
        let (errors, their_errors) = io::pipe()?;
        let console = Self {
            input,
            output: Stream::new(Kind::HostOut, "stdout", output),
            errors: Stream::new(Kind::HostErr, "stderr", errors),
            kept: 0,
            buffer: vec![0; 64 << 10],
        };
        Ok((console, HostEnds { input: their_input, output: their_output, errors: their_errors }))
    }

    pub(super) fn watch<'f>(&'f self, fds: &mut Watched<'f>) {
        for stream in [&self.output, &self.errors] {
            if let Some(fd) = &stream.fd {
                fds.input(fd);
            }
        }
    }

    pub(super) fn mark(&mut self, marks: &mut Marks) {
        for stream in [&mut self.output, &mut self.errors] {
            stream.ready = stream.fd.is_some() && marks.next();
        }
    }

    pub(super) fn blocked(&self) -> Option<BorrowedFd<'_>> {
        self.input.as_ref().and_then(Sink::blocked_on)
    }

    /// Takes in bytes without acting on them; says whether there were any.
    pub(super) fn listen(&mut self, reach: Reach) -> bool {
        let output = self.output.read(reach, &mut self.buffer);
        self.errors.read(reach, &mut self.buffer) | output
    }

    /// Records the lines of standard error.
    pub(super) fn record_errors(&mut self, rec: &mut Recorder) {
        for line in std::mem::take(&mut self.errors.heard) {
            let errors = &mut self.errors;
            keep(errors, &mut self.kept, line, rec);
        }
    }

    /// The lines of standard output, to be looked at and then recorded.
    pub(super) fn take_lines(&mut self) -> Vec<Line> {
        std::mem::take(&mut self.output.heard)
    }

    /// Records a line of standard output that was nothing but output.
    pub(super) fn record_line(&mut self, line: Line, rec: &mut Recorder) {
        keep(&mut self.output, &mut self.kept, line, rec);
    }

    /// Writes to the host. The draft is recorded when the first byte is sent; without bytes at once.
    pub(super) fn say(&mut self, bytes: Vec<u8>, draft: Draft, rec: &mut Recorder) {
        match &mut self.input {
            Some(input) if !bytes.is_empty() => input.push(bytes, Some(draft)),
            _ => drop(rec.record(draft)),
        }
        self.pump(rec);
    }

    /// Writes to the host what is no event.
    pub(super) fn command(&mut self, bytes: Vec<u8>, rec: &mut Recorder) {
        if let Some(input) = &mut self.input {
            input.push(bytes, None);
        }
        self.pump(rec);
    }

    /// Writes what could not be written before.
    pub(super) fn pump(&mut self, rec: &mut Recorder) {
        let Some(input) = &mut self.input else { return };
        let mut begun = Vec::new();
        // A host that no longer reads is about to exit; that is what gets recorded.
        input.pump(&mut begun);
        for draft in begun.into_iter().flatten() {
            rec.record(draft);
        }
    }

    /// Closes the host's standard input.
    pub(super) fn hang_up(&mut self) {
        self.input = None;
    }

    /// Records how much was left out.
    pub(super) fn record_dropped(&self, rec: &mut Recorder) {
        for stream in [&self.output, &self.errors] {
            if stream.dropped > 0 {
                let draft = Draft::new(Kind::Dropped).fact("stream", stream.name).fact("dropped", stream.dropped);
                rec.record(draft);
            }
        }
    }
}

impl Stream {
    fn new(kind: Kind, name: &'static str, pipe: PipeReader) -> Self {
        Self {
            kind,
            name,
            fd: Some(Fd::reader(pipe.into())),
            lines: Lines::default(),
            heard: Vec::new(),
            dropped: 0,
            ready: false,
        }
    }

    fn read(&mut self, reach: Reach, buffer: &mut [u8]) -> bool {
        let mut total = 0;
        if !self.ready && reach == Reach::Ready {
            return false;
        }
        while total < BUDGET
            && let Some(fd) = &self.fd
        {
            match fd.read(buffer) {
                Ok(Some(0)) | Err(_) => {
                    self.heard.extend(self.lines.finish());
                    self.fd = None;
                }
                Ok(Some(got)) => {
                    self.lines.push(&buffer[..got], &mut self.heard);
                    total += got;
                }
                Ok(None) => break,
            }
        }
        total > 0
    }
}

/// Records a line, unless the cap is reached.
fn keep(stream: &mut Stream, kept: &mut usize, line: Line, rec: &mut Recorder) {
    match line.content {
        Content::Whole(bytes) if *kept + bytes.len() <= CAP => {
            // The line feed counts, or empty lines would cost nothing.
            *kept += bytes.len() + 1;
            rec.record(Draft::new(stream.kind).bytes(bytes).fact("end", line.end.as_str()));
        }
        Content::Whole(bytes) => stream.dropped += bytes.len() as u64,
        Content::TooLong(payload) => stream.dropped += payload.len(),
    }
}
