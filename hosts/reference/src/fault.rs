//! The faults: named lies that the host can be told to tell, each about a promise that a checker should hold hosts to.
//!
//! A lie is told at one place, by asking `Lies::tell`; those that bend a text on its way are in `bend.rs`.

/// What a fault is, for whoever wants to list or judge them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FaultInfo {
    /// The name for `--fault`.
    pub name: &'static str,
    /// The ids of the requirements that the lie breaks, one to three.
    pub about: &'static [&'static str],
    /// The lie in one sentence.
    pub summary: &'static str,
    /// The variant of the host that alone can tell it, by its name in the profile.
    pub variant: Option<&'static str>,
}

macro_rules! faults {
    ($(#[doc = $summary:literal] $fault:ident = $name:literal about [$($id:literal),+] $(on $variant:literal)?;)+) => {
        /// One lie.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum Fault {
            $(#[doc = $summary] $fault,)+
        }

        /// Every lie that the host can tell.
        pub const FAULTS: &[FaultInfo] = &[
            $(FaultInfo {
                name: $name,
                about: &[$($id),+],
                summary: $summary.trim_ascii(),
                variant: first(&[$($variant)?]),
            },)+
        ];

        const NAMED: &[(&str, Fault)] = &[$(($name, Fault::$fault)),+];
    };
}

const fn first(variants: &[&'static str]) -> Option<&'static str> {
    match variants {
        [] => None,
        [variant, ..] => Some(variant),
    }
}

faults! {
    // The connection.
    /// `tools/list` is sent before the handshake is answered.
    ListBeforeHandshake = "list-before-handshake" about ["lifecycle.no-early-requests"];
    /// `notifications/initialized` is never sent.
    SkipInitialized = "skip-initialized" about ["lifecycle.initialized-notification"];
    /// Calls go out on a new connection that has seen no handshake.
    CallWithoutHandshake = "call-without-handshake" about ["hop.order", "lifecycle.initialize-first"];
    /// Any protocol version in the answer to `initialize` is taken.
    AcceptAnyRevision = "accept-any-revision" about ["lifecycle.version.disconnect-if-unsupported"];
    /// A modern error on the probe is followed by a handshake.
    HandshakeAfterModernError = "handshake-after-modern-error" about ["stdio.probe.modern-error-no-fallback"];
    /// Only -32601 on the probe is followed by a handshake.
    FallBackOnOneCode = "fall-back-on-one-code" about ["stdio.probe.fallback-not-single-code", "stdio.probe.other-error-fallback"];
    /// Modern requests do not say their protocol version.
    OmitProtocolVersion = "omit-protocol-version" about ["modern.meta.protocol-version"];
    /// Modern requests do not say who asks.
    OmitClientInfo = "omit-client-info" about ["modern.meta.client-info"];
    /// Requests of a modern server are answered.
    AnswerModernRequests = "answer-modern-requests" about ["base.client-sends-no-responses"];
    /// A ping is not answered.
    IgnorePing = "ignore-ping" about ["ping.responds"];
    /// A request with an unknown method is not answered.
    IgnoreUnknownRequest = "ignore-unknown-request" about ["base.unknown-server-request.method-not-found"];
    /// Every call has the id 1.
    ReuseRequestId = "reuse-request-id" about ["base.request.id-unique-in-session"];
    /// Ids are numbers with a fraction.
    FractionalIds = "fractional-ids" about ["base.request.id-string-or-integer"];
    /// Messages do not say that they are JSON-RPC 2.0.
    OmitJsonRpc = "omit-jsonrpc" about ["base.jsonrpc.valid-2-0", "hop.json-rpc"];
    /// Messages are spread over several lines.
    EmbeddedNewlines = "embedded-newlines" about ["stdio.no-embedded-newlines"];
    /// Messages are sent as batches of one.
    SendBatches = "send-batches" about ["base.batch.none-sent"];
    /// Capabilities are declared that the host does not have.
    DeclareTooMuch = "declare-too-much" about ["lifecycle.capabilities.truthful"];
    /// The oldest protocol version is asked for.
    AskForOldest = "ask-for-oldest" about ["lifecycle.version.sends-latest"];
    /// A handshake that takes too long is cancelled.
    CancelInitialize = "cancel-initialize" about ["lifecycle.initialize.not-cancelled"];
    /// Servers see the variables of all others.
    LeakEnvironment = "leak-environment" about ["claim.18-secrets"];
    /// Servers are killed before their input is closed.
    KillBeforeEof = "kill-before-eof" about ["stdio.shutdown.close-stdin-first"];
    /// A process is left running when the host exits.
    LeaveDaemon = "leave-daemon" about ["hop.clean-end"];

    // The list.
    /// `tools/list` is sent to a server without the tools capability.
    ListWithoutCapability = "list-without-capability" about ["tools.list.only-with-capability"];
    /// Only the first page of a list is read.
    StopAtFirstPage = "stop-at-first-page" about ["expect.offers", "hop.stable-list"];
    /// Cursors are sent back percent-encoded.
    ReencodeCursor = "reencode-cursor" about ["pagination.cursor-verbatim"];
    /// An empty cursor ends a list.
    StopAtEmptyCursor = "stop-at-empty-cursor" about ["pagination.empty-string-cursor-continues"];
    /// One entry without a schema spoils the whole list.
    SpoiledByOneEntry = "spoiled-by-one-entry" about ["tools.list.invalid-tool-isolated"];
    /// A tool without a schema is offered with one that takes anything.
    OfferWithoutSchema = "offer-without-schema" about ["claim.08-no-schema-no-offer"];
    /// Two tools that differ in the case of their names are taken for one.
    IgnoreCase = "ignore-case" about ["tools.name.case-sensitive"];
    /// A changed list is not asked for again.
    IgnoreListChanged = "ignore-list-changed" about ["tools.list-changed.refetch", "expect.change"];
    /// A list is asked for again after each announcement, whatever came before.
    RefreshForever = "refresh-forever" about ["expect.change", "expect.run-ends"];
    /// Tools that vanished from a list stay.
    KeepRemovedTools = "keep-removed-tools" about ["tools.list-changed.removed-tool-not-called", "expect.change"];
    /// A tool that was listed once keeps its first entry.
    KeepFirstEntry = "keep-first-entry" about ["expect.change"];
    /// A list that changes while it is read is not read again.
    MissEarlyChange = "miss-early-change" about ["tools.list-changed.refetch"];
    /// A server that was started again is taken for what it was before.
    KeepDeadTools = "keep-dead-tools" about ["expect.offers"];
    /// A server that ended is never started again.
    NeverRestart = "never-restart" about ["expect.call"];
    /// Streams are opened for changes that the server does not declare.
    ListenToAll = "listen-to-all" about ["subscriptions.capability-gated"];
    /// Streams are opened without a filter.
    ListenToNothing = "listen-to-nothing" about ["subscriptions.opt-in-filter", "expect.list"];
    /// The last tool is missing from the second model request on.
    ForgetTool = "forget-tool" about ["hop.stable-list"];
    /// A tool is offered a second time, under a name that no server has listed.
    OfferUnlisted = "offer-unlisted" about ["hop.order"];
    /// Tools of one name at two servers get the same published name.
    ShareNames = "share-names" about ["tools.name.collision-disambiguated"];
    /// A tool under a deny rule takes the other tools of its server with it.
    HideNeighbours = "hide-neighbours" about ["hop.stable-list"];
    /// A server that cannot be started is not named.
    SilentFailure = "silent-failure" about ["expect.native"];
    /// One broken server hides the tools of all.
    SickServerHidesAll = "sick-server-hides-all" about ["hop.isolation"];

    // The way to a tool that is not offered by itself.
    /// A search finds nothing.
    FindNothing = "find-nothing" about ["expect.search"] on "search";
    /// A search finds the tool before the one that it is for.
    FindNeighbour = "find-neighbour" about ["expect.search"] on "search";
    /// What is found lacks its last parameter.
    DropParameter = "drop-parameter" about ["expect.search"] on "search";
    /// All tools are offered before any search.
    PourTable = "pour-table" about ["claim.07-deferred-table"] on "search";
    /// The tool that calls all others puts its server in front of the name.
    WrapperPrefixes = "wrapper-prefixes" about ["hop.wire-name"] on "wrapper";
    /// The tool that calls all others loses the arguments.
    WrapperLosesArguments = "wrapper-loses-arguments" about ["hop.arguments"] on "wrapper";
    /// The tool that calls all others sends its own arguments.
    WrapperSendsItself = "wrapper-sends-itself" about ["hop.arguments"] on "wrapper";

    // The gates.
    /// Deny rules are not read.
    IgnoreDeny = "ignore-deny" about ["hop.gates", "expect.deny"];
    /// An allow rule goes before a deny rule.
    AllowBeatsDeny = "allow-beats-deny" about ["hop.gates", "expect.deny"];
    /// An allow rule goes before an ask rule.
    AllowBeatsAsk = "allow-beats-ask" about ["claim.11-deny-ask-allow", "expect.ask"];
    /// A rule also speaks of tools whose names only begin like its own.
    MatchByPrefix = "match-by-prefix" about ["hop.gates"];
    /// Tools under an ask rule are called without a question.
    IgnoreAsk = "ignore-ask" about ["expect.ask"];
    /// The question comes when the call has been made.
    AskAfterCall = "ask-after-call" about ["expect.ask"];
    /// The question comes before the arguments are checked.
    AskBeforeShape = "ask-before-shape" about ["hop.gates"];
    /// The question does not show the arguments.
    AskWithoutArguments = "ask-without-arguments" about ["expect.ask"];
    /// A denied question is followed by the call.
    IgnoreUserDeny = "ignore-user-deny" about ["expect.ask"];
    /// One allowed question opens every tool.
    AllowLeaks = "allow-leaks" about ["expect.ask"];
    /// Arguments are not checked against the schema.
    SkipSchemaGate = "skip-schema-gate" about ["claim.09-two-doors"];
    /// Every property of a schema is taken for a required one.
    DemandOptional = "demand-optional" about ["hop.gates", "expect.call"];

    // The call.
    /// The wire carries the published name.
    PrefixedWireName = "prefixed-wire-name" about ["hop.wire-name", "tools.call.wire-name-unprefixed"];
    /// The wire carries the name in lower case.
    LowercaseWireName = "lowercase-wire-name" about ["hop.wire-name"];
    /// The wire carries the name without its odd characters.
    MangledWireName = "mangled-wire-name" about ["hop.wire-name"];
    /// Every call is sent twice.
    CallTwice = "call-twice" about ["hop.once"];
    /// A call that ended with an error is made again.
    RetryOnError = "retry-on-error" about ["hop.once"];
    /// Calls go to the next server of the config.
    WrongServer = "wrong-server" about ["hop.once", "expect.call"];
    /// A call that takes too long is given up without a word to the server.
    GiveUpSilently = "give-up-silently" about ["timeout.sends-cancel", "stdio.cancel-by-notification", "cancel.user-abort-signals"];
    /// The cancellation names another request.
    CancelWrongId = "cancel-wrong-id" about ["cancel.only-own-in-flight"];
    /// An answered call is cancelled when the next one is made.
    CancelAnswered = "cancel-answered" about ["cancel.only-own-in-flight"];
    /// The user's interruption is not heard.
    IgnoreInterrupt = "ignore-interrupt" about ["expect.cancelled", "stdio.cancel-by-notification"];
    /// The limit for one call is not kept.
    IgnoreCallLimit = "ignore-call-limit" about ["timeout.configurable", "timeout.established", "expect.told"];
    /// The answers of parallel calls are taken in the order of the calls.
    AnswersInOrder = "answers-in-order" about ["hop.once", "expect.call"];
    /// An answer that nobody waits for any more is told as that of the next call.
    BelieveLateAnswer = "believe-late-answer" about ["cancel.late-response-ignored", "hop.once"];
    /// An answer that nobody waits for any more ends the run.
    EndOnLateAnswer = "end-on-late-answer" about ["cancel.races-handled"];

    // The arguments.
    /// Integers pass through a double.
    RoundLargeIntegers = "round-large-integers" about ["hop.arguments"];
    /// Fractions are cut off.
    TruncateFractions = "truncate-fractions" about ["hop.arguments"];
    /// Numbers become strings.
    StringifyNumbers = "stringify-numbers" about ["hop.arguments"];
    /// Strings that look like numbers become numbers.
    NumbersFromStrings = "numbers-from-strings" about ["hop.arguments"];
    /// Booleans become numbers.
    BooleansAsNumbers = "booleans-as-numbers" about ["hop.arguments"];
    /// Members that are null are left out.
    DropNulls = "drop-nulls" about ["hop.arguments"];
    /// Members that are an empty string are left out.
    DropEmptyStrings = "drop-empty-strings" about ["hop.arguments"];
    /// Members that are an empty object or array are left out.
    DropEmptyContainers = "drop-empty-containers" about ["hop.arguments"];
    /// Members that the schema does not name are left out.
    DropUnknown = "drop-unknown-members" about ["hop.arguments"];
    /// Defaults of the schema are filled in.
    AddDefaults = "add-default-arguments" about ["hop.arguments"];
    /// Strings lose the space around them.
    TrimStrings = "trim-strings" about ["hop.arguments"];
    /// Strings that look like JSON are taken for it.
    ParseJsonStrings = "parse-json-strings" about ["hop.arguments"];
    /// Objects inside of the arguments become strings.
    StringifyObjects = "stringify-objects" about ["hop.arguments"];
    /// Characters outside of ASCII become question marks.
    AsciiOnly = "ascii-only" about ["hop.arguments"];
    /// Characters with a meaning in HTML are escaped.
    EscapeHtml = "escape-html" about ["hop.arguments"];
    /// Line ends inside of strings become spaces.
    FlattenLines = "flatten-lines" about ["hop.arguments"];
    /// Keys are written in lower case.
    LowercaseKeys = "lowercase-keys" about ["hop.arguments"];
    /// Long arrays lose their last element.
    ShortenArrays = "shorten-arrays" about ["hop.arguments"];
    /// Arrays of one element become that element.
    UnwrapArrays = "unwrap-arrays" about ["hop.arguments"];
    /// Values below the third level are left out.
    CutDepth = "cut-depth" about ["hop.arguments"];
    /// Empty arguments are sent as null.
    NullArguments = "null-arguments" about ["tools.call.arguments-object"];

    // The result.
    /// The first result of a reply is not told.
    DropResult = "drop-result" about ["hop.once"];
    /// The results of parallel calls are told in each other's place.
    SwapResults = "swap-results" about ["expect.told", "hop.once"];
    /// A result is invented before the server has answered.
    ResultBeforeResponse = "result-before-response" about ["hop.order"];
    /// A tool error is told as a success without its text.
    SwallowError = "swallow-error" about ["hop.errors", "tools.error.is-error-to-model"];
    /// A tool error is told without its text.
    LoseErrorText = "lose-error-text" about ["hop.errors"];
    /// A tool error is told as a success.
    LoseErrorFlag = "lose-error-flag" about ["hop.errors"];
    /// Structured content is not told.
    DropStructured = "drop-structured" about ["tools.structured.object-accepted"];
    /// Images are not told.
    DropImages = "drop-images" about ["tools.result.content.text-image-resource"];
    /// A JSON-RPC error of a call ends the run.
    EndOnRpcError = "end-on-rpc-error" about ["hop.errors"];
    /// A result of a type that nobody knows is taken for a complete one.
    BelieveUnknownType = "believe-unknown-type" about ["base.result-type.unknown-invalid"];
    /// Only the first content block is told.
    FirstBlockOnly = "first-block-only" about ["expect.told"];
    /// Content blocks are told in reverse.
    ReverseBlocks = "reverse-blocks" about ["tools.result.multiple-blocks-order"];
    /// Texts are cut after sixteen characters.
    CutText = "cut-text" about ["expect.told"];
}

/// The lie that this run tells, if any.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Lies(Option<Fault>);

impl Lies {
    /// The lie with this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        NAMED.iter().find(|(known, _)| *known == name).map(|(_, fault)| Self(Some(*fault)))
    }

    /// The given lie, for tests of single lies.
    #[cfg(test)]
    pub(crate) fn only(fault: Fault) -> Self {
        Self(Some(fault))
    }

    /// Whether this run tells the given lie.
    pub(crate) fn tell(self, fault: Fault) -> bool {
        self.0 == Some(fault)
    }

    /// The lie that this run tells.
    pub(crate) fn which(self) -> Option<Fault> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_is_named_once_and_about_one_to_three_requirements() {
        for (at, fault) in FAULTS.iter().enumerate() {
            let kebab = fault.name.chars().all(|c| c.is_ascii_lowercase() || c == '-');
            assert!(kebab && fault.summary.ends_with('.'), "{fault:?}");
            assert!((1..=3).contains(&fault.about.len()), "{fault:?}");
            assert!(FAULTS[at + 1..].iter().all(|other| other.name != fault.name), "{fault:?}");
        }
        assert_eq!(Lies::named("call-twice"), Some(Lies::only(Fault::CallTwice)));
        assert_eq!(Lies::named("honest"), None);
    }
}
