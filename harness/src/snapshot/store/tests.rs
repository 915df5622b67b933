//! Comparing with what was accepted.

use std::sync::Arc;

use super::*;
use crate::library::{self, Builtin};
use crate::snapshot::wrap;
use crate::{host, scenario};

const OLD: Revision = Revision::V2025_11_25;
const NEW: Revision = Revision::V2026_07_28;
const NAME: &str = "reference/call/lookup";

fn plans(area: &str, revisions: SelectRevisions) -> Vec<Planned> {
    let source = library::scenarios().iter().find(|source| source.name == "scenarios/call/lookup.toml").unwrap();
    let scenario = scenario::parse(source, area, "lookup", &Builtin).unwrap().remove(0);
    let (_, profile) = library::profiles().iter().find(|(name, _)| name == "reference").unwrap();
    let profile = host::decode::parse(profile, None, None).unwrap();
    let select = Select { revisions, ..Select::default() };
    crate::plan::plan(&Arc::new(scenario), &Arc::new(profile), None, &select).unwrap()
}

/// The ledger of runs of `call/lookup` that gave these transcripts.
fn ledger(given: &[(Revision, &str)]) -> Ledger {
    let mut ledger = Ledger::default();
    for (revision, text) in given {
        let plan = plans("call", SelectRevisions::One(*revision)).remove(0);
        ledger.add(plan.key(), (*text).to_owned());
    }
    ledger
}

fn whole() -> Scope {
    Scope { hosts: vec!["reference".to_owned()], ..Scope::default() }
}

fn only(revision: Revision) -> Scope {
    Scope { revision: Some(revision), ..whole() }
}

const BOTH: &str = "# 2025-11-25+stdio\na\n\n# 2026-07-28+stdio\nb\n";

#[test]
fn what_is_as_accepted_is_the_same_whatever_its_head_says() {
    let ledger = ledger(&[(OLD, "a\n"), (NEW, "b\n")]);
    let insta = format!("---\nsource: tests/x.rs\nexpression: text\n---\n{BOTH}");
    for accepted in [wrap(BOTH), insta, BOTH.to_owned()] {
        assert_eq!(ledger.compare(&whole(), NAME, Some(&accepted)), Standing::Same, "{accepted}");
    }
    assert_eq!(ledger.compare(&whole(), NAME, None), Standing::New { contents: BOTH.to_owned() });
}

#[test]
fn another_line_and_a_section_too_many_are_drift() {
    for given in [&[(OLD, "a\n"), (NEW, "c\n")][..], &[(OLD, "a\n")]] {
        let standing = ledger(given).compare(&whole(), NAME, Some(BOTH));
        assert!(matches!(standing, Standing::Drift { .. }), "{standing:?}");
    }
    // Nor is a file the same that says more than was ever in a section.
    let more = format!("by hand\n{BOTH}");
    let standing = ledger(&[(OLD, "a\n"), (NEW, "b\n")]).compare(&whole(), NAME, Some(&more));
    assert!(matches!(standing, Standing::Drift { .. }), "{standing:?}");
}

#[test]
fn a_run_of_one_revision_leaves_the_others_as_they_are() {
    assert_eq!(ledger(&[(NEW, "b\n")]).compare(&only(NEW), NAME, Some(BOTH)), Standing::Same);
    let contents = BOTH.replace('b', "c");
    let drift = Standing::Drift { accepted: BOTH.trim_end().to_owned(), contents };
    assert_eq!(ledger(&[(NEW, "c\n")]).compare(&only(NEW), NAME, Some(BOTH)), drift);
    // It gives nothing, and the rest of the file is not its business.
    let standing = Ledger::default().compare(&only(NEW), NAME, Some(BOTH));
    assert!(matches!(standing, Standing::Drift { contents, .. } if contents == "# 2025-11-25+stdio\na\n"));
    assert_eq!(Ledger::default().compare(&only(NEW), NAME, Some("# 2025-11-25+stdio\na\n")), Standing::Same);
}

#[test]
fn a_shared_section_is_split_when_one_of_its_revisions_moves() {
    let shared = "# 2025-11-25+stdio 2026-07-28+stdio\na\n";
    let standing = ledger(&[(NEW, "b\n")]).compare(&only(NEW), NAME, Some(shared));
    assert!(matches!(standing, Standing::Drift { contents, .. } if contents == BOTH));
}

#[test]
fn a_plan_without_a_transcript_says_nothing_about_its_file() {
    let mut ledger = Ledger::new(&plans("call", SelectRevisions::Default)).unwrap();
    assert_eq!(ledger.names().collect::<Vec<_>>(), [NAME]);
    ledger.add(plans("call", SelectRevisions::One(OLD))[0].key(), "a\n".to_owned());
    assert_eq!(ledger.compare(&whole(), NAME, None), Standing::Unknown);
    ledger.add(plans("call", SelectRevisions::One(NEW))[0].key(), "b\n".to_owned());
    assert_eq!(ledger.compare(&whole(), NAME, Some(BOTH)), Standing::Same);
}

#[test]
fn what_no_plan_gives_is_stale() {
    assert_eq!(Ledger::default().compare(&whole(), NAME, Some(BOTH)), Standing::Stale);
    assert_eq!(Ledger::default().compare(&whole(), NAME, None), Standing::Nothing);
}

#[test]
fn a_scope_has_hosts_areas_scenarios_and_cases() {
    let scope = |scenarios: &[&str]| Scope {
        scenarios: scenarios.iter().map(|filter| (*filter).to_owned()).collect(),
        ..whole()
    };
    let has = |scenarios: &[&str], name: &str| scope(scenarios).has_file(name);
    assert!(has(&[], "reference/call/lookup") && has(&[], "reference/gone"));
    assert!(!has(&[], "codex/call/lookup") && !has(&[], "reference.code/call/lookup"));
    assert!(has(&["call"], "reference/call/lookup") && !has(&["call"], "reference/calls/lookup"));
    assert!(has(&["call/one"], "reference/call/one") && has(&["call/one"], "reference/call/one[a]"));
    assert!(!has(&["call/one"], "reference/call/one-more"));
    assert!(has(&["call/one[a]"], "reference/call/one[a]") && !has(&["call/one[a]"], "reference/call/one[b]"));
    assert!(!has(&["list", "args/x"], "reference/call/one"));
}

#[test]
fn names_that_are_shared_or_lead_elsewhere_are_refused() {
    let mut twice = plans("call", SelectRevisions::Default);
    twice.extend(plans("call", SelectRevisions::Default));
    assert!(matches!(Ledger::new(&twice), Err(LedgerError::Twice { name }) if name == NAME));
    for area in ["..", ".", "", "a/b", "/etc", "a\nb"] {
        let plans = plans(area, SelectRevisions::Default);
        assert!(matches!(Ledger::new(&plans), Err(LedgerError::Name { .. })), "{area:?}");
    }
}

#[test]
fn a_difference_is_shown_with_the_lines_around_it() {
    let lines =
        |tenth: &str| (0..20).map(|n| if n == 9 { format!("{tenth}\n") } else { format!("{n}\n") }).collect();
    let (old, new): (String, String) = (lines("old"), lines("new"));
    let text = diff(&old, &new);
    assert_eq!(text, "--- accepted\n+++ this run\n@@ -7,7 +7,7 @@\n 6\n 7\n 8\n-old\n+new\n 10\n 11\n 12\n");
}
