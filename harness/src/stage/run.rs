//! The recorder loop of one host run.
//!
//! Each turn polls, then reads what makes claims about order (model requests, the host's output, the supervisor), and
//! only then the wires, all of them: whatever a host wrote to a server before it asked the model is on the wire by then,
//! and is recorded first. "Written before" is "recorded before".

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::StageOptions;
use super::console::Console;
use super::deadline::{self, Expired, Phase, Watch};
use super::door::{Door, Visit, VisitorId};
use super::interrupt::Interrupter;
use super::launch::{Lost, Report, Supervisor};
use super::processes::Left;
use super::recorder::{Draft, Excess, Recorder};
use super::script::{Asked, Exchange, Model, Script};
use super::watch::{Reach, Watched};
use super::wires::{Killer, MAX_HELD, Wires};
use crate::director::{Direction, Director};
use crate::drive::{Act, Drive, Heard};
use crate::json::Json;
use crate::model::Answer;
use crate::plan::Plan;
use crate::scenario::ast::Change;
use crate::server::script::Tool;
use crate::trace::event::{Kind, Lane};
use crate::wire::http::{Request, Response};
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
    /// The supervisor was killed or stopped by what it watches over.
    Orphaned,
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
            Self::Orphaned => "orphaned",
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

/// What is left of a host run.
pub(super) struct Ended<'r> {
    pub(super) reason: Reason,
    /// Its last event, to which is added what follows.
    pub(super) end: Draft,
    /// It knows what was offered.
    pub(super) model: Model<'r>,
    /// Where it can have another run.
    pub(super) supervisor: Option<Supervisor>,
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

/// One host run, from the start of the host to the end of its last process.
pub(super) struct HostRun<'r> {
    parts: Parts<'r>,
    director: Director<'r>,
    /// Events that the director has seen.
    shown: usize,
    /// What waits until the director lets the conversation go on, oldest first.
    deferred: VecDeque<Deferred>,
    watch: Watch,
    interrupter: Option<&'static Interrupter>,
    host: Host,
    reason: Reason,
    survivors: u32,
    /// Events that count as progress, when last looked at.
    progress: usize,
}

/// What a conversation that is held up goes on with.
enum Deferred {
    /// A reply of the model.
    Reply(Box<Reply>),
    /// The signal that ends the host.
    Stop { signal: &'static str },
    /// What the drive says.
    Say(Act),
}

/// A reply of the model that has not been given yet.
struct Reply {
    /// The request that it answers.
    cause: u32,
    draft: Draft,
    phase: Phase,
    to: Addressee,
}

/// Who asked the model.
enum Addressee {
    /// A host that has an endpoint for it.
    Visitor { visitor: VisitorId, request: Request, response: Response },
    /// A drive, for a host that asks no model.
    Drive(Box<Answer>),
}

impl<'r> HostRun<'r> {
    pub(super) fn new(parts: Parts<'r>, options: &StageOptions) -> Self {
        // Earlier host runs of the trace are none of its business.
        let seen = parts.rec.events().len();
        Self {
            director: Director::new(parts.plan),
            shown: seen,
            deferred: VecDeque::new(),
            watch: Watch::new(options.deadlines),
            interrupter: options.interrupter,
            host: Host::Runs,
            reason: Reason::Exit,
            survivors: 0,
            progress: 0,
            parts,
        }
    }

    /// Runs to the end, whose event is left to be recorded.
    pub(super) fn run(mut self) -> Ended<'r> {
        // The first message is part of the start: nothing on the wires can have been meant to come before it.
        for act in self.parts.drive.start() {
            self.act(act, None);
        }
        self.parts.rec.flush();
        while self.host != Host::Gone {
            self.turn();
            self.parts.rec.flush();
        }
        self.parts.console.record_dropped(self.parts.rec);
        if self.reason != Reason::Failed {
            self.parts.rec.record(Draft::new(Kind::Gone).fact("survivors", self.survivors));
        }
        let mut end = Draft::new(Kind::RunEnd).fact("reason", self.reason.as_str());
        if let (Reason::Flood, Some(excess)) = (self.reason, self.parts.rec.excess()) {
            end = end.fact("of", excess.as_str());
        }
        let Parts { supervisor, model, .. } = self.parts;
        let free = self.reason == Reason::Exit && self.survivors == 0 && supervisor.is_free();
        Ended { reason: self.reason, end, model, supervisor: free.then_some(supervisor) }
    }

