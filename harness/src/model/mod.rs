//! The scripted model: which reply comes next, and how each model API writes it.

mod types;

pub use types::{Block, Item, Offer, Part, Reply, Request, ToolResult, Violation};
