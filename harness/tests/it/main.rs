//! Tests of the harness from outside, one module per subject.

#[cfg(test)]
mod architecture;
mod cli;
mod corpus;
mod schemas;
mod stage;
