//! The model, behind the Messages API.

use serde_json::{Value, json};

use crate::Failure;
use crate::http;

/// The model, with the conversation so far.
pub(crate) struct Model {
    url: String,
    key: String,
    messages: Vec<Value>,
}

/// What the model wants called.
pub(crate) struct ToolUse {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) input: Value,
}

/// One turn of the model.
pub(crate) struct Reply {
    pub(crate) text: String,
    pub(crate) uses: Vec<ToolUse>,
}

impl Model {
    pub(crate) fn new(url: String, key: String) -> Self {
        Self { url, key, messages: Vec::new() }
    }

    pub(crate) fn user(&mut self, text: &str) {
        self.messages.push(json!({ "role": "user", "content": text }));
    }

    pub(crate) fn tool_results(&mut self, results: Vec<Value>) {
        self.messages.push(json!({ "role": "user", "content": results }));
    }

    /// The next turn of the model.
    pub(crate) fn ask(&mut self, tools: &[Value]) -> Result<Reply, Failure> {
        let mut request = json!({ "model": "acme-1", "max_tokens": 4096, "messages": self.messages });
        if !tools.is_empty() {
            request["tools"] = json!(tools);
        }
        let headers = [("x-api-key", self.key.as_str()), ("anthropic-version", "2023-06-01")];
        let body = http::post(&format!("{}/v1/messages", self.url), &headers, &request.to_string())?;
        let body: Value = serde_json::from_str(&body)?;
        let content = body["content"].as_array().ok_or("a reply of the model without content")?;
        self.messages
            .push(json!({ "role": "assistant", "content": content.iter().map(said).collect::<Vec<_>>() }));
        let of = |kind: &'static str| content.iter().filter(move |block| block["type"] == kind);
        let text = of("text").filter_map(|block| block["text"].as_str()).collect();
        let uses = of("tool_use").map(|block| ToolUse {
            id: block["id"].as_str().unwrap_or_default().to_owned(),
            name: block["name"].as_str().unwrap_or_default().to_owned(),
            input: block["input"].clone(),
        });
        Ok(Reply { text, uses: uses.collect() })
    }
}

/// A block of the model as it is repeated to it: arguments that are no object are not taken back.
fn said(block: &Value) -> Value {
    let mut block = block.clone();
    if block["type"] == "tool_use" && !block["input"].is_object() {
        block["input"] = json!({});
    }
    block
}

/// The result of a call in the words of the Messages API. What it has no block for is told as JSON.
pub(crate) fn content(result: &Value) -> Value {
    let blocks = result["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    if blocks.is_empty() && result["structuredContent"].is_object() {
        return json!([{ "type": "text", "text": result["structuredContent"].to_string() }]);
    }
    let block = |block: &Value| match (block["type"].as_str(), block["text"].as_str()) {
        // The API takes no empty text.
        (Some("text"), Some("")) => None,
        (Some("text"), Some(text)) => Some(json!({ "type": "text", "text": text })),
        (Some("image"), _) => {
            let source = json!({ "type": "base64", "media_type": block["mimeType"], "data": block["data"] });
            Some(json!({ "type": "image", "source": source }))
        }
        _ => Some(json!({ "type": "text", "text": block.to_string() })),
    };
    blocks.iter().filter_map(block).collect()
}
