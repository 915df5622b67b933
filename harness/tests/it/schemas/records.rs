//! The schemas of what hopcheck writes: traces and reports.

use std::sync::Arc;

use hopcheck::check::finding::{Finding, Level, Outcome, Place, Verdict};
use hopcheck::diagnostic::Source;
use hopcheck::json::Json;
use hopcheck::plan::PlanKey;
use hopcheck::report::{self, Change, ChangeKind, Report, RunReport, Snapshots, Stale};
use hopcheck::revision::{Revision, Transport};
use hopcheck::schema::Schema;
use hopcheck::trace::Header;
use hopcheck::trace::event::{Event, Kind, Lane, Payload};
use hopcheck::trace::file::{write_event, write_header};
use serde_json::{Value, json};

use super::{lossy, problems, validator};

fn key(variant: Option<&str>) -> PlanKey {
    PlanKey {
        scenario: "call/one[a]".to_owned(),
        host: "acme".to_owned(),
        variant: variant.map(str::to_owned),
        version: variant.map(|_| "1.2.3".to_owned()),
        revision: Revision::V2025_11_25,
        transport: Transport::Stdio,
        seed: u64::MAX,
    }
}

fn header(variant: Option<&str>, not_applicable: Option<&str>, environment: Json) -> Header {
    Header {
        hopcheck: "0.1.0".to_owned(),
        plan: key(variant),
        not_applicable: not_applicable.map(str::to_owned),
        scenario: Source::new("call/one.toml", "title = \"x\"\n"),
        scripts: vec![("orders".to_owned(), Source::new("orders.toml", ""))],
        profile: Source::new("acme.toml", "name = \"acme\"\n"),
        host_version: "1.2.3".to_owned(),
        environment,
    }
}

