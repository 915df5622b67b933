//! A plan: scenario case × host variant × revision × transport, every name resolved, every applicability decided.

use std::fmt;
use std::sync::Arc;

use super::Cue;
use crate::diagnostic::Span;
pub use crate::host::names::Published;
use crate::host::profile::Profile;
use crate::json::Json;
use crate::revision::{Revision, Transport};
use crate::scenario::ast::{Input, Scenario, Stop, Told, ToolRef, UseKind};
use crate::scenario::native::Native;
use crate::server::script::{Script, Tool};

/// The coordinates of a plan. With the texts they determine it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PlanKey {
    /// `AREA/NAME` or `AREA/NAME[CASE]`.
    pub scenario: String,
    /// The host's name in its profile.
    pub host: String,
    /// Its variant.
    pub variant: Option<String>,
    /// The version for which the profile was resolved, where it was known.
    pub version: Option<String>,
    /// The revision that our servers speak.
    pub revision: Revision,
    /// The transport of servers that fix none.
    pub transport: Transport,
    /// What markers and words are derived from.
    pub seed: u64,
}

impl PlanKey {
    /// `HOST` or `HOST:VARIANT`, as on the command line and in reports.
    #[must_use]
    pub fn host_selector(&self) -> String {
        match &self.variant {
            Some(variant) => format!("{}:{variant}", self.host),
            None => self.host.clone(),
        }
    }

    /// `HOST` or `HOST.VARIANT`.
    #[must_use]
    pub fn host_file_name(&self) -> String {
        match &self.variant {
            Some(variant) => format!("{}.{variant}", self.host),
            None => self.host.clone(),
        }
    }

    /// `HOST/AREA/NAME[CASE]@REVISION+TRANSPORT`, the path of its trace without the ending.
    #[must_use]
    pub fn path(&self) -> String {
        format!("{}/{}@{}+{}", self.host_file_name(), self.scenario, self.revision, self.transport)
    }
}

impl fmt::Display for PlanKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {} {}", self.host_file_name(), self.scenario, self.revision, self.transport)
    }
}

/// The outcome of planning one combination.
#[derive(Clone, Debug)]
pub enum Planned {
    /// It can be run.
    Run(Box<Plan>),
    /// It does not apply, for this reason.
    NotApplicable {
        /// Its coordinates.
        key: PlanKey,
        /// The scenario.
        scenario: Arc<Scenario>,
        /// The profile.
        profile: Arc<Profile>,
        /// Why not, as a lowercase sentence.
        reason: String,
    },
}

impl Planned {
    /// Its coordinates.
    #[must_use]
    pub const fn key(&self) -> &PlanKey {
        match self {
            Self::Run(plan) => &plan.key,
            Self::NotApplicable { key, .. } => key,
        }
    }
}

/// Everything that a run needs, and everything that its record is judged by.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Its coordinates.
    pub key: PlanKey,
    /// The scenario.
    pub scenario: Arc<Scenario>,
    /// The host.
    pub profile: Arc<Profile>,
    /// Which of the profile's drives is used.
    pub drive: usize,
    /// The servers in file order.
    pub servers: Vec<PlannedServer>,
    /// The user's messages, each with the unguessable marker of the run in it. The first opens the run.
    pub prompts: Vec<String>,
    /// The marker that makes a model request one of this run.
    pub run_marker: String,
    /// Every tool use of the script, in order. A use's index is its identity.
    pub uses: Vec<PlannedUse>,
    /// Every search of the script for a tool, in order. Uses of the harness, not of the scenario: they make its uses
    /// possible on a surface that shows no tool by itself, and none of them is a hop.
    pub searches: Vec<PlannedSearch>,
    /// The replies of the model, in order.
    pub turns: Vec<Turn>,
    /// For each step the turn that comes next, from the step itself on.
    pub next_turns: Vec<usize>,
    /// What the harness does beside the model's replies, in the order of the steps.
    pub cues: Vec<Cue>,
    /// A stop by signal, where the scenario has one.
    pub stop: Option<PlannedStop>,
    /// The permission rules in the host's own words, for its templates.
    pub rules: Json,
    /// The rules of the twin, where some step denies: the same with every deny of a step turned into allow.
    pub twin_rules: Option<Json>,
    /// Host runs of the trace, 1 or 2, twin not counted.
    pub runs: u8,
}

