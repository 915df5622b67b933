//! Where the passes put what they find.

use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Source, Span};

/// Collects the diagnostics of one file.
#[derive(Debug)]
pub struct Reporter {
    source: Arc<Source>,
    found: Vec<Diagnostic>,
    damaged: bool,
}

/// A diagnostic that is still being worded.
#[derive(Debug)]
pub struct Wording<'a>(&'a mut Diagnostic);

impl Wording<'_> {
    /// With words under the caret.
    #[expect(clippy::return_self_not_must_use, reason = "the diagnostic is already in the list")]
    pub fn label(self, label: impl Into<String>) -> Self {
        self.0.label = label.into();
        self
    }

    /// With advice.
    #[expect(clippy::return_self_not_must_use, reason = "the diagnostic is already in the list")]
    pub fn help(self, help: impl Into<String>) -> Self {
        self.0.help.push(help.into());
        self
    }
}

impl Reporter {
    /// An empty list for a file.
    #[must_use]
    pub fn new(source: &Arc<Source>) -> Self {
        Self { source: Arc::clone(source), found: Vec::new(), damaged: false }
    }

    /// The file.
    #[must_use]
    pub const fn source(&self) -> &Arc<Source> {
        &self.source
    }

    /// Adds an error.
    pub fn error(&mut self, span: Span, title: impl Into<String>) -> Wording<'_> {
        let at = self.found.len();
        self.found.push(Diagnostic::error(&self.source, span, title));
        Wording(&mut self.found[at])
    }

    /// Adds what was found in another file.
    pub fn extend(&mut self, found: impl IntoIterator<Item = Diagnostic>) {
        self.found.extend(found);
    }

    /// Notes that the file has syntax errors, so that what is missing may only be unreadable.
    pub const fn set_damaged(&mut self) {
        self.damaged = true;
    }

    /// Whether the file has syntax errors.
    #[must_use]
    pub const fn is_damaged(&self) -> bool {
        self.damaged
    }

    /// Whether nothing was found.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// The value, or everything that was found: this file first, in the order of its lines, each once.
    ///
    /// # Errors
    /// The list, where it is not empty.
    pub fn finish<T>(self, value: T) -> Result<T, Vec<Diagnostic>> {
        if self.found.is_empty() {
            return Ok(value);
        }
        let mut found = self.found;
        // A stable sort keeps the order in which passes found several things at one place.
        found.sort_by_key(|diagnostic| {
            let foreign = diagnostic.source != self.source;
            (foreign, foreign.then(|| diagnostic.source.name.clone()), diagnostic.span.start)
        });
        // A file with cases is read once per case, and most mistakes show in each of them.
        let mut unique: Vec<Diagnostic> = Vec::with_capacity(found.len());
        for diagnostic in found {
            if !unique.contains(&diagnostic) {
                unique.push(diagnostic);
            }
        }
        Err(unique)
    }
}