    fn turn(&mut self) {
        if let Err(message) = self.wait() {
            return self.fail(&message);
        }
        self.parts.rec.next_tick();
        self.take_in(Reach::Ready);
        self.process();
        self.parts.wires.fire_timers(self.parts.rec);
        self.parts.wires.pump(self.parts.rec);
        self.parts.door.pump(self.parts.rec);
        self.parts.console.pump(self.parts.rec);
        self.direct();
        self.check_limits();
    }

    fn wait(&mut self) -> Result<(), String> {
        let timers = [self.watch.at(), self.parts.wires.next_timer(), self.director.timer()];
        let until = timers.into_iter().flatten().min();
        let mut fds = Watched::default();
        // While a run is being ended, the interruption is known.
        let interrupter = self.interrupter.filter(|_| self.reason == Reason::Exit);
        if let Some(interrupter) = &interrupter {
            fds.input(*interrupter);
        }
        self.parts.supervisor.watch(&mut fds);
        self.parts.door.watch(&mut fds);
        self.parts.console.watch(&mut fds);
        self.parts.wires.watch(&mut fds);
        let outputs = self
            .parts
            .wires
            .blocked()
            .into_iter()
            .chain(self.parts.door.blocked())
            .chain(self.parts.console.blocked());
        let mut marks = fds.wait(outputs.collect(), until).map_err(|error| error.to_string())?;

        let interrupted = interrupter.is_some() && marks.next();
        self.parts.supervisor.mark(&mut marks);
        self.parts.door.mark(&mut marks);
        self.parts.console.mark(&mut marks);
        self.parts.wires.mark(&mut marks);
        if interrupted {
            self.parts.rec.record(Draft::new(Kind::Interrupted));
            self.end(Reason::Interrupted);
        }
        Ok(())
    }

    /// Reads everything into memory, what makes claims about order first, and records what is on the wires.
    fn take_in(&mut self, reach: Reach) {
        let console = self.parts.console.listen(reach);
        let heard = match (self.parts.door.listen(reach), self.parts.wires.listen(reach)) {
            (Ok(model), Ok(relays)) => model || relays || console,
            // A host that nobody answers would seem to hang.
            (Err(error), _) | (_, Err(error)) => {
                return self.fail(&format!("cannot accept a connection: {error}"));
            }
        };
        let reach = if heard { Reach::All } else { reach };
        self.parts.wires.drain(reach, self.parts.rec);
        self.settle();
    }

    /// Acts on signals and ends of relays.
    fn settle(&mut self) {
        // The supervisor reports a survivor before it kills it, so a relay that was killed was reported by now.
        self.parts.supervisor.receive();
        let kills = self.reason != Reason::Exit || self.survivors > 0 || self.parts.supervisor.found_survivors();
        self.parts.wires.settle(if kills { Killer::Harness } else { Killer::Host }, self.parts.rec);
    }

    /// Acts on what was read.
    fn process(&mut self) {
        self.process_claims();
        while let Some(report) = self.parts.supervisor.next() {
            self.report(report);
            if self.host == Host::Gone {
                return;
            }
        }
        if self.host == Host::Exited && self.parts.wires.at_rest() {
            self.host = Host::Swept;
            self.parts.supervisor.sweep();
        }
    }

    /// Reads and records all wires, before something that claims to come after them is recorded.
    fn drain(&mut self) {
        self.parts.rec.next_tick();
        if let Err(error) = self.parts.wires.listen(Reach::All) {
            return self.fail(&format!("cannot accept a connection: {error}"));
        }
        self.parts.wires.drain(Reach::All, self.parts.rec);
        self.settle();
    }

