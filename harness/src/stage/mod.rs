//! Runs a plan: sandbox, supervisor, recorder loop. It yields a trace and judges nothing.

pub mod isolation;
pub mod processes;
pub mod supervisor;
mod sys;
