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

use std::sync::Arc;

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

/// Top-level keys that only one kind of file has, in the order in which the kinds are tried.
const SIGNS: [(FileKind, &[&str]); 4] = [
    (FileKind::Scenario, &["step", "case", "server", "requirements", "permissions"]),
    (FileKind::Server, &["tool", "info", "on", "capabilities", "pages", "generation"]),
    (FileKind::Profile, &["bin", "drive", "model", "claims", "names"]),
    (FileKind::Baseline, &["known", "host"]),
];

/// What kind of file a text is, by its content; a scenario where that is unclear.
#[must_use]
pub fn kind_of(source: &Source) -> FileKind {
    let source = Arc::new(source.clone());
    let root = syntax::read(&source, &mut Reporter::new(&source));
    SIGNS
        .into_iter()
        .find(|(_, signs)| signs.iter().any(|sign| root.get(sign).is_some()))
        .map_or(FileKind::Scenario, |(kind, _)| kind)
}

#[cfg(test)]
mod tests;