    fn visit(&mut self, visit: Visit) {
        let (visitor, request, path) = match visit {
            Visit::Model { visitor, request, path } => (visitor, request, path),
            Visit::Noise { visitor, reason, request, response } => {
                self.parts.door.record_noise(&reason, request.as_ref(), self.parts.rec);
                return self.parts.door.answer(visitor, request.as_ref(), &response, None, self.parts.rec);
            }
        };
        match self.parts.model.exchange(&request, &path) {
            Exchange::Noise { reason, response } => {
                self.parts.door.record_noise(&reason, Some(&request), self.parts.rec);
                self.parts.door.answer(visitor, Some(&request), &response, None, self.parts.rec);
            }
            Exchange::Reply { request: asked, reply, response, script } => {
                let phase = match script {
                    Script::Over if self.ends_by_itself() => Phase::Shutdown,
                    _ => Phase::Progress,
                };
                self.asked(asked, reply, phase, Addressee::Visitor { visitor, request, response });
            }
            Exchange::Stop { request: asked, signal } => self.stop(asked, signal),
        }
    }

    /// A host that asks no model has come to where one would be asked.
    fn converse(&mut self, body: &Json) {
        match self.parts.model.ask(body, &body.to_bytes(), None) {
            Asked::Reply { request, reply, answer, .. } => {
                self.asked(request, reply, Phase::Progress, Addressee::Drive(answer));
            }
            Asked::Stop { request, signal } => self.stop(request, signal),
        }
    }

    fn asked(&mut self, asked: Draft, reply: Draft, phase: Phase, to: Addressee) {
        let cause = self.parts.rec.record(asked);
        self.go_on(Deferred::Reply(Box::new(Reply { cause, draft: reply, phase, to })));
    }

    /// The plan ends the host by a signal, in the place of an answer.
    fn stop(&mut self, asked: Draft, signal: &'static str) {
        self.parts.rec.record(asked);
        self.go_on(Deferred::Stop { signal });
    }

    /// Goes on with the conversation, at once or when it is no longer held up.
    fn go_on(&mut self, with: Deferred) {
        self.show_director();
        self.deferred.push_back(with);
        self.resume();
    }

    /// Goes on with what waits, as long as nothing holds it up. A server that has ended has ended for the host as well before
    /// the conversation goes on, or its next call might still be made to a process that only waits to be reaped.
    fn resume(&mut self) {
        while !self.director.holds()
            && !self.parts.wires.is_someone_dying()
            && let Some(next) = self.deferred.pop_front()
        {
            match next {
                // Where the host has ended, nobody is there to be answered.
                Deferred::Reply(reply) if self.host == Host::Runs => self.reply(*reply),
                Deferred::Reply(_) => {}
                Deferred::Stop { signal } => {
                    self.drain();
                    self.enter(Phase::Shutdown);
                    self.parts.supervisor.signal(signal);
                }
                Deferred::Say(act) => {
                    self.drain();
                    self.act(act, None);
                }
            }
            self.show_director();
        }
    }

    fn reply(&mut self, reply: Reply) {
        let Reply { cause, draft, phase, to } = reply;
        self.enter(phase);
        self.drain();
        let draft = draft.cause(Some(cause));
        match to {
            Addressee::Visitor { visitor, request, response } => {
                self.parts.door.answer(visitor, Some(&request), &response, Some(draft), self.parts.rec);
            }
            Addressee::Drive(answer) => {
                let onward = self.parts.drive.reply(&answer);
                self.parts.console.say(onward.uses, draft, self.parts.rec);
                self.talk(onward.acts, None);
            }
        }
    }

    /// Shows the director what was recorded.
    fn show_director(&mut self) {
        let now = Instant::now();
        for event in &self.parts.rec.events()[self.shown..] {
            self.director.see(event, now);
        }
        self.shown = self.parts.rec.events().len();
    }

    /// Does what the director says, until it has nothing more to say.
    fn direct(&mut self) {
        loop {
            self.show_director();
            let Some(direction) = self.director.next(Instant::now(), deadline::load) else { break };
            // What the host has written by now was written before.
            self.drain();
            self.carry_out(direction);
        }
        self.resume();
    }

