//! A conformance test harness for MCP hosts.
pub mod json;
