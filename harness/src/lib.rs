//! A conformance test harness for MCP hosts.
pub mod check;
pub mod decode;
pub mod diagnostic;
pub mod drive;
pub mod host;
pub mod json;
pub mod model;
pub mod plan;
pub mod revision;
pub mod rpc;
pub mod scenario;
pub mod server;
pub mod stage;
pub mod trace;
pub mod wire;
