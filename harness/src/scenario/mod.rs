//! Scenario files: text to typed, spanned [`ast::Scenario`].

pub mod ast;
