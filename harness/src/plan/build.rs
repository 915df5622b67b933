//! Building plans.

use std::sync::Arc;

use super::cues::cues;
use super::revisions::{SelectRevisions, pairs};
use super::rules::{rules, twin, uses};
use super::seed::word;
use super::turns::{Conversation, conversation};
use super::{Plan, PlanKey, Planned, PlannedServer, PlannedStop, PlannedUse, Turn};
use crate::host::dialect::{self, DialectError, Rendering};
use crate::host::names::{NameError, Names};
use crate::host::profile::{DriveKind, Profile};
use crate::json::Json;
use crate::revision::{Revision, Transport};
use crate::scenario::ast::{Change, Deed, DenyBy, During, Feature, Scenario, Stop, UseKind, Verb};
use crate::server::script::{Describe, Tool};

/// What the user wants planned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Select {
    /// Which revisions.
    pub revisions: SelectRevisions,
    /// The only transport.
    pub transport: Option<Transport>,
    /// What all words and markers are derived from.
    pub seed: u64,
}

/// Why a combination cannot be run.
enum Stopped {
    NotApplicable(String),
    Names(NameError),
}

impl From<DialectError> for Stopped {
    fn from(error: DialectError) -> Self {
        match error {
            DialectError::Inexpressible(reason) => Self::NotApplicable(reason),
            DialectError::Names(error) => Self::Names(error),
        }
    }
}

impl From<NameError> for Stopped {
    fn from(error: NameError) -> Self {
        Self::Names(error)
    }
}

/// Plans a scenario on a host, for every revision and transport that is asked for.
///
/// What does not apply is in the list as well, with its reason: nothing is skipped in silence.
///
/// # Errors
/// A name rule of the profile that cannot be applied.
pub fn plan(
    scenario: &Arc<Scenario>,
    profile: &Arc<Profile>,
    version: Option<&str>,
    select: &Select,
) -> Result<Vec<Planned>, NameError> {
    let key = |revision, transport| PlanKey {
        scenario: scenario.id.to_string(),
        host: profile.name.clone(),
        variant: profile.variant.clone(),
        version: version.map(str::to_owned),
        revision,
        transport,
        seed: select.seed,
    };
    let pairs = match admits_host(scenario, profile).and_then(|()| pairs(scenario, profile, select)) {
        Ok(pairs) => pairs,
        Err(reason) => {
            let revision = match select.revisions {
                SelectRevisions::One(revision) => revision,
                _ => Revision::ALL
                    .into_iter()
                    .rfind(|r| scenario.revisions.admits(*r))
                    .unwrap_or(Revision::V2026_07_28),
            };
            let transport = scenario.transports.first().copied().or(select.transport).unwrap_or(Transport::Stdio);
            return Ok(vec![not_applicable(key(revision, transport), scenario, profile, reason)]);
        }
    };
    pairs.into_iter().map(|(revision, transport)| plan_one(scenario, profile, key(revision, transport))).collect()
}

/// Plans exactly the combination of `key`, as it was planned when it was recorded.
///
/// # Errors
/// A name rule of the profile that cannot be applied.
pub fn plan_one(scenario: &Arc<Scenario>, profile: &Arc<Profile>, key: PlanKey) -> Result<Planned, NameError> {
    match build(scenario, profile, key.clone()) {
        Ok(plan) => Ok(Planned::Run(Box::new(plan))),
        Err(Stopped::NotApplicable(reason)) => Ok(not_applicable(key, scenario, profile, reason)),
        Err(Stopped::Names(error)) => Err(error),
    }
}

fn not_applicable(key: PlanKey, scenario: &Arc<Scenario>, profile: &Arc<Profile>, reason: String) -> Planned {
    Planned::NotApplicable { key, scenario: Arc::clone(scenario), profile: Arc::clone(profile), reason }
}

fn admits_host(scenario: &Scenario, profile: &Profile) -> Result<(), String> {
    let natives = scenario.natives.iter().map(|native| &native.host);
    let mut names: Vec<&str> = Vec::new();
    for host in scenario.hosts.iter().chain(natives) {
        if !names.contains(&host.value.as_str()) {
            names.push(&host.value);
        }
    }
    if names.is_empty() || names.contains(&profile.name.as_str()) {
        Ok(())
    } else {
        Err(format!("the scenario is written for {}", names.join(", ")))
    }
}

