//! The recorder loop of one host run.
//!
//! Each turn polls, then reads what makes claims about order (model requests, the host's output, the supervisor), and
//! only then the wires, all of them: whatever a host wrote to a server before it asked the model is on the wire by then,
//! and is recorded first. "Written before" is "recorded before".

use std::time::Duration;

use super::StageOptions;
use super::console::Console;
use super::deadline::{Expired, Phase, Watch};
use super::door::{Door, Visit};
use super::interrupt::Interrupter;
use super::launch::{Report, Supervisor};
use super::recorder::{Draft, Recorder};
use super::script::{Asked, Exchange, Model, Script};
use super::watch::{Reach, Watched};
use super::wires::{Killer, Wires};
use crate::drive::{Act, Drive, Heard};
use crate::json::Json;
use crate::plan::Plan;
use crate::trace::event::{Kind, Lane};
use crate::wire::lines::{Content, Line};

/// Why a host run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// The host ended.
    Exit,
    /// A deadline expired.
    Deadline,
    /// The user of hopcheck interrupted.
    Interrupted,
    /// The host wrote more than can be kept.
    Flood,
    /// hopcheck failed.
    Failed,
}

impl Reason {
    /// Its word in a trace.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Exit => "exit",
            Self::Deadline => "deadline",
            Self::Interrupted => "interrupted",
            Self::Flood => "flood",
            Self::Failed => "failed",
        }
    }
}

/// How far the host has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Host {
    Runs,
    Exited,
    /// It has exited, and the supervisor looks for what it left behind.
    Swept,
    /// Nothing of it is left.
    Gone,
}

/// One host run, from the start of the host to the end of its last process.
pub(super) struct HostRun<'r> {
    pub(super) plan: &'r Plan,
    pub(super) rec: &'r mut Recorder,
    pub(super) supervisor: Supervisor,
    pub(super) wires: Wires,
    pub(super) door: Door,
    pub(super) console: Console,
    pub(super) model: Model<'r>,
    pub(super) drive: Box<dyn Drive>,
    watch: Watch,
    interrupter: Option<&'static Interrupter>,
    host: Host,
    reason: Reason,
    survivors: u32,
    /// Events that count as progress, when last looked at.
    progress: usize,
}

/// The parts of a host run.
pub(super) struct Parts<'r> {
    pub(super) plan: &'r Plan,
    pub(super) rec: &'r mut Recorder,
    pub(super) supervisor: Supervisor,
    pub(super) wires: Wires,
    pub(super) door: Door,
    pub(super) console: Console,
    pub(super) model: Model<'r>,
    pub(super) drive: Box<dyn Drive>,
}

impl<'r> HostRun<'r> {
    pub(super) fn new(parts: Parts<'r>, options: &StageOptions) -> Self {
        let Parts { plan, rec, supervisor, wires, door, console, model, drive } = parts;
        Self {
            plan,
            rec,
            supervisor,
            wires,
            door,
            console,
            model,
            drive,
            watch: Watch::new(options.deadlines),
            interrupter: options.interrupter,
            host: Host::Runs,
            reason: Reason::Exit,
            survivors: 0,
            progress: 0,
        }
    }

    /// Runs to the end; gives the reason and the model, which knows what was offered.
    pub(super) fn run(mut self) -> (Reason, Model<'r>) {
        // The first message is part of the start: nothing on the wires can have been meant to come before it.
        for act in self.drive.start() {
            self.act(act, None);
        }
        self.rec.flush();
        while self.host != Host::Gone {
            self.turn();
            self.rec.flush();
        }
        self.console.record_dropped(self.rec);
        if self.reason != Reason::Failed {
            self.rec.record(Draft::new(Kind::Gone).fact("survivors", self.survivors));
        }
        self.rec.record(Draft::new(Kind::RunEnd).fact("reason", self.reason.as_str()));
        self.rec.flush();
        (self.reason, self.model)
    }

    fn turn(&mut self) {
        if let Err(message) = self.wait() {
            return self.fail(&message);
        }
        self.rec.next_tick();
        self.take_in(Reach::Ready);
        self.process();
        self.wires.fire_timers(self.rec);
        self.wires.pump(self.rec);
        self.door.pump(self.rec);
        self.console.pump(self.rec);
        self.check_limits();
    }

