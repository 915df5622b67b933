//! Tests of the harness from outside, one module per subject.
#![expect(clippy::unwrap_used, reason = "a test that panics has failed, and says where")]
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "fake hosts talk like this")]

#[cfg(test)]
mod architecture;
mod baseline;
mod cli;
mod corpus;
mod guide;
mod library_host;
mod packs;
mod recorded;
mod schemas;
mod snapshots;
mod stage;
mod stress;
