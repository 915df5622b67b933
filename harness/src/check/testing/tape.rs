//! Writing events.

use crate::json::Json;
use crate::trace::event::{Event, Kind, Payload};

/// The events that were written so far.
#[derive(Default)]
pub(super) struct Tape {
    pub(super) events: Vec<Event>,
    pub(super) run: u32,
    pub(super) tick: u32,
}

/// Where an event stands: the server and its connection.
pub(super) type At<'a> = Option<(&'a str, u32)>;

impl Tape {
    /// The next turn of the recorder loop.
    pub(super) fn tick(&mut self) {
        self.tick += 1;
    }

    pub(super) fn write(
        &mut self,
        kind: Kind,
        at: At<'_>,
        cause: Option<u32>,
        payload: Option<Vec<u8>>,
        data: Json,
    ) -> u32 {
        let n = u32::try_from(self.events.len()).unwrap() + 1;
        self.events.push(Event {
            n,
            us: u64::from(n),
            run: self.run,
            tick: self.tick,
            kind,
            server: at.map(|(server, _)| server.to_owned()),
            conn: at.map(|(_, conn)| conn),
            step: None,
            cause,
            payload: payload.map(Payload::Whole),
            data,
        });
        n
    }

    /// Something that the harness did, by order of a step.
    pub(super) fn order(&mut self, kind: Kind, server: Option<&str>, step: usize, data: Json) {
        self.write(kind, None, None, None, data);
        let event = self.events.last_mut().unwrap();
        event.server = server.map(str::to_owned);
        event.step = Some(u32::try_from(step).unwrap());
    }

    /// An event with facts only, in a turn of its own.
    pub(super) fn fact(&mut self, kind: Kind, at: At<'_>, data: Json) -> u32 {
        self.tick();
        self.write(kind, at, None, None, data)
    }
}
