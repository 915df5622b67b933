//! Judging a trace.

pub mod finding;
