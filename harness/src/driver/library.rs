//! A host that is linked into the test program.

use std::fmt;
use std::sync::Arc;

use super::Host;

/// A host that runs inside the test program: its version, and how a new one is made for each run.
///
/// The host is made, used and dropped on a thread of its own, so it need not be [`Send`]; only the closure is shared.
#[derive(Clone)]
pub struct Library {
    version: String,
    make: Arc<dyn Fn() -> Box<dyn Host> + Send + Sync>,
}

impl Library {
    /// A library of that version. `make` is called once for each host run, on the thread of the run.
    #[must_use]
    pub fn new<H: Host + 'static>(
        version: impl Into<String>,
        make: impl Fn() -> H + Send + Sync + 'static,
    ) -> Self {
        Self { version: version.into(), make: Arc::new(move || Box::new(make())) }
    }

    /// The version of the library; it chooses the `[[when]]` blocks of the profile.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// A new host.
    pub(crate) fn make(&self) -> Box<dyn Host> {
        (self.make)()
    }
}

impl fmt::Debug for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Library").field("version", &self.version).finish_non_exhaustive()
    }
}
