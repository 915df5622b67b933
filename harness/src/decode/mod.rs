//! What the decoders of all TOML files share: a tree that keeps places, order and number text, and the tables of keys.
//!
//! A file is decoded in three passes. [`syntax`] makes a tree of it and reports all syntax errors. [`shape`] compares
//! the tree with a table of keys ([`keys`]) and reports everything that needs no knowledge of the rest of the file:
//! unknown and missing keys, wrong types, unknown words, broken JSON. The decoder of the file kind then reads the
//! tree into its types, reports what does not fit together, and keeps silent about what the pass before it reported.
//! So all errors of a file come at once, and each mistake gives one error.

pub mod inside;
pub mod keys;
pub mod patch;
pub mod payload;
pub mod report;
pub mod shape;
pub mod suggest;
pub mod syntax;
pub mod value;

use std::path::Path;

use toml::de::DeTable;

use crate::diagnostic::Source;

pub use report::Reporter;
pub use suggest::suggest;
pub use value::{Data, Member, Value};

/// The kinds of TOML files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A scenario.
    Scenario,
    /// A server script.
    Server,
    /// A host profile.
    Profile,
    /// The known failures of a host.
    Baseline,
}

/// What a file means to be, by the keys that only one kind has, else by its folder; a scenario where that is unclear.
#[must_use]
pub fn kind_of(source: &Source) -> FileKind {
    let (root, _) = DeTable::parse_recoverable(&source.text);
    let has = |keys: &[&str]| keys.iter().any(|key| root.get_ref().contains_key(*key));
    let folder = Path::new(&source.name).parent().and_then(Path::file_name);
    if has(&["step", "case", "requirements", "title"]) && !has(&["bin", "drive", "claims"]) {
        FileKind::Scenario
    } else if has(&["known"]) && !has(&["bin", "drive", "claims"]) {
        FileKind::Baseline
    } else if has(&["bin", "drive", "claims", "model"]) || folder.is_some_and(|name| name == "profiles") {
        FileKind::Profile
    } else if has(&["tool", "info", "pages", "on"]) || folder.is_some_and(|name| name == "servers") {
        FileKind::Server
    } else {
        FileKind::Scenario
    }
}

#[cfg(test)]
mod tests;
