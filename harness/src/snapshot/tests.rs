//! Transcripts of hand-written traces.

use std::sync::Arc;

use super::*;
use crate::json::Json;
use crate::library::{self, Builtin};
use crate::plan::{Planned, Select, SelectRevisions, plan};
use crate::revision::{Revision, Transport};
use crate::trace::event::{Event, Kind, Payload};
use crate::trace::{Header, Trace};
use crate::{host, scenario};

/// A plan of `call/lookup` on the reference host.
fn planned(seed: u64) -> Plan {
    let source = library::scenarios().iter().find(|source| source.name == "scenarios/call/lookup.toml").unwrap();
    let scenario = scenario::parse(source, "call", "lookup", &Builtin).unwrap().remove(0);
    let (_, profile) = library::profiles().iter().find(|(name, _)| name == "reference").unwrap();
    let profile = host::decode::parse(profile, None, Some("0.1.0")).unwrap();
    let select = Select { revisions: SelectRevisions::One(Revision::V2025_11_25), seed, ..Select::default() };
    match plan(&Arc::new(scenario), &Arc::new(profile), Some("0.1.0"), &select).unwrap().remove(0) {
        Planned::Run(plan) => *plan,
        Planned::NotApplicable { reason, .. } => panic!("{reason}"),
    }
}

fn traced(plan: &Plan, events: Vec<Event>) -> Trace {
    let header = Header {
        hopcheck: "0.0.0".to_owned(),
        plan: plan.key.clone(),
        not_applicable: None,
        scenario: Arc::clone(&plan.scenario.source),
        scripts: Vec::new(),
        profile: Arc::clone(&plan.profile.source),
        host_version: "0.1.0".to_owned(),
        environment: Json::Null,
    };
    let events = events.into_iter().enumerate().map(|(at, event)| Event { n: at as u32 + 1, ..event }).collect();
    Trace { header, events }
}

fn event(kind: Kind, data: &str) -> Event {
    Event {
        n: 0,
        us: 0,
        run: 1,
        tick: 0,
        kind,
        server: None,
        conn: None,
        step: None,
        cause: None,
        payload: None,
        data: Json::parse(data).unwrap(),
    }
}

fn wire(kind: Kind, server: &str, conn: u32, cause: Option<u32>, payload: &str) -> Event {
    let payload = Some(Payload::Whole(payload.as_bytes().to_vec()));
    Event { server: Some(server.to_owned()), conn: Some(conn), cause, payload, ..event(kind, "{}") }
}

