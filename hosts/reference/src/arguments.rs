//! The arguments of a tool use: from the text of the model to the text on the wire.

use serde_json::value::RawValue;

use crate::rpc;

/// Reads what the model wrote. The result is the same JSON text, on one line; no number, null or key is spelled anew.
pub(crate) fn read(input: &str) -> Result<String, String> {
    let text = input.trim();
    if text.is_empty() {
        return Ok("{}".to_owned());
    }
    let raw: &RawValue =
        serde_json::from_str(text).map_err(|error| format!("the arguments are not JSON: {error}"))?;
    if crate::json::is_object(raw) {
        Ok(rpc::on_one_line(raw.get()))
    } else {
        Err("the arguments are not a JSON object".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(input: &str, expected: Option<&str>) {
        assert_eq!(read(input).ok().as_deref(), expected, "{input:?}");
    }

    #[test]
    fn arguments_keep_their_text() {
        for input in [
            r#"{"n":9007199254740993}"#,
            r#"{"n":1.0,"m":-0,"e":1e21,"big":123456789012345678901234567890,"tiny":1e-400}"#,
            r#"{"null":null,"empty":"","list":[null,{}]}"#,
            r#"{"b":1,"a":2,"b":3}"#,
            r#"{"s":"\u00e4\ud83d\/","t":"ä"}"#,
        ] {
            check(input, Some(input));
        }
    }

    #[test]
    fn only_line_ends_between_tokens_go() {
        check("{\n  \"s\": \"a\\nb\",\r\n  \"n\": 1\n}", Some("{   \"s\": \"a\\nb\",    \"n\": 1 }"));
        check("", Some("{}"));
        check(" \n ", Some("{}"));
    }

    #[test]
    fn what_is_no_object_is_refused() {
        for input in
            ["{\"id\": ", "[]", "null", "\"{}\"", "7", "{} {}", "{'a':1}", "{\"a\":NaN}", "{\"a\":\"\n\"}"]
        {
            check(input, None);
        }
    }
}
