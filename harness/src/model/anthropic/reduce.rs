//! Reducing Messages requests.

use crate::json::Json;

use super::super::keep::Keep;
use super::super::reduce::{array, block, content, image, object, opaque, tool};

/// Settings that say how the model runs and hold no prompt. Settings that are numbers or switches stay anyway.
const SETTINGS: [&str; 5] = ["model", "tool_choice", "thinking", "context_management", "service_tier"];

pub(super) fn body(body: &Json, keep: &Keep<'_>) -> Json {
    if !body.is_object() {
        return opaque(body, keep);
    }
    object(body, |key, member| match key {
        "tools" => array(member, keep, |entry| tool(entry, keep)),
        "system" => content(member, keep, |part| block(part, keep)),
        "messages" => array(member, keep, |part| message(part, keep)),
        key if SETTINGS.contains(&key) => member.clone(),
        _ => opaque(member, keep),
    })
}

fn message(message: &Json, keep: &Keep<'_>) -> Json {
    if !message.is_object() {
        return opaque(message, keep);
    }
    object(message, |key, member| match key {
        "role" => member.clone(),
        "content" => content(member, keep, |part| message_block(part, keep)),
        _ => opaque(member, keep),
    })
}

fn message_block(value: &Json, keep: &Keep<'_>) -> Json {
    match value.str("type") {
        Some("tool_use") => value.clone(),
        Some("tool_result") => object(value, |key, member| match (key, member) {
            ("content", Json::Array(parts)) => {
                Json::Array(parts.iter().map(|part| result_part(part, keep)).collect())
            }
            _ => member.clone(),
        }),
        _ => block(value, keep),
    }
}

fn result_part(part: &Json, keep: &Keep<'_>) -> Json {
    let source = part.get("source");
    match (part.str("type"), source.and_then(|source| source.str("data"))) {
        (Some(kind @ "image"), Some(data)) => {
            let media_type = source.and_then(|source| source.str("media_type")).unwrap_or_default();
            image(kind, media_type, data, keep)
        }
        _ => part.clone(),
    }
}
