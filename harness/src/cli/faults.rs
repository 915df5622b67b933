//! The named lies: those that the reference host tells, and those that are told about a trace.

use std::sync::LazyLock;

use hopcheck_reference_host::fault::FAULTS as HOST_FAULTS;

use crate::check::faults::{TRACE_FAULTS, TraceFault};

/// One lie.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fault {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// The requirements that must object, one to three.
    pub(super) about: &'static [&'static str],
    pub(super) summary: &'static str,
    /// The variant of the reference host that alone can tell it.
    pub(super) variant: Option<&'static str>,
}

/// Who tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The reference host, end to end.
    Host,
    /// An edit of a passing trace.
    Trace,
}

impl Kind {
    pub(super) const ALL: [Self; 2] = [Self::Host, Self::Trace];

    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Trace => "trace",
        }
    }
}

/// All of them.
pub(super) fn all() -> &'static [Fault] {
    static ALL: LazyLock<Vec<Fault>> = LazyLock::new(|| {
        let host = HOST_FAULTS.iter().map(|fault| Fault {
            name: fault.name,
            kind: Kind::Host,
            about: fault.about,
            summary: fault.summary,
            variant: fault.variant,
        });
        let trace = TRACE_FAULTS.iter().map(|fault| Fault {
            name: fault.name,
            kind: Kind::Trace,
            about: fault.about,
            summary: fault.summary,
            variant: None,
        });
        host.chain(trace).collect()
    });
    &ALL
}

/// The lies about traces, each with the function that tells it.
pub(super) fn traces() -> impl Iterator<Item = (&'static Fault, &'static TraceFault)> {
    all().iter().filter(|fault| fault.kind == Kind::Trace).zip(TRACE_FAULTS)
}
