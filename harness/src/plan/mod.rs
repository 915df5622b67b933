//! Scenario × profile × revision × transport, made into plans.

mod build;
mod cues;
mod revisions;
mod rules;
mod seed;
mod semantics;
mod turns;
mod types;

pub use build::{Select, plan, plan_one};
pub use cues::{Cue, CueAct, Moment};
pub use revisions::{PLAYED, SelectRevisions};
pub use seed::word;
pub use semantics::{load, semantic_errors};
pub use types::{
    CANARY, Plan, PlanKey, Planned, PlannedSearch, PlannedServer, PlannedStop, PlannedUse, Published, Turn,
};

#[cfg(test)]
mod tests;
