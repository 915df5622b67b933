//! The project's own promises: invariants, expectations of steps, and claims.

use super::{ALL, Requirement, Vantage};
use crate::check::finding::Level;

const fn invariant(
    id: &'static str,
    vantage: Vantage,
    see: &'static [&'static str],
    summary: &'static str,
) -> Requirement {
    Requirement { id, level: Level::Invariant, summary, see, revisions: ALL, vantage, host: None }
}

pub(super) const INVARIANTS: &[Requirement] = &[
    invariant(
        "hop.order",
        Vantage::Hop,
        &["lifecycle.initialize-first", "tools.list.requested-before-call"],
        "No call comes before its handshake or its tool use, no offer before its list, no success before its response.",
    ),
    invariant(
        "hop.once",
        Vantage::Hop,
        &["tools.call.invokes"],
        "Each call belongs to one tool use, a second call needs a licence, and each tool use has exactly one result.",
    ),
    invariant(
        "hop.wire-name",
        Vantage::Wire,
        &["tools.call.wire-name-unprefixed", "tools.name.case-sensitive"],
        "The wire carries the registered name byte for byte, whatever the model was shown.",
    ),
    invariant(
        "hop.arguments",
        Vantage::Hop,
        &["tools.call.invokes", "tools.call.arguments-object"],
        "The arguments on the wire equal those of the model: nothing appears, nothing disappears.",
    ),
    invariant(
        "hop.errors",
        Vantage::Hop,
        &["tools.error.is-error-to-model", "tools.error.protocol-error-to-model"],
        "The text of an error result reaches the model with its flag, and any other failure ends in some result.",
    ),
    invariant(
        "hop.stable-list",
        Vantage::Model,
        &["pagination.both-flows"],
        "While the lists of the servers do not change, the offered set is all that they listed, on every turn.",
    ),
    invariant(
        "hop.gates",
        Vantage::Hop,
        &["tools.human-in-loop.can-deny"],
        "A denied tool causes no call on any server, and an allowed one is called.",
    ),
    invariant(
        "hop.json-rpc",
        Vantage::Wire,
        &["base.jsonrpc.valid-2-0", "base.request.id-unique-in-session", "base.request.id-unique-in-flight"],
        "Every message of the host is well-formed, with ids by the rule of the revision, and each request has one answer.",
    ),
    invariant(
        "hop.isolation",
        Vantage::Model,
        &["host.server-isolation"],
        "One broken server does not hide the tools of another.",
    ),
    invariant(
        "hop.clean-end",
        Vantage::Process,
        &["stdio.shutdown.kill-last"],
        "No process of the run outlives it.",
    ),
];

