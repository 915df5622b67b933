//! The measurements. Whatever is compared is measured in turns, in the same invocation: a machine that slows down half
//! way slows both.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::usage::{self, Usage};

/// Rounds; the median counts.
const ROUNDS: usize = 5;
/// Scenarios of one measured run, and runs of the floor in the same round.
const SCENARIOS: usize = 30;
/// Scenarios of the run that others are compared with.
const BASE: usize = 10;

/// The programs that are measured.
#[derive(Clone, Debug)]
pub(crate) struct Programs {
    /// The command line of hopcheck.
    pub(crate) hopcheck: PathBuf,
    /// The least that a host can be.
    pub(crate) floor_host: PathBuf,
    /// The least that a server can be.
    pub(crate) floor_server: PathBuf,
}

/// What was measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Results {
    /// A scenario without isolation.
    pub(crate) plain: Cost,
    /// A scenario in a network of its own.
    pub(crate) isolated: Cost,
    /// CPU time of one floor host and its server.
    pub(crate) floor: Duration,
    /// Runs of scenarios that end in a second, as many at a time as there are cores.
    pub(crate) per_second: f64,
    /// Wall time that 30 more scenarios add to a run.
    pub(crate) marginal: Duration,
    /// The most memory that hopcheck, or a process of it, held during the whole suite, in bytes.
    pub(crate) peak: u64,
    /// How long `--version` takes.
    pub(crate) version: Duration,
}

/// CPU time of one scenario.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    /// User and system time of all processes, a share of the start of hopcheck included.
    pub(crate) cpu: Duration,
    /// The same over the floor of the same round.
    pub(crate) ratio: f64,
}

/// Measures everything. `folder` is an empty one for scenario files.
///
/// # Errors
/// A program does not start or does not succeed.
pub(crate) fn all(programs: &Programs, folder: &Path) -> io::Result<Results> {
    let scenarios = scenarios(folder)?;
    // What is started for the first time is read from the disk.
    floor(programs)?;
    one_by_one(programs, &scenarios, "no")?;

    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        rounds.push(Round {
            floor: floor(programs)?,
            plain: one_by_one(programs, &scenarios, "no")?,
            isolated: one_by_one(programs, &scenarios, "auto")?,
            few: together(programs, &scenarios[..BASE])?,
            many: together(programs, &scenarios)?,
        });
    }
    let cost = |of: fn(&Round) -> Duration| Cost {
        cpu: median(rounds.iter().map(of)),
        ratio: median(rounds.iter().map(|round| of(round).as_secs_f64() / round.floor.as_secs_f64())),
    };
    let versions = (0..ROUNDS).map(|_| usage::run(Command::new(&programs.hopcheck).arg("--version")));
    let versions = versions.collect::<io::Result<Vec<Usage>>>()?;
    let suite = usage::run(Command::new(&programs.hopcheck).args(["run", "--quiet"]))?;
    // A scenario is run in both eras.
    let runs = 2.0 * scenarios.len() as f64;
    Ok(Results {
        plain: cost(|round| round.plain),
        isolated: cost(|round| round.isolated),
        floor: median(rounds.iter().map(|round| round.floor)),
        per_second: runs / median(rounds.iter().map(|round| round.many.as_secs_f64())),
        marginal: median(rounds.iter().map(|round| round.many.saturating_sub(round.few))),
        peak: suite.peak,
        version: median(versions.iter().map(|version| version.wall)),
    })
}

#[derive(Clone, Copy, Debug)]
struct Round {
    floor: Duration,
    plain: Duration,
    isolated: Duration,
    few: Duration,
    many: Duration,
}

/// As many copies of a scenario with one call as the largest run needs.
fn scenarios(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let text = "title = \"One call\"\n\n[server.orders]\nscript = \"orders\"\n\n[[step]]\ncall = \"orders/lookup_order\"\n\
                with = { order_id = \"A-1042\" }\n";
    let write = |number| {
        let path = folder.join(format!("call-{number:02}.toml"));
        fs::write(&path, text).map(|()| path)
    };
    (0..BASE + SCENARIOS).map(write).collect()
}

/// CPU time of one floor host.
fn floor(programs: &Programs) -> io::Result<Duration> {
    let mut total = Duration::ZERO;
    for _ in 0..SCENARIOS {
        total += usage::run(Command::new(&programs.floor_host).arg(&programs.floor_server))?.cpu;
    }
    Ok(total / SCENARIOS as u32)
}

/// CPU time of one scenario in one revision, when they run one after the other, as the floor does.
fn one_by_one(programs: &Programs, scenarios: &[PathBuf], isolate: &str) -> io::Result<Duration> {
    let mut command = Command::new(&programs.hopcheck);
    command.args(["run", "--quiet", "--jobs", "1", "--revision", "2025-11-25", "--isolate", isolate]);
    Ok(usage::run(command.args(&scenarios[..SCENARIOS]))?.cpu / SCENARIOS as u32)
}

/// Wall time of a run as a user starts it.
fn together(programs: &Programs, scenarios: &[PathBuf]) -> io::Result<Duration> {
    Ok(usage::run(Command::new(&programs.hopcheck).args(["run", "--quiet"]).args(scenarios))?.wall)
}

/// The middle value.
fn median<T: PartialOrd + Copy>(values: impl IntoIterator<Item = T>) -> T {
    let mut values: Vec<T> = values.into_iter().collect();
    values.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
    values[values.len() / 2]
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn the_median_does_not_mind_outliers() {
        assert_eq!(median([5, 1, 900, 3, 4]), 4);
        assert_eq!(median(["b", "c", "a"]), "b");
    }
}
