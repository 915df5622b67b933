//! What a model is told about a call.

use serde_json::value::RawValue;

use crate::fault::{Fault, Lies};
use crate::json::{self, Members};
use crate::modern::{self, ResultType};
use crate::rpc::RpcError;

/// The outcome of a tool use, as it goes to the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Told {
    pub(crate) parts: Vec<Part>,
    pub(crate) is_error: bool,
}

/// One piece of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    Text(String),
    /// An image, in base64 as the server sent it.
    Image {
        data: String,
        mime_type: String,
    },
    /// What a search found, as JSON text in the form of the model API.
    Found(String),
}

impl Told {
    /// A trouble that the host itself reports. The words make clear that no server said them.
    pub(crate) fn trouble(text: impl Into<String>) -> Self {
        Self { parts: vec![Part::Text(text.into())], is_error: true }
    }

    /// A JSON-RPC error of the server.
    pub(crate) fn rpc_error(error: &RpcError) -> Self {
        let data = error.data.as_deref().map(|data| format!(" (data: {data})")).unwrap_or_default();
        Self::trouble(format!("the server answered with JSON-RPC error {}: {}{data}", error.code, error.message))
    }
}

/// What the result of a `tools/call` is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum CallResult {
    Final(Told),
    /// The server wants to be called again.
    InputRequired {
        /// What must be sent back, as JSON text.
        state: Option<String>,
        /// Whether it wants anything that this host cannot give.
        asks: bool,
    },
}

/// Reads the result of a `tools/call`.
pub(crate) fn read(result: &RawValue, lies: Lies) -> CallResult {
    let Some(members) = Members::of(result) else {
        return CallResult::Final(Told::trouble("the server sent a result that is not an object"));
    };
    match modern::result_type(&members) {
        ResultType::Complete => {}
        ResultType::Unknown(_) if lies.tell(Fault::BelieveUnknownType) => {}
        ResultType::InputRequired => {
            return CallResult::InputRequired {
                state: members.get("requestState").map(|state| state.get().to_owned()),
                asks: members.get("inputRequests").is_some(),
            };
        }
        ResultType::Unknown(name) => {
            return CallResult::Final(Told::trouble(format!("the server sent a result of unknown type {name}")));
        }
    }
    let told = read_complete(&members, lies)
        .unwrap_or_else(|reason| Told::trouble(format!("the server sent an invalid result: {reason}")));
    CallResult::Final(told)
}

fn read_complete(result: &Members<'_>, lies: Lies) -> Result<Told, String> {
    let is_error = result.get("isError").is_some_and(|flag| flag.get() == "true");
    let structured = result.get("structuredContent");
    let mut parts = match result.get("content") {
        Some(content) => json::elements(content)
            .ok_or("content is not an array")?
            .into_iter()
            .map(read_block)
            .collect::<Result<Vec<_>, _>>()?,
        None if structured.is_some() => Vec::new(),
        None => return Err("content is missing".to_owned()),
    };
    let has_text = parts.iter().any(|part| matches!(part, Part::Text(_)));
    if let Some(structured) = structured.filter(|_| !has_text && !lies.tell(Fault::DropStructured)) {
        parts.push(Part::Text(structured.get().to_owned()));
    }
    if parts.is_empty() {
        let text = if is_error {
            "(the tool reported an error without a message)"
        } else {
            "(the tool returned nothing)"
        };
        parts.push(Part::Text(text.to_owned()));
    }
    Ok(lies.bend_told(Told { parts, is_error }))
}

