//! Hosts under test: profiles, and how their files, arguments and environment are rendered.

pub mod decode;
pub mod dialect;
pub mod locate;
pub mod names;
pub mod profile;
pub mod render;
pub mod surface;
pub mod template;
