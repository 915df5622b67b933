//! A conformance test harness for MCP hosts.
pub mod decode;
pub mod diagnostic;
pub mod host;
pub mod json;
pub mod revision;
pub mod scenario;
pub mod server;
