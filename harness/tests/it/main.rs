//! Tests of the harness from outside, one module per subject.

mod corpus;
mod stage;
