//! The modern era: no handshake. Each request says by itself which revision it speaks, who asks, and what the asker can do.

use serde_json::value::RawValue;

use crate::fault::{Fault, Lies};
use crate::json::{self, Members};
use crate::legacy::{Offers, client_info};
use crate::rpc::RpcError;

/// The revisions without a handshake that the host speaks.
const REVISIONS: [&str; 1] = ["2026-07-28"];

/// Errors that only a modern server knows: header mismatch, missing capability, unsupported version.
const MODERN_ERRORS: [i64; 3] = [-32020, -32021, UNSUPPORTED_VERSION];
const UNSUPPORTED_VERSION: i64 = -32022;

/// The key that ties a notification to the request that asked for it.
const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

/// The members that `_meta` of every request has, as JSON text without braces.
pub(crate) fn meta_members(lies: Lies) -> String {
    let version = if lies.tell(Fault::OmitProtocolVersion) {
        String::new()
    } else {
        format!("\"io.modelcontextprotocol/protocolVersion\":\"{}\",", REVISIONS[REVISIONS.len() - 1])
    };
    let info = if lies.tell(Fault::OmitClientInfo) {
        String::new()
    } else {
        format!("\"io.modelcontextprotocol/clientInfo\":{},", client_info())
    };
    format!("{version}{info}\"io.modelcontextprotocol/clientCapabilities\":{{}}")
}

/// What the answer to the first `server/discover` says about the server.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Probe {
    /// A modern server with a revision in common.
    Modern(Offers),
    /// A modern server that names a revision in common, though it refused this request.
    AskAgain,
    /// Not a modern server.
    Legacy,
    /// A modern server that cannot be talked to, and why. It must not be sent a handshake.
    Refused(String),
}

/// Reads the answer to the probe.
pub(crate) fn read_probe(outcome: Result<&RawValue, RpcError>) -> Probe {
    let error = match outcome {
        Ok(result) => return read_discovery(result),
        Err(error) => error,
    };
    match error.number() {
        Some(UNSUPPORTED_VERSION) => {
            let data: Option<Box<RawValue>> =
                error.data.as_deref().and_then(|data| serde_json::from_str(data).ok());
            let supported = data
                .as_deref()
                .and_then(Members::of)
                .map(|data| versions(data.get("supported")))
                .unwrap_or_default();
            if in_common(&supported) {
                Probe::AskAgain
            } else {
                Probe::Refused(format!(
                    "supports protocol versions {supported:?}, none of which this host speaks without a handshake"
                ))
            }
        }
        Some(code) if MODERN_ERRORS.contains(&code) => {
            Probe::Refused(format!("refused discovery: {} ({code})", error.message))
        }
        _ => Probe::Legacy,
    }
}

fn read_discovery(result: &RawValue) -> Probe {
    // A legacy server may answer anything to a method that it does not know. Only a list of versions makes it a modern one.
    let Some(members) = Members::of(result) else {
        return Probe::Legacy;
    };
    let Some(listed) = members.get("supportedVersions") else {
        return Probe::Legacy;
    };
    let supported = versions(Some(listed));
    if in_common(&supported) {
        Probe::Modern(Offers::parse(members.get("capabilities")))
    } else {
        Probe::Refused(format!(
            "supports protocol versions {supported:?}, none of which this host speaks without a handshake"
        ))
    }
}

fn versions(raw: Option<&RawValue>) -> Vec<String> {
    raw.and_then(json::elements).unwrap_or_default().into_iter().filter_map(json::string).collect()
}

fn in_common(supported: &[String]) -> bool {
    supported.iter().any(|version| REVISIONS.contains(&version.as_str()))
}

/// How a result is to be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ResultType {
    Complete,
    InputRequired,
    Unknown(String),
}

/// The type of a result. One without a type is complete, as in earlier revisions.
pub(crate) fn result_type(result: &Members<'_>) -> ResultType {
    match result.get("resultType").map(|raw| (raw, json::string(raw))) {
        None => ResultType::Complete,
        Some((_, Some(name))) if name == "complete" => ResultType::Complete,
        Some((_, Some(name))) if name == "input_required" => ResultType::InputRequired,
        Some((raw, _)) => ResultType::Unknown(raw.get().to_owned()),
    }
}

/// The request that a notification belongs to.
pub(crate) fn subscription_of(params: Option<&RawValue>) -> Option<u64> {
    let params = Members::of(params?)?;
    let meta = Members::of(params.get("_meta")?)?;
    meta.get(SUBSCRIPTION_ID)?.get().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_error(code: &str, data: Option<&str>, expected: fn(&Probe) -> bool) {
        let error = RpcError { code: code.to_owned(), message: "no".to_owned(), data: data.map(str::to_owned) };
        let probe = read_probe(Err(error));
        assert!(expected(&probe), "{code}: {probe:?}");
    }

    #[test]
    fn only_modern_errors_keep_the_host_from_a_handshake() {
        for code in ["-32601", "-32602", "-32603", "-32000", "-32002", "-1", "0", "4711", "1.5", "\"x\""] {
            check_error(code, None, |probe| *probe == Probe::Legacy);
        }
        check_error("-32022", Some(r#"{"supported":["2030-01-01","2026-07-28"]}"#), |probe| {
            *probe == Probe::AskAgain
        });
        check_error("-32022", Some(r#"{"supported":["2025-11-25"]}"#), |probe| matches!(probe, Probe::Refused(_)));
        check_error("-32022", None, |probe| matches!(probe, Probe::Refused(_)));
        check_error("-32021", None, |probe| matches!(probe, Probe::Refused(_)));
    }

    #[track_caller]
    fn check_result(result: &str, expected: fn(&Probe) -> bool) {
        let raw: Box<RawValue> = serde_json::from_str(result).unwrap();
        let probe = read_probe(Ok(&raw));
        assert!(expected(&probe), "{result}: {probe:?}");
    }

    #[test]
    fn a_discovery_names_versions() {
        check_result(
            r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}}}"#,
            |probe| *probe == Probe::Modern(Offers { tools: true, list_changed: true }),
        );
        check_result(r#"{"supportedVersions":["2030-01-01"],"capabilities":{}}"#, |probe| {
            matches!(probe, Probe::Refused(_))
        });
        check_result("{}", |probe| *probe == Probe::Legacy);
        check_result("null", |probe| *probe == Probe::Legacy);
    }

    #[test]
    fn the_meta_of_a_request_is_json() {
        let meta = format!("{{{}}}", meta_members(Lies::default()));
        let meta = Members::parse(&meta).unwrap();
        assert_eq!(meta.string("io.modelcontextprotocol/protocolVersion").as_deref(), Some("2026-07-28"));
        assert!(meta.get("io.modelcontextprotocol/clientCapabilities").is_some_and(json::is_object));
    }
}