    fn carry_out(&mut self, direction: Direction<'r>) {
        match direction {
            Direction::Interrupt { step } => {
                if let Some(bytes) = self.parts.drive.interrupt() {
                    let line = bytes.strip_suffix(b"\n").unwrap_or(&bytes).to_vec();
                    let draft = Draft::new(Kind::Interrupt).bytes(line).step(Some(step));
                    self.parts.console.say(bytes, draft, self.parts.rec);
                }
            }
            Direction::Change { step, change } => {
                self.parts.rec.record(changed(change).step(Some(step)));
                self.parts.wires.change(&change.server.value, &change.edit, change.announce, self.parts.rec);
            }
            Direction::Release { step, release, calls } => {
                let (hold, order) = (release.hold.value.as_str(), release.order.as_str());
                let draft = Draft::new(Kind::Release).fact("hold", hold).fact("order", order);
                self.parts.rec.record(draft.step(Some(step)));
                self.parts.wires.release(hold, &calls, self.parts.rec);
            }
            Direction::Quiet { step, waited_for, ms } => {
                let draft = Draft::new(Kind::Quiet).fact("for", waited_for).fact("ms", ms);
                self.parts.rec.record(draft.step(Some(step)));
            }
            Direction::Overdue { index, ms } => {
                let draft = Draft::new(Kind::Overdue).fact("use", index).fact("ms", ms);
                self.parts.rec.record(draft.step(Some(self.parts.plan.uses[index].step)));
            }
        }
    }

    /// Whether the host is to exit after the last reply without being told.
    fn ends_by_itself(&self) -> bool {
        self.parts.drive.stdin() == crate::drive::Stdin::Null
    }

    fn hear(&mut self, line: Line) {
        let reaction = match &line.content {
            Content::Whole(bytes) => self.parts.drive.line(bytes),
            Content::TooLong(_) => return self.parts.console.record_line(line, self.parts.rec),
        };
        let question = match (reaction.heard, line.content) {
            (Heard::Question { about, data }, Content::Whole(bytes)) => {
                let step = about.map(|about| self.parts.plan.uses[about].step);
                Some((self.parts.rec.record(Draft::new(Kind::Question).bytes(bytes).data(data).step(step)), step))
            }
            (Heard::Request(body), _) => return self.converse(&body),
            (Heard::Broken(reason), _) => return self.fail(&format!("the driver is broken: {reason}")),
            (Heard::Protocol, _) => None,
            (_, content) => {
                let line = Line { content, end: line.end };
                self.parts.console.record_line(line, self.parts.rec);
                None
            }
        };
        self.talk(reaction.acts, question);
    }

    /// Carries out what the drive wants; `question` is the event that is answered, and its step. An answer is part of a
    /// call, all else goes on with the conversation, in its order.
    fn talk(&mut self, acts: Vec<Act>, question: Option<(u32, Option<usize>)>) {
        for act in acts {
            let is_part_of_a_call = matches!(act, Act::Command { .. }) && self.deferred.is_empty();
            if is_part_of_a_call || matches!(act, Act::Answer { .. }) {
                self.drain();
                self.act(act, question);
            } else {
                self.go_on(Deferred::Say(act));
            }
        }
    }

    fn act(&mut self, act: Act, question: Option<(u32, Option<usize>)>) {
        match act {
            Act::Prompt { text, bytes } => {
                self.parts.console.say(bytes, Draft::new(Kind::Prompt).bytes(text), self.parts.rec);
            }
            Act::Answer { answer, bytes } => {
                let (cause, step) = question.map_or((None, None), |(n, step)| (Some(n), step));
                let line = bytes.strip_suffix(b"\n").unwrap_or(&bytes).to_vec();
                let draft = Draft::new(Kind::Answer).bytes(line).fact("answer", answer).cause(cause).step(step);
                self.parts.console.say(bytes, draft, self.parts.rec);
            }
            Act::Command { bytes } => self.parts.console.command(bytes, self.parts.rec),
            Act::Stop { bytes } => {
                self.enter(Phase::Shutdown);
                self.parts.console.command(bytes, self.parts.rec);
            }
            Act::Finish => {
                self.enter(Phase::Shutdown);
                self.parts.console.hang_up();
            }
        }
    }

