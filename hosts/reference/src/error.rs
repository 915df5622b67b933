//! What can end a run of the host. Trouble with one server or one call never does: it is told to the model.

use std::io;
use std::path::PathBuf;

/// A reason to end the run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The command line is wrong.
    #[error("{0}")]
    Usage(String),
    /// The config file cannot be read.
    #[error("failed to read {path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The config file says something that the host does not know.
    #[error("{path}: {reason}")]
    Config {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The model endpoint cannot be used.
    #[error("the model endpoint failed: {0}")]
    Model(String),
    /// A turn took more model requests than any honest conversation.
    #[error("the model asked for tools in {0} replies in a row")]
    Endless(usize),
    /// A signal has asked the host to end.
    #[error("ended by a signal")]
    Signalled,
    /// The standard streams are gone.
    #[error("failed to write the output: {0}")]
    Output(#[from] io::Error),
}

impl Error {
    /// The exit code of a run that ends with this error.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) | Self::Read { .. } | Self::Config { .. } => 2,
            Self::Model(_) | Self::Endless(_) | Self::Output(_) => 1,
            // What a shell says of a program that SIGINT has ended; SIGTERM is not told apart.
            Self::Signalled => 130,
        }
    }
}
