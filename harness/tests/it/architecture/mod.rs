//! What ARCHITECTURE.md states: which module may use which, and what is nowhere to be found.

mod code;

use std::collections::BTreeSet;

use code::{code_below, files_below};

/// The modules of the harness from the bottom up: each uses only those before it.
const LAYERS: [&[&str]; 16] = [
    &["json", "revision", "diagnostic"],
    &["rpc", "embedded"],
    &["decode", "catalogue"],
    &["server", "pack"],
    &["scenario"],
    &["host", "driver"],
    &["plan"],
    &["model"],
    &["trace", "drive"],
    &["wire", "snapshot", "check", "director"],
    &["stage", "requirement", "report"],
    &["baseline"],
    &["library", "schema"],
    &["invocation"],
    &["suite", "cli"],
    &["main", "lib"],
];

/// The modules of the harness that a piece of code names.
fn used(code: &str) -> BTreeSet<&str> {
    let word =
        |text: &'static str| move |char: char| !(char.is_alphanumeric() || char == '_' || text.contains(char));
    let mut used = BTreeSet::new();
    for rest in code.split("crate::").skip(1) {
        match rest.strip_prefix('{') {
            Some(list) => {
                // `use crate::{a::B, c}`: what stands at depth one.
                let list = &list[..list.find("};").unwrap_or(list.len())];
                let mut depth = 0;
                for item in list.split_inclusive([',', '{', '}']) {
                    if depth == 0 {
                        used.insert(item.trim().split(word("")).next().unwrap_or_default());
                    }
                    depth += i32::from(item.ends_with('{')) - i32::from(item.ends_with('}'));
                }
            }
            None => {
                used.insert(rest.split(word("")).next().unwrap_or_default());
            }
        }
    }
    used.remove("");
    used
}

/// The top module of a file of the harness.
fn module(name: &str) -> &str {
    let path = name.strip_prefix("harness/src/").unwrap();
    path.split(['/', '.']).next().unwrap()
}

fn layer(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&module))
}

#[test]
fn modules_depend_one_way() {
    let mut seen = BTreeSet::new();
    for (name, code) in code_below("harness/src") {
        let own = module(&name);
        let at = layer(own).unwrap_or_else(|| panic!("{name}: give the module `{own}` a place in LAYERS"));
        seen.insert(own.to_owned());
        // `pub(crate)` and macros name no module.
        for used in used(&code).into_iter().filter(|used| *used != own) {
            let below = layer(used).is_some_and(|below| below < at);
            assert!(below, "{name} uses `{used}`, which is not below `{own}`");
        }
    }
    for module in LAYERS.iter().copied().flatten() {
        assert!(seen.contains(*module), "LAYERS has `{module}`, which does not exist");
    }
}

#[test]
fn uses_are_found_in_all_their_forms() {
    let code = "use crate::a::{B, C}; use crate::{d::{self, E}, f, g::H};\nlet x: crate::i::J = k::L;";
    assert_eq!(used(code).into_iter().collect::<Vec<_>>(), ["a", "d", "f", "g", "i"]);
}

#[track_caller]
fn absent(folders: &[&str], words: &[&str]) {
    for folder in folders {
        for (name, code) in code_below(folder) {
            for word in words {
                assert!(!code.contains(word), "{name} has `{word}`");
            }
        }
    }
}

const OUTSIDE: [&str; 10] = [
    "std::process",
    "std::net",
    "std::fs",
    "std::thread",
    "std::time",
    "std::env",
    "std::os",
    "rustix",
    "SystemTime",
    "Instant",
];

#[test]
fn judging_touches_no_process_socket_or_clock() {
    absent(&["harness/src/check", "harness/src/snapshot", "harness/src/report"], &OUTSIDE);
}

#[test]
fn only_the_command_line_prints() {
    absent(&["harness/src/invocation"], &["println!", "stdout", "stderr"]);
}

#[test]
fn planning_reads_nothing() {
    absent(&["harness/src/scenario", "harness/src/plan", "harness/src/decode"], &OUTSIDE);
}

#[test]
fn servers_and_models_are_pure() {
    absent(&["harness/src/server", "harness/src/model", "harness/src/json"], &OUTSIDE);
}

/// Where products may be named: their dialects, APIs and channels, and the words that profiles choose them by.
const PRODUCTS: [&str; 6] = [
    "harness/src/host/dialect/",
    "harness/src/host/profile.rs",
    "harness/src/host/decode.rs",
    "harness/src/host/decode/keys.rs",
    "harness/src/drive/",
    "harness/src/model/",
];

#[test]
fn product_names_live_with_the_products() {
    for (name, code) in code_below("harness/src") {
        if PRODUCTS.iter().any(|home| name.starts_with(home)) {
            continue;
        }
        let code = code.to_lowercase();
        for product in ["claude", "codex", "gemini", "copilot", "cursor/", "anthropic", "openai", "opencode"] {
            assert!(!code.contains(product), "{name} names {product}");
        }
    }
}

#[test]
fn no_file_is_too_long() {
    for folder in ["bench", "harness", "hosts", "snapshots", "examples"] {
        for (name, text) in files_below(folder) {
            let lines = text.lines().count();
            assert!(lines <= 800, "{name} has {lines} lines");
        }
    }
}

#[test]
fn nothing_waits_by_sleeping() {
    absent(&["harness/src", "hosts/reference/src"], &["sleep(", "park_timeout", "yield_now"]);
}

#[test]
fn the_reference_host_shares_no_code_with_the_harness() {
    absent(&["hosts/reference/src"], &["hopcheck::"]);
}
