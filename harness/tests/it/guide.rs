//! The examples of README and guide, run as a reader would run them.
//!
//! A fenced block `toml file=PATH` is a file that the reader writes. A block `console` is what the reader types after
//! `$ hopcheck` (or `$ cargo run --`), and what is printed. A line `…` stands for any lines; times, the folder of kept
//! traces and what a program cannot repeat are compared by shape. All blocks of a page share one folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// One fenced block: its info string, its text and the line that it begins on.
struct Block {
    info: String,
    text: String,
    line: usize,
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (at, line) in page.lines().enumerate() {
        match (line.strip_prefix("```"), open.as_mut()) {
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(info), None) => open = Some(Block { info: info.to_owned(), text: String::new(), line: at + 1 }),
            (None, Some(block)) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a fence is not closed");
    blocks
}

/// One command of a `console` block, with what is printed.
fn commands(text: &str) -> Vec<(String, String)> {
    let mut commands: Vec<(String, String)> = Vec::new();
    for line in text.lines() {
        match (line.strip_prefix("$ "), commands.last_mut()) {
            (Some(command), _) => commands.push((command.to_owned(), String::new())),
            (None, Some((_, printed))) => {
                printed.push_str(line);
                printed.push('\n');
            }
            (None, None) => panic!("a console block begins with `$ `, and not with `{line}`"),
        }
    }
    commands
}

/// What differs from run to run becomes its shape.
fn plain(line: &str) -> String {
    let mut line = line.trim_end().to_owned();
    for (pattern, shape) in [
        (r"\(\d+ ms\)", "(0 ms)"),
        (r"\S*/hopcheck-traces-\w+", "TRACES"),
        (r"hcm-\w+", "hcm-MARKER"),
        (r"toolu_\w+", "toolu_ID"),
        (r"\s+$", ""),
    ] {
        line = regex_lite::Regex::new(pattern).unwrap().replace_all(&line, shape).into_owned();
    }
    line
}

/// Whether `actual` is `expected`, where `…` alone on a line stands for any lines.
fn matches(expected: &[String], actual: &[String]) -> Result<(), String> {
    let mut rest = actual;
    let mut anywhere = false;
    for part in expected.split_inclusive(|line| line == "…") {
        let (part, elided) = match part.split_last() {
            Some((last, part)) if last == "…" => (part, true),
            _ => (part, false),
        };
        let found = match (part.is_empty(), anywhere) {
            (true, _) => Some(0),
            (false, true) => rest.windows(part.len()).position(|lines| lines == part),
            (false, false) => rest.starts_with(part).then_some(0),
        };
        let Some(at) = found else { return Err(format!("not found:\n{}", part.join("\n"))) };
        rest = &rest[at + part.len()..];
        anywhere = elided;
    }
    if rest.is_empty() || anywhere { Ok(()) } else { Err(format!("more was printed:\n{}", rest.join("\n"))) }
}

/// Writes and runs all that a page shows, and gives the number of commands.
fn walk(page: &Path) -> usize {
    let text = fs::read_to_string(page).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut ran = 0;
    for block in blocks(&text) {
        if let Some((_, path)) = block.info.split_once(" file=") {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, &block.text).unwrap();
        }
        if block.info != "console" {
            continue;
        }
        for (command, printed) in commands(&block.text) {
            let at = format!("{}:{}: `{command}`", page.display(), block.line);
            let arguments = command
                .strip_prefix("hopcheck ")
                .or_else(|| command.strip_prefix("cargo run -- "))
                .unwrap_or_else(|| panic!("{at}: no command of hopcheck"));
            let output = Command::new(env!("CARGO_BIN_EXE_hopcheck"))
                .args(arguments.split(' ').filter(|argument| !argument.is_empty()))
                .current_dir(folder.path())
                .env_clear()
                .env("PATH", "/usr/bin:/bin")
                .output()
                .unwrap();
            let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
            let lines = |text: &str| text.lines().map(plain).collect::<Vec<String>>();
            if let Err(why) = matches(&lines(&printed), &lines(&text)) {
                panic!("{at}\n{why}\n--- printed, with exit code {:?}:\n{text}", output.status.code());
            }
            ran += 1;
        }
    }
    ran
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

#[test]
fn the_readme_shows_what_happens() {
    assert!(walk(&root().join("README.md")) > 0);
}

#[test]
fn a_scenario_is_written_as_the_guide_says() {
    assert!(walk(&root().join("docs/guide/write-a-scenario.md")) > 0);
}

#[test]
fn a_report_reads_as_the_guide_says() {
    assert!(walk(&root().join("docs/guide/read-a-report.md")) > 0);
}

#[test]
fn any_lines_may_stand_where_a_page_leaves_them_out() {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<String>>();
    let matches = |expected: &str, actual: &str| matches(&lines(expected), &lines(actual)).is_ok();
    for (expected, actual) in
        [("a\nb", "a\nb"), ("…\nb", "x\ny\nb"), ("a\n…", "a"), ("…\nb\n…\nd\n…", "a\nb\nc\nd\ne")]
    {
        assert!(matches(expected, actual), "{expected:?} {actual:?}");
    }
    for (expected, actual) in
        [("a", "a\nb"), ("…\nb", "a"), ("b\n…", "a\nb"), ("…\nb\n…\na", "a\nb"), ("a\nb", "a")]
    {
        assert!(!matches(expected, actual), "{expected:?} {actual:?}");
    }
}

/// A page about an example shows files of the example: a block `LANGUAGE of=PATH`.
#[test]
fn a_library_is_tested_as_the_guide_says() {
    let page = fs::read_to_string(root().join("docs/guide/library-hosts.md")).unwrap();
    let mut shown = 0;
    for block in blocks(&page) {
        let (_, path) = block.info.split_once(" of=").unwrap();
        let file = fs::read_to_string(root().join("examples/pocket").join(path)).unwrap();
        assert!(file.contains(&block.text), "the block at line {} is not in {path}", block.line);
        assert!(block.text.lines().count() > 5, "the block at line {} shows nothing", block.line);
        shown += 1;
    }
    assert_eq!(shown, 3);
}
