//! Hosts under test: profiles, and how their files, arguments and environment are rendered.

pub mod decode;
pub mod profile;
