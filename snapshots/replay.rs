//! Runs the built-in suite on the reference host and compares each transcript with the accepted one.
//!
//! A transcript that differs fails, a scenario without an accepted one fails, and an accepted one without a scenario
//! fails. `cargo insta review` shows and accepts what is new.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use hopcheck::cli::{self, Transcript};

fn main() -> ExitCode {
    // The stage starts this very program as relay, supervisor and host.
    if let Some(code) = cli::route() {
        return code;
    }
    // insta has shown the difference before it panics; where in this file it did so says nothing.
    panic::set_hook(Box::new(|_| ()));
    let args: Vec<String> = env::args().skip(1).collect();
    // `cargo nextest` and editors list tests before they run one.
    if args.iter().any(|arg| arg == "--list") {
        return say("replay: test\n").map_or(ExitCode::FAILURE, |()| ExitCode::SUCCESS);
    }
    let filters: Vec<&String> = args.iter().filter(|arg| !arg.starts_with('-')).collect();
    match replay(&filters) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(101),
        Err(error) => {
            let _ = writeln!(io::stderr(), "replay: {error}");
            ExitCode::from(101)
        }
    }
}

/// Compares everything, and gives the number of failures.
fn replay(filters: &[&String]) -> Result<usize, String> {
    let transcripts = cli::reference_transcripts()?;
    let chosen = |name: &str| {
        filters.is_empty() || filters.iter().any(|filter| name.contains(filter.as_str()) || *filter == "replay")
    };
    let (mut passed, mut failed) = (0, Vec::new());
    for transcript in transcripts.iter().filter(|transcript| chosen(&transcript.name)) {
        match catch_unwind(AssertUnwindSafe(|| compare(transcript))) {
            Ok(()) => passed += 1,
            Err(_) => failed.push(format!("{} differs from what was accepted", transcript.name)),
        }
    }
    let known: BTreeSet<&str> = transcripts.iter().map(|transcript| transcript.name.as_str()).collect();
    for name in accepted().map_err(|error| error.to_string())? {
        if chosen(&name) && !known.contains(name.as_str()) {
            failed.push(format!("{name}.snap is stale: no scenario gives it"));
        }
    }
    let verdict = if failed.is_empty() { "ok" } else { "FAILED" };
    let failures: String = failed.iter().map(|what| format!("replay: {what}\n")).collect();
    say(&format!(
        "\n{failures}\ntest result: {verdict}. {passed} passed; {} failed; 0 ignored; 0 measured; {} filtered out\n\n",
        failed.len(),
        transcripts.len() - transcripts.iter().filter(|transcript| chosen(&transcript.name)).count(),
    ))
    .map_err(|error| error.to_string())?;
    Ok(failed.len())
}

/// One file per scenario and host, in folders like those of the scenarios.
fn compare(transcript: &Transcript) {
    let (folder, name) = transcript.name.rsplit_once('/').unwrap_or(("", &transcript.name));
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(root().join(folder));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, transcript.text));
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The names of all accepted transcripts.
fn accepted() -> io::Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    collect(&root(), &root(), &mut names)?;
    Ok(names)
}

fn collect(root: &Path, folder: &Path, names: &mut BTreeSet<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(root, &path, names)?;
        } else if path.extension().is_some_and(|end| end == "snap") {
            let name = path.strip_prefix(root).unwrap_or(&path).with_extension("");
            names.insert(name.to_string_lossy().into_owned());
        }
    }
    Ok(())
}

fn say(text: &str) -> io::Result<()> {
    io::stdout().write_all(text.as_bytes())
}
