//! The command line as types.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::report;
use crate::revision::{Revision, Transport};
use crate::schema::Schema;

/// A conformance test harness for MCP hosts: it plays the model and the servers, and judges the host in between.
#[derive(Debug, Parser)]
#[command(name = "hopcheck", version, max_term_width = 100, infer_subcommands = false)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Runs scenarios on hosts and judges what happened
    Run(RunArgs),
    /// Runs scenarios on hosts and keeps the traces, unjudged
    Record(RecordArgs),
    /// Judges saved traces, without any host
    Judge(JudgeArgs),
    /// Checks the checker: the reference host must pass, the null host must not, every fault must be caught
    SelfTest(SelfTestArgs),
    /// Speaks as a scripted MCP server on standard input and output, for any client
    Serve(ServeArgs),
    /// Shows a trace: its transcript, or one hop in three lanes side by side
    Show(ShowArgs),
    /// Lists what there is
    List(ListArgs),
    /// Tells all that is known of a requirement
    Explain(ExplainArgs),
    /// Checks scenario, server, profile and baseline files, and reports everything that is wrong with them
    Check(CheckArgs),
    /// Keeps the known failures of a host
    Baseline(BaselineArgs),
    /// Prints the JSON Schema of a file format, for editors and validators
    Schema(SchemaArgs),
}

/// Which plans, and how they are run.
#[derive(Clone, Debug, Args)]
pub(super) struct PlanArgs {
    // No documentation comment: it would read the brackets as a link.
    #[arg(value_name = "SCENARIO", help = "Only these: AREA, AREA/NAME, AREA/NAME[CASE], or a file")]
    pub(super) scenarios: Vec<String>,
    /// A known host, with a variant perhaps, or a profile file; may be repeated [default: reference]
    #[arg(long, value_name = "NAME[:VARIANT]|FILE")]
    pub(super) host: Vec<String>,
    /// Only this revision of the specification
    #[arg(long, value_name = "R", value_parser = revision, conflicts_with = "all_revisions")]
    pub(super) revision: Option<Revision>,
    /// All revisions, not only the newest with a handshake and the newest without
    #[arg(long)]
    pub(super) all_revisions: bool,
    /// Only this transport
    #[arg(long, value_name = "T", value_parser = transport)]
    pub(super) transport: Option<Transport>,
    /// The reference host tells this lie; exit 1 says that it was caught
    #[arg(long, value_name = "NAME")]
    pub(super) fault: Option<String>,
    /// Runs at a time [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = jobs)]
    pub(super) jobs: Option<NonZeroUsize>,
    /// Whether runs are cut off from the network
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(super) isolate: Isolate,
    /// Keep the sandboxes, and print how to repeat each run by hand
    #[arg(long)]
    pub(super) keep: bool,
    /// Keep the host's prompts in traces; they may be confidential
    #[arg(long)]
    pub(super) keep_prompts: bool,
    /// Switch the deadlines off, for a debugger
    #[arg(long, value_name = "on|off", default_value = "on", hide_default_value = true)]
    pub(super) deadlines: Switch,
    /// Less text: only what did not pass
    #[arg(long, short, conflicts_with = "verbose")]
    pub(super) quiet: bool,
    /// More text: all runs, all failures
    #[arg(long, short)]
    pub(super) verbose: bool,
}

#[derive(Debug, Args)]
pub(super) struct RunArgs {
    #[command(flatten)]
    pub(super) plans: PlanArgs,
    /// Keep all traces in this folder
    #[arg(long, value_name = "DIR")]
    pub(super) out: Option<PathBuf>,
    /// Known failures of a host: they do not fail, and one that is gone does
    #[arg(long, value_name = "FILE")]
    pub(super) baseline: Option<PathBuf>,
    /// A SHOULD that does not hold fails
    #[arg(long)]
    pub(super) strict: bool,
    /// Hold each transcript against the accepted one in this folder; what differs, is missing or is stale fails
    #[arg(long, value_name = "DIR")]
    pub(super) snapshots: Option<PathBuf>,
    /// Make these transcripts the accepted ones, and remove the stale ones
    #[arg(long, requires = "snapshots", conflicts_with = "fault")]
    pub(super) accept: bool,
    #[command(flatten)]
    pub(super) reports: ReportArgs,
}

#[derive(Debug, Args)]
pub(super) struct RecordArgs {
    #[command(flatten)]
    pub(super) plans: PlanArgs,
    /// The folder for the traces
    #[arg(long, value_name = "DIR")]
    pub(super) out: PathBuf,
}

#[derive(Debug, Args)]
pub(super) struct JudgeArgs {
    /// Trace files
    #[arg(required = true, value_name = "TRACE")]
    pub(super) traces: Vec<PathBuf>,
    /// A SHOULD that does not hold fails
    #[arg(long)]
    pub(super) strict: bool,
    /// Less text: only what did not pass
    #[arg(long, short, conflicts_with = "verbose")]
    pub(super) quiet: bool,
    /// More text: all runs, all failures
    #[arg(long, short)]
    pub(super) verbose: bool,
    #[command(flatten)]
    pub(super) reports: ReportArgs,
}

