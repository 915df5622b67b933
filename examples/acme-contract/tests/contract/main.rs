//! Tests of the example, from outside: its test program in colours, in the protocol of test runners, and what it builds.
#![expect(clippy::unwrap_used, reason = "a test that panics has failed, and says where")]

mod baseline;
mod build;
mod colours;
mod guide;

mod protocol;
mod suite;
