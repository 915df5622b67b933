//! The few things about JSON that a host needs beyond `serde_json`: member order, raw text, and strings that are not quite Unicode.

use std::fmt;

use serde_core::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The members of a JSON object in the order of the text, each value as the text that was sent.
///
/// A config file needs the order (servers are offered in it), and a wire needs the text (a number must not pass through a double).
pub(crate) struct Members<'a>(pub(crate) Vec<(String, &'a RawValue)>);

impl<'a> Members<'a> {
    /// Parses `text`, which must be one JSON object.
    pub(crate) fn parse(text: &'a str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// The members of `raw`, or nothing when it is not an object.
    pub(crate) fn of(raw: &'a RawValue) -> Option<Self> {
        Self::parse(raw.get()).ok()
    }

    /// The value of `name`. Of duplicates the last one counts, as in most JSON readers.
    pub(crate) fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.0.iter().rev().find(|(key, _)| key == name).map(|(_, value)| *value)
    }

    /// The value of `name` as text, when it is a string.
    pub(crate) fn string(&self, name: &str) -> Option<String> {
        self.get(name).and_then(string)
    }
}

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

/// The elements of `raw`, or nothing when it is not an array.
pub(crate) fn elements(raw: &RawValue) -> Option<Vec<&RawValue>> {
    serde_json::from_str(raw.get()).ok()
}

/// The text of a JSON string, or nothing when `raw` is not a string.
///
/// JSON can escape half of a surrogate pair, which no Rust string can hold. Such a half becomes U+FFFD, so that one odd character does not cost the
/// model the whole text.
pub(crate) fn string(raw: &RawValue) -> Option<String> {
    let text = raw.get();
    if !text.starts_with('"') {
        return None;
    }
    serde_json::from_str(text).or_else(|_| serde_json::from_str(&without_lone_surrogates(text))).ok()
}

/// `text` as a JSON string literal.
pub(crate) fn quote(text: &str) -> String {
    let mut literal = String::with_capacity(text.len() + 2);
    literal.push('"');
    let mut from = 0;
    for (at, byte) in text.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0..=0x1f => "",
            _ => continue,
        };
        literal.push_str(&text[from..at]);
        if escape.is_empty() {
            literal.push_str(&format!("\\u{byte:04x}"));
        } else {
            literal.push_str(escape);
        }
        from = at + 1;
    }
    literal.push_str(&text[from..]);
    literal.push('"');
    literal
}

/// Whether `raw` is a JSON object.
pub(crate) fn is_object(raw: &RawValue) -> bool {
    raw.get().starts_with('{')
}

/// JSON text with every escaped half of a surrogate pair replaced by an escaped U+FFFD.
pub(crate) fn without_lone_surrogates(text: &str) -> String {
    let bytes = text.as_bytes();
    let unit = |at: usize| -> Option<u16> {
        let escape = bytes.get(at..at + 6)?;
        (escape.starts_with(b"\\u")).then_some(())?;
        u16::from_str_radix(text.get(at + 2..at + 6)?, 16).ok()
    };
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    let mut from = 0;
    while at < bytes.len() {
        if bytes[at] != b'\\' {
            at += 1;
            continue;
        }
        match (unit(at), unit(at + 6)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => at += 12,
            (Some(0xd800..=0xdfff), _) => {
                out.push_str(&text[from..at]);
                out.push_str("\\ufffd");
                at += 6;
                from = at;
            }
            (Some(_), _) => at += 6,
            (None, _) => at += 2,
        }
    }
    out.push_str(&text[from..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_keep_order_and_number_text() {
        let members = Members::parse(r#"{"z":9007199254740993,"a":1.0,"m":-0,"a":1e21}"#).unwrap();
        let texts: Vec<_> = members.0.iter().map(|(key, value)| (key.as_str(), value.get())).collect();
        assert_eq!(texts, [("z", "9007199254740993"), ("a", "1.0"), ("m", "-0"), ("a", "1e21")]);
        assert_eq!(members.get("a").unwrap().get(), "1e21");
    }

    #[track_caller]
    fn check_string(literal: &str, expected: Option<&str>) {
        let raw: Box<RawValue> = serde_json::from_str(literal).unwrap();
        assert_eq!(string(&raw).as_deref(), expected, "{literal}");
    }

    #[test]
    fn strings_survive_lone_surrogates() {
        check_string(r#""plain""#, Some("plain"));
        check_string(r#""\ud83d\ude00""#, Some("😀"));
        check_string(r#""a\ud83d""#, Some("a\u{fffd}"));
        check_string(r#""\ude00\\ud83d""#, Some("\u{fffd}\\ud83d"));
        check_string("1", None);
        check_string("null", None);
    }

    #[test]
    fn quoting_is_what_serde_json_reads_back() {
        for text in ["", "plain", "a\"b\\c", "\n\r\t\u{0}\u{1f}", "ä😀"] {
            assert_eq!(serde_json::from_str::<String>(&quote(text)).unwrap(), text);
        }
    }
}
