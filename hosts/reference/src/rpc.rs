//! JSON-RPC as lines: reading what a server wrote, and writing what the host says.

use serde_json::value::RawValue;

use crate::json::{self, Members, quote};

/// The code for a method that the receiver does not have.
pub(crate) const METHOD_NOT_FOUND: i64 = -32601;

/// One message of a server.
#[derive(Debug)]
pub(crate) enum Incoming<'a> {
    /// An answer. The id is that of a request of ours, or it is nothing that we ever sent.
    Response { id: Option<u64>, outcome: Result<&'a RawValue, RpcError> },
    /// A request. Its id is kept as text, so that it goes back with the same type and digits.
    Request { id: &'a RawValue, method: String },
    /// A notification.
    Notification { method: String, params: Option<&'a RawValue> },
}

/// The error object of a response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RpcError {
    /// The code, as the text that was sent.
    pub(crate) code: String,
    pub(crate) message: String,
    /// The data member, as JSON text.
    pub(crate) data: Option<String>,
}

impl RpcError {
    /// The code as a number, when it is an integer.
    pub(crate) fn number(&self) -> Option<i64> {
        self.code.parse().ok()
    }
}

/// The messages in one line of a server: none when it is not JSON-RPC, several when it is a batch.
pub(crate) fn parse(line: &[u8]) -> Vec<Incoming<'_>> {
    // Most noise is told from a message by its first character.
    if !matches!(line.trim_ascii_start().first(), Some(b'{' | b'[')) {
        return Vec::new();
    }
    let Ok(text) = std::str::from_utf8(line) else {
        return Vec::new();
    };
    let Ok(raw) = serde_json::from_str::<&RawValue>(text) else {
        return Vec::new();
    };
    match json::elements(raw) {
        Some(batch) => batch.into_iter().filter_map(parse_one).collect(),
        None => parse_one(raw).into_iter().collect(),
    }
}

fn parse_one(raw: &RawValue) -> Option<Incoming<'_>> {
    let message = Members::of(raw)?;
    if message.string("jsonrpc").as_deref() != Some("2.0") {
        return None;
    }
    let id = message.get("id").filter(|id| id.get() != "null");
    if let Some(method) = message.string("method") {
        return Some(match id {
            Some(id) => Incoming::Request { id, method },
            None => Incoming::Notification { method, params: message.get("params") },
        });
    }
    let outcome = match (message.get("result"), message.get("error")) {
        (_, Some(error)) => Err(parse_error(error)),
        (Some(result), None) => Ok(result),
        (None, None) => return None,
    };
    Some(Incoming::Response { id: id.and_then(|id| id.get().parse().ok()), outcome })
}

fn parse_error(raw: &RawValue) -> RpcError {
    let members = Members::of(raw);
    let get = |name| members.as_ref().and_then(|members| members.get(name));
    RpcError {
        code: get("code").map_or_else(|| "without a code".to_owned(), |code| code.get().to_owned()),
        message: get("message").and_then(json::string).unwrap_or_default(),
        data: get("data").map(|data| data.get().to_owned()),
    }
}

/// A request line.
pub(crate) fn request(id: u64, method: &str, params: Option<&str>) -> String {
    let method = quote(method);
    match params {
        Some(params) => {
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":{method},\"params\":{params}}}\n")
        }
        None => format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":{method}}}\n"),
    }
}

/// A notification line.
pub(crate) fn notification(method: &str, params: Option<&str>) -> String {
    let method = quote(method);
    match params {
        Some(params) => {
            format!("{{\"jsonrpc\":\"2.0\",\"method\":{method},\"params\":{params}}}\n")
        }
        None => format!("{{\"jsonrpc\":\"2.0\",\"method\":{method}}}\n"),
    }
}

/// The line that answers a request of a server with an empty result.
pub(crate) fn empty_result(id: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}\n")
}

/// The line that refuses a request of a server.
pub(crate) fn refusal(id: &str, code: i64, message: &str) -> String {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":{code},\"message\":{}}}}}\n", quote(message))
}

/// JSON text without line ends. Outside of strings they are space, and inside of strings JSON has none.
pub(crate) fn on_one_line(json: &str) -> String {
    json.replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, expected: &[&str]) {
        let seen: Vec<String> = parse(line.as_bytes())
            .into_iter()
            .map(|message| match message {
                Incoming::Response { id, outcome: Ok(result) } => format!("result {id:?} {}", result.get()),
                Incoming::Response { id, outcome: Err(error) } => {
                    format!("error {id:?} {} {}", error.code, error.message)
                }
                Incoming::Request { id, method } => format!("request {} {method}", id.get()),
                Incoming::Notification { method, params } => {
                    format!("notification {method} {}", params.is_some())
                }
            })
            .collect();
        assert_eq!(seen, expected, "{line}");
    }

    #[test]
    fn messages_are_told_apart() {
        check(r#"{"jsonrpc":"2.0","id":7,"result":{"a":1.0}}"#, &[r#"result Some(7) {"a":1.0}"#]);
        check(r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32000,"message":"no"}}"#, &["error Some(7) -32000 no"]);
        check(r#"{"jsonrpc":"2.0","id":"x","method":"ping"}"#, &["request \"x\" ping"]);
        check(r#"{"jsonrpc":"2.0","method":"n","params":{}}"#, &["notification n true"]);
        check(
            r#"[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","method":"n"}]"#,
            &["result Some(1) {}", "notification n false"],
        );
    }

    #[test]
    fn an_id_of_another_type_answers_nothing() {
        check(r#"{"jsonrpc":"2.0","id":"7","result":{}}"#, &["result None {}"]);
        check(r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}"#, &["error None -32700 ?"]);
    }

    #[test]
    fn noise_is_no_message() {
        for line in [
            "",
            "Server started",
            "{\"level\":\"info\"}",
            "{\"jsonrpc\":\"2.0\"}",
            "[1,2]",
            "{\"jsonrpc\":\"2.0\",",
            "null",
        ] {
            check(line, &[]);
        }
        assert!(parse(b"\xff\xfe{}").is_empty());
    }
}
