//! What `cargo nextest` asks of a test program: the list of its tests, the list of those that are ignored, and each test by its
//! exact name in a process of its own.

use std::collections::BTreeSet;
use std::path::Path;

use crate::suite::{Copy, command, package, run};

/// The names that a list has.
fn listed(arguments: &[&str]) -> Vec<String> {
    // Nothing that could be built or started: listing must not try.
    let mut command = command(&package(), arguments);
    command.env("HOPCHECK_BIN_ACME_HOST", "/nowhere").env("CARGO", "/nowhere").env("PATH", "/nowhere");
    let ended = run(&mut command);
    ended.says(0, &[]);
    assert_eq!(ended.stderr, "");
    ended.stdout.lines().map(|line| line.strip_suffix(": test").unwrap().to_owned()).collect()
}

#[test]
fn tests_are_listed_by_names_that_are_each_of_one() {
    let all = listed(&["--list", "--format", "terse"]);
    let ignored = listed(&["--list", "--format", "terse", "--ignored"]);
    let (set, ignored_set): (BTreeSet<_>, BTreeSet<_>) = (all.iter().collect(), ignored.iter().collect());
    assert_eq!(set.len(), all.len());
    assert!(all.len() > 100 && !ignored.is_empty() && ignored_set.is_subset(&set), "{ignored:?}");
    for name in &all {
        let (scenario, place) = name.rsplit_once('@').unwrap();
        let (revision, transport) = place.split_once('+').unwrap();
        let (area, rest) = scenario.split_once('/').unwrap();
        assert!(!area.is_empty() && !rest.is_empty() && revision.len() == 10 && transport == "stdio", "{name}");
    }
    assert!(all.contains(&"numbers/decimals[prices]@2025-11-25+stdio".to_owned()));
    // The same again: a name is an address, in a process, on a machine, in an archive.
    assert_eq!(listed(&["--list", "--format", "terse"]), all);
}

#[test]
fn each_name_runs_one_test_in_a_process_of_its_own() {
    let all = listed(&["--list", "--format", "terse"]);
    let ignored: BTreeSet<String> = listed(&["--list", "--format", "terse", "--ignored"]).into_iter().collect();
    let copy = Copy::new();
    // One of each area, and all that the example adds.
    let mut areas = BTreeSet::new();
    let of_each = all.iter().filter(|name| !ignored.contains(*name)).filter(|name| {
        let area = name.split('/').next().unwrap().to_owned();
        area == "numbers" || areas.insert(area)
    });
    let mut ran = 0;
    for name in of_each {
        let line = format!("test {name} ... ok");
        copy.run(&[name, "--exact", "--nocapture"])
            .says(0, &["running 1 test", &line, "1 passed; 0 failed; 0 ignored"]);
        ran += 1;
    }
    assert!(ran > 8, "{ran}");
    // The extra flag of ignored tests: they say why, and are no failures.
    let name = ignored.first().unwrap();
    copy.run(&[name, "--exact", "--nocapture", "--ignored"]).says(0, &["running 1 test", "ignored ("]);
}

#[test]
fn filters_mean_what_they_mean_elsewhere() {
    let count = |arguments: &[&str]| listed(&[&["--list", "--format", "terse"], arguments].concat()).len();
    let all = count(&[]);
    let call = count(&["call/"]);
    assert!(call > 0 && call < all);
    assert_eq!(count(&["--skip", "call/"]), all - call);
    assert_eq!(count(&["call/", "--exact"]), 0);
    assert_eq!(count(&["call/lookup@2025-11-25+stdio", "--exact"]), 1);
    Copy::new().run(&["no-such-test"]).says(0, &["running 0 tests"]);
}

#[test]
fn a_failing_test_exits_with_101() {
    let copy = Copy::new();
    copy.edit("acme.toml", |text| text.replace("ACME_FAULT = \"\"", "ACME_FAULT = \"forgets-errors\""));
    copy.run(&["result/errors[is-error-with-text]@2025-11-25+stdio", "--exact", "--nocapture"]).says(101, &[]);
    let json = copy.run(&["result/errors[is-error-with-text]", "--format", "json"]);
    json.says(101, &["\"event\": \"failed\"", "expect.told fail"]);
    assert!(json.stdout.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()), "{json:#?}");
    assert!(!json.stdout.contains("u001b"), "{json:#?}");
    copy.run(&["--no-such-flag"]).says(2, &["--no-such-flag"]);
}

#[test]
fn a_suite_that_is_wrong_has_no_tests() {
    let copy = Copy::new();
    copy.edit("acme.toml", |text| text.replace("[[drive]]", "[[drives]]"));
    copy.run(&["--list"])
        .says(101, &["unknown key `drives`", "did you mean `drive`?", "--> conformance/acme.toml:"]);
    let empty = tempfile::tempdir().unwrap();
    let ended = run(&mut command(empty.path(), &["--list"]));
    ended.says(101, &["cannot read", &Path::new("conformance/acme.toml").display().to_string()]);
}
