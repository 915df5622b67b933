//! JSON-RPC 2.0 envelopes: what kind of message a line is, and what is wrong with it.
//!
//! Sorting is lenient and [`violations`] is strict, on purpose: the scripted servers go on with a host whose envelope
//! is slightly off, so that there is something to judge, and the checks then name what was off.

use crate::json::{Json, Number, NumberModel, ParseError};

/// One message, by the members that it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// It has a `method` and an `id`.
    Request {
        /// `id` as it was written, valid or not.
        id: Json,
        /// `method`.
        method: String,
        /// `params`, where there are any.
        params: Option<Json>,
    },
    /// It has a `method` and no `id`.
    Notification {
        /// `method`.
        method: String,
        /// `params`, where there are any.
        params: Option<Json>,
    },
    /// It has a `result` and neither `method` nor `error`.
    Result {
        /// `id`; `null` where it is missing.
        id: Json,
        /// `result`.
        result: Json,
    },
    /// It has an `error` and no `method`.
    Error {
        /// `id`; `null` where it is missing.
        id: Json,
        /// `error`.
        error: Json,
    },
    /// An array of messages.
    Batch(Vec<Message>),
    /// None of these, with the reason as a lowercase fragment.
    Malformed(String),
}

impl Message {
    /// Sorts a parsed value.
    #[must_use]
    pub fn from_json(json: &Json) -> Self {
        match json {
            Json::Array(items) => Self::Batch(items.iter().map(Self::single).collect()),
            other => Self::single(other),
        }
    }

    /// Sorts a value that cannot be a batch, since a batch holds no batches.
    fn single(json: &Json) -> Self {
        if !json.is_object() {
            return Self::Malformed("the message is not an object".to_owned());
        }
        let id = || json.get("id").cloned().unwrap_or(Json::Null);
        if let Some(method) = json.get("method") {
            let Some(method) = method.as_str() else {
                return Self::Malformed("`method` is not a string".to_owned());
            };
            let (method, params) = (method.to_owned(), json.get("params").cloned());
            return match json.get("id") {
                Some(id) => Self::Request { id: id.clone(), method, params },
                None => Self::Notification { method, params },
            };
        }
        if let Some(error) = json.get("error") {
            return Self::Error { id: id(), error: error.clone() };
        }
        match json.get("result") {
            Some(result) => Self::Result { id: id(), result: result.clone() },
            None => Self::Malformed("the message has no `method`, `result` or `error`".to_owned()),
        }
    }
}

/// Sorts one message or batch.
#[must_use]
pub fn parse(bytes: &[u8]) -> Message {
    match Json::parse(bytes) {
        Ok(json) => Message::from_json(&json),
        Err(error) => Message::Malformed(not_json(&error)),
    }
}

/// Whether a value may be a request id: a string or an integer, never `null` (MCP `basic#requests`, all revisions).
#[must_use]
pub fn is_id(id: &Json) -> bool {
    match id {
        Json::String(_) => true,
        Json::Number(number) => is_integer(number),
        _ => false,
    }
}

/// Whether two ids are the same: `1` and `"1"` differ, `1` and `1.0` do not.
#[must_use]
pub fn same_id(a: &Json, b: &Json) -> bool {
    a.equals(b, NumberModel::Decimal)
}

/// A word that two ids have in common where they are the same. Different ids may share one as well.
#[must_use]
pub fn id_bucket(id: &Json) -> String {
    match id {
        // Equal decimals are equal doubles; zero has two.
        Json::Number(number) => format!("{:?}", number.as_f64() + 0.0),
        Json::String(text) => text.to_lossy().to_string(),
        _ => String::new(),
    }
}

/// Everything that JSON-RPC 2.0, as MCP narrows it, does not allow in the envelope of a message or batch. Each is a
/// lowercase fragment; those of a batch begin with the index of the message. No rule of a revision or method is applied.
#[must_use]
pub fn violations(bytes: &[u8]) -> Vec<String> {
    match Json::parse(bytes) {
        Err(error) => vec![not_json(&error)],
        Ok(Json::Array(items)) if items.is_empty() => vec!["the batch is empty".to_owned()],
        Ok(Json::Array(items)) => {
            let numbered = items.iter().enumerate();
            numbered
                .flat_map(|(at, item)| envelope(item).into_iter().map(move |v| format!("[{at}]: {v}")))
                .collect()
        }
        Ok(json) => envelope(&json),
    }
}

fn envelope(json: &Json) -> Vec<String> {
    if !json.is_object() {
        return vec!["the message is not an object".to_owned()];
    }
    let mut found = Vec::new();
    match json.get("jsonrpc") {
        Some(version) if version.as_str() == Some("2.0") => {}
        Some(_) => found.push("`jsonrpc` is not \"2.0\"".to_owned()),
        None => found.push("`jsonrpc` is missing".to_owned()),
    }
    for key in ["jsonrpc", "id", "method", "params", "result", "error"] {
        if json.members().iter().filter(|(name, _)| name == key).count() > 1 {
            found.push(format!("`{key}` is given more than once"));
        }
    }
    if json.get("id").is_some_and(|id| !is_id(id)) {
        found.push("`id` is neither a string nor an integer".to_owned());
    }
    let mut kinds = ["method", "result", "error"].into_iter().filter(|key| json.get(key).is_some());
    match (kinds.next(), kinds.next()) {
        (None, _) => found.push("the message has no `method`, `result` or `error`".to_owned()),
        (Some(a), Some(b)) => found.push(format!("the message has both `{a}` and `{b}`")),
        (Some("method"), None) => request(json, &mut found),
        (Some(kind), None) => response(json, kind, &mut found),
    }
    found
}

