//! Runs a plan: sandbox, supervisor, recorder loop. It yields a trace and judges nothing.

mod conn;
mod console;
mod deadline;
mod door;
mod ground;
mod idle;
mod interrupt;
mod isolation;
mod launch;
mod processes;
mod recorder;
mod run;
mod sandbox;
mod script;
mod stop;
mod strays;
pub mod supervisor;
#[cfg(target_os = "linux")]
mod sys;
mod thread;
mod version;
mod watch;
mod wires;

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::drive::drive;
use crate::driver::{ServerSetup, Setup};
use crate::host::render::{self, RenderError, Rendered, Site, SiteServer};
use crate::json::Json;
use crate::model::{Names, Prompts, Request, Role};
use crate::plan::Plan;
use crate::scenario::ast::{DenyBy, UseKind};
use crate::trace::cut::{hex, sha256_hex};
use crate::trace::event::Kind;
use crate::trace::file::Writer;
use crate::trace::redact::Redactor;
use crate::trace::{Header, Trace};

pub use deadline::{Deadlines, Phase};
pub use ground::Launch;
pub use ground::isolation_refused;
pub use idle::Supervisors;
pub use interrupt::{Interrupter, interrupter};
pub use sandbox::{Keep, Kept, SandboxError};
pub use version::{ask_version, locate};

use console::Console;
use ground::Ground;
use recorder::{Draft, Recorder};
use run::{Ended, HostRun, Parts, Reason};
use sandbox::Sandbox;
use script::Model;
use wires::Wires;

/// The `PATH` of hosts: what a system has, and nothing of the user.
const PATH: &str = "/usr/bin:/bin";

/// Whether hosts get a network that has nothing but loopback.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Isolate {
    /// Where the machine allows it.
    #[default]
    Auto,
    /// Always; a machine that does not allow it is an error.
    Yes,
    /// Never.
    No,
}

/// How plans are run.
#[derive(Clone, Debug)]
pub struct StageOptions {
    /// Whether hosts get a network of their own.
    pub isolate: Isolate,
    /// Whether sandboxes stay.
    pub keep: Keep,
    /// Whether the product's prompts are kept.
    pub prompts: Prompts,
    /// How long the phases of a run may take.
    pub deadlines: Deadlines,
    /// The program whose `__relay` and `__stage` are used.
    pub self_exe: PathBuf,
    /// What ends a run early.
    pub interrupter: Option<&'static Interrupter>,
    /// Where supervisors wait for another run; without it each run starts its own.
    pub supervisors: Option<Supervisors>,
}

impl StageOptions {
    /// The usual options.
    #[must_use]
    pub fn new(self_exe: impl Into<PathBuf>) -> Self {
        Self {
            isolate: Isolate::default(),
            keep: Keep::default(),
            prompts: Prompts::Reduce,
            deadlines: Deadlines::default(),
            self_exe: self_exe.into(),
            interrupter: None,
            supervisors: None,
        }
    }
}

/// What became of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Staged {
    /// The record.
    pub trace: Trace,
    /// Whether the user interrupted.
    pub interrupted: Interrupted,
    /// The sandboxes that stay, one for each host run.
    pub kept: Vec<Kept>,
}

/// Whether the user interrupted a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interrupted {
    /// The trace is not complete.
    Yes,
    /// The trace is complete.
    No,
}

