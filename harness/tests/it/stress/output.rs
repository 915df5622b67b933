//! Hosts whose output is too much, too long, cut short or no text.

use hopcheck::trace::event::{Kind, Payload};

use super::{alone, of, run};
use crate::stage::shown;

#[test]
fn two_hundred_megabytes_of_output() {
    alone(|| {
        let judged = run("bulk");
        judged.ended("exit").blames("expect.run-ends", "the host flooded stdout");
        let dropped: i64 =
            of(&judged.events, Kind::Dropped).iter().filter_map(|event| event.data.get("dropped")?.as_i64()).sum();
        assert!(dropped > 195 << 20, "{dropped}");
    });
}

#[test]
fn half_a_line_everywhere() {
    let judged = run("halves");
    judged.ended("exit").blames("stdio.newline-delimited", "does not end with a newline");
    let line = of(&judged.events, Kind::ToServer).pop().unwrap();
    assert_eq!(line.data.str("end"), Some("eof"));
    assert_eq!(line.bytes().unwrap(), br#"{"jsonrpc":"2.0","id":2,"meth"#);
    let noise = of(&judged.events, Kind::ModelNoise).pop().unwrap();
    assert_eq!(noise.data.str("reason"), Some("a request that was cut short"));
    let out = of(&judged.events, Kind::HostOut).pop().unwrap();
    assert_eq!((out.data.str("end"), out.bytes().unwrap().ends_with(b"half a li")), (Some("eof"), true));
}

#[test]
fn bytes_that_are_no_text() {
    const BYTES: &[u8] = b"\"\xff\xfe\xed\xa0\x80\xc0\x80\"";
    let judged = run("not-utf8");
    judged.ended("exit").blames("base.encoding.utf8", "not encoded in UTF-8");
    for kind in [Kind::ToServer, Kind::HostOut, Kind::HostErr] {
        let found = of(&judged.events, kind).into_iter().any(|event| event.bytes() == Some(BYTES));
        assert!(found, "{kind:?}: {}", shown(&judged.events));
    }
    let noise = of(&judged.events, Kind::ModelNoise).pop().unwrap();
    assert!(noise.data.str("reason").unwrap().starts_with("a body that is no JSON"), "{noise:?}");
}

#[test]
fn a_line_of_fifty_megabytes() {
    alone(|| {
        let judged = run("long-line");
        judged.ended("flood").blames("expect.run-ends", "more bytes in one message than a run may hold");
        let long = of(&judged.events, Kind::ToServer).pop().unwrap();
        let Some(Payload::Cut { head, len, .. }) = &long.payload else { panic!("{long:?}") };
        assert!(*len > 50 << 20 && head.starts_with(br#"{"jsonrpc":"2.0","method":"notifications/x""#), "{len}");
    });
}

#[test]
fn a_hundred_thousand_brackets() {
    alone(|| {
        let judged = run("deep");
        judged.ended("exit").blames("base.jsonrpc.valid-2-0", "");
    });
}
