//! The tests are all that is here: `tests/conformance.rs`.