/// An event of each kind with each kind of payload, and with and without all that it may lack.
fn events() -> Vec<Event> {
    let cut = |head: &[u8]| Payload::Cut { head: head.to_vec(), len: u64::MAX, sha256: "0af9".repeat(16) };
    let payloads = [
        None,
        Some(Payload::Whole(br#"{"a":"x"}"#.to_vec())),
        Some(Payload::Whole(vec![0xff, 0])),
        Some(cut(b"{")),
        Some(cut(&[0xfe])),
    ];
    let mut events = Vec::new();
    for &kind in Kind::ALL {
        for payload in &payloads {
            let bare = Event {
                n: 1,
                us: 0,
                run: 1,
                tick: 0,
                kind,
                server: None,
                conn: None,
                step: None,
                cause: None,
                payload: payload.clone(),
                data: Json::Null,
            };
            events.push(Event {
                server: Some("orders".to_owned()),
                conn: Some(1),
                step: Some(0),
                cause: Some(u32::MAX),
                data: Json::object([("end", "lf")]),
                ..bare.clone()
            });
            events.push(bare);
        }
    }
    events
}

#[test]
fn every_line_of_a_trace_is_accepted() {
    let validator = validator(Schema::Trace);
    let headers = [
        header(None, None, Json::Null),
        header(Some("code"), Some("the host has no such transport"), Json::object([("os", "linux")])),
    ];
    let lines = headers.iter().map(write_header).chain(events().into_iter().map(|event| write_event(&event)));
    for line in lines {
        let problems = problems(&validator, &serde_json::from_str(&line).unwrap());
        assert!(problems.is_empty(), "{line}{problems:#?}");
    }
}

#[test]
fn a_line_that_is_no_event_is_refused() {
    let validator = validator(Schema::Trace);
    let good = json!({"n": 1, "us": 2, "run": 1, "tick": 3, "lane": "wire", "ev": "to-server", "raw": "{}"});
    assert!(validator.is_valid(&good));
    #[track_caller]
    fn check(validator: &jsonschema::Validator, good: &Value, change: &Value) {
        let mut line = good.clone();
        for (key, value) in change.as_object().unwrap() {
            if value.is_null() {
                line.as_object_mut().unwrap().remove(key);
            } else {
                line[key] = value.clone();
            }
        }
        assert!(!validator.is_valid(&line), "{line} is accepted");
    }
    let changes = [
        json!({"lane": "sky"}),
        json!({"ev": "hum"}),
        // A word of another lane.
        json!({"lane": "user"}),
        json!({"ev": "prompt"}),
        json!({"n": null}),
        json!({"n": 0}),
        json!({"run": "1"}),
        json!({"lane": null}),
        json!({"ev": null}),
        json!({"hue": 1}),
        json!({"data": "lf"}),
        json!({"raw_b64": "e30="}),
        json!({"len": 2}),
        json!({"raw": null, "head": "{"}),
        json!({"raw": null, "head": "{", "len": 2, "sha256": "no hash"}),
        json!({"hopcheck": "0.1.0", "trace": 1}),
    ];
    for change in changes {
        check(&validator, &good, &change);
    }
    let header: Value = serde_json::from_str(&write_header(&header(None, None, Json::Null))).unwrap();
    for change in
        [json!({"trace": 2}), json!({"plan": null}), json!({"profile": "x"}), json!({"not_applicable": 1})]
    {
        check(&validator, &header, &change);
    }
}

/// The schema names exactly the lanes and words that a trace can have.
#[test]
fn no_other_pair_of_lane_and_word_is_accepted() {
    let validator = validator(Schema::Trace);
    for lane in Lane::ALL {
        for word in Kind::ALL.iter().map(|kind| kind.as_str()) {
            let line = json!({"n": 1, "us": 2, "run": 1, "tick": 3, "lane": lane.as_str(), "ev": word});
            assert_eq!(validator.is_valid(&line), Kind::parse(lane, word).is_some(), "{line}");
        }
    }
}

fn finding(level: Level, verdict: Verdict, place: Option<Place>) -> Finding {
    Finding {
        requirement: "hop.wire-name".to_owned(),
        level,
        verdict,
        message: "the wire carries `a_b`".to_owned(),
        evidence: vec![4, 5],
        value: place.as_ref().map(|_| "flat".to_owned()),
        at: place,
    }
}

fn runs() -> Vec<RunReport> {
    let source = Source::new("scenarios/names/wire-name.toml", "title = \"x\"\n");
    let place = || Place { source: Arc::clone(&source), span: 0..5 };
    let mut runs: Vec<RunReport> = Outcome::ALL
        .into_iter()
        .flat_map(|outcome| {
            let bare = RunReport::new(&key(None), "", outcome, None);
            let reason = Some("no such transport".to_owned());
            [
                bare,
                RunReport {
                    trace: Some("t.jsonl".to_owned()),
                    ..RunReport::new(&key(Some("code")), "1", outcome, reason)
                },
            ]
        })
        .collect();
    runs[0].known.insert(0, "rounded".to_owned());
    runs[0].stale.push(Stale {
        requirement: "hop.once".to_owned(),
        message: "passes now".to_owned(),
        at: place(),
    });
    for level in Level::ALL {
        for verdict in Verdict::ALL {
            runs[0].findings.extend([finding(level, verdict, None), finding(level, verdict, Some(place()))]);
        }
    }
    runs
}

/// Every kind of change.
fn snapshots() -> Snapshots {
    let drift = ChangeKind::Drift { accepted: "a\n".to_owned(), contents: "b\n".to_owned() };
    let changes = [ChangeKind::New, drift, ChangeKind::Stale].map(|kind| Change {
        name: "acme/call/one".to_owned(),
        file: "s/acme/call/one.snap".to_owned(),
        kind,
    });
    let unknown = vec!["acme/call/two".to_owned()];
    Snapshots { same: 1, unknown, changes: changes.into(), ..Snapshots::default() }
}

#[test]
fn every_report_is_accepted() {
    let validator = validator(Schema::Report);
    for runs in [Vec::new(), runs()] {
        for snapshots in [None, Some(&Snapshots::default()), Some(&snapshots())] {
            let problems = problems(&validator, &lossy(&report::json(Report { runs: &runs, snapshots })));
            assert!(problems.is_empty(), "{problems:#?}");
        }
    }
}

#[test]
fn a_report_with_another_member_less_or_more_is_refused() {
    let validator = validator(Schema::Report);
    let good = lossy(&report::json(Report { runs: &runs(), snapshots: Some(&snapshots()) }));
    let places = [
        "",
        "/summary",
        "/runs/0",
        "/runs/0/host",
        "/runs/0/findings/0",
        "/runs/0/stale/0",
        "/snapshots",
        "/snapshots/changes/0",
    ];
    for place in places {
        let members: Vec<String> = good.pointer(place).unwrap().as_object().unwrap().keys().cloned().collect();
        // Only a run that compares transcripts tells of them.
        for member in members.iter().filter(|member| *member != "snapshots") {
            let mut less = good.clone();
            less.pointer_mut(place).unwrap().as_object_mut().unwrap().remove(member);
            assert!(!validator.is_valid(&less), "{place} without {member}");
        }
        let mut more = good.clone();
        more.pointer_mut(place).unwrap()["hue"] = 1.into();
        assert!(!validator.is_valid(&more), "{place} with more");
    }
    // No evidence, no pass.
    let mut empty = good;
    let verdict = |wanted: &str| json!({"verdict": wanted, "evidence": []});
    for (wanted, accepted) in [("pass", false), ("untestable", true), ("perhaps", false)] {
        let finding = &mut empty["runs"][0]["findings"][0];
        for (key, value) in verdict(wanted).as_object().unwrap() {
            finding[key] = value.clone();
        }
        assert_eq!(validator.is_valid(&empty), accepted, "{wanted}");
    }
}