fn request(json: &Json, found: &mut Vec<String>) {
    if json.str("method").is_none() {
        found.push("`method` is not a string".to_owned());
    }
    // JSON-RPC also knows positional params, but every MCP schema asks for an object.
    if json.get("params").is_some_and(|params| !params.is_object()) {
        found.push("`params` is not an object".to_owned());
    }
}

fn response(json: &Json, kind: &str, found: &mut Vec<String>) {
    // An error may lack its id where the request's could not be read (`basic#error-responses`).
    if kind == "result" && json.get("id").is_none() {
        found.push("the response has no `id`".to_owned());
    }
    if json.get("params").is_some() {
        found.push("the response has `params`".to_owned());
    }
    let Some(body) = json.get(kind) else { return };
    if !body.is_object() {
        found.push(format!("`{kind}` is not an object"));
    } else if kind == "error" {
        if !matches!(body.get("code"), Some(Json::Number(code)) if is_integer(code)) {
            found.push("`error.code` is not an integer".to_owned());
        }
        if !matches!(body.get("message"), Some(Json::String(_))) {
            found.push("`error.message` is not a string".to_owned());
        }
    }
}

fn not_json(error: &ParseError) -> String {
    format!("the message is not JSON: {error}")
}

/// JSON Schema counts `1.0` as an integer, so it is one here.
fn is_integer(number: &Number) -> bool {
    !number.as_str().contains(['.', 'e', 'E']) || number.as_f64().fract() == 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_sorted_by_their_members() {
        let kind = |text: &str| match parse(text.as_bytes()) {
            Message::Request { method, .. } => format!("request {method}"),
            Message::Notification { method, .. } => format!("notification {method}"),
            Message::Result { id, .. } => format!("result {id}"),
            Message::Error { id, .. } => format!("error {id}"),
            Message::Batch(items) => format!("batch {}", items.len()),
            Message::Malformed(reason) => reason,
        };
        for (text, expected) in [
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, "request ping"),
            (r#"{"id":null,"method":"ping"}"#, "request ping"),
            (r#"{"jsonrpc":"2.0","method":"m"}"#, "notification m"),
            (r#"{"id":"a","result":{}}"#, r#"result "a""#),
            (r#"{"id":1,"result":{},"error":{}}"#, "error 1"),
            (r#"{"error":{}}"#, "error null"),
            (r#"[{"id":1,"method":"a"},[]]"#, "batch 2"),
            (r#"{"id":1}"#, "the message has no `method`, `result` or `error`"),
            (r#"{"id":1,"method":2}"#, "`method` is not a string"),
            ("7", "the message is not an object"),
            ("{", "the message is not JSON: expected a member name at byte 1"),
        ] {
            assert_eq!(kind(text), expected, "{text}");
        }
    }

    #[test]
    fn violations_name_what_is_wrong() {
        for (text, expected) in [
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{}}"#, vec![]),
            (r#"{"jsonrpc":"2.0","id":1.0,"method":"ping"}"#, vec![]),
            (r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"x"}}"#, vec![]),
            (r#"{"id":1,"method":"ping"}"#, vec!["`jsonrpc` is missing"]),
            (r#"{"jsonrpc":2,"id":1,"method":"ping"}"#, vec!["`jsonrpc` is not \"2.0\""]),
            (
                r#"{"jsonrpc":"2.0","id":null,"method":"ping","params":[]}"#,
                vec!["`id` is neither a string nor an integer", "`params` is not an object"],
            ),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, vec!["`id` is neither a string nor an integer"]),
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, vec!["`id` is given more than once"]),
            (
                r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#,
                vec!["the message has both `result` and `error`"],
            ),
            (r#"{"jsonrpc":"2.0","result":{}}"#, vec!["the response has no `id`"]),
            (r#"{"jsonrpc":"2.0","id":1,"result":[]}"#, vec!["`result` is not an object"]),
            (
                r#"{"jsonrpc":"2.0","id":1,"error":{"code":"1"}}"#,
                vec!["`error.code` is not an integer", "`error.message` is not a string"],
            ),
            (
                r#"[{"jsonrpc":"2.0","method":"a"},{"jsonrpc":"2.0"}]"#,
                vec!["[1]: the message has no `method`, `result` or `error`"],
            ),
            ("[]", vec!["the batch is empty"]),
        ] {
            assert_eq!(violations(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn ids_keep_their_type() {
        let id = |text: &str| Json::parse(text).unwrap();
        assert!(same_id(&id("1"), &id("1.0")));
        assert!(!same_id(&id("1"), &id("\"1\"")));
        for (a, b) in [("1", "1.0"), ("0", "-0"), ("\"a\"", "\"\\u0061\""), ("10", "1e1")] {
            assert!(same_id(&id(a), &id(b)), "{a} {b}");
            assert_eq!(id_bucket(&id(a)), id_bucket(&id(b)));
        }
    }
}
