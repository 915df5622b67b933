//! The legacy era: a handshake opens the connection, and settles the revision for all of it.

use serde_json::value::RawValue;

use crate::fault::{Fault, Lies};
use crate::json::{self, Members, quote};
use crate::rpc::RpcError;

/// The revisions with a handshake that the host speaks; it asks for the last.
const REVISIONS: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// What a server offers, as far as the host uses it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Offers {
    /// It has tools at all.
    pub(crate) tools: bool,
    /// It tells when their list changes.
    pub(crate) list_changed: bool,
}

impl Offers {
    /// Reads the capabilities of a server, in either era.
    pub(crate) fn parse(capabilities: Option<&RawValue>) -> Self {
        let tools =
            capabilities.and_then(Members::of).and_then(|members| members.get("tools")).and_then(Members::of);
        let list_changed =
            tools.as_ref().and_then(|tools| tools.get("listChanged")).is_some_and(|value| value.get() == "true");
        Self { tools: tools.is_some(), list_changed }
    }
}

/// The name and version that the host gives of itself, as JSON text.
pub(crate) fn client_info() -> String {
    format!("{{\"name\":\"hopcheck-reference-host\",\"version\":{}}}", quote(env!("CARGO_PKG_VERSION")))
}

/// The parameters of `initialize`. The host declares no capability, because it has none that a server could use.
pub(crate) fn initialize_params(lies: Lies) -> String {
    let latest = if lies.tell(Fault::AskForOldest) { REVISIONS[0] } else { REVISIONS[REVISIONS.len() - 1] };
    let capabilities = if lies.tell(Fault::DeclareTooMuch) { "{\"roots\":{},\"sampling\":{}}" } else { "{}" };
    format!(
        "{{\"protocolVersion\":\"{latest}\",\"capabilities\":{capabilities},\"clientInfo\":{}}}",
        client_info()
    )
}

/// Reads the answer to `initialize`: what the server offers, or why there can be no connection.
pub(crate) fn read_initialize(outcome: Result<&RawValue, RpcError>, lies: Lies) -> Result<Offers, String> {
    let result = outcome.map_err(|error| format!("refused initialize: {} ({})", error.message, error.code))?;
    let members = Members::of(result).ok_or("answered initialize with something else than an object")?;
    let revision = members.get("protocolVersion").and_then(json::string).unwrap_or_default();
    if !REVISIONS.contains(&revision.as_str()) && !lies.tell(Fault::AcceptAnyRevision) {
        return Err(format!("speaks protocol version {revision:?}, which this host does not"));
    }
    Ok(Offers::parse(members.get("capabilities")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(result: &str, expected: Option<Offers>) {
        let raw: Box<RawValue> = serde_json::from_str(result).unwrap();
        assert_eq!(read_initialize(Ok(&raw), Lies::default()).ok(), expected, "{result}");
    }

    #[test]
    fn known_revisions_are_accepted_and_no_others() {
        let none = Offers { tools: false, list_changed: false };
        for revision in REVISIONS {
            check(&format!(r#"{{"protocolVersion":"{revision}","capabilities":{{}}}}"#), Some(none));
        }
        check(r#"{"protocolVersion":"1999-01-01","capabilities":{}}"#, None);
        check(r#"{"protocolVersion":"2026-07-28","capabilities":{}}"#, None);
        check(r#"{"capabilities":{}}"#, None);
        check("[]", None);
    }

    #[test]
    fn tools_are_a_capability() {
        let offers = |tools, list_changed| Some(Offers { tools, list_changed });
        check(r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{}}}"#, offers(true, false));
        check(
            r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true},"x":1}}"#,
            offers(true, true),
        );
        check(r#"{"protocolVersion":"2025-06-18","capabilities":{"tools":null}}"#, offers(false, false));
        check(r#"{"protocolVersion":"2025-06-18"}"#, offers(false, false));
    }
}
