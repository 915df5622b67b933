//! Servers that misbehave as their scripts say. What reaches the host is the bytes of the record, whatever they are.

use hopcheck::trace::cut::sha256_hex;
use hopcheck::trace::event::{Event, Kind};

use super::{Judged, of, options, run_with};
use crate::stage::{CALL, one, shown};

/// Runs a host that hears to the end, with a server that also does this.
fn heard(acts: &str) -> Judged {
    let scenario = CALL.replacen("[[step]]\ncall", &format!("{acts}\n[[step]]\ncall"), 1);
    run_with("listens", &scenario, &options())
}

/// What a host must have heard, by the record.
fn recorded(events: &[Event]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for event in of(events, Kind::ToHost) {
        bytes.extend_from_slice(event.bytes().unwrap());
        if event.data.get("raw").is_none() {
            bytes.push(b'\n');
        }
    }
    bytes
}

/// That the host heard what was recorded, and how much that was.
#[track_caller]
fn check(acts: &str) -> (Judged, Vec<u8>) {
    let judged = heard(acts);
    judged.ended("exit");
    let bytes = recorded(&judged.events);
    let out = of(&judged.events, Kind::HostOut);
    let told = out.iter().find_map(|event| str::from_utf8(event.bytes()?).ok()?.split_once("heard "));
    let expected = format!("{} {}", bytes.len(), sha256_hex(&bytes));
    assert_eq!(told.map(|(_, told)| told), Some(expected.as_str()), "{}", shown(&judged.events));
    (judged, bytes)
}

fn on_call(act: &str) -> String {
    format!("[[server.orders.on]]\nevent = \"request\"\nmethod = \"tools/call\"\ndo = [{act}]")
}

#[test]
fn bytes_that_are_no_text() {
    let (_, bytes) = check(&on_call(r#"{ raw = { hex = "22fffeeda080c08022 0a" } }"#.replace(' ', "").as_str()));
    assert!(bytes.ends_with(b"\"\xff\xfe\xed\xa0\x80\xc0\x80\"\n"));
}

#[test]
fn half_a_line() {
    let (judged, bytes) =
        check(&on_call(r#"{ raw = "{\"jsonrpc\":\"2.0\",\"id\":3,\"res" }, { close_stdout = true }"#));
    assert!(bytes.ends_with(b"\"res"));
    assert_eq!(one(&judged.events, Kind::WireClosed).data.str("by"), Some("server"));
}

#[test]
fn many_copies() {
    let (_, bytes) = check(&on_call("{ duplicate = 50 }"));
    let copies = bytes.split(|&byte| byte == b'\n').filter(|line| line.windows(6).any(|part| part == b"\"id\":3"));
    assert_eq!(copies.count(), 51);
}

#[test]
fn an_answer_of_eight_megabytes() {
    let reply = format!(
        "[[server.orders.tool]]\nname = \"lookup_order\"\ninput_schema = '''{{\"type\":\"object\"}}'''\n\
         [[server.orders.tool.reply]]\nresult = '''{{\"content\":[{{\"type\":\"text\",\"text\":\"{{{{ marker }}}}{}\"}}]}}'''",
        "x".repeat(7 << 20)
    );
    let (_, bytes) = check(&reply);
    assert!(bytes.len() > 7 << 20);
}

#[test]
fn much_on_standard_error() {
    let acts = on_call(&format!("{{ stderr = \"{}\" }}", "e".repeat(1 << 20)));
    let (judged, _) = check(&acts);
    assert_eq!(one(&judged.events, Kind::ServerErr).bytes().unwrap().len(), 1 << 20);
}

#[test]
fn an_end_at_any_event() {
    for event in [
        "event = \"spawn\"",
        "event = \"connect\"",
        "event = \"request\"\nmethod = \"tools/list\"",
        "event = \"notification\"",
        "event = \"eof\"",
    ] {
        for end in ["{ exit = 7 }", "{ kill = \"SIGKILL\" }", "{ close_stdout = true }"] {
            check(&format!("[[server.orders.on]]\n{event}\ndo = [{end}]"));
        }
    }
}

#[test]
fn an_answer_that_never_comes() {
    for act in ["{ silence = true }", "{ hold = \"for-ever\" }"] {
        let (_, bytes) = check(&on_call(act));
        assert!(!bytes.windows(6).any(|part| part == b"\"id\":3"), "{act}");
    }
}