#[test]
fn a_hop_reads_like_the_example() {
    let plan = planned(7);
    let id = &crate::model::api(plan.profile.model.api).use_id(plan.key.seed, 1, 0);
    let cwd = "/tmp/hcabc/work";
    let mut asked = event(Kind::ModelRequest, r#"{"main":true,"turn":0}"#);
    let tools = r#"[{"name":"mcp__orders__lookup_order","description":"x","input_schema":{}}]"#;
    asked.payload = Some(Payload::Whole(
        format!(r#"{{"stream":true,"tools":{tools},"messages":[{{"role":"user","content":"go"}}]}}"#).into_bytes(),
    ));
    let emitted = format!(
        r#"{{"main":true,"turn":0,"uses":[{{"id":"{id}","use":0,"name":"mcp__orders__lookup_order","name_from":"offer","input":"{{\"order_id\":\"A-1042\"}}"}}]}}"#
    );
    let mut told = event(Kind::ModelRequest, r#"{"main":true,"turn":1}"#);
    let result = format!(
        r#"{{"type":"tool_result","tool_use_id":"{id}","content":[{{"type":"text","text":"in {cwd}"}}]}}"#
    );
    told.payload = Some(Payload::Whole(
        format!(r#"{{"stream":true,"tools":{tools},"messages":[{{"role":"user","content":[{result}]}}]}}"#)
            .into_bytes(),
    ));
    let call = r#"{"jsonrpc":"2.0","id":17,"method":"tools/call","params":{"name":"lookup_order","arguments":{"order_id":"A-1042"}}}"#;
    let answer = r#"{"jsonrpc":"2.0","id":17,"result":{"content":[{"type":"text","text":"paid hcm-0123456z"}],"isError":false}}"#;
    let mut events = vec![
        event(Kind::HostStart, &format!(r#"{{"cwd":"{cwd}"}}"#)),
        asked,
        event(Kind::ModelReply, &emitted),
        wire(Kind::ToServer, "orders", 1, None, call),
        wire(Kind::ToHost, "orders", 1, Some(4), answer),
        told,
        event(Kind::HostExit, r#"{"code":0}"#),
    ];
    let expected = r#"
model  <-  tools                [mcp__orders__lookup_order]
model  ->  tool_use     <use:1> mcp__orders__lookup_order {"order_id":"A-1042"}
orders ->  tools/call   <id:1>  lookup_order {"order_id":"A-1042"}
orders <-  result       <id:1>  isError=false "paid <marker:1>"
model  <-  tool_result  <use:1> ok "in <cwd>"
host   --  exit                 0
"#;
    let text = transcript(&plan, &traced(&plan, events.clone()));
    assert_eq!(format!("\n{text}"), expected);
    // An id that is none stays visible.
    events[3] = wire(Kind::ToServer, "orders", 1, None, &call.replace("17", "1.5"));
    let text = transcript(&plan, &traced(&plan, events));
    assert!(text.contains("tools/call   1.5 "), "{text}");
}

#[test]
fn concurrent_events_have_one_order() {
    let plan = planned(7);
    let list = |id: u32| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/list"}}"#);
    let page = |id: u32| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"tools":[{{"name":"t{id}"}}]}}}}"#);
    let one = vec![
        wire(Kind::ToServer, "a", 1, None, &list(1)),
        wire(Kind::ToServer, "b", 2, None, &list(1)),
        wire(Kind::ToServer, "a", 1, None, &list(2)),
        wire(Kind::ToHost, "a", 1, Some(1), &page(1)),
        wire(Kind::ToHost, "a", 1, Some(3), &page(2)),
        wire(Kind::ToHost, "b", 2, Some(2), &page(1)),
    ];
    let other = vec![
        wire(Kind::ToServer, "b", 1, None, &list(1)),
        wire(Kind::ToHost, "b", 1, Some(1), &page(1)),
        wire(Kind::ToServer, "a", 2, None, &list(1)),
        wire(Kind::ToServer, "a", 2, None, &list(2)),
        wire(Kind::ToHost, "a", 2, Some(4), &page(2)),
        wire(Kind::ToHost, "a", 2, Some(3), &page(1)),
    ];
    let one = transcript(&plan, &traced(&plan, one));
    assert_eq!(one, transcript(&plan, &traced(&plan, other)));
    assert_eq!(one.lines().count(), 6);
}

#[test]
fn the_seed_leaves_no_mark() {
    let text = |seed| {
        let plan = planned(seed);
        let mut prompt = event(Kind::Prompt, "{}");
        prompt.payload = Some(Payload::Whole(plan.prompts[0].clone().into_bytes()));
        transcript(&plan, &traced(&plan, vec![prompt]))
    };
    assert_eq!(text(1), text(2));
    assert!(text(1).contains("<run>"), "{}", text(1));
}

fn sections(of: &[(Revision, &str)]) -> Sections {
    Sections(of.iter().map(|(revision, text)| ((*revision, Transport::Stdio), (*text).to_owned())).collect())
}

#[test]
fn equal_transcripts_share_a_section() {
    let text = sections(&[
        (Revision::V2025_06_18, "a\n"),
        (Revision::V2025_11_25, "a\n"),
        (Revision::V2026_07_28, "b\n"),
    ])
    .render();
    assert_eq!(text, "# 2025-06-18+stdio 2025-11-25+stdio\na\n\n# 2026-07-28+stdio\nb\n");
}

#[test]
fn sections_are_read_as_they_were_written() {
    let all = [
        sections(&[]),
        sections(&[(Revision::V2025_11_25, "a\n\nb\n")]),
        sections(&[(Revision::V2025_11_25, ""), (Revision::V2026_07_28, "# a\n")]),
        sections(&[
            (Revision::V2025_06_18, "a\n"),
            (Revision::V2025_11_25, "b\n"),
            (Revision::V2026_07_28, "a\n"),
        ]),
    ];
    for sections in all {
        assert_eq!(Sections::parse(&sections.render()), sections);
        let file = wrap(&sections.render());
        assert_eq!(unwrap(&file), sections.render().trim_end());
    }
}
