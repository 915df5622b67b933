//! The parts of reducing that all APIs share.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::json::Json;

use super::hash;
use super::keep::Keep;

/// A text: ours stays, an empty one too, any other becomes length and hash.
pub(super) fn text(value: &Json, keep: &Keep<'_>) -> Json {
    match value.as_str() {
        Some(text) if keep.is_ours(text) => value.clone(),
        _ => opaque(value, keep),
    }
}

/// A value that nobody needs to read: scalars that are no text stay, and so does what is empty or reduced already.
pub(super) fn opaque(value: &Json, keep: &Keep<'_>) -> Json {
    let bytes = match value {
        Json::Null | Json::Bool(_) | Json::Number(_) => return value.clone(),
        Json::String(text) if text.as_bytes().is_empty() => return value.clone(),
        Json::Array(items) if items.is_empty() => return value.clone(),
        Json::Object(members) if members.is_empty() || hash::stands_for(value, &[]) => return value.clone(),
        Json::String(text) => return Json::object(hash::members(text.as_bytes(), keep)),
        Json::Array(_) | Json::Object(_) => value.to_bytes(),
    };
    Json::object(hash::members(&bytes, keep))
}

/// Each member by its name.
pub(super) fn object(value: &Json, member: impl Fn(&str, &Json) -> Json) -> Json {
    Json::Object(
        value
            .members()
            .iter()
            // A name that is no valid Unicode is no name that any API knows.
            .map(|(key, value)| (key.clone(), member(key.as_str().unwrap_or_default(), value)))
            .collect(),
    )
}

/// Each item of an array; what is no array is opaque.
pub(super) fn array(value: &Json, keep: &Keep<'_>, item: impl Fn(&Json) -> Json) -> Json {
    match value {
        Json::Array(items) => Json::Array(items.iter().map(item).collect()),
        other => opaque(other, keep),
    }
}

/// Content that is a text or an array of blocks.
pub(super) fn content(value: &Json, keep: &Keep<'_>, block: impl Fn(&Json) -> Json) -> Json {
    match value {
        Json::Array(items) => Json::Array(items.iter().map(block).collect()),
        other => text(other, keep),
    }
}

/// A block with text in it, or any other block: its type, its text and its caching stay recognisable.
pub(super) fn block(value: &Json, keep: &Keep<'_>) -> Json {
    if !value.is_object() {
        return text(value, keep);
    }
    object(value, |key, member| match key {
        "type" | "cache_control" => member.clone(),
        "text" => text(member, keep),
        _ => opaque(member, keep),
    })
}

/// The members that a foreign tool entry keeps beside length and hash.
const ENTRY: [&str; 2] = ["type", "name"];

/// Whether a tool entry is a reduced one.
pub(super) fn is_reduced_entry(entry: &Json) -> bool {
    hash::stands_for(entry, &ENTRY)
}

/// A tool entry: ours in full, a namespace with its entries, any other as name, length and hash.
pub(super) fn tool(entry: &Json, keep: &Keep<'_>) -> Json {
    if !entry.is_object() {
        return opaque(entry, keep);
    }
    if let (Some("namespace"), Some(Json::Array(_))) = (entry.str("type"), entry.get("tools")) {
        return object(entry, |key, member| match key {
            "type" | "name" => member.clone(),
            "tools" => array(member, keep, |nested| tool(nested, keep)),
            _ => opaque(member, keep),
        });
    }
    if entry.str("description").is_some_and(|text| keep.describes_ours(text)) || is_reduced_entry(entry) {
        return entry.clone();
    }
    let known = ENTRY.into_iter().filter_map(|key| {
        let value = entry.get(key).filter(|value| value.as_str().is_some())?;
        Some((key, value.clone()))
    });
    Json::object(known.chain(hash::members(&entry.to_bytes(), keep)))
}

/// An image as type, media type, length and hash. Length and hash are those of the decoded bytes, so that they compare
/// with what a server sent, or of the text as it stands where that is no base64.
pub(super) fn image(kind: &str, media_type: &str, data: &str, keep: &Keep<'_>) -> Json {
    let decoded = STANDARD.decode(data.as_bytes()).unwrap_or_else(|_| data.as_bytes().to_vec());
    let head = [("type", Json::from(kind)), ("media_type", Json::from(media_type))];
    Json::object(head.into_iter().chain(hash::members(&decoded, keep)))
}
