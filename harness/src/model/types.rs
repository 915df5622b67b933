//! What all model APIs have in common.

use crate::json::Json;
use crate::plan::Published;

/// A model request, parsed. Also parses from a reduced body, where prompt text is an object `{"len", "sha256"}`.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Whether the host wants a stream.
    pub stream: bool,
    /// The tools that are offered, flattened, in order.
    pub offers: Vec<Offer>,
    /// The conversation, flattened, in order.
    pub items: Vec<Item>,
}

/// One offered tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Offer {
    /// Its published name.
    pub published: Published,
    /// Its description.
    pub description: Option<String>,
    /// Its input schema.
    pub schema: Option<Json>,
    /// The entry as it stood.
    pub raw: Json,
    /// Whether the entry was reduced to name, length and hash, since it is none of ours.
    pub reduced: bool,
    /// The id of the search in whose result the entry stands; `None` for one of the list of tools.
    pub found: Option<String>,
}

impl Offer {
    /// The word of a marker ` [hc:WORD]` in the description.
    #[must_use]
    pub fn word(&self) -> Option<&str> {
        let description = self.description.as_deref()?;
        let (_, rest) = description.rsplit_once("[hc:")?;
        rest.split_once(']').map(|(word, _)| word)
    }
}

/// The words of all markers ` [hc:WORD]` in a text, in order.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split("[hc:").skip(1).filter_map(|rest| rest.split_once(']').map(|(word, _)| word))
}

/// One part of the conversation.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// Text of the user (or of a system or developer message, with its role).
    Text {
        /// `user`, `assistant`, `system` or `developer`.
        role: String,
        /// The text; `None` where it was reduced.
        text: Option<String>,
    },
    /// A tool use that the host sends back as history.
    ToolUse {
        /// The id that we issued.
        id: String,
        /// The name.
        published: Published,
        /// The arguments: JSON text as it stood.
        input: String,
    },
    /// A tool result.
    ToolResult(ToolResult),
    /// Anything else, kept as it stood.
    Other(Json),
}

/// What the model is told of a tool use.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolResult {
    /// The id of the tool use.
    pub id: String,
    /// The error flag, where the API has one and it is given.
    pub is_error: Option<bool>,
    /// The parts in order.
    pub parts: Vec<Part>,
}

impl ToolResult {
    /// All texts, joined by line feeds.
    #[must_use]
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self.parts.iter().filter_map(Part::text).collect();
        texts.join("\n")
    }
}

/// One part of a tool result.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Text.
    Text(String),
    /// An image, as it stood.
    Image(Json),
    /// Anything else, as it stood.
    Other(Json),
}

impl Part {
    /// The text, where it is text.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// One reply of the scripted model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// An id for the response, unique over the run.
    pub id: String,
    /// Its blocks.
    pub blocks: Vec<Block>,
}

/// One block of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// Text.
    Text(String),
    /// A tool use.
    ToolUse {
        /// Its id.
        id: String,
        /// The published name.
        published: Published,
        /// The argument text, which need not be JSON.
        input: String,
    },
    /// A search for tools, in the model API's own form.
    Search {
        /// Its id.
        id: String,
        /// The arguments: JSON text.
        input: String,
    },
}

/// A rule of a real model API that a request breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The id of the strictness rule.
    pub rule: &'static str,
    /// What breaks it, for people.
    pub what: String,
}
