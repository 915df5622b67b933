//! Messages of ours: envelopes, errors, and what a revision does not have yet.

use super::marker;
use super::script::{Body, RpcError};
use crate::json::{Json, Text};
use crate::revision::Revision;

/// The line is no JSON.
pub(super) const PARSE_ERROR: i64 = -32700;
/// The message is none, or comes at a time when it must not.
pub(super) const INVALID_REQUEST: i64 = -32600;
/// There is no such method, or its capability is not declared.
pub(super) const METHOD_NOT_FOUND: i64 = -32601;
/// Unknown tool, unknown cursor, missing member.
pub(super) const INVALID_PARAMS: i64 = -32602;
/// 2026-07-28: the version of the request is not the server's.
pub(super) const UNSUPPORTED_PROTOCOL_VERSION: i64 = -32022;

/// An error without data.
pub(super) fn error(code: i64, message: impl Into<String>) -> Body {
    Body::Error(RpcError { code, message: message.into(), data: None })
}

/// The answer to a method that this server does not have.
pub(super) fn method_not_found(method: &str) -> Body {
    error(METHOD_NOT_FOUND, format!("Method not found: {method}"))
}

/// The response to the request `id`.
pub(super) fn response(id: &Json, body: &Body) -> Json {
    let (member, value) = match body {
        Body::Result(result) => ("result", result.clone()),
        Body::Error(error) => ("error", error_object(error)),
    };
    Json::object([("jsonrpc", "2.0".into()), ("id", id.clone()), (member, value)])
}

/// An error about a message whose id could not be read.
///
/// JSON-RPC 2.0 gives it the id `null`. From 2025-11-25 on the schema of MCP forbids `null` and lets the member be
/// absent; before that the schema has no form for such an error, and JSON-RPC decides.
pub(super) fn complaint(revision: Revision, code: i64, message: &str) -> Json {
    let error = RpcError { code, message: message.to_owned(), data: None };
    let mut json = Json::object([("jsonrpc", Json::from("2.0"))]);
    if revision < Revision::V2025_11_25 {
        json.set("id", Json::Null);
    }
    json.set("error", error_object(&error));
    json
}

/// A notification of the server, or with an id a request.
pub(super) fn call(id: Option<Json>, method: &str, params: Option<Json>) -> Json {
    let mut json = Json::object([("jsonrpc", "2.0")]);
    if let Some(id) = id {
        json.set("id", id);
    }
    json.set("method", method);
    if let Some(params) = params {
        json.set("params", params);
    }
    json
}

/// Replaces the placeholder in every string of a body.
pub(super) fn expand(body: &Body, word: &str) -> Body {
    match body {
        Body::Result(result) => Body::Result(marker::expand(result, word)),
        Body::Error(error) => {
            let message = marker::expand(&error.message.as_str().into(), word);
            Body::Error(RpcError {
                code: error.code,
                message: message.as_str().unwrap_or(&error.message).to_owned(),
                data: error.data.as_ref().map(|data| marker::expand(data, word)),
            })
        }
    }
}

/// Takes out of a result what its revision does not have.
///
/// `structuredContent` came with 2025-06-18. An older schema would let it pass as a foreign member, but a server of
/// that time would not send it, and a host that read it would be judged by a rule that it does not know. Content blocks
/// stay as they are written: a tool whose reply is a `resource_link` has nothing to say in a revision without it, so
/// the scenario has to limit its revisions.
pub(super) fn dated(revision: Revision, method: &str, mut result: Json) -> Json {
    let unknown = |key: &Text| *key == "structuredContent" && revision < Revision::V2025_06_18;
    match &mut result {
        Json::Object(members) if method == "tools/call" => members.retain(|(key, _)| !unknown(key)),
        _ => {}
    }
    result
}

fn error_object(error: &RpcError) -> Json {
    let mut json = Json::object([("code", Json::from(error.code)), ("message", Json::from(&error.message))]);
    if let Some(data) = &error.data {
        json.set("data", data.clone());
    }
    json
}