pub(super) const EXPECTATIONS: &[Requirement] = &[
    invariant(
        "expect.connect",
        Vantage::Wire,
        &["lifecycle.initialize-first", "lifecycle.initialized-notification", "modern.meta.protocol-version"],
        "A `connect` step: each server is opened as the revision says, one live process at a time.",
    ),
    invariant(
        "expect.list",
        Vantage::Wire,
        &["pagination.both-flows", "pagination.cursor-verbatim"],
        "A `list` step: every page is asked for, and cursors come back byte for byte.",
    ),
    invariant(
        "expect.offers",
        Vantage::Model,
        &[],
        "A `list` step: what it names is offered to the model, now and on later turns, and what is hidden is not.",
    ),
    invariant(
        "expect.search",
        Vantage::Model,
        &["hop.stable-list"],
        "Where tools are searched for: a search for a listed tool finds it, with the parameters that its server listed.",
    ),
    invariant(
        "expect.call",
        Vantage::Hop,
        &["tools.call.invokes"],
        "A `call` step: one call at the right server with the registered name and equal arguments, and one result that \
         contains the reply.",
    ),
    invariant(
        "expect.change",
        Vantage::Hop,
        &["tools.list-changed.refetch"],
        "A `change` step: the list is asked for again as often as it says, and the next model request shows the change.",
    ),
    invariant(
        "expect.cancelled",
        Vantage::Wire,
        &["stdio.cancel-by-notification"],
        "An `expect` during a call: every call in flight is cancelled.",
    ),
    invariant("expect.told", Vantage::Model, &[], "The model is told of a result what the step says."),
    invariant(
        "expect.deny",
        Vantage::Hop,
        &["tools.human-in-loop.can-deny"],
        "A `deny` step: no call joins the tool use, and a refusal is told or the run ends.",
    ),
    invariant(
        "expect.ask",
        Vantage::Hop,
        &["tools.human-in-loop.can-deny", "tools.inputs-shown"],
        "An `ask` step: the user is asked before any call, sees tool and arguments, and the outcome follows the answer.",
    ),
    invariant(
        "expect.say",
        Vantage::Model,
        &[],
        "A `say` step: the final text is served and the conversation ends.",
    ),
    invariant(
        "expect.native",
        Vantage::Hop,
        &[],
        "A scenario in a host's own words: the right servers are connected, and what it says of words and variables holds.",
    ),
    invariant("expect.counts", Vantage::Wire, &[], "Messages of a kind are as many as `[expect]` says."),
    invariant(
        "expect.stop",
        Vantage::Process,
        &[],
        "A `stop` step: the host ends as it was told to, and nothing survives.",
    ),
    invariant(
        "expect.run-ends",
        Vantage::Process,
        &[],
        "The host ends by itself within its deadlines, without a crash or a flood, and leaves alone what watches over it.",
    ),
    Requirement {
        id: "expect.model-api",
        level: Level::Should,
        summary: "The real model API accepts every request of the host.",
        see: &[],
        revisions: ALL,
        vantage: Vantage::Model,
        host: None,
    },
];

const fn claim(
    id: &'static str,
    level: Level,
    vantage: Vantage,
    see: &'static [&'static str],
    summary: &'static str,
) -> Requirement {
    Requirement { id, level, summary, see, revisions: ALL, vantage, host: None }
}

pub(super) const CLAIMS: &[Requirement] = &[
    claim(
        "claim.01-four-steps",
        Level::Invariant,
        Vantage::Hop,
        &["hop.order", "hop.gates"],
        "Connect, list, schema and permission are separate steps; connecting opens no gate and causes no call.",
    ),
    claim(
        "claim.05-list-needs-capability",
        Level::Invariant,
        Vantage::Wire,
        &["tools.list.only-with-capability"],
        "`tools/list` is asked of servers that declare tools.",
    ),
    claim(
        "claim.06-published-names",
        Level::Policy,
        Vantage::Hop,
        &["hop.wire-name"],
        "The model is shown the name that the host's rule gives, and the wire carries the bare name.",
    ),
    claim(
        "claim.07-deferred-table",
        Level::Policy,
        Vantage::Model,
        &["expect.search"],
        "A host that claims to defer tools shows its model none of ours before a search finds it.",
    ),
    claim(
        "claim.08-no-schema-no-offer",
        Level::Trait,
        Vantage::Model,
        &[],
        "A tool without a schema does not go to the model.",
    ),
    claim(
        "claim.09-two-doors",
        Level::Policy,
        Vantage::Hop,
        &["hop.gates", "tools.call.input-check-before-send"],
        "Arguments that fail the schema cause neither a call nor a question; permission is a second door behind it.",
    ),
    claim(
        "claim.10-result-and-error",
        Level::Invariant,
        Vantage::Hop,
        &["hop.errors", "tools.error.is-error-to-model"],
        "The model reads the content of a success, and the reason of a failure.",
    ),
    claim(
        "claim.11-deny-ask-allow",
        Level::Policy,
        Vantage::Hop,
        &["hop.gates"],
        "Deny wins over ask, and ask over allow.",
    ),
    claim(
        "claim.15-three-traces",
        Level::Invariant,
        Vantage::Hop,
        &["hop.once"],
        "Tool use, call and result of one hop line up in all three lanes.",
    ),
    claim(
        "claim.18-secrets",
        Level::Invariant,
        Vantage::Process,
        &[],
        "A variable that is configured for one server does not reach another.",
    ),
];
