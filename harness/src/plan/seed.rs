//! Words that nobody can guess, derived from the seed of a plan so that a trace can be judged again.

use sha2::{Digest, Sha256};

const ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

/// A word of `len` characters (at most 32) that is unique to the seed and the parts.
#[must_use]
pub fn word(seed: u64, parts: &[&str], len: usize) -> String {
    let mut hash = Sha256::new();
    hash.update(seed.to_le_bytes());
    for part in parts {
        // The length in front keeps ["a", "bc"] apart from ["ab", "c"].
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    hash.finalize().iter().take(len).map(|byte| char::from(ALPHABET[usize::from(byte % 32)])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_depend_on_seed_and_on_each_part() {
        let words =
            [word(1, &["a", "bc"], 8), word(1, &["ab", "c"], 8), word(1, &["abc"], 8), word(2, &["a", "bc"], 8)];
        for (at, one) in words.iter().enumerate() {
            assert_eq!(one.len(), 8);
            assert!(words[..at].iter().all(|other| other != one), "{words:?}");
        }
        assert_eq!(word(1, &["a"], 6), word(1, &["a"], 6));
    }
}
