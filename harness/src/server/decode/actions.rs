//! The acts of a scripted server.

use crate::decode::{Reporter, Value, payload};
use crate::server::script::{Action, RpcError};

/// One table of `do`; nothing where it was reported.
pub(super) fn action(value: &Value, out: &mut Reporter) -> Option<Action> {
    let [member] = value.members() else { return None };
    let value = &member.value;
    Some(match member.key.value.as_str() {
        "reply" => Action::Reply(payload::json(value)?),
        "error" => Action::Error(rpc_error(value)?),
        "raw" => Action::Raw(raw(value, out)?),
        "notify" => {
            let (method, params) = message(value)?;
            Action::Notify { method, params }
        }
        "request" => {
            let (method, params) = message(value)?;
            Action::Request { method, params }
        }
        "stderr" => Action::Stderr(value.as_str()?.to_owned()),
        "hold" => Action::Hold(value.as_str()?.to_owned()),
        "release" => Action::Release(value.as_str()?.to_owned()),
        "silence" => Action::Silence,
        "duplicate" => Action::Duplicate(value.as_integer()?),
        "id" => Action::Id(payload::json(value)?),
        "exit" => Action::Exit(value.as_integer()?),
        "kill" => Action::Kill(value.as_str()?.to_owned()),
        "close_stdout" => Action::CloseStdout,
        "delay" => Action::Delay(value.as_integer()?),
        "ignore" => Action::Ignore,
        _ => return None,
    })
}

/// `{ code, message, data }`.
pub(super) fn rpc_error(value: &Value) -> Option<RpcError> {
    Some(RpcError {
        code: value.get("code")?.as_integer()?,
        message: value.string("message")?,
        data: value.get("data").and_then(payload::json),
    })
}

fn message(value: &Value) -> Option<(String, Option<crate::json::Json>)> {
    Some((value.string("method")?, value.get("params").and_then(payload::json)))
}

fn raw(value: &Value, out: &mut Reporter) -> Option<Vec<u8>> {
    if let Some(text) = value.as_str() {
        return Some(text.as_bytes().to_vec());
    }
    let hex = value.get("hex")?;
    let digits: Vec<u8> = hex.as_str()?.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let bytes = digits
        .chunks(2)
        .map(|pair| match pair {
            [high, low] => Some(nibble(*high)? << 4 | nibble(*low)?),
            _ => None,
        })
        .collect::<Option<Vec<u8>>>();
    if bytes.is_none() {
        out.error(hex.span.clone(), "`hex` is not hexadecimal")
            .label("expected pairs of the digits 0 to 9 and a to f");
    }
    bytes
}

fn nibble(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}
