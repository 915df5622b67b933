//! A conformance test harness for MCP hosts.
//!
//! An MCP *host* sits between a model and MCP servers. hopcheck plays both: a scripted model behind the host's own model
//! API, and scripted servers behind its MCP client. What passes between them is recorded in three lanes (model, wire,
//! process) and judged, requirement by requirement.
//!
//! ```text
//! scenario file ─parse→ Scenario ─plan→ Plan ─stage→ Trace ─check→ Findings ─→ report
//!                                                      └─────────────────────→ snapshot
//! ```
//!
//! | step | module | gives |
//! |---|---|---|
//! | parse | [`scenario`], [`server`], [`host`] | files as types, every value with its place in the file; all errors at once |
//! | plan | [`plan`] | scenario × host × revision × transport: what is to be done, or why it does not apply |
//! | stage | [`stage`] | the record of one run; the only part that touches processes, sockets and clocks |
//! | check | [`check`] | a verdict on each requirement that the record speaks of, with the events it rests on |
//! | | [`snapshot`], [`report`] | a record as a text to review; findings for people and programs |
//!
//! The [`trace`] is the waist: nothing before it judges, and judging needs nothing else.
//!
//! ```
//! use std::sync::Arc;
//!
//! use hopcheck::host;
//! use hopcheck::library::{self, Builtin};
//! use hopcheck::plan::{self, Planned, Select};
//!
//! let file = library::scenarios().iter().find(|file| file.name == "scenarios/call/lookup.toml").unwrap();
//! let scenario = Arc::new(plan::load(file, "call", "lookup", &Builtin).unwrap().remove(0));
//! let (_, file) = library::profiles().iter().find(|(name, _)| name == "reference").unwrap();
//! let profile = Arc::new(host::decode::parse(file, None, None).unwrap());
//!
//! let plans = plan::plan(&scenario, &profile, None, &Select::default()).unwrap();
//! assert!(plans.iter().all(|planned| matches!(planned, Planned::Run(plan) if plan.uses.len() == 1)));
//! ```

pub mod baseline;
pub mod catalogue;
pub mod check;
#[cfg(feature = "cli")]
pub mod cli;
pub mod decode;
pub mod diagnostic;
mod director;
pub mod drive;
pub mod driver;
pub mod embedded;
pub mod host;
pub mod invocation;
pub mod json;
pub mod library;
pub mod model;
pub mod pack;
pub mod plan;
pub mod report;
pub mod requirement;
pub mod revision;
pub mod rpc;
pub mod scenario;
pub mod schema;
pub mod server;
pub mod snapshot;
pub mod stage;
mod suite;
pub mod trace;
pub mod wire;

pub use suite::Suite;