/// Objects are merged member by member, all else is replaced.
fn merge(rules: &mut Json, words: &Json) {
    if !rules.is_object() || !words.is_object() {
        *rules = words.clone();
        return;
    }
    for (key, value) in words.members() {
        let key = key.to_lossy();
        let mut merged = rules.get(&key).cloned().unwrap_or(Json::Null);
        merge(&mut merged, value);
        rules.set(&key, merged);
    }
}

fn build(scenario: &Arc<Scenario>, profile: &Arc<Profile>, key: PlanKey) -> Result<Plan, Stopped> {
    let seed = key.seed;
    let neutral = rules(scenario);
    let world: Vec<(String, Vec<String>)> = scenario
        .servers
        .iter()
        .map(|server| {
            let mut names: Vec<String> = Vec::new();
            for tool in server.script.all_tools().chain(later(scenario, &server.key.value)) {
                // A tool that is replaced later is still one tool.
                if !names.contains(&tool.name) {
                    names.push(tool.name.clone());
                }
            }
            (server.key.value.clone(), names)
        })
        .collect();
    let by = uses(scenario).find_map(|(_, one)| match one.kind {
        UseKind::Deny { by: Some(by @ (DenyBy::Permission | DenyBy::Filter)) } => Some(by),
        _ => None,
    });
    let Rendering { mut rules, mut needs } = dialect::render(profile, &neutral, &world, by)?;
    let native = scenario.natives.iter().find(|native| native.host.value == profile.name);
    // The twin keeps the neutral rules: it shows what the words should have meant.
    if let Some(words) = native.and_then(|native| native.rules.as_ref()) {
        merge(&mut rules, words);
    }
    let twin_rules = match twin(scenario, &neutral) {
        Some(twin) => Some(dialect::render(profile, &twin, &world, None)?.rules),
        None => None,
    };
    needs.extend(scenario_needs(scenario));
    let drive = choose_drive(profile, &needs).map_err(Stopped::NotApplicable)?;
    if let Some(reason) = cannot_stop(scenario, profile, drive) {
        return Err(Stopped::NotApplicable(reason));
    }

    let names = Names::new(profile)?;
    let mut planned = Vec::new();
    for (index, (step, one)) in uses(scenario).enumerate() {
        let mut planned_use = PlannedUse {
            index,
            step,
            span: one.span.clone(),
            by_rule: names.published(&one.tool)?,
            tool: one.tool.clone(),
            kind: one.kind.clone(),
            input: one.input.clone(),
            told: one.told.clone(),
            wrapped: None,
        };
        if let Some(wrapper) = profile.model.surface.wrapper() {
            planned_use.wrapped = Some(wrapper.arguments(&names, &one.tool, &planned_use.input_text())?);
        }
        planned.push(planned_use);
    }
    let Conversation { turns, searches, next_turns } = conversation(scenario, profile, &names, seed)?;
    let run_marker = format!("hcr-{}", word(seed, &["run", &scenario.id.to_string()], 12));
    Ok(Plan {
        servers: servers(scenario, key.transport, seed),
        prompts: prompts(scenario, &run_marker),
        cues: cues(scenario, &next_turns, &planned),
        next_turns,
        stop: stop(scenario, &turns),
        turns,
        key,
        scenario: Arc::clone(scenario),
        profile: Arc::clone(profile),
        drive,
        run_marker,
        uses: planned,
        searches,
        rules,
        twin_rules,
        runs: scenario.runs,
    })
}

