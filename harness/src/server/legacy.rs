//! Revisions with a handshake, 2024-11-05 to 2025-11-25 (`basic/lifecycle`).

use super::conn::{Conn, Stage};
use super::offer::Offer;
use super::reply::{INVALID_PARAMS, INVALID_REQUEST, error, method_not_found};
use super::script::Body;
use crate::json::Json;

/// The levels of `logging/setLevel` (`server/utilities/logging#log-levels`).
const LEVELS: [&str; 8] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// What a well-behaved server answers.
pub(super) fn answer(offer: &Offer, conn: &mut Conn, method: &str, params: Option<&Json>) -> Body {
    match method {
        "initialize" => Body::Result(initialize(offer)),
        "ping" => Body::Result(Json::empty()),
        // A probe of a host that speaks both eras may come first; to a legacy server it is an unknown method
        // (2026-07-28, `basic/transports/stdio#backward-compatibility`).
        "server/discover" => method_not_found(method),
        // No revision names a code for this. `-32600` is the one that says "not now" without being mistaken for a
        // missing method, and a host that jumps the gun gets nothing out of it.
        _ if conn.stage == Stage::Fresh => error(INVALID_REQUEST, "Server not initialized"),
        "logging/setLevel" if offer.has("logging") => set_level(params),
        _ => offer.feature(conn, method, params).unwrap_or_else(|| method_not_found(method)),
    }
}

/// The answer to `initialize`: our revision, whatever was asked for. That is how a revision is forced: a host that does
/// not support it should disconnect (`basic/lifecycle#version-negotiation`).
fn initialize(offer: &Offer) -> Json {
    let script = &offer.script;
    let mut result = Json::object([
        ("protocolVersion", Json::from(offer.revision.as_str())),
        ("capabilities", script.capabilities.clone()),
        ("serverInfo", script.info.clone()),
    ]);
    if let Some(instructions) = &script.instructions {
        result.set("instructions", instructions);
    }
    result
}

fn set_level(params: Option<&Json>) -> Body {
    match params.and_then(|params| params.str("level")) {
        Some(level) if LEVELS.contains(&level) => Body::Result(Json::empty()),
        _ => error(INVALID_PARAMS, "Invalid log level"),
    }
}
