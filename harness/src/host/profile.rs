//! The typed form of a host profile, with variant and version already applied.

use std::sync::Arc;

use crate::diagnostic::{Source, Spanned};
use crate::revision::{Revision, Transport};
use crate::scenario::ast::Feature;

pub use super::surface::Surface;

/// How to configure, launch and talk to one host, and what it claims.
#[derive(Clone, Debug)]
pub struct Profile {
    /// The file.
    pub source: Arc<Source>,
    /// The name on the command line.
    pub name: String,
    /// The variant, where one was chosen.
    pub variant: Option<String>,
    /// The names of all variants of the file.
    pub variants: Vec<String>,
    /// The name for people.
    pub title: String,
    /// The pack whose requirements can fail; absent means all that hopcheck judges.
    pub pack: Option<String>,
    /// Where the program is.
    pub bin: Bin,
    /// A runtime that the program needs, such as `node>=22`; empty means none.
    pub runtime: String,
    /// How its version is asked for.
    pub version: VersionQuery,
    /// The model API that it speaks.
    pub model: ModelProfile,
    /// How it publishes names.
    pub names: NameRule,
    /// Where it puts the model's id of a tool use into a `tools/call`, as a JSON pointer into `params`.
    pub tool_use_id: Option<String>,
    /// Ways to run it, in order of preference.
    pub drives: Vec<Drive>,
    /// Files that are written before it starts.
    pub files: Vec<FileTemplate>,
    /// What it claims.
    pub claims: Claims,
    /// Patterns that are cut from tool results before they are compared: the host's own wrapping.
    pub strip: Vec<Spanned<String>>,
    /// Volatile values: name and the pattern that a value must match before it is hidden.
    pub redact: Vec<(String, Spanned<String>)>,
}

impl Profile {
    /// `NAME` or `NAME:VARIANT`, as on the command line.
    #[must_use]
    pub fn selector(&self) -> String {
        match &self.variant {
            Some(variant) => format!("{}:{variant}", self.name),
            None => self.name.clone(),
        }
    }

    /// `NAME` or `NAME.VARIANT`, as in file names.
    #[must_use]
    pub fn file_name(&self) -> String {
        self.selector().replace(':', ".")
    }
}

/// Where a host's program is found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bin {
    /// A variable that names it and wins.
    pub env: Option<String>,
    /// Names to look for on `PATH`.
    pub names: Vec<String>,
    /// The npm package that brings it.
    pub npm: Option<String>,
    /// A hidden subcommand of hopcheck itself, such as `__reference-host`.
    pub builtin: Option<String>,
}

/// How a version is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionQuery {
    /// The arguments.
    pub args: Vec<String>,
    /// A pattern whose first group is the version.
    pub pattern: String,
}

/// The model API of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelProfile {
    /// Which API.
    pub api: ApiName,
    /// How tools are offered.
    pub surface: Surface,
    /// What shows that a first request is one of the main line.
    pub main_line: MainLine,
    /// What happens to a request that the real API would refuse.
    pub strict: Strict,
    /// Side requests and their answers, first match wins.
    pub sides: Vec<SideRule>,
}

/// The model APIs that the endpoint speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ApiName {
    /// Anthropic Messages.
    AnthropicMessages,
    /// OpenAI Responses.
    OpenaiResponses,
    /// None: the host is driven call by call, and the model lane is made of what it offers and returns.
    Synthetic,
}

impl ApiName {
    /// All that a profile can name. Which hosts have a synthetic model lane follows from how they are driven.
    pub const ALL: [Self; 2] = [Self::AnthropicMessages, Self::OpenaiResponses];

    /// Whether it has items of its own for a search by the client, so that no tool of the host is needed.
    #[must_use]
    pub const fn has_search(self) -> bool {
        matches!(self, Self::OpenaiResponses)
    }

    /// Its word in files.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AnthropicMessages => "anthropic-messages",
            Self::OpenaiResponses => "openai-responses",
            Self::Synthetic => "synthetic",
        }
    }
}

/// What shows, beside the marker of the run, that a request without any answer of ours is one of the main line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MainLine {
    /// It offers tools: hosts ask their model for titles and summaries without any.
    Tools,
    /// The marker alone, for hosts that make no side requests, and may have no tool left to offer.
    Marker,
}

