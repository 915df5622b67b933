//! The rules of the specification that are judged, with the level of their strongest keyword. Their full entries, with
//! the place of each in the documents of each revision, are in the catalogue of requirements.

use super::{ALL, LEGACY, MODERN, Requirement, Vantage};
use crate::check::finding::Level;
use crate::revision::Revision;

const fn rule(
    id: &'static str,
    level: Level,
    revisions: (Revision, Revision),
    summary: &'static str,
) -> Requirement {
    Requirement { id, level, summary, see: &[], revisions, vantage: Vantage::Wire, host: None }
}

/// A rule that shows itself in what the model is told or offered.
const fn told(
    id: &'static str,
    level: Level,
    revisions: (Revision, Revision),
    summary: &'static str,
) -> Requirement {
    Requirement { id, level, summary, see: &[], revisions, vantage: Vantage::Model, host: None }
}

const SINCE_2025_03: (Revision, Revision) = (Revision::V2025_03_26, Revision::V2026_07_28);
const SINCE_2025_06: (Revision, Revision) = (Revision::V2025_06_18, Revision::V2026_07_28);
const SINCE_2025_11: (Revision, Revision) = (Revision::V2025_11_25, Revision::V2026_07_28);

pub(super) const RULES: &[Requirement] = &[
    rule(
        "base.jsonrpc.valid-2-0",
        Level::Must,
        ALL,
        "Everything on the wire is a well-formed JSON-RPC 2.0 message.",
    ),
    rule("base.request.id-string-or-integer", Level::Must, ALL, "A request id is a string or an integer."),
    rule("base.request.id-not-null", Level::Must, ALL, "A request id is never null."),
    rule(
        "base.request.id-unique-in-session",
        Level::Must,
        LEGACY,
        "A request id is never used again in a session.",
    ),
    rule(
        "base.request.id-unique-in-flight",
        Level::Must,
        MODERN,
        "A request id differs from all that wait for a response.",
    ),
    rule(
        "base.response.id-echo",
        Level::Must,
        LEGACY,
        "A response repeats the id of the server's request with its type.",
    ),
    rule("base.response.result-xor-error", Level::Must, LEGACY, "A response has either a result or an error."),
    rule("base.notification.no-id", Level::Must, ALL, "A notification has no id."),
    rule("base.notification.no-response", Level::Must, ALL, "Nothing is sent back for a notification."),
    rule("base.client-sends-no-responses", Level::Must, MODERN, "A modern client sends no responses."),
    rule("base.batch.none-sent", Level::Must, SINCE_2025_06, "Messages are sent one by one, never as an array."),
    rule("base.encoding.utf8", Level::Must, SINCE_2025_03, "Messages are encoded in UTF-8."),
    rule(
        "base.request.method-and-params-shape",
        Level::Must,
        ALL,
        "Requests use methods of the revision, with params of the shape that it gives them.",
    ),
    rule("stdio.newline-delimited", Level::Trait, ALL, "Each message is one line that ends with a newline."),
    rule("stdio.no-embedded-newlines", Level::Must, ALL, "A message has no raw newline in it."),
    rule(
        "stdio.stdin-only-mcp",
        Level::Must,
        ALL,
        "Nothing but MCP messages is written to a server's standard input.",
    ),
    Requirement {
        vantage: Vantage::Process,
        ..rule(
            "stdio.shutdown.close-stdin-first",
            Level::Should,
            ALL,
            "A shutdown begins with the end of standard input.",
        )
    },
    rule(
        "stdio.probe.discover-first",
        Level::Should,
        MODERN,
        "A client of both eras opens with `server/discover`.",
    ),
    rule(
        "stdio.probe.version-in-meta",
        Level::Should,
        MODERN,
        "The probe names the preferred version in its `_meta`.",
    ),
    rule(
        "lifecycle.initialize-first",
        Level::Must,
        LEGACY,
        "`initialize` is the first interaction on a connection.",
    ),
    rule(
        "lifecycle.initialize.fields",
        Level::Must,
        LEGACY,
        "`initialize` has protocolVersion, capabilities, and clientInfo with name and version.",
    ),
    rule(
        "lifecycle.initialized-notification",
        Level::Must,
        LEGACY,
        "After `initialize` succeeded, `notifications/initialized` comes before normal operation.",
    ),
    rule(
        "lifecycle.no-early-requests",
        Level::Should,
        LEGACY,
        "Apart from `ping`, no request comes before the response to `initialize`.",
    ),
    rule(
        "lifecycle.version.sends-supported",
        Level::Must,
        LEGACY,
        "The version sent is one that the client supports.",
    ),
    rule(
        "lifecycle.version.sends-latest",
        Level::Should,
        LEGACY,
        "The version sent is the latest that the client supports.",
    ),
    rule(
        "stdio.probe.modern-error-no-fallback",
        Level::Trait,
        MODERN,
        "An error that only a modern server gives does not lead to `initialize`.",
    ),
    // The two below bind hosts of the modern revision that meet a legacy server, which only a legacy plan has.
    rule(
        "stdio.probe.other-error-fallback",
        Level::Trait,
        ALL,
        "Any other error on the probe is followed by the handshake.",
    ),
    rule(
        "stdio.probe.fallback-not-single-code",
        Level::Must,
        ALL,
        "The handshake after a refused probe does not depend on one error code.",
    ),
    rule("ping.responds", Level::Must, LEGACY, "A ping of the server is answered with an empty result."),
    rule(
        "base.unknown-server-request.method-not-found",
        Level::Trait,
        LEGACY,
        "A request with an unknown method is answered with -32601.",
    ),
    rule(
        "lifecycle.version.disconnect-if-unsupported",
        Level::Should,
        LEGACY,
        "A version in the answer that the client does not support ends the connection.",
    ),
    rule(
        "tools.name.collision-disambiguated",
        Level::Should,
        MODERN,
        "Equal names of tools of two servers are told apart.",
    ),
    rule(
        "lifecycle.capabilities.truthful",
        Level::Trait,
        LEGACY,
        "What the client declares in `initialize` it serves when the server asks.",
    ),
    rule("lifecycle.initialize.not-cancelled", Level::Must, LEGACY, "`initialize` is never cancelled."),
    rule(
        "cancel.only-own-in-flight",
        Level::Must,
        ALL,
        "A cancellation names only a request that the host has sent.",
    ),
    rule(
        "cancel.user-abort-signals",
        Level::Should,
        MODERN,
        "A call that is given up is signalled: by a notification, or by the end of its connection.",
    ),
    rule(
        "stdio.cancel-by-notification",
        Level::Must,
        MODERN,
        "A call that the user gives up is cancelled by a notification that names it.",
    ),
    told(
        "cancel.late-response-ignored",
        Level::Should,
        ALL,
        "An answer that comes after its request was given up does not reach the model.",
    ),
    told(
        "cancel.races-handled",
        Level::Must,
        ALL,
        "A cancelled call that is answered all the same ends in one result, and the host goes on.",
    ),
    told("timeout.established", Level::Should, ALL, "A call that is never answered comes to an end."),
    told(
        "timeout.configurable",
        Level::Should,
        SINCE_2025_03,
        "The limit that is set for a call decides when it is given up.",
    ),
    rule(
        "timeout.sends-cancel",
        Level::Should,
        SINCE_2025_03,
        "A call that is given up for its time is cancelled.",
    ),
    told(
        "base.result-type.unknown-invalid",
        Level::Must,
        MODERN,
        "A result of a type that the host does not know is no success.",
    ),
    told(
        "tools.list.invalid-tool-isolated",
        Level::Trait,
        ALL,
        "One malformed entry of a list does not take the valid ones away.",
    ),
    rule("tools.list-changed.refetch", Level::Trait, ALL, "A changed list is asked for again."),
    rule(
        "tools.list-changed.removed-tool-not-called",
        Level::Trait,
        ALL,
        "A tool that vanished from the list is neither offered nor called.",
    ),
    rule(
        "subscriptions.opt-in-filter",
        Level::Trait,
        MODERN,
        "A stream for changes is opened with a filter that says which.",
    ),
    rule(
        "subscriptions.capability-gated",
        Level::Trait,
        MODERN,
        "Only changes that the server declares are listened to.",
    ),
    rule(
        "modern.meta.protocol-version",
        Level::Must,
        MODERN,
        "Every request names its protocol version in `_meta`.",
    ),
    rule(
        "modern.meta.client-capabilities",
        Level::Must,
        MODERN,
        "Every request has the client's capabilities in `_meta`.",
    ),
    rule("modern.meta.client-info", Level::Should, MODERN, "Every request has clientInfo in `_meta`."),
    rule(
        "modern.no-initialize-on-modern-server",
        Level::Trait,
        MODERN,
        "A server known to be modern is not initialized.",
    ),
    rule(
        "modern.removed-methods-not-used",
        Level::Trait,
        MODERN,
        "Methods that the revision removed are not sent.",
    ),
    rule("tools.list.requested-before-call", Level::Trait, ALL, "Only tools that the server listed are called."),
    rule(
        "tools.list.only-with-capability",
        Level::Trait,
        ALL,
        "`tools/list` and `tools/call` go only to servers that declare tools.",
    ),
    rule(
        "tools.call.wire-name-unprefixed",
        Level::Trait,
        ALL,
        "`params.name` is exactly a name that the server listed.",
    ),
    rule("tools.call.arguments-object", Level::Must, ALL, "`arguments` is an object, where it is given."),
    rule(
        "tools.call.invokes",
        Level::Trait,
        ALL,
        "A permitted tool use becomes one call with the typed arguments.",
    ),
    rule("tools.name.case-sensitive", Level::Should, SINCE_2025_11, "Tool names keep their case."),
    rule("tools.schema.no-parameters", Level::Trait, SINCE_2025_11, "Tools with an empty schema can be used."),
    told("tools.error.is-error-to-model", Level::Should, ALL, "Results with `isError` are given to the model."),
    told(
        "tools.error.protocol-error-to-model",
        Level::May,
        ALL,
        "JSON-RPC errors of calls may be given to the model.",
    ),
    told("tools.result.multiple-blocks-order", Level::Trait, ALL, "Several content blocks stay in order."),
    told(
        "tools.result.content.text-image-resource",
        Level::Trait,
        ALL,
        "Images of a result reach the model as images.",
    ),
    told(
        "tools.structured.object-accepted",
        Level::Trait,
        SINCE_2025_06,
        "A result with structured content reaches the model.",
    ),
    rule("tools.human-in-loop.can-deny", Level::Should, ALL, "A human can deny a tool call."),
    rule("pagination.cursor-verbatim", Level::Must, ALL, "Cursors come back exactly as they were given."),
    rule("pagination.missing-cursor-ends", Level::Should, ALL, "A missing cursor ends the list."),
    rule("pagination.both-flows", Level::Should, ALL, "Lists with and without pages are read to the end."),
    rule(
        "pagination.empty-string-cursor-continues",
        Level::Must,
        MODERN,
        "An empty cursor is valid and does not end the list.",
    ),
    rule("host.one-client-per-server", Level::Trait, ALL, "Each client talks to exactly one server."),
];
