//! Baselines of made-up runs.

use std::sync::Arc;

use super::Baseline;
use super::decode::parse;
use super::update::{blank, update};
use crate::check::finding::{Finding, Level, Outcome, Verdict};
use crate::diagnostic::Source;
use crate::plan::PlanKey;
use crate::report::RunReport;
use crate::revision::{Revision, Transport};

const OLD: Revision = Revision::V2025_11_25;
const NEW: Revision = Revision::V2026_07_28;

fn baseline(text: &str) -> Baseline {
    let source = Source::new("known.toml", text);
    parse(&source).unwrap_or_else(|errors| panic!("{}", errors[0]))
}

fn finding(requirement: &str, verdict: Verdict) -> Finding {
    Finding {
        requirement: requirement.to_owned(),
        level: Level::Invariant,
        verdict,
        message: "x".to_owned(),
        evidence: vec![1],
        value: None,
        at: None,
    }
}

fn run(scenario: &str, revision: Revision, findings: &[(&str, Verdict)]) -> RunReport {
    let key = PlanKey {
        scenario: scenario.to_owned(),
        host: "acme".to_owned(),
        variant: None,
        version: Some("1.2.3".to_owned()),
        revision,
        transport: Transport::Stdio,
        seed: 1,
    };
    let findings: Vec<Finding> = findings.iter().map(|(id, verdict)| finding(id, *verdict)).collect();
    let mut run = RunReport::new(&key, "1.2.3", Outcome::of(&findings), None);
    run.findings = findings;
    run
}

const ONE: &str = r#"host = "acme"
[[known]]
scenario = "call/lookup"
requirement = "hop.arguments"
reason = "numbers are rounded"
"#;

#[track_caller]
fn check(text: &str, findings: &[(&str, Verdict)], outcome: Outcome, stale: &[&str]) {
    let mut run = run("call/lookup", OLD, findings);
    baseline(text).apply(&mut run);
    let messages: Vec<&str> = run.stale.iter().map(|stale| stale.message.as_str()).collect();
    assert_eq!((run.outcome, messages), (outcome, stale.to_vec()));
}

#[test]
fn a_known_failure_is_no_failure_and_no_pass() {
    check(ONE, &[("hop.arguments", Verdict::Fail), ("hop.once", Verdict::Pass)], Outcome::Known, &[]);
    check(ONE, &[("hop.arguments", Verdict::Fail)], Outcome::Known, &[]);
}

#[test]
fn another_failure_beside_it_still_fails() {
    check(ONE, &[("hop.arguments", Verdict::Fail), ("hop.once", Verdict::Fail)], Outcome::Fail, &[]);
    check(ONE, &[("hop.arguments", Verdict::Fail), ("hop.once", Verdict::Untestable)], Outcome::Untestable, &[]);
}

#[test]
fn one_that_is_gone_fails() {
    let passes = "`hop.arguments` passes now, and the baseline knows it as fail";
    check(ONE, &[("hop.arguments", Verdict::Pass)], Outcome::Fail, &[passes]);
    let gone = "`hop.arguments` is not judged in this run, and the baseline knows it as fail";
    check(ONE, &[("hop.once", Verdict::Pass)], Outcome::Fail, &[gone]);
}

#[test]
fn untestable_is_excused_by_name_only() {
    check(ONE, &[("hop.arguments", Verdict::Untestable)], Outcome::Untestable, &[]);
    let named = format!("{ONE}verdict = \"untestable\"\n");
    check(&named, &[("hop.arguments", Verdict::Untestable)], Outcome::Known, &[]);
    let fails = "`hop.arguments` fails now, and the baseline knows it as untestable";
    check(&named, &[("hop.arguments", Verdict::Fail)], Outcome::Fail, &[fails]);
}

#[test]
fn an_error_is_never_excused() {
    let mut run = run("call/lookup", OLD, &[("hop.arguments", Verdict::Fail)]);
    run.outcome = Outcome::Error;
    baseline(ONE).apply(&mut run);
    assert_eq!((run.outcome, run.known.len(), run.stale.len()), (Outcome::Error, 0, 0));
}

#[test]
fn other_hosts_versions_revisions_and_scenarios_are_not_spoken_of() {
    let failing = [("hop.arguments", Verdict::Fail)];
    for text in [
        ONE.replace("\"acme\"", "\"acme:code\""),
        ONE.replace("\"acme\"", "\"acme\"\nversions = \"<1.2\""),
        format!("{ONE}versions = \">1.2.3\"\n"),
        format!("{ONE}revision = \"2026-07-28\"\n"),
        format!("{ONE}transport = \"http\"\n"),
        ONE.replace("call/lookup", "call/twice"),
    ] {
        check(&text, &failing, Outcome::Fail, &[]);
        check(&text, &[("hop.arguments", Verdict::Pass)], Outcome::Pass, &[]);
    }
    let fits = format!("{ONE}versions = \">=1.2, <1.3\"\nrevision = [\"2025-11-25\"]\ntransport = \"stdio\"\n");
    check(&fits, &failing, Outcome::Known, &[]);
}

