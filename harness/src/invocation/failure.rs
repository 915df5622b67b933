//! Why an invocation could not do its work.

use std::collections::BTreeSet;
use std::fmt;

use crate::diagnostic::Diagnostic;

/// Why an invocation could not do its work.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// Bad arguments.
    #[error("{0}")]
    Usage(String),
    /// Files that cannot be used, with everything that is wrong with them.
    #[error("{}", summary(.0))]
    Files(Vec<Diagnostic>),
    /// A host could not be started.
    #[error("{0}")]
    Host(String),
    /// hopcheck itself failed.
    #[error("{0}")]
    Harness(String),
}

impl Failure {
    /// What hopcheck could not do, and why.
    pub fn harness(what: &str, cause: impl fmt::Display) -> Self {
        Self::Harness(format!("{what}: {cause}"))
    }

    /// What is to be shown before the message: places in files.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        match self {
            Self::Files(errors) => errors,
            Self::Usage(_) | Self::Host(_) | Self::Harness(_) => &[],
        }
    }
}

/// `2 errors in a.toml, b.toml`.
fn summary(errors: &[Diagnostic]) -> String {
    let files: BTreeSet<&str> = errors.iter().map(|error| error.source.name.as_str()).collect();
    let files: Vec<&str> = files.into_iter().collect();
    let s = if errors.len() == 1 { "" } else { "s" };
    format!("{} error{s} in {}", errors.len(), files.join(", "))
}
