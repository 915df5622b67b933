//! The Anthropic Messages API, `POST /v1/messages`.
//!
//! Sources: "Messages" in the API reference, and "Streaming messages" and "Tool use" in the documentation at
//! platform.claude.com; where the documentation is silent, requests of Claude Code 2.1.

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

/// The Anthropic Messages API.
pub(super) struct Anthropic;

impl Api for Anthropic {
    fn route(&self, method: &str, path: &str) -> Route {
        match (method, path.split('?').next().unwrap_or(path)) {
            ("POST", "/v1/messages") => Route::Reply,
            ("POST", "/v1/messages/count_tokens") => Route::CountTokens,
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

    /// Source: "Errors" in the API reference.
    fn error(&self, status: u16, message: &str) -> Json {
        let kind = match status {
            401 => "authentication_error",
            403 => "permission_error",
            404 => "not_found_error",
            413 => "request_too_large",
            429 => "rate_limit_error",
            529 => "overloaded_error",
            500.. => "api_error",
            _ => "invalid_request_error",
        };
        Json::object([
            ("type", Json::from("error")),
            ("error", Json::object([("type", kind), ("message", message)])),
        ])
    }

    /// Source: "Tool use": `is_error` of a `tool_result`.
    fn error_flag(&self) -> ErrorFlag {
        ErrorFlag::Member
    }

    /// Source: "Tool search tool": a search by the client is a tool of the client, whose result refers to tools.
    fn found(&self, result: &ToolResult) -> Vec<Published> {
        parse::references(result)
    }

    fn use_id(&self, seed: u64, run: u32, index: usize) -> String {
        format!("toolu_01{}", hash::id(seed, run, index, 22))
    }

    fn violations(&self, body: &Json) -> Vec<Violation> {
        violations(ApiName::AnthropicMessages, body)
    }
}