impl MainLine {
    /// All.
    pub const ALL: [Self; 2] = [Self::Tools, Self::Marker];

    /// Its word in files.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Marker => "marker",
        }
    }
}

/// What happens to a model request that the real API would refuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strict {
    /// It is a finding, then served.
    Report,
    /// It is answered with 400.
    Refuse,
}

/// A side request and its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SideRule {
    /// The name for the trace.
    pub name: String,
    /// A text that the request body contains.
    pub contains: String,
    /// The text that is answered.
    pub answer: String,
}

/// How a host builds published names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameRule {
    /// Template of the flat name, with `server` and `tool` already mangled.
    pub flat: String,
    /// Template of the namespace.
    pub namespace: String,
    /// Pattern of characters that become `_`.
    pub replace: String,
    /// Most characters of a published name.
    pub max: usize,
}

/// One way to run a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drive {
    /// How it is talked to.
    pub kind: DriveKind,
    /// Program and arguments, as templates.
    pub argv: Vec<String>,
    /// The whole environment, as templates.
    pub env: Vec<(String, String)>,
    /// What can be done with it.
    pub features: Vec<Feature>,
}

/// How a host is talked to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DriveKind {
    /// The prompt is an argument; standard input is empty.
    Headless,
    /// JSON lines with `can_use_tool` questions.
    ClaudeControl,
    /// The driver protocol over standard input and output; the host asks no model.
    Driver,
    /// The same on a thread of the test program: the host is a library.
    InProcess,
}

impl DriveKind {
    /// All.
    pub const ALL: [Self; 4] = [Self::Headless, Self::ClaudeControl, Self::Driver, Self::InProcess];

    /// Its word in files.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Headless => "headless",
            Self::ClaudeControl => "claude-control",
            Self::Driver => "driver",
            Self::InProcess => "in-process",
        }
    }

    /// Whether the host asks a model, or is driven without one.
    #[must_use]
    pub const fn model_lane(self) -> ModelLane {
        match self {
            Self::Headless | Self::ClaudeControl => ModelLane::Endpoint,
            Self::Driver | Self::InProcess => ModelLane::Synthetic,
        }
    }
}

/// Where the model lane of a trace comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelLane {
    /// The host asks a model, which is played.
    Endpoint,
    /// The host asks none: hopcheck writes the requests, of what the host offers and returns.
    Synthetic,
}

/// A file to write before the host starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileTemplate {
    /// Its path, as a template that starts inside the sandbox.
    pub path: String,
    /// Its content, as a template.
    pub template: Spanned<String>,
}

/// What a host claims of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claims {
    /// Its permission dialect.
    pub dialect: DialectName,
    /// Whether arguments that fail the schema are stopped before any RPC.
    pub schema_gate: SchemaGate,
    /// How arguments travel.
    pub arguments: ArgumentsClaim,
    /// The surface that it claims to publish tools by, as a word of [`Surface::WORDS`].
    pub published: Option<&'static str>,
    /// Revisions per transport.
    pub wire: Vec<(Transport, Vec<Revision>)>,
}

/// Permission dialects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DialectName {
    /// The reference host's.
    Plain,
    /// Claude Code's.
    ClaudeCode,
    /// Codex's.
    Codex,
    /// The host has no rules at all.
    None,
}

impl DialectName {
    /// All.
    pub const ALL: [Self; 4] = [Self::Plain, Self::ClaudeCode, Self::Codex, Self::None];

    /// Its word in files.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::None => "none",
        }
    }
}

/// Whether a host has a schema gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaGate {
    /// It claims one, and is held to it.
    Claimed,
    /// It claims none; what happens is a trait.
    Unclaimed,
}

/// How a host claims to treat arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentsClaim {
    /// They reach the wire as the model gave them.
    Exact,
    /// Values are converted to the type that the schema names.
    CoerceBySchema,
    /// Members with `null` are left out.
    StripNull,
}

impl ArgumentsClaim {
    /// All.
    pub const ALL: [Self; 3] = [Self::Exact, Self::CoerceBySchema, Self::StripNull];

    /// Its word in files.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::CoerceBySchema => "coerce-by-schema",
            Self::StripNull => "strip-null",
        }
    }
}
