//! `hopcheck-bench [--format text|json]`: what a scenario costs, against the least that it could cost.
//!
//! The floor is a small host that starts a small server, makes four round trips and ends: what every scenario with one
//! call has to do. Costs are CPU time, user and system, of all processes, since they say the same on a busy machine.
//!
//! The programs are looked for beside this one; `ci/bench` builds them all.

mod measure;
mod usage;

use std::env;
use std::error::Error;
use std::fs;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use measure::{Programs, Results};

fn main() -> ExitCode {
    match bench() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // There is nowhere left to complain to.
            let _ = writeln!(io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn bench() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let render: fn(&Results) -> String = match args.as_slice() {
        [] | ["--format", "text"] => text,
        ["--format", "json"] => json,
        _ => return Err("usage: hopcheck-bench [--format text|json]".into()),
    };
    let folder = Folder::new()?;
    let results = measure::all(&programs()?, &folder.0)?;
    io::stdout().write_all(render(&results).as_bytes())?;
    Ok(())
}

/// The programs beside this one.
fn programs() -> Result<Programs, Box<dyn Error>> {
    let own = env::current_exe()?;
    let beside = |name: &str| {
        let path = own.with_file_name(name);
        if path.is_file() {
            Ok(path)
        } else {
            Err(format!("{} is not there; `ci/bench` builds it", path.display()))
        }
    };
    Ok(Programs {
        hopcheck: beside("hopcheck")?,
        floor_host: beside("floor-host")?,
        floor_server: beside("floor-server")?,
    })
}

/// A temporary folder that goes away.
struct Folder(PathBuf);

impl Folder {
    fn new() -> io::Result<Self> {
        let path = env::temp_dir().join(format!("hopcheck-bench-{}", std::process::id()));
        fs::create_dir(&path)?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed is in nobody's way.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn text(results: &Results) -> String {
    let Results { plain, isolated, floor, per_second, marginal, peak, version } = results;
    format!(
        "a scenario          {:6} µs of CPU, {:.2} × the floor of {} µs\n\
         with isolation      {:6} µs of CPU, {:.2} × the floor\n\
         runs per second     {per_second:6.0}\n\
         30 more scenarios   {:6} ms\n\
         peak memory         {:6.1} MB\n\
         --version           {:6.1} ms\n",
        plain.cpu.as_micros(),
        plain.ratio,
        floor.as_micros(),
        isolated.cpu.as_micros(),
        isolated.ratio,
        marginal.as_millis(),
        megabytes(*peak),
        version.as_secs_f64() * 1000.0,
    )
}

/// One line. There is nothing to be said of fuzzing yet.
fn json(results: &Results) -> String {
    let Results { plain, isolated, floor, per_second, marginal, peak, version } = results;
    format!(
        "{{\"scenario\":{{\"ratio\":{:.2},\"cpu_us\":{},\"floor_cpu_us\":{},\"per_second\":{per_second:.1},\
         \"isolated_ratio\":{:.2},\"isolated_cpu_us\":{}}},\"fuzz\":null,\"marginal_30_scenarios_ms\":{},\
         \"peak_rss_mb\":{:.1},\"version_ms\":{:.1}}}\n",
        plain.ratio,
        plain.cpu.as_micros(),
        floor.as_micros(),
        isolated.ratio,
        isolated.cpu.as_micros(),
        marginal.as_millis(),
        megabytes(*peak),
        version.as_secs_f64() * 1000.0,
    )
}

fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}
