//! Known failures from outside: made by `baseline update`, obeyed by `run --baseline`, strict both ways.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn hopcheck(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hopcheck"))
        .args(args)
        .current_dir(folder)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .output()
        .unwrap()
}

#[track_caller]
fn check(folder: &Path, args: &[&str], code: i32, words: &[&str]) {
    let output = hopcheck(folder, args);
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{args:?}\n{text}");
    for word in words {
        assert!(text.contains(word), "{args:?} without `{word}`:\n{text}");
    }
}

#[test]
fn a_baseline_is_made_filled_in_and_obeyed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("known.toml");
    let check = |args: &[&str], code, words: &[&str]| check(folder.path(), args, code, words);
    let run = ["run", "call/lookup", "--host", "null", "--baseline", "known.toml"];

    check(&["baseline", "update", "known.toml"], 2, &["say with one --host of which host"]);
    check(
        &["baseline", "update", "known.toml", "--host", "null", "call/lookup"],
        0,
        &["new, 0 gone", "empty reasons"],
    );
    check(&run, 2, &["`reason` is empty"]);
    let reasoned = fs::read_to_string(&file).unwrap().replace("reason = \"\"", "reason = \"it does nothing\"");
    assert!(reasoned.contains("verdict = \"untestable\""), "{reasoned}");
    fs::write(&file, &reasoned).unwrap();
    check(&["check", "known.toml"], 0, &["ok known.toml"]);
    check(&run, 0, &["known          null call/lookup", "it does nothing", "2 known"]);
    check(&["run", "call/lookup", "--baseline", "known.toml"], 2, &["a baseline of `null`", "`reference`"]);

    // Nothing has changed, so nothing does. What is not in the selection stays.
    check(&["baseline", "update", "known.toml", "call/lookup", "call/twice"], 0, &["0 gone"]);
    let wider = fs::read_to_string(&file).unwrap();
    assert!(wider.starts_with(&reasoned) && wider.contains("scenario = \"call/twice\""), "{wider}");
}

#[test]
fn a_known_failure_that_is_gone_fails_until_it_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("known.toml");
    let check = |args: &[&str], code, words: &[&str]| check(folder.path(), args, code, words);
    let entry = "[[known]]\nscenario = \"call/lookup\"\nrequirement = \"hop.once\"\nreason = \"x\"\n";
    fs::write(&file, format!("host = \"reference\"\n{entry}")).unwrap();
    let run = ["run", "call/lookup", "--revision", "2025-11-25", "--baseline", "known.toml"];

    check(&run, 1, &["`hop.once` passes now", "known.toml:4:15", "1 fail"]);
    check(&["baseline", "update", "known.toml", "call/lookup"], 0, &["0 new, 1 gone"]);
    assert_eq!(fs::read_to_string(&file).unwrap(), "host = \"reference\"\n");
    check(&run, 0, &["1 pass"]);
}
