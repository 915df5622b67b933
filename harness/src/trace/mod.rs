//! The record of one run: one file, self-contained. The waist of the pipeline.

pub mod cut;
pub mod event;
pub mod file;
pub mod join;
pub mod redact;
mod replan;

pub use replan::ReplanError;

use std::sync::Arc;

use crate::diagnostic::Source;
use crate::json::Json;
use crate::plan::PlanKey;

/// Line 1 of a trace: everything that judging needs beside the events.
#[derive(Clone, Debug, PartialEq)]
pub struct Header {
    /// The version of hopcheck that recorded.
    pub hopcheck: String,
    /// The plan, by its coordinates; planning is a pure function of these and the texts.
    pub plan: PlanKey,
    /// Why the plan does not apply; then there are no events.
    pub not_applicable: Option<String>,
    /// The scenario's text.
    pub scenario: Arc<Source>,
    /// The texts of the server scripts that it names, by name.
    pub scripts: Vec<(String, Arc<Source>)>,
    /// The profile's text.
    pub profile: Arc<Source>,
    /// The host's version, as it says.
    pub host_version: String,
    /// Facts about the machine and the run, never judged: operating system, isolation asked for.
    pub environment: Json,
}

/// A whole trace in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// Line 1.
    pub header: Header,
    /// The events, numbered from 1 without gaps unless somebody edited the file.
    pub events: Vec<event::Event>,
}
