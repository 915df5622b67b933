//! Reducing Responses requests.

use crate::json::Json;

use super::super::keep::Keep;
use super::super::reduce::{array, block, content, image, object, opaque, text, tool};

/// Settings that say how the model runs and hold no prompt. Settings that are numbers or switches stay anyway.
const SETTINGS: [&str; 7] =
    ["model", "tool_choice", "reasoning", "include", "truncation", "service_tier", "previous_response_id"];

pub(super) fn body(body: &Json, keep: &Keep<'_>) -> Json {
    if !body.is_object() {
        return opaque(body, keep);
    }
    object(body, |key, member| match key {
        "tools" => array(member, keep, |entry| tool(entry, keep)),
        "instructions" => text(member, keep),
        "input" => content(member, keep, |part| item(part, keep)),
        key if SETTINGS.contains(&key) => member.clone(),
        _ => opaque(member, keep),
    })
}

fn item(item: &Json, keep: &Keep<'_>) -> Json {
    if !item.is_object() {
        return opaque(item, keep);
    }
    match (item.str("type"), item.str("role")) {
        (Some("function_call" | "custom_tool_call" | "tool_search_call"), _) => item.clone(),
        (Some("function_call_output" | "custom_tool_call_output"), _) => {
            object(item, |key, member| match (key, member) {
                ("output", Json::Array(parts)) => {
                    Json::Array(parts.iter().map(|part| output_part(part, keep)).collect())
                }
                _ => member.clone(),
            })
        }
        (Some("message") | None, Some(_)) => object(item, |key, member| match key {
            "type" | "role" | "id" | "status" | "phase" => member.clone(),
            "content" => content(member, keep, |part| block(part, keep)),
            _ => opaque(member, keep),
        }),
        _ => object(item, |key, member| match key {
            "type" | "id" | "call_id" | "status" => member.clone(),
            // Tools that came by a search, or beside the list.
            "tools" => array(member, keep, |entry| tool(entry, keep)),
            _ => opaque(member, keep),
        }),
    }
}

fn output_part(part: &Json, keep: &Keep<'_>) -> Json {
    let data = part.str("image_url").and_then(|url| url.strip_prefix("data:")?.split_once(";base64,"));
    match (part.str("type"), data) {
        (Some(kind @ "input_image"), Some((media_type, data))) => image(kind, media_type, data, keep),
        _ => part.clone(),
    }
}
