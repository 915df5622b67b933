//! Reports of made-up runs.

use super::*;
use crate::check::finding::Place;
use crate::diagnostic::Source;
use crate::snapshot::{Arrow, Line};

fn key() -> PlanKey {
    PlanKey {
        scenario: "names/wire-name[dot]".to_owned(),
        host: "acme".to_owned(),
        variant: Some("code".to_owned()),
        version: Some("1.2.3".to_owned()),
        revision: Revision::V2025_11_25,
        transport: Transport::Stdio,
        seed: 1,
    }
}

fn line(event: u32, word: &str) -> Line {
    Line {
        event,
        lane: "orders".to_owned(),
        arrow: Arrow::Away,
        word: word.to_owned(),
        subject: String::new(),
        rest: String::new(),
    }
}

fn failed() -> RunReport {
    let source = Source::new("scenarios/names/wire-name.toml", "title = \"x\"\n[[step]]\ncall = \"orders/a.b\"\n");
    let mut run = RunReport::new(&key(), "1.2.3", Outcome::Fail, None);
    run.findings = vec![Finding {
        requirement: "hop.wire-name".to_owned(),
        level: Level::Invariant,
        verdict: Verdict::Fail,
        message: "the wire carries `a_b`".to_owned(),
        evidence: vec![4],
        value: None,
        at: Some(Place { source, span: 21..25 }),
    }];
    run.transcript = (1..=9).map(|event| line(event, &format!("m{event}"))).collect();
    run
}

fn plain(text: &str) -> String {
    let escape = regex_lite::Regex::new("\x1b\\[[0-9;]*m").unwrap();
    escape.replace_all(text, "").into_owned()
}

#[test]
fn json_has_what_scripts_rely_on() {
    let mut other = RunReport::new(&key(), "1.2.3", Outcome::NotApplicable, Some("no".to_owned()));
    other.trace = Some("t.jsonl".to_owned());
    let report = json(Report { runs: &[failed(), other], snapshots: None });
    let run = &report.get("runs").unwrap().items()[0];
    assert_eq!(run.at(&["host", "name"]).unwrap().as_str(), Some("acme:code"));
    assert_eq!(
        run.get("findings").unwrap().items()[0].to_string(),
        r#"{"requirement":"hop.wire-name","level":"invariant","verdict":"fail","message":"the wire carries `a_b`","evidence":[4],"value":null,"at":"scenarios/names/wire-name.toml:3:1","known":null}"#
    );
    assert_eq!(
        report.get("summary").unwrap().to_string(),
        r#"{"pass":0,"known":0,"warn":0,"fail":1,"untestable":0,"not-applicable":1,"error":0}"#
    );
}

#[test]
fn a_failure_shows_the_line_and_the_evidence() {
    // The same finding in another revision is not told twice.
    let mut again = failed();
    again.revision = Revision::V2026_07_28;
    let text = plain(&failures(&[failed(), again], Detail::All));
    let expected = "
error: hop.wire-name fail: the wire carries `a_b`
 --> scenarios/names/wire-name.toml:3:1
  |
3 | call = \"orders/a.b\"
  | ^^^^ level invariant
  run: acme:code names/wire-name[dot] at 2025-11-25 stdio, 2026-07-28 stdio
       2 orders ->  m2
       3 orders ->  m3
  >    4 orders ->  m4
       5 orders ->  m5
       6 orders ->  m6
  see: hopcheck explain hop.wire-name
";
    assert_eq!(text, expected);
}

/// One cause, four requirements: a reader wants one block, led by what fails the run.
#[test]
fn what_has_one_cause_is_told_once() {
    let mut run = failed();
    let one = run.findings[0].clone();
    let like = |requirement: &str, level| Finding { requirement: requirement.to_owned(), level, ..one.clone() };
    let other = Finding { evidence: vec![5], ..like("hop.once", Level::Invariant) };
    run.findings = vec![like("tools.a", Level::Should), one.clone(), like("claim.06", Level::Policy), other];
    let text = plain(&failures(&[run], Detail::All));
    assert_eq!(text.matches("\n  run: ").count(), 2, "{text}");
    assert!(text.starts_with("\nerror: hop.wire-name fail: "), "{text}");
    assert!(text.contains("\n  also broken: tools.a (should), claim.06 (policy)\n"), "{text}");
}

#[test]
fn what_has_no_record_is_told_once() {
    let mut run = failed();
    let one = Finding { verdict: Verdict::Untestable, evidence: Vec::new(), ..run.findings[0].clone() };
    let like = |at: usize| Finding { requirement: format!("requirement.number-{at}"), ..one.clone() };
    run.findings = (0..8).map(like).collect();
    run.findings[3].message = "nothing speaks of it".to_owned();
    let text = plain(&failures(&[run], Detail::First(1)));
    assert!(!text.contains("not shown"), "{text}");
    let listed: Vec<&str> = text.lines().skip_while(|line| !line.starts_with("  also untestable: ")).collect();
    assert!(listed[0].len() <= 112 && listed[0].ends_with(','), "{text}");
    assert!(listed[1].starts_with("    requirement.number-") && listed[1].ends_with("number-7"), "{text}");
}

#[test]
fn markdown_escapes_what_hosts_say() {
    let mut run = failed();
    run.findings[0].message = "it said <b>|".to_owned();
    let text = markdown(Report { runs: &[run], snapshots: None });
    assert!(text.contains("| acme:code | 1.2.3 | 0/1, 1 fail |"), "{text}");
    assert!(text.contains(r"it said \<b\>\|"), "{text}");
}

