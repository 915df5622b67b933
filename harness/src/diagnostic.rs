//! One type and one renderer for everything that points into a file: parse errors, plan errors, failed expectations.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

/// A text with the name that people know it by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The path as the user gave it, or `<built-in>/AREA/NAME.toml`.
    pub name: String,
    /// The whole text.
    pub text: String,
}

impl Source {
    /// Wraps a text.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Arc<Self> {
        Arc::new(Self { name: name.into(), text: text.into() })
    }

    /// Line and column (in characters) of a byte offset, both from 1.
    #[must_use]
    pub fn position(&self, offset: usize) -> (usize, usize) {
        let mut end = offset.min(self.text.len());
        while !self.text.is_char_boundary(end) {
            end -= 1;
        }
        let before = &self.text[..end];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        (before.matches('\n').count() + 1, before[line_start..].chars().count() + 1)
    }

    /// `FILE:LINE:COLUMN`.
    #[must_use]
    pub fn at(&self, span: &Range<usize>) -> String {
        let (line, column) = self.position(span.start);
        format!("{}:{line}:{column}", self.name)
    }
}

/// A byte range of a source.
pub type Span = Range<usize>;

/// A value with the place it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spanned<T> {
    /// The value.
    pub value: T,
    /// Where it stands in its source.
    pub span: Span,
}

impl<T> Spanned<T> {
    /// A value at a place.
    pub const fn new(value: T, span: Span) -> Self {
        Self { value, span }
    }

    /// The same place with another value.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Spanned<U> {
        Spanned { value: f(self.value), span: self.span }
    }
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The input cannot be used.
    Error,
    /// The input can be used, but is probably not what was meant.
    Warning,
}

/// One thing that is wrong at one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, as a lowercase fragment.
    pub title: String,
    /// The file.
    pub source: Arc<Source>,
    /// The place.
    pub span: Span,
    /// The words under the caret.
    pub label: String,
    /// What to write instead.
    pub help: Vec<String>,
}

impl Diagnostic {
    /// An error at a place.
    pub fn error(source: &Arc<Source>, span: Span, title: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            title: title.into(),
            source: Arc::clone(source),
            span,
            label: String::new(),
            help: Vec::new(),
        }
    }

    /// With words under the caret.
    #[must_use]
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = label.into();
        self
    }

    /// With advice.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }

    /// Renders in the look of the Rust compiler, without colour.
    #[must_use]
    pub fn render_plain(&self) -> String {
        self.render_with(&Renderer::plain())
    }

    /// Renders in the look of the Rust compiler, with ANSI colour.
    #[must_use]
    pub fn render_styled(&self) -> String {
        self.render_with(&Renderer::styled())
    }

    fn render_with(&self, renderer: &Renderer) -> String {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let len = self.source.text.len();
        let start = self.span.start.min(len);
        let mut annotation = AnnotationKind::Primary.span(start..self.span.end.clamp(start, len));
        if !self.label.is_empty() {
            annotation = annotation.label(&self.label);
        }
        let snippet =
            Snippet::source(&self.source.text).path(&self.source.name).line_start(1).annotation(annotation);
        let mut group = Group::with_title(level.primary_title(&self.title)).element(snippet);
        for help in &self.help {
            group = group.element(Level::HELP.message(help));
        }
        renderer.render(&[group])
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render_plain())
    }
}

/// The suggestion for a misspelt word, where one of the known words is close enough.
#[must_use]
pub fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= 1 + candidate.len().min(word.len()) / 4)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_from_one() {
        let source = Source::new("a.toml", "é = 1\nb = 2\n");
        assert_eq!(source.position(0), (1, 1));
        assert_eq!(source.position(2), (1, 2));
        assert_eq!(source.at(&(7..8)), "a.toml:2:1");
        assert_eq!(source.position(99), (3, 1));
    }

    #[test]
    fn renders_like_a_compiler() {
        let source = Source::new("bad.toml", "title = \"x\"\nrequirments = []\n");
        let text = Diagnostic::error(&source, 12..23, "unknown key `requirments`")
            .label("not a key of a scenario")
            .help("did you mean `requirements`?")
            .render_plain();
        assert!(text.contains("bad.toml:2:1"), "{text}");
        assert!(text.contains("did you mean `requirements`?"), "{text}");
    }

    #[test]
    fn suggests_only_close_words() {
        assert_eq!(did_you_mean("requirments", ["title", "requirements"]), Some("requirements"));
        assert_eq!(did_you_mean("cal", ["call", "list"]), Some("call"));
        assert_eq!(did_you_mean("zebra", ["call", "list"]), None);
    }
}