    fn wait(&mut self) -> Result<(), String> {
        let until = [self.watch.at(), self.wires.next_timer()].into_iter().flatten().min();
        let mut fds = Watched::default();
        // While a run is being ended, the interruption is known.
        let interrupter = self.interrupter.filter(|_| self.reason == Reason::Exit);
        if let Some(interrupter) = &interrupter {
            fds.input(*interrupter);
        }
        let supervisor = self.supervisor.fd();
        if let Some(fd) = &supervisor {
            fds.input(fd);
        }
        self.door.watch(&mut fds);
        self.console.watch(&mut fds);
        self.wires.watch(&mut fds);
        let outputs = self.wires.blocked().into_iter().chain(self.door.blocked()).chain(self.console.blocked());
        let mut marks = fds.wait(outputs.collect(), until).map_err(|error| error.to_string())?;

        let interrupted = interrupter.is_some() && marks.next();
        if supervisor.is_some() {
            marks.next();
        }
        self.door.mark(&mut marks);
        self.console.mark(&mut marks);
        self.wires.mark(&mut marks);
        if interrupted {
            self.rec.record(Draft::new(Kind::Interrupted));
            self.end(Reason::Interrupted);
        }
        Ok(())
    }

    /// Reads everything into memory, what makes claims about order first, and records what is on the wires.
    fn take_in(&mut self, reach: Reach) {
        let model = self.door.listen(reach);
        let console = self.console.listen(reach);
        let relays = self.wires.listen(reach);
        let reach = if model || console || relays { Reach::All } else { reach };
        self.wires.drain(reach, self.rec);
        self.settle();
    }

    /// Acts on signals and ends of relays.
    fn settle(&mut self) {
        // The supervisor reports a survivor before it kills it, so a relay that was killed was reported by now.
        self.supervisor.receive();
        let kills = self.reason != Reason::Exit || self.survivors > 0 || self.supervisor.found_survivors();
        self.wires.settle(if kills { Killer::Harness } else { Killer::Host }, self.rec);
    }

    /// Acts on what was read.
    fn process(&mut self) {
        self.process_claims();
        while let Some(report) = self.supervisor.next() {
            self.report(report);
            if self.host == Host::Gone {
                return;
            }
        }
        if self.host == Host::Exited && self.wires.at_rest() {
            self.host = Host::Swept;
            self.supervisor.sweep();
        }
    }

    /// Reads and records all wires, before something that claims to come after them is recorded.
    fn drain(&mut self) {
        self.rec.next_tick();
        self.wires.listen(Reach::All);
        self.wires.drain(Reach::All, self.rec);
        self.settle();
    }

    fn visit(&mut self, visit: Visit) {
        let (visitor, request, path) = match visit {
            Visit::Model { visitor, request, path } => (visitor, request, path),
            Visit::Noise { visitor, reason, request, response } => {
                self.door.record_noise(&reason, request.as_ref(), self.rec);
                return self.door.answer(visitor, request.as_ref(), &response, None, self.rec);
            }
        };
        match self.model.exchange(&request, &path) {
            Exchange::Noise { reason, response } => {
                self.door.record_noise(&reason, Some(&request), self.rec);
                self.door.answer(visitor, Some(&request), &response, None, self.rec);
            }
            Exchange::Reply { request: asked, reply, response, script } => {
                let cause = self.rec.record(asked);
                if self.host != Host::Runs {
                    // Nobody is there to be answered.
                    return;
                }
                self.enter(match script {
                    Script::Over if self.ends_by_itself() => Phase::Shutdown,
                    _ => Phase::Progress,
                });
                self.drain();
                self.door.answer(visitor, Some(&request), &response, Some(reply.cause(Some(cause))), self.rec);
            }
            Exchange::Stop { request: asked, signal } => self.stop(asked, signal),
        }
    }

    /// The plan ends the host by a signal, in the place of an answer.
    fn stop(&mut self, asked: Draft, signal: &str) {
        self.rec.record(asked);
        self.drain();
        self.enter(Phase::Shutdown);
        self.supervisor.signal(signal);
    }

    /// A host that asks no model has come to where one would be asked.
    fn converse(&mut self, body: &Json) {
        let (request, reply, answer) = match self.model.ask(body, &body.to_bytes(), None) {
            Asked::Reply { request, reply, answer, .. } => (request, reply, answer),
            Asked::Stop { request, signal } => return self.stop(request, signal),
        };
        let cause = self.rec.record(request);
        if self.host != Host::Runs {
            return;
        }
        self.enter(Phase::Progress);
        self.drain();
        let onward = self.drive.reply(&answer);
        self.console.say(onward.uses, reply.cause(Some(cause)), self.rec);
        self.talk(onward.acts, None);
    }

    /// Whether the host is to exit after the last reply without being told.
    fn ends_by_itself(&self) -> bool {
        self.drive.stdin() == crate::drive::Stdin::Null
    }

