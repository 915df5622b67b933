//! Payloads that are too large for a trace.

use sha2::{Digest, Sha256};

use super::event::Payload;

/// A larger payload is kept by head, length and hash.
pub const MAX_PAYLOAD: usize = 8 << 20;

/// What is kept of it: enough to see what it was.
const HEAD: usize = 64 << 10;

impl Payload {
    /// The payload of an event: all bytes, or the head of too many.
    #[must_use]
    pub fn of(mut bytes: Vec<u8>) -> Self {
        if bytes.len() <= MAX_PAYLOAD {
            return Self::Whole(bytes);
        }
        let (len, sha256) = (bytes.len() as u64, sha256_hex(&bytes));
        bytes.truncate(head_end(&bytes));
        bytes.shrink_to_fit();
        Self::Cut { head: bytes, len, sha256 }
    }

    /// The length of all bytes, kept or not.
    #[must_use]
    pub fn len(&self) -> u64 {
        match self {
            Self::Whole(bytes) => bytes.len() as u64,
            Self::Cut { len, .. } => *len,
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes that are kept.
    #[must_use]
    pub fn kept(&self) -> &[u8] {
        match self {
            Self::Whole(bytes) | Self::Cut { head: bytes, .. } => bytes,
        }
    }
}

/// A head that does not end inside a character stays readable.
fn head_end(bytes: &[u8]) -> usize {
    let is_boundary = |&at: &usize| !matches!(bytes[at], 0x80..=0xbf);
    (HEAD - 3..=HEAD).rev().find(is_boundary).unwrap_or(HEAD)
}

/// SHA-256 in hexadecimal.
#[must_use]
pub fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Bytes in lower-case hexadecimal.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .map(|digit| char::from(DIGITS[usize::from(digit)]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_payloads_keep_head_length_and_hash() {
        assert_eq!(Payload::of(vec![b'x'; 9]), Payload::Whole(vec![b'x'; 9]));
        let Payload::Cut { head, len, sha256 } = Payload::of("é".repeat(5 << 20).into_bytes()) else {
            panic!("not cut")
        };
        assert_eq!((head.len(), len), (HEAD, 10 << 20));
        assert!(str::from_utf8(&head).is_ok());
        assert_eq!(sha256, sha256_hex("é".repeat(5 << 20).as_bytes()));
    }

    #[test]
    fn hashes_are_hexadecimal() {
        assert_eq!(sha256_hex(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }
}
