//! The scripted MCP server: pure state machines, no input or output.
//!
//! A line of the host becomes a [`crate::rpc::Message`], `dispatch` asks `rules` what the script does about it and
//! `legacy` or `modern` what a well-behaved server answers, and `engine` performs the work that results.

mod act;
mod conn;
pub mod decode;
mod dispatch;
pub mod edit;
mod engine;
mod legacy;
mod marker;
mod modern;
mod offer;
mod pages;
mod reply;
mod rules;
pub mod script;
mod serve;
mod subscription;
mod tools;

pub use act::{Act, Cause};
pub use engine::Server;
pub use serve::serve;

#[cfg(test)]
mod tests;
