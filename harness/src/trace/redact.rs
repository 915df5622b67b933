//! Credentials never reach a trace: they are replaced while recording.

use crate::json::Json;

/// What looks like a credential: a known beginning, and enough of the right characters behind it.
struct Shape {
    kind: &'static str,
    begin: &'static str,
    /// How much of the beginning stays readable.
    keep: usize,
    min: usize,
    allowed: fn(u8) -> bool,
}

const fn shape(kind: &'static str, begin: &'static str, min: usize, allowed: fn(u8) -> bool) -> Shape {
    Shape { kind, begin, keep: 0, min, allowed }
}

fn word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn letters(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

fn capitals(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

fn token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"._~+/=-".contains(&byte)
}

const SHAPES: [Shape; 10] = [
    shape("api-key", "sk-", 20, word),
    shape("github-token", "ghp_", 30, letters),
    shape("github-token", "gho_", 30, letters),
    shape("github-token", "ghs_", 30, letters),
    shape("github-token", "github_pat_", 30, word),
    shape("aws-key", "AKIA", 16, capitals),
    shape("google-key", "AIza", 35, word),
    shape("slack-token", "xox", 20, word),
    Shape { kind: "bearer", begin: "Bearer ", keep: 7, min: 16, allowed: token },
    Shape { kind: "bearer", begin: "bearer ", keep: 7, min: 16, allowed: token },
];

/// A shorter value would be found where it is not meant.
const MIN_CANARY: usize = 8;

/// Replaces planted values by `<canary:NAME>` and what looks like a credential by `<redacted:KIND>`.
#[derive(Clone, Debug)]
pub struct Redactor {
    canaries: Vec<(String, String)>,
    own: Vec<String>,
    /// The bytes that something begins with: nothing else is looked at twice.
    begins: [bool; 256],
}

impl Default for Redactor {
    fn default() -> Self {
        Self::new(&[], &[])
    }
}

impl Redactor {
    /// `canaries` are names and values that were planted; `own` are keys that hopcheck made up for this run, which are
    /// no secrets whatever they look like.
    #[must_use]
    pub fn new(canaries: &[(String, String)], own: &[String]) -> Self {
        let canaries: Vec<_> = canaries.iter().filter(|(_, value)| value.len() >= MIN_CANARY).cloned().collect();
        let mut begins = [false; 256];
        let values = canaries.iter().map(|(_, value)| value.as_str());
        for begin in SHAPES.iter().map(|shape| shape.begin).chain(values) {
            begins[usize::from(begin.as_bytes()[0])] = true;
        }
        Self { canaries, own: own.to_vec(), begins }
    }

    /// The text without credentials, or `None` where it has none.
    #[must_use]
    pub fn redact(&self, bytes: &[u8]) -> Option<Vec<u8>> {
        let mut out: Vec<u8> = Vec::new();
        let mut copied = 0;
        let mut at = 0;
        while at < bytes.len() {
            if !self.begins[usize::from(bytes[at])] {
                at += 1;
                continue;
            }
            let before = if copied == at { out.last().copied() } else { bytes.get(at.wrapping_sub(1)).copied() };
            let escaped = at >= copied + 2 && bytes[at - 2] == b'\\';
            match self.find(&bytes[at..], before, escaped) {
                Some((len, replacement)) => {
                    out.extend_from_slice(&bytes[copied..at]);
                    out.extend_from_slice(replacement.as_bytes());
                    at += len;
                    copied = at;
                }
                None => at += 1,
            }
        }
        (copied > 0).then(|| {
            out.extend_from_slice(&bytes[copied..]);
            out
        })
    }

    /// Redacts every string of a value.
    pub fn redact_json(&self, json: &mut Json) {
        match json {
            Json::String(text) => {
                if let Some(clean) = self.redact(text.as_bytes()) {
                    *text = String::from_utf8_lossy(&clean).into_owned().into();
                }
            }
            Json::Array(items) => items.iter_mut().for_each(|item| self.redact_json(item)),
            Json::Object(members) => members.iter_mut().for_each(|(_, value)| self.redact_json(value)),
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }

    /// What begins here and must go: its length, and what takes its place.
    fn find(&self, rest: &[u8], before: Option<u8>, escaped: bool) -> Option<(usize, String)> {
        for (name, value) in &self.canaries {
            if rest.starts_with(value.as_bytes()) {
                return Some((value.len(), format!("<canary:{name}>")));
            }
        }
        // In the middle of a word nothing begins, but the letter of an escape such as `\n` is no word.
        if before.is_some_and(word) && !escaped {
            return None;
        }
        let shape = SHAPES.iter().find(|shape| rest.starts_with(shape.begin.as_bytes()))?;
        let body = &rest[shape.begin.len()..];
        let len = body.iter().take_while(|byte| (shape.allowed)(**byte)).count();
        let end = self.first_of_ours(&rest[..shape.begin.len() + len]).unwrap_or(shape.begin.len() + len);
        if end < shape.begin.len() + shape.min {
            return None;
        }
        Some((end, format!("{}<redacted:{}>", &shape.begin[..shape.keep], shape.kind)))
    }

    /// Where a planted value or a key of ours begins: a credential ends before it, so that a text in which these were
    /// replaced already is read in the same way.
    fn first_of_ours(&self, found: &[u8]) -> Option<usize> {
        let planted = self.canaries.iter().map(|(_, value)| value);
        let ours = planted.chain(&self.own).filter(|value| !value.is_empty());
        ours.filter_map(|value| found.windows(value.len()).position(|part| part == value.as_bytes())).min()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn redactor() -> Redactor {
        let canary = ("HOPCHECK_CANARY_A".to_owned(), "canary4711".to_owned());
        Redactor::new(&[canary], &["sk-hopcheck-0123456789abcdef".to_owned()])
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let clean = redactor().redact(text.as_bytes()).unwrap_or_else(|| text.as_bytes().to_vec());
        assert_eq!(String::from_utf8(clean).unwrap(), expected);
    }

    #[test]
    fn credentials_go_and_words_stay() {
        check(r#"{"k":"sk-ant-abcdefghij0123456789"}"#, r#"{"k":"<redacted:api-key>"}"#);
        check("a canary4711b", "a <canary:HOPCHECK_CANARY_A>b");
        check("Authorization: Bearer abcdef0123456789.x=", "Authorization: Bearer <redacted:bearer>");
        check(r"line\nAKIAIOSFODNN7EXAMPLE end", r"line\n<redacted:aws-key> end");
        check("key sk-hopcheck-0123456789abcdef", "key sk-hopcheck-0123456789abcdef");
        check("task-abcdefghij0123456789abcdef", "task-abcdefghij0123456789abcdef");
        check("sk-short Bearer of news", "sk-short Bearer of news");
        check(
            "sk-abcdefghij0123456789canary4711sk-hopcheck-0123456789abcdef",
            "<redacted:api-key><canary:HOPCHECK_CANARY_A>sk-hopcheck-0123456789abcdef",
        );
        check("canary4711sk-abcdefghij0123456789", "<canary:HOPCHECK_CANARY_A><redacted:api-key>");
    }

    #[test]
    fn values_are_redacted_too() {
        let mut json = Json::parse(r#"{"a":["sk-abcdefghij0123456789",1]}"#).unwrap();
        redactor().redact_json(&mut json);
        assert_eq!(json.to_string(), r#"{"a":["<redacted:api-key>",1]}"#);
    }

    proptest! {
        #[test]
        fn twice_is_once(parts in prop::collection::vec(prop::sample::select(vec![
            "sk-", "ghp_", "Bearer ", "AKIA", "canary4711", "abcdefghij0123456789ABCDEFGHIJ", "\\n", " ", "\"", "x", "-",
            "sk-hopcheck-0123456789abcdef", "<", "é",
        ]), 0..12)) {
            let text = parts.concat();
            let once = redactor().redact(text.as_bytes()).unwrap_or_else(|| text.into_bytes());
            prop_assert!(str::from_utf8(&once).is_ok());
            prop_assert_eq!(redactor().redact(&once), None, "{}", String::from_utf8_lossy(&once));
        }
    }
}
