//! A conformance test harness for MCP hosts.
pub mod catalogue;
pub mod check;
#[cfg(feature = "cli")]
pub mod cli;
pub mod decode;
pub mod diagnostic;
mod director;
pub mod drive;
pub mod host;
pub mod json;
pub mod library;
pub mod model;
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
pub mod trace;
pub mod wire;
