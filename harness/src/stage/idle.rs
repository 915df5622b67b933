//! Supervisors between two runs.

use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use super::launch::{Isolation, Supervisor};

/// Supervisors that wait for another run: to start one, with a network of its own, costs more than most runs do.
///
/// It takes in only those whose run ended by itself and left no process behind, so nothing is there that the next run could
/// find: home, work folder, listener and processes are new each time. They end when the last clone is dropped.
#[derive(Clone, Debug, Default)]
pub struct Supervisors(Arc<Mutex<Vec<(Isolation, Supervisor)>>>);

impl Supervisors {
    /// One that waits, with a new listener. None where nobody waits, or who did has died since.
    pub(super) fn take(&self, isolation: Isolation) -> Option<(Supervisor, TcpListener)> {
        let mut waiting = self.0.lock().ok()?;
        let at = waiting.iter().rposition(|(known, _)| *known == isolation)?;
        let (_, supervisor) = waiting.swap_remove(at);
        drop(waiting);
        supervisor.again().ok()
    }

    /// Keeps one for another run.
    pub(super) fn give(&self, isolation: Isolation, supervisor: Supervisor) {
        if let Ok(mut waiting) = self.0.lock() {
            waiting.push((isolation, supervisor));
        }
    }
}
