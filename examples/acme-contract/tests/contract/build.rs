//! What the suite builds is the host that its author ships: with the features that it has when it is built alone.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use serde_json::Value;

use crate::suite::{command, package, run};

/// Features by package, of all packages that a host can share with its tests.
type Features = BTreeMap<String, Vec<String>>;

/// The features with which `cargo tree` resolves packages that are built together.
fn resolved(packages: &[&str]) -> Features {
    let mut tree = Command::new(env!("CARGO"));
    tree.args(["tree", "--edges", "normal,build,dev", "--prefix", "none", "--format", "{p}|{f}"])
        .current_dir(package());
    for package in packages {
        tree.args(["--package", package]);
    }
    let output = tree.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).unwrap();
    let package = |line: &str| {
        let (package, features) = line.split_once('|')?;
        let features = features.trim_end_matches(" (*)");
        let mut features: Vec<String> =
            features.split(',').filter(|word| !word.is_empty()).map(str::to_owned).collect();
        features.sort();
        Some((package.split(' ').next()?.to_owned(), features))
    };
    lines.lines().filter_map(package).collect()
}

/// The features with which the suite had cargo build the host: what cargo itself reports of every package.
fn built() -> Features {
    let folder = tempfile::tempdir().unwrap();
    let (cargo, log) = (folder.path().join("cargo"), folder.path().join("log"));
    // Stands between the suite and cargo, and keeps what is said.
    let script = format!("#!/bin/sh\n'{}' \"$@\" | tee '{}'\n", env!("CARGO"), log.display());
    fs::write(&cargo, script).unwrap();
    fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755)).unwrap();
    run(command(&package(), &["call/lookup@2025-11-25+stdio", "--exact"]).env("CARGO", &cargo))
        .says(0, &["1 passed"]);
    let log = fs::read_to_string(&log).unwrap();
    let artifacts = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let artifacts = artifacts.filter(|message| message["reason"] == "compiler-artifact");
    let package = |message: Value| {
        let id = message["package_id"].as_str()?.to_owned();
        // `registry+https://…#serde_json@1.0.0` and `path+file:///…/acme-host#0.1.0`.
        let (path, name) = id.rsplit_once('#')?;
        let name = name.split_once('@').map_or_else(|| path.rsplit('/').next().unwrap(), |(name, _)| name);
        let features = message["features"].as_array()?.iter().filter_map(|word| word.as_str().map(str::to_owned));
        let mut features: Vec<String> = features.collect();
        features.sort();
        Some((name.to_owned(), features))
    };
    artifacts.filter_map(package).collect()
}

#[test]
fn the_host_is_built_as_if_it_were_alone() {
    let (built, alone) = (built(), resolved(&["acme-host"]));
    assert!(built.contains_key("acme-host") && built.contains_key("serde_json"), "{built:?}");
    assert_eq!(built, alone);
}

/// The witness: cargo does give the host other features where it is built beside what is tested with.
#[test]
fn beside_hopcheck_it_would_be_another_host() {
    let alone = resolved(&["acme-host"]);
    let beside = resolved(&["acme-host", "hopcheck"]);
    let rounds = |features: &Features| features["serde_json"].contains(&"float_roundtrip".to_owned());
    assert!(
        !rounds(&alone) && rounds(&beside),
        "alone {:?}, beside {:?}",
        alone["serde_json"],
        beside["serde_json"]
    );
}
