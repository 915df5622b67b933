//! Markers: a word per call that no other call can have, so that a swapped, stale or invented result cannot pass.

use sha2::{Digest, Sha256};

use crate::json::Json;

/// The placeholder in replies, error messages and structured values.
const PLACEHOLDER: &str = "{{ marker }}";

/// Lower case without the letters and digits that look alike (Crockford), so that a person can read a word out.
const BASE32: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// The word of call `call` (from 1) on connection `conn` of server `key`: `hcm-` and eight characters.
pub(super) fn word(seed: u64, key: &str, conn: u32, call: u64) -> String {
    let mut hash = Sha256::new();
    hash.update(seed.to_le_bytes());
    hash.update(conn.to_le_bytes());
    hash.update(call.to_le_bytes());
    // The key comes last because it alone has no fixed length.
    hash.update(key.as_bytes());
    let digest = hash.finalize();
    let bits = digest.iter().take(5).fold(0_u64, |bits, byte| (bits << 8) | u64::from(*byte));
    let characters = (0..8).rev().map(|at| char::from(BASE32[(bits >> (5 * at)) as usize & 31]));
    "hcm-".chars().chain(characters).collect()
}

/// Replaces the placeholder in every string of `json`. A value without it comes back as it was, to the byte.
pub(super) fn expand(json: &Json, word: &str) -> Json {
    let text = json.to_string();
    if !text.contains(PLACEHOLDER) {
        return json.clone();
    }
    // Neither the placeholder nor the word has a character that JSON escapes, so replacing in the text is replacing in
    // the strings, also in those that no `String` can hold.
    Json::parse(text.replace(PLACEHOLDER, word)).unwrap_or_else(|_| json.clone())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn words_are_stable_and_unique() {
        assert_eq!(word(7, "orders", 1, 1), word(7, "orders", 1, 1));
        let mut seen = HashSet::new();
        for seed in 0..4 {
            for key in ["orders", "weather"] {
                for conn in 1..4 {
                    for call in 1..100 {
                        let word = word(seed, key, conn, call);
                        assert!(word.len() == 12 && word.starts_with("hcm-"), "{word}");
                        assert!(seen.insert(word));
                    }
                }
            }
        }
    }

    #[test]
    fn one_word_for_all_places() {
        let json = Json::parse(r#"{"a":["{{ marker }} and {{ marker }}","\ud800{{ marker }}"],"n":1.0}"#).unwrap();
        assert_eq!(expand(&json, "hcm-0").to_string(), r#"{"a":["hcm-0 and hcm-0","\ud800hcm-0"],"n":1.0}"#);
    }

    #[test]
    fn nothing_is_added_without_it() {
        let json = Json::parse(r#"{"a":"{{marker}} {{ other }}","a":9007199254740993}"#).unwrap();
        assert_eq!(expand(&json, "hcm-0"), json);
    }
}