    fn report(&mut self, report: Report) {
        match report {
            Report::Exit(how) => {
                self.host = Host::Exited;
                // Everything that the host wrote is in the pipes by now.
                self.parts.rec.next_tick();
                self.take_in(Reach::All);
                self.process_claims();
                self.parts.rec.record(Draft::new(Kind::HostExit).data(how));
                self.watch.enter(Phase::Sweep);
            }
            Report::Survivor(process) => {
                self.survivors += 1;
                self.parts.rec.record(Draft::new(Kind::Survivor).data(process));
            }
            Report::Gone => {
                self.parts.rec.next_tick();
                self.take_in(Reach::All);
                self.process_claims();
                self.host = Host::Gone;
            }
            Report::Lost(Lost::Signal(signal)) => self.orphaned(&signal),
            Report::Lost(Lost::Failed(reason)) => self.fail(&format!("the supervisor is lost: {reason}")),
        }
    }

    /// Somebody has killed or stopped the supervisor, and only what it watches over knows of it.
    fn orphaned(&mut self, signal: &str) {
        self.parts.rec.record(Draft::new(Kind::SupervisorLost).fact("signal", signal));
        if self.reason == Reason::Exit {
            self.reason = Reason::Orphaned;
        }
        if self.parts.supervisor.destroy() == Left::Some {
            return self.fail("the processes of the run could not be killed");
        }
        self.parts.rec.next_tick();
        self.take_in(Reach::All);
        self.process_claims();
        self.host = Host::Gone;
    }

    fn process_claims(&mut self) {
        self.parts.console.record_errors(self.parts.rec);
        for line in self.parts.console.take_lines() {
            self.hear(line);
        }
        // What comes after too much is left where it is: the run is over.
        while self.parts.rec.excess().is_none()
            && let Some(visit) = self.parts.door.next()
        {
            self.visit(visit);
            if self.parts.door.unread() > MAX_HELD {
                self.parts.rec.exceed(Excess::Unread);
            }
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
        let seen = self.parts.rec.events().len();
        if self.parts.rec.events()[self.progress..].iter().any(|event| shows_progress(event.kind.lane())) {
            self.watch.progress();
        }
        self.progress = seen;
        if self.parts.wires.unfinished() + self.parts.door.unfinished() > MAX_HELD {
            self.parts.rec.exceed(Excess::Unfinished);
        }
        if self.parts.rec.excess().is_some() {
            return self.end(Reason::Flood);
        }
        match self.watch.check() {
            None => {}
            Some(Expired::Extended(phase, limit)) => {
                self.parts.rec.record(expired(Kind::DeadlineExtended, phase, limit));
            }
            Some(Expired::Over(phase, limit)) => {
                let last = self.parts.rec.last_per_lane();
                self.parts.rec.record(expired(Kind::Deadline, phase, limit).fact("last", last));
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
        self.parts.console.hang_up();
        self.parts.supervisor.kill();
    }

    fn fail(&mut self, message: &str) {
        self.parts.rec.record(Draft::new(Kind::Failed).fact("message", message));
        self.reason = Reason::Failed;
        self.host = Host::Gone;
        self.parts.console.hang_up();
        // Whatever is left, it is told already that the run failed.
        let _ = self.parts.supervisor.destroy();
    }
}

fn changed(change: &Change) -> Draft {
    let names = |tools: &[Tool]| Json::array(tools.iter().map(|tool| tool.name.as_str()));
    Draft::new(Kind::Change)
        .of_server(&change.server.value)
        .fact("add", names(&change.edit.add))
        .fact("remove", Json::array(change.edit.remove.iter().map(String::as_str)))
        .fact("replace", names(&change.edit.replace))
        .fact("announce", change.announce)
}

fn expired(kind: Kind, phase: Phase, limit: Duration) -> Draft {
    let ms = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
    Draft::new(kind).fact("phase", phase.as_str()).fact("ms", ms)
}