#[track_caller]
fn updates(text: &str, runs: &[RunReport], expected: &str, counts: (usize, usize)) {
    let updated = update(&baseline(text), runs).unwrap();
    assert_eq!(updated.text, expected);
    assert_eq!((updated.added, updated.removed), counts);
}

#[test]
fn an_update_keeps_what_is_true_as_it_was_written() {
    let text = "# Acme's.\nhost = \"acme\"\n\n# Ticket 7.\n[[known]]\nscenario='call/lookup' # here\nrequirement = [\"hop.arguments\"]\nreason = 'rounded'\n";
    updates(text, &[run("call/lookup", OLD, &[("hop.arguments", Verdict::Fail)])], text, (0, 0));
    // What did not run, or broke, says nothing.
    updates(text, &[run("call/twice", OLD, &[("hop.arguments", Verdict::Pass)])], text, (0, 0));
    let mut broken = run("call/lookup", OLD, &[]);
    broken.outcome = Outcome::Error;
    updates(text, &[broken], text, (0, 0));
    // What is gone goes, with its comment.
    updates(
        text,
        &[run("call/lookup", OLD, &[("hop.arguments", Verdict::Pass)])],
        "# Acme's.\nhost = \"acme\"\n",
        (0, 1),
    );
}

#[test]
fn an_update_narrows_what_is_true_in_part() {
    let runs = [
        run("call/lookup", OLD, &[("hop.arguments", Verdict::Fail)]),
        run("call/lookup", NEW, &[("hop.arguments", Verdict::Pass)]),
    ];
    let narrowed = ONE.replace("[[known]]", "\n[[known]]").replace("reason", "revision = \"2025-11-25\"\nreason");
    updates(ONE, &runs, &narrowed, (0, 0));
    updates(&narrowed, &runs, &narrowed, (0, 0));
}

#[test]
fn new_failures_want_a_reason() {
    let runs = [
        run("call/lookup", OLD, &[("hop.arguments", Verdict::Fail), ("hop.once", Verdict::Fail)]),
        run("call/lookup", NEW, &[("hop.arguments", Verdict::Fail), ("hop.order", Verdict::Untestable)]),
    ];
    let expected = blank("acme")
        + "\n[[known]]\nscenario = \"call/lookup\"\nrequirement = \"hop.once\"\nrevision = \"2025-11-25\"\nreason = \"\"\n"
        + "\n[[known]]\nscenario = \"call/lookup\"\nrequirement = \"hop.arguments\"\nreason = \"\"\n"
        + "\n[[known]]\nscenario = \"call/lookup\"\nrequirement = \"hop.order\"\nverdict = \"untestable\"\nrevision = \"2026-07-28\"\nreason = \"\"\n";
    updates(&blank("acme"), &runs, &expected, (3, 0));
    let errors = parse(&Source::new("known.toml", expected.as_str())).unwrap_err();
    assert_eq!(errors.len(), 3);
    assert!(errors[0].title.contains("`reason` is empty"), "{}", errors[0]);
    // With reasons it knows all that fails.
    let reasoned = expected.replace("reason = \"\"", "reason = \"because\"");
    for run in runs {
        let mut run = run;
        baseline(&reasoned).apply(&mut run);
        assert_eq!(run.outcome, Outcome::Known);
    }
}

#[test]
fn inline_entries_are_not_rewritten() {
    let text = "host = \"acme\"\nknown = [{ scenario = \"a/b\", requirement = \"hop.once\", reason = \"x\" }]\n";
    let error = update(&baseline(text), &[]).unwrap_err();
    assert!(error.help[0].contains("[[known]]"), "{error}");
}

#[test]
fn names_that_lead_nowhere_are_told() {
    let known = ["call/lookup".to_owned(), "call/pages[one]".to_owned()];
    let check = |scenario: &str, help: &str| {
        let errors = baseline(&ONE.replace("call/lookup", scenario)).unknown_scenarios(&known);
        assert_eq!(errors.len(), 1);
        assert!(errors[0].help[0].contains(help), "{}", errors[0]);
    };
    check("call/lokup", "did you mean `call/lookup`?");
    check("call/pages", "name one, such as `call/pages[one]`");
    check("x/y", "remove the entry");
    assert!(baseline(ONE).unknown_scenarios(&known).is_empty());
    let wrong: Arc<Source> = baseline(ONE).wrong_host(&["other"]).source;
    assert_eq!(wrong.name, "known.toml");
}
