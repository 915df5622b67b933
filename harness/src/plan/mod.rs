//! Scenario × profile × revision × transport, made into plans.

mod types;

pub use types::{Plan, PlanKey, Planned, PlannedServer, PlannedUse, Published, Turn};
