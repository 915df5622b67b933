//! One process of a scripted server: its standard streams, which hopcheck holds, and its relay, which only lives.

use std::collections::HashMap;
use std::os::fd::{BorrowedFd, OwnedFd};

use super::recorder::{Draft, Recorder};
use super::watch::{Marks, Reach, Watched};
use crate::json::Json;
use crate::server::{Act, Cause};
use crate::trace::event::Kind;
use crate::wire::channel::{Channel, Wait};
use crate::wire::lines::{Line, Lines};
use crate::wire::sink::{Pumped, Sink};
use crate::wire::source::Fd;

/// How a process ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum How {
    /// With a code.
    Exit(i32),
    /// By a signal.
    Signal(String),
}

impl How {
    pub(super) fn add_to(&self, draft: Draft) -> Draft {
        match self {
            Self::Exit(code) => draft.fact("code", *code),
            Self::Signal(name) => draft.fact("signal", name.as_str()),
        }
    }
}

/// What becomes of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It goes on.
    Alive,
    /// It ends when what it has written is through, as a process that blocks in a write.
    Ending(How),
    /// Its relay was told to end, since the host wanted it to. The host may go on with signals until it has.
    Told(How),
    /// It ended by its own, and this is recorded: what the host does from here on is a reaction. The relay follows.
    Dead,
    /// The relay has ended.
    Gone,
}

/// Who began to end a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ender {
    /// Its script.
    Script,
    /// The host, which closed its input or sent a signal.
    Host,
}

#[derive(Debug)]
pub(super) struct Conn {
    /// Its server, as an index into the plan.
    pub(super) server: usize,
    key: String,
    pub(super) number: u32,
    relay: Channel,
    input: Option<Fd>,
    lines: Lines,
    output: Sink<Draft>,
    errors: Sink<Draft>,
    /// The event of the newest request with each id, as the id is written.
    pub(super) requests: HashMap<String, u32>,
    pub(super) fate: Fate,
    ender: Ender,
    relay_ready: bool,
    input_ready: bool,
}

impl Conn {
    pub(super) fn new(server: usize, key: &str, number: u32, relay: Channel, streams: [OwnedFd; 3]) -> Self {
        let [input, output, errors] = streams;
        Self {
            server,
            key: key.to_owned(),
            number,
            relay,
            input: Some(Fd::reader(input)),
            lines: Lines::default(),
            output: Sink::new(Fd::writer(output)),
            errors: Sink::new(Fd::writer(errors)),
            requests: HashMap::new(),
            fate: Fate::Alive,
            ender: Ender::Script,
            relay_ready: true,
            // What the host wrote before the relay said hello is there already.
            input_ready: true,
        }
    }

    pub(super) fn draft(&self, kind: Kind) -> Draft {
        Draft::new(kind).server(&self.key, self.number)
    }

