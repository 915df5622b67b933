//! The revision without a handshake, 2026-07-28.

use super::conn::Conn;
use super::offer::Offer;
use super::reply::{INVALID_PARAMS, UNSUPPORTED_PROTOCOL_VERSION, error, method_not_found};
use super::script::{Body, RpcError};
use super::subscription::{LISTEN, SUBSCRIPTION_ID, Subscription};
use crate::json::Json;

const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

/// Methods whose complete results carry caching hints (`server/utilities/caching#cacheable-results`).
const CACHEABLE: [&str; 6] = [
    "server/discover",
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "resources/read",
];

/// What a well-behaved server does with a request.
pub(super) enum Reaction {
    /// It answers.
    Body(Body),
    /// It opens a subscription, which is answered only when it ends.
    Listen(Subscription),
}

impl From<Body> for Reaction {
    fn from(body: Body) -> Self {
        Self::Body(body)
    }
}

/// What a well-behaved server does with a request.
///
/// The metadata comes first, since without a version nobody can say which methods there are: `ping` without `_meta` is
/// malformed (`-32602`), with it an unknown method (`-32601`).
pub(super) fn react(offer: &Offer, conn: &mut Conn, id: &Json, method: &str, params: Option<&Json>) -> Reaction {
    if method == "initialize" {
        return initialize(offer, params).into();
    }
    if let Err(refusal) = metadata(offer, params) {
        return refusal.into();
    }
    match method {
        "server/discover" => Body::Result(discover(offer)).into(),
        LISTEN => listen(offer, id, params),
        _ => offer.feature(conn, method, params).unwrap_or_else(|| method_not_found(method)).into(),
    }
}

/// The answer to a legacy host. Its code is left to the server, but it should name the versions that are supported,
/// because a legacy host has nothing else to show (`basic/versioning#backward-compatibility-with-initialization-based-versions`).
fn initialize(offer: &Offer, params: Option<&Json>) -> Body {
    match params.and_then(|params| params.get("protocolVersion")) {
        Some(Json::String(requested)) => unsupported(offer, &requested.to_lossy()),
        _ => error(INVALID_PARAMS, format!("This server supports only protocol version {}", offer.revision)),
    }
}

/// Checks the metadata that every request must carry (`basic/index#_meta`, `basic/versioning#protocol-version-negotiation`).
fn metadata(offer: &Offer, params: Option<&Json>) -> Result<(), Body> {
    let meta = |key: &str| params.and_then(|params| params.at(&["_meta", key]));
    let missing = |key: &str| error(INVALID_PARAMS, format!("Missing or invalid `_meta` member: {key}"));
    match meta(PROTOCOL_VERSION) {
        Some(Json::String(version)) if *version != offer.revision.as_str() => {
            return Err(unsupported(offer, &version.to_lossy()));
        }
        Some(Json::String(_)) => {}
        _ => return Err(missing(PROTOCOL_VERSION)),
    }
    match meta(CLIENT_CAPABILITIES) {
        Some(Json::Object(_)) => Ok(()),
        _ => Err(missing(CLIENT_CAPABILITIES)),
    }
}

fn unsupported(offer: &Offer, requested: &str) -> Body {
    let ours = offer.revision.as_str();
    Body::Error(RpcError {
        code: UNSUPPORTED_PROTOCOL_VERSION,
        message: format!("Unsupported protocol version: this server supports only {ours}"),
        data: Some(Json::object([("supported", Json::array([ours])), ("requested", Json::from(requested))])),
    })
}

/// `server/discover` (`server/discover#response`); [`complete`] adds the rest.
fn discover(offer: &Offer) -> Json {
    let mut result = Json::object([
        ("supportedVersions", Json::array([offer.revision.as_str()])),
        ("capabilities", offer.script.capabilities.clone()),
    ]);
    if let Some(instructions) = &offer.script.instructions {
        result.set("instructions", instructions);
    }
    result
}

fn listen(offer: &Offer, id: &Json, params: Option<&Json>) -> Reaction {
    match params.and_then(|params| params.get("notifications")) {
        Some(asked @ Json::Object(_)) => {
            Reaction::Listen(Subscription::new(id.clone(), asked, &offer.script.capabilities))
        }
        _ => error(INVALID_PARAMS, "Missing `notifications`").into(),
    }
}

/// Adds what every result of this revision carries, where the script has not said it: `resultType`
/// (`basic/index#resulttype`), caching hints, the server's name (`basic/index#_meta`), and the id of the subscription
/// that a response ends. A result that is no object stays as it is: the script means it.
///
/// The hints say "stale at once, and private". A longer life would make a promise on behalf of a list that the scenario
/// may be about to change, and turn every further `tools/list` into a finding.
pub(super) fn complete(offer: &Offer, method: &str, id: &Json, mut result: Json) -> Json {
    let absent = |json: &Json, key: &str| json.is_object() && json.get(key).is_none();
    if absent(&result, "resultType") {
        result.set("resultType", "complete");
    }
    if CACHEABLE.contains(&method) && result.str("resultType") == Some("complete") {
        if absent(&result, "ttlMs") {
            result.set("ttlMs", 0);
        }
        if absent(&result, "cacheScope") {
            result.set("cacheScope", "private");
        }
    }
    let mut meta = result.get("_meta").cloned().unwrap_or_else(Json::empty);
    if absent(&meta, SERVER_INFO) {
        meta.set(SERVER_INFO, offer.script.info.clone());
    }
    if method == LISTEN && absent(&meta, SUBSCRIPTION_ID) {
        meta.set(SUBSCRIPTION_ID, id.clone());
    }
    result.set("_meta", meta);
    result
}
