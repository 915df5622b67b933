//! The OpenAI Responses API, `POST /v1/responses`.
//!
//! Sources: "Responses" in the API reference, and "Function calling" and "Streaming" in the guides at
//! developers.openai.com; where they are silent (namespaces), requests of codex-cli 0.171.

mod parse;
mod reduce;
mod stream;
mod strict;

use crate::host::profile::ApiName;
use crate::json::Json;
use crate::plan::Published;

use super::hash;
use super::keep::{Keep, Prompts};
use super::strict::violations;
use super::types::{Block, Reply, Request, ToolResult, Violation};
use super::{Api, ErrorFlag, Route};

pub(super) use strict::RULES;

/// The OpenAI Responses API.
pub(super) struct Responses;

impl Api for Responses {
    fn route(&self, method: &str, path: &str) -> Route {
        match (method, path.split('?').next().unwrap_or(path)) {
            ("POST", "/v1/responses") => Route::Reply,
            ("POST", "/v1/responses/input_tokens") => Route::CountTokens,
            _ => Route::NotOurs,
        }
    }

    fn parse(&self, body: &Json) -> Result<Request, String> {
        parse::request(body)
    }

    fn reduce(&self, body: &Json, keep: &Keep<'_>) -> Json {
        match keep.prompts {
            Prompts::Reduce => reduce::body(body, keep),
            Prompts::Keep => body.clone(),
        }
    }

    fn stream(&self, reply: &Reply) -> Vec<u8> {
        stream::events(reply)
    }

    fn whole(&self, reply: &Reply) -> Json {
        stream::whole(reply)
    }

    fn blocks(&self, reply: &Reply) -> Json {
        stream::blocks(reply)
    }

    fn parse_blocks(&self, blocks: &Json) -> Vec<Block> {
        parse::blocks(blocks)
    }

    /// Source: "Error codes" in the guides.
    fn error(&self, status: u16, message: &str) -> Json {
        let kind = match status {
            429 => "rate_limit_error",
            500.. => "server_error",
            _ => "invalid_request_error",
        };
        let error =
            [("message", Json::from(message)), ("type", kind.into()), ("param", Json::Null), ("code", Json::Null)];
        Json::object([("error", Json::object(error))])
    }

    /// Source: "Get input token counts" in the API reference.
    fn count_tokens(&self) -> Json {
        Json::object([("object", Json::from("response.input_tokens")), ("input_tokens", 1.into())])
    }

    /// Source: "Function calling": a `function_call_output` has an output and no flag.
    fn error_flag(&self) -> ErrorFlag {
        ErrorFlag::None
    }

    /// Source: "Tool search" in the guides: `tool_search_call` with `"execution": "client"`, and `tool_search_output`.
    fn found(&self, result: &ToolResult) -> Vec<Published> {
        parse::found(result)
    }

    fn use_id(&self, seed: u64, run: u32, index: usize) -> String {
        format!("call_{}", hash::id(seed, run, index, 24))
    }

    fn violations(&self, body: &Json) -> Vec<Violation> {
        violations(ApiName::OpenaiResponses, body)
    }
}