    pub(super) fn watch<'f>(&'f self, fds: &mut Watched<'f>) {
        if self.fate != Fate::Gone {
            fds.input(&self.relay);
        }
        if let Some(input) = &self.input {
            fds.input(input);
        }
    }

    pub(super) fn mark(&mut self, marks: &mut Marks) {
        self.relay_ready = self.fate != Fate::Gone && marks.next();
        self.input_ready = self.input.is_some() && marks.next();
    }

    pub(super) fn blocked(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.output.blocked_on().into_iter().chain(self.errors.blocked_on())
    }

    /// Takes in what the relay says; says whether it was to be expected.
    pub(super) fn listen(&mut self, reach: Reach) -> bool {
        if (self.relay_ready || reach == Reach::All) && self.fate != Fate::Gone {
            // A socket that fails is at its end.
            let _ = self.relay.receive(Wait::Never);
        }
        self.relay_ready
    }

    pub(super) fn is_readable(&self, reach: Reach) -> bool {
        self.input.is_some() && (self.input_ready || reach == Reach::All)
    }

    /// Reads once. `None` means that nothing is there, `Some(0)` the end.
    pub(super) fn read(&mut self, buffer: &mut [u8], lines: &mut Vec<Line>) -> Option<usize> {
        // An input that fails is at its end.
        let got = self.input.as_ref()?.read(buffer).unwrap_or(Some(0))?;
        self.lines.push(&buffer[..got], lines);
        Some(got)
    }

    /// Bytes of the line that is not complete.
    pub(super) fn unfinished(&self) -> usize {
        self.lines.held()
    }

    /// Bytes that the host does not read.
    pub(super) fn unread(&self) -> usize {
        self.output.held() + self.errors.held()
    }

    /// The end of the input: the line that was cut short, where there is one.
    pub(super) fn finish_input(&mut self) -> Option<Line> {
        self.input = None;
        self.ender = Ender::Host;
        self.lines.finish()
    }

    /// The next signal that the relay reported. A process that ended by its own gets none any more, though its relay may
    /// live a moment longer.
    pub(super) fn next_signal(&mut self) -> Option<String> {
        let message = self.relay.take()?;
        let name = message.str("signal").filter(|_| self.fate != Fate::Dead)?;
        if self.fate == Fate::Alive {
            self.ender = Ender::Host;
        }
        Some(name.to_owned())
    }

    /// Whether the relay has ended and this was not seen before.
    pub(super) fn relay_ended(&self) -> bool {
        self.fate != Fate::Gone && self.relay.ended()
    }

    pub(super) fn perform(&mut self, act: Act, rec: &mut Recorder) {
        match act {
            Act::Send { mut line, cause } => {
                let cause = match cause {
                    Cause::Request { id } => self.requests.get(&id.to_string()).copied(),
                    Cause::Other => None,
                };
                let draft = self.draft(Kind::ToHost).cause(cause).bytes(line.clone());
                line.push(b'\n');
                self.output.push(line, draft);
            }
            Act::Raw(bytes) => {
                let draft = self.draft(Kind::ToHost).bytes(bytes.clone()).data(Json::object([("raw", true)]));
                self.output.push(bytes, draft);
            }
            Act::Stderr(text) => {
                let draft = self.draft(Kind::ServerErr).bytes(text.clone());
                self.errors.push(text, draft);
            }
            Act::CloseStdout => {
                self.pump(rec);
                if self.output.is_open() {
                    self.output.close();
                    rec.record(self.draft(Kind::WireClosed).fact("by", "server"));
                }
            }
            Act::Exit(code) => self.end(How::Exit(code)),
            Act::Kill(name) => {
                // A signal ends a process also while it blocks in a write.
                self.output.close();
                self.errors.close();
                self.end(How::Signal(name));
            }
            Act::Timer { .. } => {}
        }
    }

    fn end(&mut self, how: How) {
        if self.fate == Fate::Alive {
            self.fate = Fate::Ending(how);
        }
    }

    /// Writes what fits and records it, and ends the process where nothing is left to write.
    pub(super) fn pump(&mut self, rec: &mut Recorder) {
        let mut begun = Vec::new();
        if self.output.pump(&mut begun) == Pumped::Broken {
            begun.push(self.draft(Kind::WireClosed).fact("by", "host"));
        }
        // A host that does not read standard error is no fault of the wire.
        self.errors.pump(&mut begun);
        for draft in begun {
            rec.record(draft);
        }
        if let Fate::Ending(how) = &self.fate
            && self.output.is_idle()
            && self.errors.is_idle()
        {
            let how = how.clone();
            self.close();
            let command = match &how {
                How::Exit(code) => Json::object([("exit", *code)]),
                How::Signal(name) => Json::object([("kill", name)]),
            };
            // A relay that is gone already is noticed when its socket is read.
            let _ = self.relay.send(&command, &[]);
            self.fate = match self.ender {
                Ender::Host => Fate::Told(how),
                Ender::Script => {
                    rec.record(how.add_to(self.draft(Kind::ServerExit)).fact("by", "script"));
                    Fate::Dead
                }
            };
        }
    }

    /// Closes the standard streams, as the end of a process does.
    pub(super) fn close(&mut self) {
        self.input = None;
        self.output.close();
        self.errors.close();
    }
}
