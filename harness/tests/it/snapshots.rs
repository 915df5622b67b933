//! `run --snapshots`: what is accepted, what has drifted, what is stale.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use hopcheck::json::Json;

/// Two scenarios of one area.
const TWO: [&str; 2] = ["call/lookup", "call/twice"];

/// The exit code, and everything that was printed.
fn run(folder: &Path, args: &[&str]) -> (i32, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_hopcheck"))
        .args(["run", "--revision", "2025-11-25", "--snapshots"])
        .arg(folder)
        .args(args)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .output()
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8(text).unwrap())
}

fn with<'a>(scenarios: &[&'a str], flags: &[&'a str]) -> Vec<&'a str> {
    scenarios.iter().chain(flags).copied().collect()
}

/// All files below a folder with their bytes.
fn files(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(inside) = folders.pop() {
        for entry in fs::read_dir(inside).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
                found.insert(name, fs::read_to_string(path).unwrap());
            }
        }
    }
    found
}

/// A folder in which the transcripts of `TWO` are accepted.
fn accepted() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let (code, text) = run(folder.path(), &with(&TWO, &["--accept"]));
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("all changes are accepted"), "{text}");
    folder
}

#[test]
fn two_runs_accept_the_same_bytes_and_a_third_agrees() {
    let (one, two) = (accepted(), accepted());
    let files_of_one = files(one.path());
    assert!(files_of_one.len() >= 2, "{files_of_one:?}");
    assert!(files_of_one.keys().all(|name| name.starts_with("reference/call/") && name.ends_with(".snap")));
    assert_eq!(files_of_one, files(two.path()));
    let mode = fs::metadata(one.path().join("reference/call/lookup.snap")).unwrap().permissions().mode();
    assert_eq!(mode & 0o044, 0o044 & !umask(), "others read what their umask lets them");
    let (code, text) = run(one.path(), &TWO);
    assert_eq!(code, 0, "{text}");
    assert_eq!(files(one.path()), files(two.path()));
}

/// The file mode bits that this process does not give to new files.
fn umask() -> u32 {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    fs::write(&path, "").unwrap();
    !fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// `insta` itself is the witness that its tools can read what is written.
#[test]
fn insta_reads_what_was_accepted() {
    let folder = accepted();
    let text = fs::read_to_string(folder.path().join("reference/call/lookup.snap")).unwrap();
    let (_, contents) = text.split_once("\n---\n").unwrap();
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(folder.path().join("reference/call"));
    settings.set_prepend_module_to_snapshot(false);
    settings.bind(|| insta::assert_snapshot!("lookup", contents));
    let before = files(folder.path());
    assert!(!before.keys().any(|name| name.ends_with(".snap.new")), "{before:?}");
}

#[test]
fn drift_fails_and_leaves_the_accepted_file_alone() {
    let folder = accepted();
    let path = folder.path().join("reference/call/lookup.snap");
    let pending = folder.path().join("reference/call/lookup.snap.new");
    let good = fs::read_to_string(&path).unwrap();
    let changed = good.replace("tools/call", "tools/cull");
    fs::write(&path, &changed).unwrap();

    let (code, text) = run(folder.path(), &TWO);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("reference/call/lookup.snap differs from what was accepted"), "{text}");
    assert!(text.contains("-orders ->  tools/cull") && text.contains("+orders ->  tools/call"), "{text}");
    assert_eq!(fs::read_to_string(&path).unwrap(), changed);
    assert_eq!(fs::read_to_string(&pending).unwrap(), good);

    // Another scenario is none of its business.
    assert_eq!(run(folder.path(), &TWO[1..]).0, 0);
    assert!(pending.exists());

    let (code, text) = run(folder.path(), &with(&TWO, &["--accept"]));
    assert_eq!(code, 0, "{text}");
    assert_eq!(fs::read_to_string(&path).unwrap(), good);
    assert!(!pending.exists());
}

#[test]
fn a_scenario_without_an_accepted_transcript_fails() {
    let folder = accepted();
    fs::remove_file(folder.path().join("reference/call/lookup.snap")).unwrap();
    let (code, text) = run(folder.path(), &TWO);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("lookup.snap has no accepted transcript yet; --accept"), "{text}");
    assert!(folder.path().join("reference/call/lookup.snap.new").exists());
    // A folder that is not there is not filled with files to look at.
    let nowhere = folder.path().join("nowhere");
    assert_eq!(run(&nowhere, &TWO).0, 1);
    assert!(!nowhere.exists());
}

#[test]
fn stale_files_fail_only_in_what_was_selected() {
    let folder = accepted();
    let root = folder.path().join("reference");
    fs::create_dir(root.join("gone")).unwrap();
    for name in ["call/no-such.snap", "gone/old.snap", "gone/old.snap.new"] {
        fs::copy(root.join("call/lookup.snap"), root.join(name)).unwrap();
    }
    assert_eq!(run(folder.path(), &TWO).0, 0);
    assert_eq!(run(folder.path(), &with(&["list/pages"], &["--accept"])).0, 0);
    assert!(root.join("call/no-such.snap").exists() && root.join("gone/old.snap.new").exists());

    let (code, text) = run(folder.path(), &["call", "--format", "json"]);
    assert_eq!(code, 1, "{text}");
    let report = Json::parse(text.lines().next().unwrap()).unwrap();
    let changes = report.at(&["snapshots", "changes"]).unwrap().items().iter();
    let stale: Vec<_> = changes.filter(|change| change.str("change") == Some("stale")).collect();
    assert_eq!(stale.len(), 1, "{text}");
    assert_eq!(stale[0].str("name"), Some("reference/call/no-such"));

    let (code, text) = run(folder.path(), &["call", "--accept"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("no-such.snap removed"), "{text}");
    assert!(!root.join("call/no-such.snap").exists() && root.join("gone/old.snap").exists());
}

/// A host that could not be started has no transcript, and takes none away.
#[test]
fn a_run_in_error_is_never_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let profile = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/unstartable.toml");
    let accepted = folder.path().join("unstartable/call/lookup.snap");
    fs::create_dir_all(accepted.parent().unwrap()).unwrap();
    fs::write(&accepted, "---\nsource: x\n---\n# 2025-11-25+stdio\nold\n").unwrap();
    let before = files(folder.path());
    let output = Command::new(env!("CARGO_BIN_EXE_hopcheck"))
        .args(["run", "call/lookup", "--revision", "2025-11-25", "--accept", "--snapshots"])
        .arg(folder.path())
        .arg("--host")
        .arg(&profile)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOPCHECK_UNSTARTABLE", &profile)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(4), "{text}");
    assert!(text.contains("1 not compared"), "{text}");
    assert_eq!(files(folder.path()), before);
}

#[test]
fn scenarios_of_one_name_cannot_share_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let built_in = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/call/lookup.toml");
    let (code, text) = run(folder.path(), &["call/lookup", built_in.to_str().unwrap()]);
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("called `reference/call/lookup`"), "{text}");
}
