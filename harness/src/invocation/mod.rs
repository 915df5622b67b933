//! One invocation: which hosts and scenarios, how many runs at a time, what is judged and which traces stay.
//!
//! The command line and [`Suite`](crate::Suite) are two faces of this. Nothing here prints.

pub mod failure;
pub mod files;
pub mod hosts;
pub mod job;
pub mod judge;
pub mod known;
pub mod pool;
pub mod route;
pub mod select;
pub mod settle;
pub mod snapshots;
pub mod traces;

use std::env;
use std::hash::{BuildHasher as _, RandomState};
use std::path::PathBuf;

pub use failure::Failure;
pub use hosts::Host;
pub use job::{Job, Ran};
pub use settle::{Settled, Start, settle};
pub use snapshots::Accepted;
pub use traces::Traces;

use crate::stage::{self, StageOptions, Supervisors};

/// The running program, which is also relay and supervisor.
///
/// # Errors
/// The system does not tell (harness).
pub fn self_exe() -> Result<PathBuf, Failure> {
    env::current_exe().map_err(|error| Failure::harness("cannot find this program", error))
}

/// A seed that nobody can guess: the standard library seeds its hashers from the system.
#[must_use]
pub fn random_seed() -> u64 {
    RandomState::new().hash_one(std::process::id())
}

/// The usual options, with Ctrl-C taken over.
///
/// # Errors
/// The system refuses (harness).
pub fn options() -> Result<StageOptions, Failure> {
    let interrupter = stage::interrupter().map_err(|error| Failure::harness("cannot take over Ctrl-C", error))?;
    let supervisors = Some(Supervisors::default());
    Ok(StageOptions { interrupter: Some(interrupter), supervisors, ..StageOptions::new(self_exe()?) })
}
