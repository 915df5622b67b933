//! What one server offers, and the requests that it answers alike in both eras.

use super::conn::Conn;
use super::reply;
use super::script::{Body, Script};
use super::tools;
use crate::json::Json;
use crate::revision::Revision;

/// The fixed part of a server: everything that no message changes.
#[derive(Clone, Debug)]
pub(super) struct Offer {
    /// The server's name in the host's configuration.
    pub(super) key: String,
    /// The script; its rules live in [`super::rules::Rules`].
    pub(super) script: Script,
    /// The only revision that is spoken.
    pub(super) revision: Revision,
    /// Registered tool names with the words for their descriptions.
    pub(super) words: Vec<(String, String)>,
    /// What markers are derived from.
    pub(super) seed: u64,
}

impl Offer {
    /// Whether the capability is declared.
    pub(super) fn has(&self, capability: &str) -> bool {
        self.script.capabilities.get(capability).is_some()
    }

    /// Answers what stands behind a capability, where it is declared; `None` is for the era to answer.
    ///
    /// A script has tools only. A server that declares prompts or resources has empty lists of them, so that a host
    /// that asks, as it may, gets a valid answer; anything more is for the rules of the script to say.
    pub(super) fn feature(&self, conn: &mut Conn, method: &str, params: Option<&Json>) -> Option<Body> {
        let empty = |member: &str| Body::Result(Json::object([(member, Json::Array(Vec::new()))]));
        match method {
            "tools/list" if self.has("tools") => Some(tools::list(self, conn, params)),
            "tools/call" if self.has("tools") => Some(tools::call(&conn.tools, params)),
            "prompts/list" if self.has("prompts") => Some(empty("prompts")),
            "resources/list" if self.has("resources") => Some(empty("resources")),
            "resources/templates/list" if self.has("resources") => Some(empty("resourceTemplates")),
            _ => None,
        }
    }

    /// Completes a result of this server for its revision; see [`reply::dated`] and [`super::modern::complete`].
    pub(super) fn complete(&self, method: &str, id: &Json, result: Json) -> Json {
        let dated = reply::dated(self.revision, method, result);
        match self.revision.era() {
            crate::revision::Era::Legacy => dated,
            crate::revision::Era::Modern => super::modern::complete(self, method, id, dated),
        }
    }
}
