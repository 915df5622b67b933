//! The library of the installed binary: its files, and the requirements that scenarios may name.

use std::sync::Arc;

use crate::diagnostic::Source;
pub use crate::embedded::{profiles, scenarios, scripts};
use crate::requirement;
use crate::scenario::Library;

/// The library of the installed binary.
#[derive(Clone, Copy, Debug, Default)]
pub struct Builtin;

impl Library for Builtin {
    fn script(&self, name: &str) -> Option<Arc<Source>> {
        scripts().iter().find(|(known, _)| known == name).map(|(_, source)| Arc::clone(source))
    }

    fn script_names(&self) -> Vec<String> {
        scripts().iter().map(|(name, _)| name.clone()).collect()
    }

    fn is_requirement(&self, id: &str) -> bool {
        requirement::is_known(id)
    }

    fn requirement_ids(&self) -> Vec<String> {
        requirement::all().iter().map(|requirement| requirement.id.clone()).collect()
    }
}
