//! Traces of real products, recorded once and judged again by every test run: what was found in them must stay found.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use hopcheck::check;
use hopcheck::check::finding::{Finding, Verdict};
use hopcheck::plan::{Plan, Planned};
use hopcheck::trace::{Trace, file};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../hosts/traces")
}

fn traces(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            found.extend(traces(&path));
        } else if path.extension().is_some_and(|end| end == "jsonl") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The plan and its record, or why there is none.
fn read(path: &Path) -> Result<(Box<Plan>, Trace), String> {
    let trace = file::read(&path.to_string_lossy(), &fs::read(path).unwrap()).unwrap();
    match trace.header.replan().unwrap() {
        Planned::Run(plan) => Ok((plan, trace)),
        Planned::NotApplicable { reason, .. } => Err(reason),
    }
}

/// One line for what does not hold and for each trait; passes by id alone.
fn summary(findings: &[Finding]) -> String {
    let mut out = String::new();
    let passes: BTreeSet<&str> = findings
        .iter()
        .filter(|finding| finding.verdict == Verdict::Pass)
        .map(|finding| finding.requirement.as_str())
        .collect();
    for id in passes {
        writeln!(out, "  pass {id}").unwrap();
    }
    for finding in findings.iter().filter(|finding| finding.verdict != Verdict::Pass) {
        let value = finding.value.as_deref().unwrap_or(&finding.message);
        writeln!(out, "  {} {} ({}): {value}", finding.verdict, finding.requirement, finding.level).unwrap();
    }
    out
}

#[test]
fn recorded_traces_are_judged_as_before() {
    let folder = folder();
    let mut actual = String::new();
    for path in traces(&folder) {
        let name = path.strip_prefix(&folder).unwrap().to_string_lossy().into_owned();
        let (plan, trace) = match read(&path) {
            Ok(run) => run,
            Err(reason) => {
                writeln!(actual, "{name}\n  not-applicable: {reason}").unwrap();
                continue;
            }
        };
        let findings = check::judge(&plan, &trace);
        write!(actual, "{name}\n{}", summary(&findings)).unwrap();

        let numbers: BTreeSet<u32> = trace.events.iter().map(|event| event.n).collect();
        for finding in findings.iter().filter(|finding| finding.verdict == Verdict::Pass) {
            assert!(!finding.evidence.is_empty(), "{name}: {} passes without evidence", finding.requirement);
            for n in &finding.evidence {
                assert!(
                    numbers.contains(n),
                    "{name}: {} rests on event {n}, which is not there",
                    finding.requirement
                );
            }
        }
    }
    let path = folder.join("findings.txt");
    if env::var_os("HOPCHECK_BLESS").is_some() {
        fs::write(&path, &actual).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap();
    for (expected, actual) in expected.lines().zip(actual.lines()) {
        assert_eq!(expected, actual, "`HOPCHECK_BLESS=1 cargo test` accepts what is found now");
    }
    assert_eq!(expected.lines().count(), actual.lines().count());
}

/// Both products are there, and something is found in each.
#[test]
fn both_products_are_recorded() {
    for host in ["claude-code", "codex"] {
        let found = traces(&folder().join(host));
        assert!(found.len() >= 8, "{host}: {}", found.len());
    }
}

/// What a product prints, and the machine that recorded it, stay out of the repository.
#[test]
fn recorded_traces_hold_nothing_of_the_product_or_the_machine() {
    for path in traces(&folder()) {
        let text = fs::read_to_string(&path).unwrap();
        for word in [r#""ev":"host-out""#, r#""ev":"host-err""#, "/tmp/hc", "\"/root", "\"/home"] {
            assert!(!text.contains(word), "{} contains {word}", path.display());
        }
    }
}