    fn hear(&mut self, line: Line) {
        let reaction = match &line.content {
            Content::Whole(bytes) => self.drive.line(bytes),
            Content::TooLong(_) => return self.console.record_line(line, self.rec),
        };
        let question = match (reaction.heard, line.content) {
            (Heard::Question { about, data }, Content::Whole(bytes)) => {
                let step = about.map(|about| self.plan.uses[about].step);
                Some((self.rec.record(Draft::new(Kind::Question).bytes(bytes).data(data).step(step)), step))
            }
            (Heard::Request(body), _) => return self.converse(&body),
            (Heard::Broken(reason), _) => return self.fail(&format!("the driver is broken: {reason}")),
            (Heard::Protocol, _) => None,
            (_, content) => {
                let line = Line { content, end: line.end };
                self.console.record_line(line, self.rec);
                None
            }
        };
        self.talk(reaction.acts, question);
    }

    /// Carries out what the drive wants; `question` is the event that is answered, and its step.
    fn talk(&mut self, acts: Vec<Act>, question: Option<(u32, Option<usize>)>) {
        for act in acts {
            self.drain();
            self.act(act, question);
        }
    }

    fn act(&mut self, act: Act, question: Option<(u32, Option<usize>)>) {
        match act {
            Act::Prompt { text, bytes } => {
                self.console.say(bytes, Draft::new(Kind::Prompt).bytes(text), self.rec);
            }
            Act::Answer { answer, bytes } => {
                let (cause, step) = question.map_or((None, None), |(n, step)| (Some(n), step));
                let line = bytes.strip_suffix(b"\n").unwrap_or(&bytes).to_vec();
                let draft = Draft::new(Kind::Answer).bytes(line).fact("answer", answer).cause(cause).step(step);
                self.console.say(bytes, draft, self.rec);
            }
            Act::Command { bytes } => self.console.command(bytes, self.rec),
            Act::Stop { bytes } => {
                self.enter(Phase::Shutdown);
                self.console.command(bytes, self.rec);
            }
            Act::Finish => {
                self.enter(Phase::Shutdown);
                self.console.hang_up();
            }
        }
    }

    fn report(&mut self, report: Report) {
        match report {
            Report::Exit(how) => {
                self.host = Host::Exited;
                // Everything that the host wrote is in the pipes by now.
                self.rec.next_tick();
                self.take_in(Reach::All);
                self.process_claims();
                self.rec.record(Draft::new(Kind::HostExit).data(how));
                self.watch.enter(Phase::Sweep);
            }
            Report::Survivor(process) => {
                self.survivors += 1;
                self.rec.record(Draft::new(Kind::Survivor).data(process));
            }
            Report::Gone => {
                self.rec.next_tick();
                self.take_in(Reach::All);
                self.process_claims();
                self.host = Host::Gone;
            }
            Report::Lost(reason) => self.fail(&format!("the supervisor is lost: {reason}")),
        }
    }

    fn process_claims(&mut self) {
        self.console.record_errors(self.rec);
        for line in self.console.take_lines() {
            self.hear(line);
        }
        while let Some(visit) = self.door.next() {
            self.visit(visit);
        }
    }

    fn check_limits(&mut self) {
        if self.reason != Reason::Exit {
            // It is being killed. A kernel that cannot end a process must not hang hopcheck.
            if self.host != Host::Gone && matches!(self.watch.check(), Some(Expired::Over(..))) {
                self.fail("the processes of the run could not be killed");
            }
            return;
        }
        let shows_progress = |lane| matches!(lane, Lane::Wire | Lane::Model | Lane::User);
        let seen = self.rec.events().len();
        if self.rec.events()[self.progress..].iter().any(|event| shows_progress(event.kind.lane())) {
            self.watch.progress();
        }
        self.progress = seen;
        if self.rec.flooded() {
            return self.end(Reason::Flood);
        }
        match self.watch.check() {
            None => {}
            Some(Expired::Extended(phase, limit)) => {
                self.rec.record(deadline(Kind::DeadlineExtended, phase, limit));
            }
            Some(Expired::Over(phase, limit)) => {
                let last = self.rec.last_per_lane();
                self.rec.record(deadline(Kind::Deadline, phase, limit).fact("last", last));
                self.end(Reason::Deadline);
            }
        }
    }

    fn enter(&mut self, phase: Phase) {
        if self.watch.phase() != Phase::Sweep {
            self.watch.enter(phase);
        }
    }

    /// Ends the run early: everything is killed.
    fn end(&mut self, reason: Reason) {
        self.reason = reason;
        self.watch.enter(Phase::Sweep);
        // A host on a thread can only be told.
        self.console.hang_up();
        self.supervisor.kill();
    }

    fn fail(&mut self, message: &str) {
        self.rec.record(Draft::new(Kind::Failed).fact("message", message));
        self.reason = Reason::Failed;
        self.host = Host::Gone;
        self.console.hang_up();
        self.supervisor.destroy();
    }
}

fn deadline(kind: Kind, phase: Phase, limit: Duration) -> Draft {
    let ms = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
    Draft::new(kind).fact("phase", phase.as_str()).fact("ms", ms)
}