fn read_block(raw: &RawValue) -> Result<Part, String> {
    let block = Members::of(raw).ok_or("a content block is not an object")?;
    let kind = block.string("type").ok_or("a content block has no type")?;
    let get =
        |name: &str| block.string(name).ok_or_else(|| format!("a content block of type {kind} has no {name}"));
    Ok(match kind.as_str() {
        "text" => Part::Text(get("text")?),
        "image" => Part::Image { data: get("data")?, mime_type: get("mimeType")? },
        "audio" => Part::Text(format!(
            "[audio, {}, {} characters of base64, which cannot be shown]",
            get("mimeType")?,
            get("data")?.len()
        )),
        "resource_link" => {
            let description = block.string("description").map(|text| format!(": {text}")).unwrap_or_default();
            Part::Text(format!("[resource {} at {}{description}]", get("name")?, get("uri")?))
        }
        "resource" => read_resource(block.get("resource").ok_or("a resource block has no resource")?)?,
        _ => return Err(format!("a content block has the unknown type {kind:?}")),
    })
}

fn read_resource(raw: &RawValue) -> Result<Part, String> {
    let resource = Members::of(raw).ok_or("a resource is not an object")?;
    if let Some(text) = resource.string("text") {
        return Ok(Part::Text(text));
    }
    let blob = resource.string("blob").ok_or("a resource has neither text nor blob")?;
    let mime_type = resource.string("mimeType").unwrap_or_else(|| "application/octet-stream".to_owned());
    if mime_type.starts_with("image/") {
        return Ok(Part::Image { data: blob, mime_type });
    }
    let uri = resource.string("uri").unwrap_or_default();
    Ok(Part::Text(format!(
        "[resource at {uri}, {mime_type}, {} characters of base64, which cannot be shown]",
        blob.len()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Part {
        Part::Text(text.to_owned())
    }

    #[track_caller]
    fn check(result: &str, is_error: bool, parts: &[Part]) {
        let raw: Box<RawValue> = serde_json::from_str(result).unwrap();
        let expected = CallResult::Final(Told { parts: parts.to_vec(), is_error });
        assert_eq!(read(&raw, Lies::default()), expected, "{result}");
    }

    #[test]
    fn content_is_told_in_order() {
        check(
            r#"{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}"#,
            false,
            &[text("a"), text("b")],
        );
        check(r#"{"content":[{"type":"text","text":"no"}],"isError":true}"#, true, &[text("no")]);
        check(r#"{"content":[],"isError":true}"#, true, &[text("(the tool reported an error without a message)")]);
        check(
            r#"{"content":[{"type":"image","data":"AA==","mimeType":"image/png"},{"type":"resource","resource":{"uri":"u","text":"t"}}]}"#,
            false,
            &[Part::Image { data: "AA==".into(), mime_type: "image/png".into() }, text("t")],
        );
        check(
            r#"{"content":[{"type":"resource_link","name":"n","uri":"file:///n"}]}"#,
            false,
            &[text("[resource n at file:///n]")],
        );
    }

    #[test]
    fn structured_content_speaks_when_no_text_does() {
        check(r#"{"structuredContent":{"n":1.0}}"#, false, &[text(r#"{"n":1.0}"#)]);
        check(r#"{"content":[],"structuredContent":[1]}"#, false, &[text("[1]")]);
        check(r#"{"content":[{"type":"text","text":"a"}],"structuredContent":{"n":1}}"#, false, &[text("a")]);
    }

    #[test]
    fn what_is_not_a_result_is_told_as_an_error() {
        for result in [
            "7",
            "{}",
            r#"{"content":{}}"#,
            r#"{"content":[{"type":"odd"}]}"#,
            r#"{"content":[{"type":"text"}]}"#,
            r#"{"content":[],"resultType":"odd"}"#,
        ] {
            let raw: Box<RawValue> = serde_json::from_str(result).unwrap();
            assert!(
                matches!(read(&raw, Lies::default()), CallResult::Final(Told { is_error: true, .. })),
                "{result}"
            );
        }
    }

    #[test]
    fn a_server_may_want_more() {
        let raw: Box<RawValue> =
            serde_json::from_str(r#"{"resultType":"input_required","requestState":"s\u00e4"}"#).unwrap();
        let expected = CallResult::InputRequired { state: Some(r#""s\u00e4""#.to_owned()), asks: false };
        assert_eq!(read(&raw, Lies::default()), expected);
    }
}
