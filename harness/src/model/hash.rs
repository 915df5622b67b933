//! Lengths and hashes that stand for texts, and ids that are made from hashes.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use crate::json::Json;

use super::keep::Keep;

/// SHA-256 in hexadecimal.
pub(super) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut hex, byte| {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// The members that stand for some bytes: `len`, `sha256`, and `mentions` where something of ours is in them.
pub(super) fn members(bytes: &[u8], keep: &Keep<'_>) -> Vec<(&'static str, Json)> {
    let mut members = vec![("len", Json::from(bytes.len())), ("sha256", sha256(bytes).into())];
    let mentions = keep.mentions(&String::from_utf8_lossy(bytes));
    if !mentions.is_empty() {
        members.push(("mentions", Json::array(mentions)));
    }
    members
}

/// Whether this is an object that already stands for something: it has a length, a hash, and beside them and mentions
/// nothing but the members of `also`.
pub(super) fn stands_for(value: &Json, also: &[&str]) -> bool {
    let hex = |text: &str| text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    value.str("sha256").is_some_and(hex)
        && value.get("len").is_some_and(|len| len.as_i64().is_some())
        && value.members().iter().all(|(key, member)| {
            key == "len"
                || key == "sha256"
                || (key == "mentions" && member.items().iter().all(|item| item.as_str().is_some()))
                || also.iter().any(|name| key == *name)
        })
}

/// An id of `len` letters and digits that is a function of the parts.
pub(super) fn id(seed: u64, run: u32, index: usize, len: usize) -> String {
    const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut hash = Sha256::new();
    hash.update(b"use id");
    hash.update(seed.to_le_bytes());
    hash.update(run.to_le_bytes());
    hash.update((index as u64).to_le_bytes());
    hash.finalize()
        .iter()
        .take(len)
        .map(|byte| char::from(ALPHABET[usize::from(*byte) % ALPHABET.len()]))
        .collect()
}