#[test]
fn the_table_counts_outcomes_per_area() {
    let text = plain(&verdict_table(&[failed()]));
    assert!(text.contains("acme:code 1.2.3"), "{text}");
    let row = text.lines().find(|line| line.trim_start().starts_with("names")).unwrap();
    assert_eq!(row.split_whitespace().collect::<Vec<_>>(), ["names", "·", "·", "1", "·", "·", "·"]);
}

/// A record says nothing about the host.
#[test]
fn what_was_only_recorded_does_not_look_passed() {
    let line = |outcome| {
        let run = RunReport::new(&key(), "1.2.3", outcome, None);
        anstream::adapter::strip_str(&record_line(&run)).to_string()
    };
    assert!(line(Outcome::Pass).starts_with("recorded "));
    assert!(line(Outcome::Error).starts_with("error "));
}

/// A run whose failure the baseline knows, and one whose failure is gone.
fn with_baseline() -> [RunReport; 2] {
    let mut known = failed();
    known.outcome = Outcome::Known;
    known.known.insert(0, "dots are bent".to_owned());
    let mut gone = RunReport::new(&key(), "1.2.3", Outcome::Fail, None);
    let source = Source::new("known.toml", "requirement = \"hop.once\"\n");
    let message = "`hop.once` passes now".to_owned();
    gone.stale.push(Stale { requirement: "hop.once".to_owned(), message, at: Place { source, span: 14..24 } });
    [known, gone]
}

#[test]
fn a_known_failure_is_told_as_one_and_not_as_a_failure() {
    let runs = with_baseline();
    assert_eq!(failures(&runs, Detail::All), "");
    assert_eq!(
        plain(&known_failures(&runs)),
        "\nknown: hop.wire-name in names/wire-name[dot] at 2025-11-25 stdio: dots are bent\n"
    );
    let report = json(Report { runs: &runs, snapshots: None });
    let of = |at: usize| &report.get("runs").unwrap().items()[at];
    assert_eq!(of(0).str("outcome"), Some("known"));
    assert_eq!(of(0).get("findings").unwrap().items()[0].str("known"), Some("dots are bent"));
    assert_eq!(
        of(1).get("stale").unwrap().items()[0].to_string(),
        r#"{"requirement":"hop.once","message":"`hop.once` passes now","at":"known.toml:1:15"}"#
    );
    let table = plain(&verdict_table(&runs));
    assert!(table.contains("pass  known  warn"), "{table}");
    let text = markdown(Report { runs: &runs, snapshots: None });
    assert!(text.contains("| 0/2, 1 fail, 1 known |"), "{text}");
    assert!(text.contains("- `hop.wire-name` known: dots are bent — names/wire-name[dot]"), "{text}");
    assert!(text.contains(r"- baseline: \`hop.once\` passes now — known.toml:1:15"), "{text}");
}

#[test]
fn a_baseline_entry_that_is_no_longer_true_is_shown_in_its_file() {
    let expected = "
error: `hop.once` passes now
 --> known.toml:1:15
  |
1 | requirement = \"hop.once\"
  |               ^^^^^^^^^^ no longer true
  |
  = help: remove it, or name the revision or versions in which it still holds
  run: acme:code names/wire-name[dot] at 2025-11-25 stdio
";
    assert_eq!(plain(&stale(&with_baseline())), expected);
}

#[test]
fn drift_is_told_with_its_lines_and_cannot_steer_the_terminal() {
    let kind = ChangeKind::Drift { accepted: "a\nb\n".to_owned(), contents: "a\n\x1b[2Jc\n".to_owned() };
    let change = |name: &str, kind| Change { name: name.to_owned(), file: format!("s/{name}.snap"), kind };
    let changes = vec![change("acme/x/drift", kind), change("acme/x/gone", ChangeKind::Stale)];
    let snapshots = Snapshots { same: 3, changes, ..Snapshots::default() };
    assert!(snapshots.drifted());
    let text = plain(&snapshots.details(Detail::First(1)));
    assert!(text.contains("s/acme/x/drift.snap differs from what was accepted\n"), "{text}");
    assert!(text.contains("  -b\n") && text.contains("  + [2Jc\n") && !text.contains("gone"), "{text}");
    assert!(text.contains("1 more"), "{text}");
    assert_eq!(snapshots.summary(), "snapshots: 3 as accepted, 1 drift, 1 stale\n");
    let report = markdown(Report { runs: &[failed()], snapshots: Some(&snapshots) });
    assert!(report.contains("\n## Snapshots\n") && report.contains("\n- stale: acme/x/gone\n"), "{report}");
    let accepted = Snapshots { mode: SnapshotMode::Accept, ..snapshots };
    assert!(!accepted.drifted());
}

#[test]
fn what_is_newer_than_a_pack_is_told() {
    let mut run = failed();
    run.findings[0].verdict = Verdict::Trait;
    run.findings[0].value = Some("fail".to_owned());
    let line = "newer: hop.wire-name in names/wire-name[dot] at 2025-11-25 stdio: the wire carries `a_b`";
    assert_eq!(plain(&newer(&[run.clone()])), format!("\n{line}\n"));
    run.findings[0].level = Level::Trait;
    assert_eq!(newer(&[run]), "");
}
