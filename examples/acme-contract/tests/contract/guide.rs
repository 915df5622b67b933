//! The guide shows the example as it is.
//!
//! In the info string of a fenced block, `file=PATH` says that the block is that file, `part-of=PATH` that it is in it, and
//! `red=FAULT test=NAME` that a test fails like that. A line `…` stands for any lines.

use std::fs;
use std::path::Path;

use crate::suite::Copy;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
}

/// The info strings and texts of all fenced blocks.
fn blocks(page: &str) -> Vec<(String, String)> {
    let mut blocks: Vec<(String, String)> = Vec::new();
    let mut open = false;
    for line in page.lines() {
        match line.strip_prefix("```") {
            Some(info) if !open => blocks.push((info.to_owned(), String::new())),
            Some(_) => {}
            None if open => {
                let (_, text) = blocks.last_mut().unwrap();
                text.push_str(line);
                text.push('\n');
            }
            None => {}
        }
        open ^= line.starts_with("```");
    }
    assert!(!open, "a fence is not closed");
    blocks
}

fn word<'i>(info: &'i str, key: &str) -> Option<&'i str> {
    info.split(' ').find_map(|word| word.strip_prefix(key))
}

/// Without the numbers of events: what a host does at the same time has no order.
fn plain(text: &str) -> String {
    let line = |line: &str| {
        let marked = line.get(..4).filter(|mark| matches!(*mark, "  > " | "    "));
        let rest = marked.map(|mark| line[mark.len()..].trim_start());
        match rest.and_then(|rest| rest.split_once(' ')) {
            Some((number, event)) if number.parse::<u32>().is_ok() => format!("{} {event}\n", &line[..4]),
            _ => format!("{line}\n"),
        }
    };
    text.lines().map(line).collect()
}

#[test]
fn files_are_shown_as_they_are() {
    let page = fs::read_to_string(root().join("docs/guide/test-your-host.md")).unwrap();
    let read = |path: &str| fs::read_to_string(root().join(path)).unwrap();
    let mut seen = Vec::new();
    for (info, text) in blocks(&page) {
        if let Some(path) = word(&info, "file=") {
            assert_eq!(text, read(path), "{path}");
            seen.push(path.to_owned());
        } else if let Some(path) = word(&info, "part-of=") {
            assert!(read(path).contains(&text), "{path} has not:\n{text}");
            seen.push(path.to_owned());
        }
    }
    // All that an author has to write.
    for file in [
        "Cargo.toml",
        "tests/conformance.rs",
        "conformance/acme.toml",
        "conformance/known.toml",
        "conformance/scenarios/numbers/decimals.toml",
    ] {
        assert!(seen.contains(&format!("examples/acme-conformance/{file}")), "{file} is not shown");
    }
}

#[test]
fn a_failure_is_shown_as_it_is() {
    let page = fs::read_to_string(root().join("docs/guide/test-your-host.md")).unwrap();
    let mut shown = 0;
    for (info, text) in blocks(&page) {
        let (Some(fault), Some(test)) = (word(&info, "red="), word(&info, "test=")) else { continue };
        let copy = Copy::new();
        copy.edit("acme.toml", |text| text.replace("ACME_FAULT = \"\"", &format!("ACME_FAULT = \"{fault}\"")));
        let ended = copy.run(&[test, "--exact"]);
        ended.says(101, &[]);
        let (said, text) = (plain(&ended.stdout), plain(&text));
        let mut rest = said.as_str();
        for part in text.split("…\n") {
            let at = rest.find(part.trim_end()).unwrap_or_else(|| panic!("not said:\n{part}\nin:\n{rest}"));
            rest = &rest[at + part.trim_end().len()..];
        }
        shown += 1;
    }
    assert!(shown > 0);
}
