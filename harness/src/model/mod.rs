//! The scripted model: which reply comes next, and how each model API writes it. Pure: bytes and values, no sockets.
//!
//! A request is read by its [`Api`] into a [`Request`]. The [`Engine`] finds out whether it belongs to the main line and
//! where in the script it stands, from what the request carries of ours, and gives a [`Reply`], which the [`Api`] writes.

mod anthropic;
mod engine;
mod hash;
mod keep;
mod offer;
mod reduce;
mod responses;
mod script;
mod sse;
mod strict;
mod synthetic;
#[cfg(test)]
mod tests;
mod types;

pub use engine::{Answer, EmittedSearch, EmittedUse, Engine, NameFrom, Role};
pub use keep::{Keep, Ours, Prompts};
pub use offer::Names;
pub use script::{CLOSING, SIDE_ANSWER};
pub use strict::{Rule, rules};
pub use types::{Block, Item, Offer, Part, Reply, Request, ToolResult, Violation};

use crate::host::profile::ApiName;
use crate::json::Json;
use crate::plan::Published;

/// What a method and path mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// A model request: it is answered by the [`Engine`].
    Reply,
    /// A question for the number of tokens; see [`Api::count_tokens`].
    CountTokens,
    /// None of this API.
    NotOurs,
}

/// One model API: how its requests are read and its replies are written.
pub trait Api: Sync {
    /// What a method and a path below the run's base path mean. A query is ignored.
    fn route(&self, method: &str, path: &str) -> Route;

    /// Reads a request. A reduced body gives the same offers of ours, tool uses and tool results as the whole one.
    ///
    /// # Errors
    /// A body that has no conversation in it, with the reason. Everything else is the business of [`Api::violations`].
    fn parse(&self, body: &Json) -> Result<Request, String>;

    /// The body without the product's texts, in the same shape; reducing twice changes nothing more.
    ///
    /// Kept are: tool entries with one of our words, tool uses, tool results, texts of ours, settings, roles and types.
    /// A text becomes `{"len", "sha256"}` (bytes, and the hash of the bytes), with `mentions` where our names or
    /// words occur in it; a foreign tool entry becomes `{"type"?, "name", "len", "sha256"}` (of its compact JSON text); an
    /// image in a tool result becomes `{"type", "media_type", "len", "sha256"}` (of the decoded bytes).
    fn reduce(&self, body: &Json, keep: &Keep<'_>) -> Json;

    /// The whole body of server-sent events for a reply.
    fn stream(&self, reply: &Reply) -> Vec<u8>;

    /// The reply for a request that wants no stream. Argument text that is no JSON object goes out as a string where
    /// the API has an object.
    fn whole(&self, reply: &Reply) -> Json;

    /// The blocks of a reply as an array in the API's own form, for the trace.
    fn blocks(&self, reply: &Reply) -> Json;

    /// Reads what [`Api::blocks`] wrote.
    fn parse_blocks(&self, blocks: &Json) -> Vec<Block>;

    /// The body of an error answer.
    fn error(&self, status: u16, message: &str) -> Json;

    /// The answer to [`Route::CountTokens`].
    fn count_tokens(&self) -> Json {
        Json::object([("input_tokens", 1)])
    }

    /// Where a tool result says that it is an error.
    fn error_flag(&self) -> ErrorFlag;

    /// The names of the tools that a result brings to the model's attention, where it is that of a search.
    fn found(&self, result: &ToolResult) -> Vec<Published> {
        let _ = result;
        Vec::new()
    }

    /// An id for a tool use, in the API's form. A function of its arguments, and different for different arguments.
    fn use_id(&self, seed: u64, run: u32, index: usize) -> String;

    /// What the real API would refuse in a request. Works on reduced bodies too, for what they keep.
    fn violations(&self, body: &Json) -> Vec<Violation>;
}

/// How a model API tells a failed tool result from a good one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorFlag {
    /// By a member of its own; its absence says that nothing failed.
    Member,
    /// Not at all: only the text can say it.
    None,
}

/// The API of that name.
#[must_use]
pub fn api(name: ApiName) -> &'static dyn Api {
    match name {
        ApiName::AnthropicMessages => &anthropic::Anthropic,
        ApiName::OpenaiResponses => &responses::Responses,
        ApiName::Synthetic => &synthetic::Synthetic,
    }
}