#[derive(Debug, Args)]
pub(super) struct ReportArgs {
    /// Write a report: json=FILE or markdown=FILE; may be repeated
    #[arg(long, value_name = "KIND=FILE", value_parser = report_file)]
    pub(super) report: Vec<ReportFile>,
    /// What standard output is
    #[arg(long, value_name = "FORM", default_value = "text")]
    pub(super) format: Format,
}

#[derive(Debug, Args)]
pub(super) struct SelfTestArgs {
    /// Every fault on every scenario in all revisions, not only until it is caught
    #[arg(long)]
    pub(super) full: bool,
    /// Write the catch matrix: json=FILE
    #[arg(long, value_name = "KIND=FILE", value_parser = report_file)]
    pub(super) report: Vec<ReportFile>,
    /// Runs at a time [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = jobs)]
    pub(super) jobs: Option<NonZeroUsize>,
    /// Whether runs are cut off from the network
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(super) isolate: Isolate,
}

#[derive(Debug, Args)]
pub(super) struct ServeArgs {
    /// A built-in server script, or a file
    pub(super) script: String,
    /// The revision that the server speaks [default: the newest]
    #[arg(long, value_name = "R", value_parser = revision)]
    pub(super) revision: Option<Revision>,
}

#[derive(Debug, Args)]
pub(super) struct ShowArgs {
    /// A trace file
    pub(super) trace: PathBuf,
    /// Only this hop: the number of a tool use, from 1
    #[arg(long, value_name = "N")]
    pub(super) hop: Option<usize>,
    /// Only this member of each message, such as $.params.name
    #[arg(long, value_name = "PATH")]
    pub(super) path: Option<String>,
}

#[derive(Debug, Args)]
pub(super) struct ListArgs {
    pub(super) what: Listed,
    /// What standard output is
    #[arg(long, value_name = "FORM", default_value = "text")]
    pub(super) format: Format,
}

#[derive(Debug, Args)]
pub(super) struct ExplainArgs {
    /// Its id
    pub(super) requirement: String,
}

#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    /// Scenario, server, profile or baseline files
    #[arg(required = true, value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct BaselineArgs {
    #[command(subcommand)]
    pub(super) command: BaselineCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum BaselineCommand {
    /// Runs the host of a baseline, takes out what is gone, and adds what is new, for a person to give the reason
    Update(BaselineUpdateArgs),
}

#[derive(Debug, Args)]
pub(super) struct BaselineUpdateArgs {
    /// The baseline; it is made where there is none
    pub(super) file: PathBuf,
    #[command(flatten)]
    pub(super) plans: PlanArgs,
}

#[derive(Debug, Args)]
pub(super) struct SchemaArgs {
    /// scenario, server, profile, baseline, trace, report or driver
    #[arg(value_name = "KIND", value_parser = schema)]
    pub(super) kind: Schema,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Listed {
    Hosts,
    Scenarios,
    Requirements,
    Faults,
    Features,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    Text,
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Isolate {
    /// Where the machine can
    Auto,
    /// Or fail
    Yes,
    /// Never
    No,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Switch {
    On,
    Off,
}

/// How much is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loudness {
    Quiet,
    Normal,
    Verbose,
}

impl Loudness {
    /// From the two flags that exclude each other.
    pub(super) fn of(args: &PlanArgs) -> Self {
        match (args.quiet, args.verbose) {
            (true, _) => Self::Quiet,
            (_, true) => Self::Verbose,
            _ => Self::Normal,
        }
    }

    /// The same for saved traces.
    pub(super) fn of_judge(args: &JudgeArgs) -> Self {
        match (args.quiet, args.verbose) {
            (true, _) => Self::Quiet,
            (_, true) => Self::Verbose,
            _ => Self::Normal,
        }
    }
}

/// A report that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReportFile {
    pub(super) kind: report::Kind,
    pub(super) path: PathBuf,
}

fn report_file(text: &str) -> Result<ReportFile, String> {
    let (kind, path) = text.split_once('=').ok_or("write KIND=FILE, such as json=report.json")?;
    if path.is_empty() {
        return Err(format!("write {kind}=FILE"));
    }
    let known = report::Kind::ALL.into_iter().find(|known| known.as_str() == kind);
    match (known, kind) {
        (Some(kind), _) => Ok(ReportFile { kind, path: PathBuf::from(path) }),
        (None, "junit" | "html" | "github") => {
            Err(format!("reports of kind `{kind}` do not exist yet; there are `json` and `markdown`"))
        }
        (None, _) => Err(format!("no reports of kind `{kind}`; there are `json` and `markdown`")),
    }
}

fn jobs(text: &str) -> Result<NonZeroUsize, String> {
    text.parse().map_err(|_| "write a number from 1".to_owned())
}

fn revision(text: &str) -> Result<Revision, String> {
    Revision::parse(text).ok_or_else(|| format!("there are {}", list(Revision::ALL.map(Revision::as_str))))
}

fn transport(text: &str) -> Result<Transport, String> {
    Transport::parse(text).ok_or_else(|| format!("there are {}", list(Transport::ALL.map(Transport::as_str))))
}

fn schema(text: &str) -> Result<Schema, String> {
    Schema::parse(text).ok_or_else(|| format!("there are {}", list(Schema::ALL.map(Schema::as_str))))
}

fn list<const N: usize>(words: [&str; N]) -> String {
    words.join(", ")
}