fn servers(scenario: &Scenario, transport: Transport, seed: u64) -> Vec<PlannedServer> {
    let one = |server: &crate::scenario::ast::ServerUse| PlannedServer {
        key: server.key.value.clone(),
        words: server
            .script
            .all_tools()
            .chain(later(scenario, &server.key.value))
            .enumerate()
            .filter(|(_, tool)| tool.describe == Describe::Marked)
            // The position is part of the word, so that two tools of the same name in one list differ.
            .map(|(at, tool)| {
                (tool.name.clone(), word(seed, &["tool", &server.key.value, &tool.name, &at.to_string()], 8))
            })
            .collect(),
        later: later(scenario, &server.key.value).cloned().collect(),
        script: server.script.clone(),
        transport: server.transport.unwrap_or(transport),
        required: server.required,
    };
    scenario.servers.iter().map(one).collect()
}

/// The tools that changes in the steps bring to a server.
fn later<'s>(scenario: &'s Scenario, server: &'s str) -> impl Iterator<Item = &'s Tool> {
    changes(scenario).filter(move |change| change.server.value == server).flat_map(|change| change.edit.brings())
}

/// The changes that the steps make, in file order.
fn changes(scenario: &Scenario) -> impl Iterator<Item = &Change> {
    scenario.steps.iter().flat_map(|step| match &step.verb {
        Verb::Change(change) => vec![change],
        Verb::Uses { during, .. } => during.iter().filter_map(During::change).collect(),
        _ => Vec::new(),
    })
}

/// The user's messages. The marker is the whole point of them: it tells a main-line request from all others.
fn prompts(scenario: &Scenario, marker: &str) -> Vec<String> {
    let first = format!("Run {marker}: work through the task with the tools at hand.");
    let further = scenario.steps.iter().filter_map(|step| match &step.verb {
        Verb::Prompt(text) => Some(format!("{} ({marker})", text.value)),
        _ => None,
    });
    std::iter::once(first).chain(further).collect()
}

/// A stop by signal takes the place of the closing reply: the host is waiting for its model when the signal comes.
fn stop(scenario: &Scenario, turns: &[Turn]) -> Option<PlannedStop> {
    scenario.steps.iter().enumerate().find_map(|(step, one)| match &one.verb {
        Verb::Stop(stop) if stop.value != Stop::Exit => {
            Some(PlannedStop { step, how: stop.value, turn: turns.len().saturating_sub(1) })
        }
        _ => None,
    })
}

/// What steps and limits imply, beside the rules.
fn scenario_needs(scenario: &Scenario) -> Vec<Feature> {
    let mut needs: Vec<Feature> = scenario.needs.iter().map(|need| need.value).collect();
    for step in &scenario.steps {
        match &step.verb {
            Verb::Prompt(_) => needs.push(Feature::Prompts),
            Verb::Uses { during, .. } if during.iter().any(|act| act.deed == Deed::Interrupt) => {
                needs.push(Feature::Interrupt);
            }
            _ => {}
        }
    }
    if scenario.limits.call.is_some() {
        needs.push(Feature::LimitCall);
    }
    if scenario.limits.start.is_some() {
        needs.push(Feature::LimitStart);
    }
    needs.sort_unstable();
    needs.dedup();
    needs
}

/// Why the host cannot be stopped as the scenario says, where it cannot.
fn cannot_stop(scenario: &Scenario, profile: &Profile, drive: usize) -> Option<String> {
    let by_signal =
        scenario.steps.iter().any(|step| matches!(&step.verb, Verb::Stop(how) if how.value != Stop::Exit));
    let is_library = profile.drives.get(drive).is_some_and(|drive| drive.kind == DriveKind::InProcess);
    (by_signal && is_library)
        .then(|| format!("{} is a library, and has no process to send a signal to", profile.name))
}

fn choose_drive(profile: &Profile, needs: &[Feature]) -> Result<usize, String> {
    let missing = |drive: &crate::host::profile::Drive| {
        needs.iter().filter(|need| !drive.features.contains(need)).map(|need| need.as_str()).collect::<Vec<_>>()
    };
    if let Some(index) = profile.drives.iter().position(|drive| missing(drive).is_empty()) {
        return Ok(index);
    }
    // The drive that comes closest gives the shortest reason.
    let fewest = profile.drives.iter().map(missing).min_by_key(Vec::len);
    Err(match fewest {
        Some(words) => format!("no drive of {} has {}", profile.name, words.join(", ")),
        None => format!("{} has no drive", profile.name),
    })
}
