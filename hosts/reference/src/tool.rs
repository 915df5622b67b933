//! A tool as its server listed it.

use serde_json::value::RawValue;

use crate::fault::{Fault, Lies};
use crate::json::{self, Members};
use crate::schema::InputSchema;

/// One entry of a `tools/list`, reduced to what a model and a call need. Texts stay JSON text, so that nothing is re-spelled on the way.
pub(crate) struct Tool {
    /// The registered name, for rules and look-ups.
    pub(crate) name: String,
    /// The registered name as the JSON string that the server sent, for the wire.
    pub(crate) name_json: String,
    /// The description as JSON text, when there is one.
    pub(crate) description_json: Option<String>,
    pub(crate) input: InputSchema,
}

impl Tool {
    /// Reads an entry. An entry that no model can use is left out, and the others live.
    pub(crate) fn parse(raw: &RawValue, lies: Lies) -> Option<Self> {
        let entry = Members::of(raw)?;
        let name_json = entry.get("name")?;
        let name = json::string(name_json).filter(|name| !name.is_empty())?;
        let description_json = entry.get("description").filter(|text| text.get().starts_with('"'));
        let input = match entry.get("inputSchema").and_then(InputSchema::usable) {
            Some(input) => input,
            None if lies.tell(Fault::OfferWithoutSchema) => InputSchema::anything(),
            None => return None,
        };
        Some(Self {
            name,
            name_json: name_json.get().to_owned(),
            description_json: description_json.map(|text| text.get().to_owned()),
            input,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_kept_as_they_were_sent() {
        let raw = r#"{"name":"l\u00f6schen","title":"T","description":"a\/b","inputSchema":{ "type":"object", "x-n": 1.0 }}"#;
        let tool = Tool::parse(serde_json::from_str(raw).unwrap(), Lies::default()).unwrap();
        assert_eq!(tool.name, "löschen");
        assert_eq!(tool.name_json, r#""l\u00f6schen""#);
        assert_eq!(tool.description_json.as_deref(), Some(r#""a\/b""#));
        assert_eq!(tool.input.text(), r#"{ "type":"object", "x-n": 1.0 }"#);
    }

    #[test]
    fn entries_that_cannot_be_used_are_left_out() {
        for raw in [
            "7",
            "{}",
            r#"{"name":"a"}"#,
            r#"{"name":"a","inputSchema":null}"#,
            r#"{"name":1,"inputSchema":{"type":"object"}}"#,
            r#"{"name":"","inputSchema":{"type":"object"}}"#,
        ] {
            assert!(Tool::parse(serde_json::from_str(raw).unwrap(), Lies::default()).is_none(), "{raw}");
        }
    }
}
