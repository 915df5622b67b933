//! The scripted MCP server: pure state machines, no input or output.

pub mod decode;
pub mod script;
