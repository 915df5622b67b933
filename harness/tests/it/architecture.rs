//! What ARCHITECTURE.md states as absences.

use std::fs;
use std::path::{Path, PathBuf};

/// Rust files below a folder of the workspace, without tests.
fn sources(folder: &str) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut files = Vec::new();
    collect(&root.join(folder), &mut files);
    files.sort();
    files
        .into_iter()
        .map(|path| {
            let name = path.strip_prefix(root).unwrap().display().to_string();
            (name, fs::read_to_string(&path).unwrap())
        })
        .collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|end| end == "rs") {
            files.push(path);
        }
    }
}

/// The code of a file: no comments, and nothing behind its unit tests.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]").next().unwrap_or_default();
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn absent(folders: &[&str], words: &[&str]) {
    for folder in folders {
        let is_shipped = |name: &str| !name.contains("tests") && !name.contains("/testing/");
        for (name, text) in sources(folder).iter().filter(|(name, _)| is_shipped(name)) {
            let code = code(text);
            for word in words {
                assert!(!code.contains(word), "{name} has `{word}`");
            }
        }
    }
}

#[test]
fn judging_touches_no_process_socket_or_clock() {
    absent(
        &["harness/src/check", "harness/src/snapshot", "harness/src/report"],
        &["std::process", "std::net", "std::fs", "std::thread", "std::time", "rustix", "SystemTime", "Instant"],
    );
}

#[test]
fn planning_reads_nothing() {
    absent(
        &["harness/src/scenario", "harness/src/plan", "harness/src/decode"],
        &["std::process", "std::net", "std::fs", "std::thread", "std::time", "std::env", "rustix"],
    );
}

#[test]
fn modules_depend_one_way() {
    let judging = ["harness/src/check", "harness/src/snapshot", "harness/src/report"];
    absent(&judging, &["crate::stage", "crate::wire", "crate::drive", "crate::cli"]);
    absent(&["harness/src/check"], &["crate::report", "crate::snapshot"]);
    absent(
        &["harness/src/plan", "harness/src/scenario"],
        &["crate::stage", "crate::trace", "crate::check", "crate::cli"],
    );
    absent(
        &["harness/src/stage", "harness/src/wire", "harness/src/drive"],
        &["crate::check", "crate::cli", "crate::report"],
    );
    absent(
        &["harness/src/server", "harness/src/model"],
        &["crate::stage", "crate::wire", "crate::trace", "crate::check"],
    );
}

#[test]
fn product_names_live_with_the_products() {
    let home = ["harness/src/host/", "harness/src/drive/", "harness/src/model/"];
    for (name, text) in sources("harness/src") {
        if home.iter().any(|folder| name.starts_with(folder)) || name.contains("tests") {
            continue;
        }
        let code = code(&text).to_lowercase();
        for product in ["claude-code", "claude code", "codex", "gemini", "copilot"] {
            assert!(!code.contains(product), "{name} names {product}");
        }
    }
}

#[test]
fn no_file_is_too_long() {
    for folder in ["harness", "hosts", "snapshots"] {
        for (name, text) in sources(folder) {
            let lines = text.lines().count();
            assert!(lines <= 800, "{name} has {lines} lines");
        }
    }
}

#[test]
fn nothing_waits_by_sleeping() {
    absent(&["harness/src", "hosts/reference/src"], &["sleep("]);
}
