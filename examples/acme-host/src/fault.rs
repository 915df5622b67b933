//! Mistakes that the host makes on demand, for those who want to see its conformance tests fail.

use std::env;

/// A mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The wire carries the name that the model was shown.
    PublishedNameOnTheWire,
    /// The model is not told that a result is an error.
    ForgetsErrors,
    /// Deny rules are not obeyed.
    CallsDenied,
}

impl Fault {
    /// The mistake that `ACME_FAULT` names, if any.
    pub(crate) fn from_environment() -> Result<Option<Self>, String> {
        match env::var("ACME_FAULT").as_deref() {
            Err(_) | Ok("") => Ok(None),
            Ok("published-name-on-the-wire") => Ok(Some(Self::PublishedNameOnTheWire)),
            Ok("forgets-errors") => Ok(Some(Self::ForgetsErrors)),
            Ok("calls-denied") => Ok(Some(Self::CallsDenied)),
            Ok(other) => Err(format!("no fault is called {other}")),
        }
    }
}
