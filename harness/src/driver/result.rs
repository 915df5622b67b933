//! What a model is told of a tool use.

use super::HostError;
use crate::json::Json;
use crate::scenario::ast::DenyBy;

/// What a model would be told of one tool use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    pub(super) parts: Vec<Json>,
    pub(super) flag: Flag,
    pub(super) refused: Option<RefusedBy>,
}

/// Whether the model is told that the tool use failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flag {
    Success,
    Failure,
}

/// Which gate of the host stopped a tool use.
pub type RefusedBy = DenyBy;

impl Told {
    /// A success with one text.
    #[must_use]
    pub fn success(text: impl Into<String>) -> Self {
        Self { parts: vec![text_part(text.into())], flag: Flag::Success, refused: None }
    }

    /// A failure with one text: a tool that says so, a server that is gone, a tool that is not there.
    #[must_use]
    pub fn failure(text: impl Into<String>) -> Self {
        Self { flag: Flag::Failure, ..Self::success(text) }
    }

    /// The host refused the tool use, and the model is told why. To the model that is a failure.
    #[must_use]
    pub fn refused(by: RefusedBy, message: impl Into<String>) -> Self {
        Self { refused: Some(by), ..Self::failure(message) }
    }

    /// Content blocks in the form of the protocol (`{"type": "text", "text": …}`, images and the rest), with the flag of
    /// the result: for a host that hands a result on to its model as it is.
    ///
    /// `result` is an object with `content` and, for a failure, `isError: true`, such as a `CallToolResult` in JSON.
    /// Where there are no content blocks, `structuredContent` is told as text. All other members are left out.
    ///
    /// # Errors
    /// `content` is no array, or `isError` no boolean.
    pub fn result(result: &Json) -> Result<Self, HostError> {
        let mut parts = match result.get("content") {
            Some(Json::Array(parts)) => parts.clone(),
            Some(other) => return Err(HostError::new(format!("`content` is no array: {other}"))),
            None => Vec::new(),
        };
        if let (true, Some(structured)) = (parts.is_empty(), result.get("structuredContent")) {
            parts.push(text_part(structured.to_string()));
        }
        let flag = match result.get("isError") {
            Some(Json::Bool(true)) => Flag::Failure,
            Some(Json::Bool(false)) | None => Flag::Success,
            Some(other) => return Err(HostError::new(format!("`isError` is no boolean: {other}"))),
        };
        Ok(Self { parts, flag, refused: None })
    }

    /// The same, from JSON text, such as any JSON library writes.
    ///
    /// # Errors
    /// A text that is no JSON, and what [`Told::result`] refuses.
    pub fn result_text(text: &str) -> Result<Self, HostError> {
        Self::result(&Json::parse(text)?)
    }
}

fn text_part(text: String) -> Json {
    Json::object([("type", Json::from("text")), ("text", text.into())])
}