impl Plan {
    /// What the scenario says in the words of this host.
    #[must_use]
    pub fn native(&self) -> Option<&Native> {
        self.scenario.natives.iter().find(|native| native.host.value == self.profile.name)
    }
}

/// One server of a plan.
#[derive(Clone, Debug)]
pub struct PlannedServer {
    /// The name in the host's configuration.
    pub key: String,
    /// What it offers and answers.
    pub script: Script,
    /// Tools that it gets by changes in the steps, new ones and replacements.
    pub later: Vec<Tool>,
    /// Its transport.
    pub transport: Transport,
    /// Whether the host is told to wait for it.
    pub required: bool,
    /// The words that the engine appends to descriptions: registered name and word.
    pub words: Vec<(String, String)>,
}

/// Planted variables are known by this beginning of their names.
pub const CANARY: &str = "HOPCHECK_CANARY";

impl PlannedServer {
    /// Every tool that the server ever offers, those of its first process first. A name can be there more than once.
    pub fn all_tools(&self) -> impl Iterator<Item = &Tool> {
        self.script.all_tools().chain(&self.later)
    }

    /// The name of the variable that is configured for this server, and that no other must see.
    #[must_use]
    pub fn canary(&self) -> String {
        let plain = |char: char| if char.is_ascii_alphanumeric() { char.to_ascii_uppercase() } else { '_' };
        format!("{CANARY}_{}", self.key.chars().map(plain).collect::<String>())
    }
}

/// One tool use of the script.
#[derive(Clone, Debug)]
pub struct PlannedUse {
    /// Its index.
    pub index: usize,
    /// The step that it belongs to.
    pub step: usize,
    /// The place of its verb in the scenario.
    pub span: Span,
    /// The tool.
    pub tool: ToolRef,
    /// The published name by the profile's rule, for the case that no offer shows it.
    pub by_rule: Published,
    /// What must happen to it.
    pub kind: UseKind,
    /// The arguments.
    pub input: Input,
    /// What the model must be told.
    pub told: Option<Told>,
    /// The argument text of the tool that calls it, where the surface has such a tool.
    pub wrapped: Option<String>,
}

impl PlannedUse {
    /// The argument text that the model gives.
    #[must_use]
    pub fn input_text(&self) -> String {
        match &self.input {
            Input::Json(json) => json.to_string(),
            Input::Raw(text) => text.clone(),
            Input::Absent => String::new(),
        }
    }
}

/// A search for a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedSearch {
    /// Its index.
    pub index: usize,
    /// The step that needs it.
    pub step: usize,
    /// The place of that step's verb in the scenario.
    pub span: Span,
    /// The tool that is searched for.
    pub tool: ToolRef,
    /// The argument text, which is a JSON object.
    pub input: String,
}

/// One reply of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The user message that this turn answers, as an index into the prompts.
    pub prompt: usize,
    /// Text before the tool uses, or the final text.
    pub text: Option<String>,
    /// The tool uses, as indices into the plan's uses.
    pub uses: Vec<usize>,
    /// The searches, as indices into the plan's searches. Without uses and searches the turn of the conversation ends.
    pub searches: Vec<usize>,
}

impl Turn {
    /// Whether it is nothing but text.
    #[must_use]
    pub fn is_text(&self) -> bool {
        self.uses.is_empty() && self.searches.is_empty()
    }
}

/// A signal to the host instead of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlannedStop {
    /// The step.
    pub step: usize,
    /// The signal.
    pub how: Stop,
    /// When the host asks for this turn, it gets the signal and no reply.
    pub turn: usize,
}