/// Why a plan could not be run. What goes wrong while a host runs is an event of its trace instead.
#[derive(Debug, thiserror::Error)]
pub enum StageError {
    /// The sandbox could not be prepared.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// The profile could not be rendered.
    #[error(transparent)]
    Render(#[from] RenderError),
    /// Isolation was asked for and is not to be had.
    #[error("cannot isolate the network: {0}")]
    Isolation(io::Error),
    /// The supervisor did not start.
    #[error("cannot start the supervisor: {0}")]
    Supervisor(io::Error),
    /// The profile describes another sort of host.
    #[error("the profile {profile} describes {described}, and the host is {given}")]
    OtherSort {
        /// The profile's name.
        profile: String,
        /// What it describes.
        described: &'static str,
        /// What was given.
        given: &'static str,
    },
    /// The host did not start.
    #[error("cannot start {program}: {cause}")]
    Host {
        /// Its program.
        program: String,
        /// Why.
        cause: io::Error,
    },
    /// The trace could not be written.
    #[error("cannot write the trace: {0}")]
    Trace(io::Error),
    /// The machine refused something else.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Runs a plan: its host runs one after the other, and a twin where a denied tool was hidden.
///
/// `launch` is the host; `sink` is the file to which the trace is streamed.
///
/// # Errors
/// What keeps a run from happening; see [`StageError`].
pub fn run(
    plan: &Plan,
    header: Header,
    launch: impl Into<Launch>,
    options: &StageOptions,
    sink: Option<&Path>,
) -> Result<Staged, StageError> {
    let launch = launch.into();
    launch.fits(plan)?;
    let mut rec = Recorder::new(Writer::new(header, sink).map_err(StageError::Trace)?);
    let mut kept = Vec::new();
    let mut interrupted = Interrupted::No;
    let mut roles = vec![Role::Main];
    roles.extend((plan.runs > 1).then_some(Role::Second));
    let mut at = 0;
    while let Some(&role) = roles.get(at) {
        at += 1;
        let Finished { reason, end, last } = match host_run(plan, role, &launch, options, &mut rec, &mut kept) {
            Ok(finished) => finished,
            Err(error) => {
                // The file tells why it ends here.
                rec.record(Draft::new(Kind::Failed).fact("message", error.to_string()));
                rec.flush();
                return Err(error);
            }
        };
        if reason == Reason::Interrupted {
            interrupted = Interrupted::Yes;
        }
        if reason != Reason::Exit {
            roles.truncate(at);
        } else if role == Role::Main && needs_twin(plan, last.as_ref()) {
            roles.push(Role::Twin);
        }
        // A trace that is cut between two runs must not look as if nothing had been meant to follow.
        let end = match roles.get(at) {
            Some(next) => end.fact("then", next.as_str()),
            None => end,
        };
        rec.record(end);
        rec.flush();
    }
    Ok(Staged { trace: rec.finish().map_err(StageError::Trace)?, interrupted, kept })
}

/// Whether a tool that a rule denies was hidden, so that its published name is still to be proven.
fn needs_twin(plan: &Plan, last: Option<&Request>) -> bool {
    if plan.twin_rules.is_none() {
        return false;
    }
    let offered = last.map(|last| Names::of(plan).offered(last)).unwrap_or_default();
    let denied = plan
        .uses
        .iter()
        .filter(|planned| matches!(planned.kind, UseKind::Deny { by } if by != Some(DenyBy::Schema)));
    denied.into_iter().any(|planned| !offered.iter().any(|(tool, _)| *tool == planned.tool))
}

/// What is to be known of a host run before the next one.
struct Finished {
    reason: Reason,
    /// Its last event, to which is added what follows.
    end: Draft,
    /// The last request of the main line, which shows what was offered in the end.
    last: Option<Request>,
}

fn host_run(
    plan: &Plan,
    role: Role,
    launch: &Launch,
    options: &StageOptions,
    rec: &mut Recorder,
    kept: &mut Vec<Kept>,
) -> Result<Finished, StageError> {
    let run = rec.begin_run();
    let ground = Ground::new(launch, options)?;
    let isolation = ground.isolation();
    let sandbox = ground.sandbox(options.keep)?;
    let (token, key) = (random_word()?, format!("hopcheck-{}", random_word()?));
    let canaries = canaries(plan);
    rec.set_redactor(Redactor::new(&canaries, std::slice::from_ref(&key)));

    let wires = Wires::new(plan, &sandbox.socket(), &canaries)?;
    let (launcher, door) = ground.open(&token)?;
    let site = site(plan, launch, options, &sandbox, door.url(), key, &canaries);
    let drive = drive(plan, run, role, setup(plan, role, &site, &sandbox));
    let (console, ends) = Console::new(drive.stdin())?;
    let rendered = render_host(plan, role, &site, &sandbox)?;
    sandbox.write(&rendered.files)?;

    rec.record(Draft::new(Kind::RunStart).fact("role", role.as_str()).fact("isolation", isolation.as_str()));
    let (supervisor, facts) = launcher.launch(&rendered, &sandbox, ends)?;
    rec.record(host_start(plan, facts, &sandbox));
    let parts = Parts {
        plan,
        supervisor,
        wires,
        door,
        console,
        model: Model::new(plan, run, role, options.prompts),
        drive,
        rec,
    };
    let Ended { reason, end, model, supervisor } = HostRun::new(parts, options).run();
    kept.extend(sandbox.close(options.keep, &rendered));
    if let (Some(supervisors), Some(supervisor)) = (&options.supervisors, supervisor) {
        supervisors.give(isolation, supervisor);
    }
    Ok(Finished { reason, end, last: model.into_last() })
}

fn host_start(plan: &Plan, facts: Json, sandbox: &Sandbox) -> Draft {
    let drive = plan.profile.drives.get(plan.drive).map(|drive| drive.kind.as_str());
    Draft::new(Kind::HostStart)
        .data(facts)
        .fact("cwd", sandbox.work().to_string_lossy().as_ref())
        .fact("drive", drive)
}

/// A variable for each server, which nobody else must see.
fn canaries(plan: &Plan) -> Vec<(String, String)> {
    let value = |key: &str| sha256_hex(format!("canary {} {key}", plan.key.seed).as_bytes())[..24].to_owned();
    plan.servers.iter().map(|server| (server.canary(), value(&server.key))).collect()
}

fn site(
    plan: &Plan,
    launch: &Launch,
    options: &StageOptions,
    sandbox: &Sandbox,
    model_url: String,
    model_key: String,
    canaries: &[(String, String)],
) -> Site {
    let text = |path: PathBuf| path.to_string_lossy().into_owned();
    let servers = plan.servers.iter().zip(canaries).map(|(server, canary)| SiteServer {
        key: server.key.clone(),
        command: text(options.self_exe.clone()),
        args: vec!["__relay".to_owned(), text(sandbox.socket()), server.key.clone()],
        env: vec![canary.clone()],
        required: server.required,
    });
    Site {
        bin: match launch {
            Launch::Program(argv) => argv.clone(),
            Launch::Library(_) => Vec::new(),
        },
        home: text(sandbox.home()),
        work: text(sandbox.work()),
        model_url,
        model_key,
        path: PATH.to_owned(),
        prompt: plan.prompts.first().cloned().unwrap_or_default(),
        servers: servers.collect(),
    }
}

/// The rules of a host run.
fn rules(plan: &Plan, role: Role) -> &Json {
    match (role, &plan.twin_rules) {
        (Role::Twin, Some(rules)) => rules,
        _ => &plan.rules,
    }
}

/// What a host is given that reads no files.
fn setup(plan: &Plan, role: Role, site: &Site, sandbox: &Sandbox) -> Setup {
    let limit = |ms: Option<u32>| ms.map(|ms| Duration::from_millis(ms.into()));
    let servers = site.servers.iter().map(|server| ServerSetup {
        name: server.key.clone(),
        command: server.command.clone(),
        args: server.args.clone(),
        env: server.env.clone(),
        required: server.required,
    });
    Setup {
        revision: plan.key.revision,
        servers: servers.collect(),
        rules: rules(plan, role).clone(),
        start_limit: limit(plan.scenario.limits.start),
        call_limit: limit(plan.scenario.limits.call),
        home: sandbox.home(),
        work: sandbox.work(),
    }
}

fn render_host(plan: &Plan, role: Role, site: &Site, sandbox: &Sandbox) -> Result<Rendered, StageError> {
    let rules = rules(plan, role);
    let drive = plan.profile.drives.get(plan.drive).ok_or_else(|| io::Error::other("the plan has no drive"))?;
    let mut rendered = render::render(&plan.profile, drive, site, rules, plan.scenario.limits, plan.native())?;
    // What a host writes to its temporary folder must not outlive the run.
    if rendered.env.iter().all(|(name, _)| name != "TMPDIR") {
        rendered.env.push(("TMPDIR".to_owned(), sandbox.tmp().to_string_lossy().into_owned()));
    }
    Ok(rendered)
}

/// A word that nobody can guess.
fn random_word() -> io::Result<String> {
    use std::io::Read;
    let mut bytes = [0; 16];
    std::fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(hex(&bytes))
}
