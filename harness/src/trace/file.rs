//! The trace file: JSON Lines, a header and then one event each.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::Path;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use super::event::{Event, Kind, Lane, Payload};
use super::{Header, Trace};
use crate::diagnostic::Source;
use crate::json::Json;
use crate::plan::PlanKey;
use crate::revision::{Revision, Transport};

/// The format that is written and read.
pub(crate) const FORMAT: i64 = 1;

/// Why a file is no trace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name}:{line}: {what}")]
pub struct TraceError {
    /// The file.
    pub name: String,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it, as a lowercase fragment.
    pub what: String,
}

/// Line 1 of a trace, with its line feed.
#[must_use]
pub fn write_header(header: &Header) -> String {
    let plan = &header.plan;
    let key = Json::object([
        ("scenario", Json::from(&plan.scenario)),
        ("host", Json::from(&plan.host)),
        ("variant", plan.variant.as_deref().into()),
        ("version", plan.version.as_deref().into()),
        ("revision", plan.revision.as_str().into()),
        ("transport", plan.transport.as_str().into()),
        ("seed", plan.seed.into()),
    ]);
    let mut line =
        Json::object([("hopcheck", Json::from(&header.hopcheck)), ("trace", FORMAT.into()), ("plan", key)]);
    if let Some(reason) = &header.not_applicable {
        line.set("not_applicable", reason);
    }
    line.set("scenario", source_json(&header.scenario));
    line.set("scripts", Json::object(header.scripts.iter().map(|(name, script)| (name, source_json(script)))));
    line.set("profile", source_json(&header.profile));
    line.set("host_version", &header.host_version);
    line.set("environment", header.environment.clone());
    let mut line = format!("{line}\n");
    keep_on_one_line(&mut line);
    line
}

/// Escapes the characters that JSON allows in a string and that many tools take for the end of a line. They stand
/// nowhere else in a line of JSON.
fn keep_on_one_line(line: &mut String) {
    for (char, escape) in [("\u{85}", "\\u0085"), ("\u{2028}", "\\u2028"), ("\u{2029}", "\\u2029")] {
        if line.contains(char) {
            *line = line.replace(char, escape);
        }
    }
}

fn source_json(source: &Source) -> Json {
    Json::object([("name", &source.name), ("text", &source.text)])
}

/// The line of an event, with its line feed.
#[must_use]
pub fn write_event(event: &Event) -> String {
    let mut line = String::with_capacity(160 + event.bytes().map_or(0, <[u8]>::len));
    let lane = event.kind.lane().as_str();
    let ev = event.kind.as_str();
    // Writing to a string cannot fail.
    let _ = write!(
        line,
        r#"{{"n":{},"us":{},"run":{},"tick":{},"lane":"{lane}","ev":"{ev}""#,
        event.n, event.us, event.run, event.tick
    );
    if let Some(server) = &event.server {
        member(&mut line, "server", &Json::from(server));
    }
    for (name, number) in [("conn", event.conn), ("step", event.step), ("cause", event.cause)] {
        if let Some(number) = number {
            member(&mut line, name, &Json::from(number));
        }
    }
    match &event.payload {
        Some(Payload::Whole(bytes)) => bytes_member(&mut line, ["raw", "raw_b64"], bytes),
        Some(Payload::Cut { head, len, sha256 }) => {
            bytes_member(&mut line, ["head", "head_b64"], head);
            member(&mut line, "len", &Json::from(*len));
            member(&mut line, "sha256", &Json::from(sha256));
        }
        None => {}
    }
    if event.data != Json::Null {
        member(&mut line, "data", &event.data);
    }
    line.push_str("}\n");
    keep_on_one_line(&mut line);
    line
}

fn member(line: &mut String, name: &str, value: &Json) {
    let _ = write!(line, r#","{name}":{value}"#);
}

fn bytes_member(line: &mut String, [text_name, base64_name]: [&str; 2], bytes: &[u8]) {
    match str::from_utf8(bytes) {
        Ok(text) => member(line, text_name, &Json::from(text)),
        Err(_) => member(line, base64_name, &Json::from(BASE64.encode(bytes))),
    }
}

/// Writes a whole trace to a file.
///
/// # Errors
/// The file could not be created or written.
pub fn save(trace: &Trace, path: &Path) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    file.write_all(write_header(&trace.header).as_bytes())?;
    for event in &trace.events {
        file.write_all(write_event(event).as_bytes())?;
    }
    file.flush()
}

/// Reads a trace. A last line that is cut short is dropped: a crash leaves a readable prefix.
///
/// # Errors
/// The first line that is no header or no event.
pub fn read(name: &str, bytes: &[u8]) -> Result<Trace, TraceError> {
    let mut header = None;
    let mut events = Vec::new();
    for (at, line) in bytes.split_inclusive(|&byte| byte == b'\n').enumerate() {
        let error = |what: String| TraceError { name: name.to_owned(), line: at + 1, what };
        if line.trim_ascii().is_empty() {
            continue;
        }
        let json = match Json::parse(line) {
            Ok(json) => json,
            Err(_) if header.is_some() && !line.ends_with(b"\n") => break,
            Err(_) if !line.ends_with(b"\n") && line.starts_with(b"{\"hopcheck\"") => {
                return Err(error("the first line is cut short, so nothing can be told of the run".to_owned()));
            }
            Err(problem) => return Err(error(format!("not JSON: {problem}"))),
        };
        if header.is_none() {
            header = Some(read_header(&json).map_err(error)?);
        } else {
            events.push(read_event(&json).map_err(error)?);
        }
    }
    match header {
        Some(header) => Ok(Trace { header, events }),
        None => Err(TraceError { name: name.to_owned(), line: 1, what: "the file is empty".to_owned() }),
    }
}

fn read_header(json: &Json) -> Result<Header, String> {
    let hopcheck = json.str("hopcheck").ok_or("not a trace: no `hopcheck` on its first line")?;
    match json.get("trace").and_then(Json::as_i64) {
        Some(FORMAT) => {}
        Some(other) => {
            return Err(format!("trace format {other} is not known; this hopcheck reads {FORMAT}"));
        }
        None => return Err("not a trace: no `trace` on its first line".to_owned()),
    }
    let plan = json.get("plan").ok_or("no `plan`")?;
    let optional = |name: &str| plan.str(name).map(str::to_owned);
    let revision = text(plan, "revision")?;
    let transport = text(plan, "transport")?;
    let scripts = json.get("scripts").map_or(&[][..], Json::members);
    Ok(Header {
        hopcheck: hopcheck.to_owned(),
        plan: PlanKey {
            scenario: text(plan, "scenario")?,
            host: text(plan, "host")?,
            variant: optional("variant"),
            version: optional("version"),
            revision: Revision::parse(&revision).ok_or_else(|| format!("unknown revision `{revision}`"))?,
            transport: Transport::parse(&transport).ok_or_else(|| format!("unknown transport `{transport}`"))?,
            seed: unsigned(plan, "seed")?.ok_or("no `seed`")?,
        },
        not_applicable: json.str("not_applicable").map(str::to_owned),
        scenario: read_source(json.get("scenario")).ok_or("no `scenario` with `name` and `text`")?,
        scripts: scripts
            .iter()
            .map(|(name, script)| Some((name.as_str()?.to_owned(), read_source(Some(script))?)))
            .collect::<Option<_>>()
            .ok_or("a script without `name` and `text`")?,
        profile: read_source(json.get("profile")).ok_or("no `profile` with `name` and `text`")?,
        host_version: json.str("host_version").unwrap_or_default().to_owned(),
        environment: json.get("environment").cloned().unwrap_or(Json::Null),
    })
}

fn read_source(json: Option<&Json>) -> Option<Arc<Source>> {
    let json = json?;
    Some(Source::new(json.str("name")?, json.str("text")?))
}

fn read_event(json: &Json) -> Result<Event, String> {
    let lane_word = text(json, "lane")?;
    let lane = Lane::parse(&lane_word).ok_or_else(|| format!("unknown lane `{lane_word}`"))?;
    let word = text(json, "ev")?;
    let kind = Kind::parse(lane, &word).ok_or_else(|| format!("unknown event `{word}` of lane `{lane_word}`"))?;
    Ok(Event {
        n: number(json, "n")?.ok_or("no `n`")?,
        us: unsigned(json, "us")?.unwrap_or_default(),
        run: number(json, "run")?.ok_or("no `run`")?,
        tick: number(json, "tick")?.unwrap_or_default(),
        kind,
        server: json.str("server").map(str::to_owned),
        conn: number(json, "conn")?,
        step: number(json, "step")?,
        cause: number(json, "cause")?,
        payload: read_payload(json)?,
        data: json.get("data").cloned().unwrap_or(Json::Null),
    })
}

fn read_payload(json: &Json) -> Result<Option<Payload>, String> {
    if let Some(bytes) = read_bytes(json, ["raw", "raw_b64"])? {
        return Ok(Some(Payload::Whole(bytes)));
    }
    let Some(head) = read_bytes(json, ["head", "head_b64"])? else {
        return Ok(None);
    };
    let len = unsigned(json, "len")?.ok_or("`head` without `len`")?;
    Ok(Some(Payload::Cut { head, len, sha256: text(json, "sha256")? }))
}

fn read_bytes(json: &Json, [text_name, base64_name]: [&str; 2]) -> Result<Option<Vec<u8>>, String> {
    if let Some(value) = json.get(text_name) {
        let text = value.as_str().ok_or_else(|| format!("`{text_name}` is no text"))?;
        return Ok(Some(text.as_bytes().to_vec()));
    }
    let Some(value) = json.get(base64_name) else {
        return Ok(None);
    };
    let encoded = value.as_str().ok_or_else(|| format!("`{base64_name}` is no text"))?;
    let bytes = BASE64.decode(encoded).map_err(|problem| format!("`{base64_name}` is no base64: {problem}"))?;
    Ok(Some(bytes))
}

fn text(json: &Json, name: &str) -> Result<String, String> {
    json.str(name).map(str::to_owned).ok_or_else(|| format!("no text `{name}`"))
}

/// A number of any size up to `u64`; seeds use them all.
fn unsigned(json: &Json, name: &str) -> Result<Option<u64>, String> {
    match json.get(name) {
        None => Ok(None),
        Some(Json::Number(number)) => {
            number.as_str().parse().map(Some).map_err(|_| format!("`{name}` is no count: {number}"))
        }
        Some(other) => Err(format!("`{name}` is no number: {other}")),
    }
}

fn number(json: &Json, name: &str) -> Result<Option<u32>, String> {
    let wide = unsigned(json, name)?;
    wide.map(|wide| u32::try_from(wide).map_err(|_| format!("`{name}` is too large: {wide}"))).transpose()
}

/// Keeps the events of a run, and streams them to a file where there is one.
#[derive(Debug)]
pub struct Writer {
    events: Vec<Event>,
    header: Header,
    file: Option<BufWriter<File>>,
    /// Lines that are not yet with the file.
    line: String,
}

impl Writer {
    /// Begins a trace; `path` is created with its folders, and gets the header at once.
    ///
    /// # Errors
    /// The file could not be created or written.
    pub fn new(header: Header, path: Option<&Path>) -> io::Result<Self> {
        let mut file = None;
        if let Some(path) = path {
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder)?;
            }
            let mut created = BufWriter::new(File::create(path)?);
            created.write_all(write_header(&header).as_bytes())?;
            created.flush()?;
            file = Some(created);
        }
        Ok(Self { events: Vec::new(), header, file, line: String::new() })
    }

    /// The number that the next event gets.
    #[must_use]
    pub fn next_number(&self) -> u32 {
        u32::try_from(self.events.len()).unwrap_or(u32::MAX).saturating_add(1)
    }

    /// The events so far.
    #[must_use]
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// Adds an event. It reaches the file with the next [`Writer::flush`].
    pub fn push(&mut self, event: Event) {
        if self.file.is_some() {
            self.line.push_str(&write_event(&event));
        }
        self.events.push(event);
    }

    /// Hands all events so far to the file, so that a crash after it leaves them readable.
    ///
    /// # Errors
    /// The file could not be written.
    pub fn flush(&mut self) -> io::Result<()> {
        if let Some(file) = &mut self.file
            && !self.line.is_empty()
        {
            file.write_all(self.line.as_bytes())?;
            file.flush()?;
            self.line.clear();
        }
        Ok(())
    }

    /// Ends the trace.
    ///
    /// # Errors
    /// The file could not be written.
    pub fn finish(mut self) -> io::Result<Trace> {
        self.flush()?;
        Ok(Trace { header: self.header, events: self.events })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn header() -> Header {
        Header {
            hopcheck: "0.1.0".to_owned(),
            plan: PlanKey {
                scenario: "call/one[a]".to_owned(),
                host: "acme".to_owned(),
                variant: Some("code".to_owned()),
                version: None,
                revision: Revision::V2025_11_25,
                transport: Transport::Stdio,
                seed: u64::MAX,
            },
            not_applicable: None,
            scenario: Source::new("call/one.toml", "title = \"x\"\n"),
            scripts: vec![("orders".to_owned(), Source::new("orders.toml", ""))],
            profile: Source::new("acme.toml", "name = \"acme\"\n"),
            host_version: "1.2.3".to_owned(),
            environment: Json::object([("os", "linux")]),
        }
    }

    fn event(n: u32) -> Event {
        Event {
            n,
            us: 12,
            run: 1,
            tick: 3,
            kind: Kind::ToServer,
            server: Some("orders".to_owned()),
            conn: Some(1),
            step: None,
            cause: None,
            payload: Some(Payload::Whole(br#"{"a":"x"}"#.to_vec())),
            data: Json::object([("end", "lf")]),
        }
    }

    #[test]
    fn a_line_has_the_members_of_the_format() {
        let expected =
            r#"{"n":1,"us":12,"run":1,"tick":3,"lane":"wire","ev":"to-server","server":"orders","conn":1,"#
                .to_owned()
                + r#""raw":"{\"a\":\"x\"}","data":{"end":"lf"}}"#
                + "\n";
        assert_eq!(write_event(&event(1)), expected);
    }

    #[test]
    fn an_event_is_one_line_for_every_tool() {
        let text = "a\u{85}b\u{2028}c\u{2029}d";
        let line = write_event(&Event { payload: Some(Payload::Whole(text.as_bytes().to_vec())), ..event(1) });
        assert!(line.contains(r#""raw":"a\u0085b\u2028c\u2029d""#), "{line}");
    }

    #[test]
    fn a_cut_last_line_is_dropped_and_a_bad_line_is_named() {
        let mut text = write_header(&header());
        text += &write_event(&event(1));
        let whole = text.clone() + &write_event(&event(2));
        let read_back = read("t.jsonl", &whole.as_bytes()[..whole.len() - 9]).unwrap();
        assert_eq!(read_back.events, [event(1)]);

        #[track_caller]
        fn check(bytes: &str, expected: &str) {
            assert_eq!(read("t.jsonl", bytes.as_bytes()).unwrap_err().to_string(), expected);
        }
        check("", "t.jsonl:1: the file is empty");
        check(&text[..40], "t.jsonl:1: the first line is cut short, so nothing can be told of the run");
        check("{}\n", "t.jsonl:1: not a trace: no `hopcheck` on its first line");
        check(&(text.clone() + "oops\n"), "t.jsonl:3: not JSON: expected a value at byte 0");
        check(
            &(text.clone() + r#"{"n":2,"run":1,"lane":"wire","ev":"hum"}"#),
            "t.jsonl:3: unknown event `hum` of lane `wire`",
        );
        check(&(text + r#"{"n":2,"run":1,"lane":"sky","ev":"hum"}"#), "t.jsonl:3: unknown lane `sky`");
    }

    #[test]
    fn the_writer_streams_what_it_keeps() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("acme/call/one.jsonl");
        let mut writer = Writer::new(header(), Some(&path)).unwrap();
        assert_eq!(writer.next_number(), 1);
        writer.push(event(1));
        writer.flush().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(read("t", &bytes).unwrap().events, [event(1)]);
        writer.push(event(2));
        let trace = writer.finish().unwrap();
        assert_eq!(read("t", &std::fs::read(&path).unwrap()).unwrap(), trace);
        let at_once = folder.path().join("one.jsonl");
        save(&trace, &at_once).unwrap();
        assert_eq!(std::fs::read(at_once).unwrap(), std::fs::read(path).unwrap());
    }

    fn any_event() -> impl Strategy<Value = Event> {
        let payload =
            prop_oneof![
                Just(None),
                prop::collection::vec(any::<u8>(), 0..40).prop_map(|bytes| Some(Payload::Whole(bytes))),
                "\\PC*".prop_map(|text| Some(Payload::Whole(text.into_bytes()))),
                (prop::collection::vec(any::<u8>(), 0..40), any::<u64>())
                    .prop_map(|(head, len)| Some(Payload::Cut { head, len, sha256: "00ff".to_owned() })),
            ];
        let kind = prop::sample::select(Kind::ALL);
        let number = || prop::option::of(any::<u32>());
        let server = prop::option::of("[a-z]{1,8}");
        ((any::<u32>(), any::<u64>(), any::<u32>()), kind, server, (number(), number(), number()), payload)
            .prop_map(|((n, us, tick), kind, server, (conn, step, cause), payload)| Event {
                n,
                us,
                run: 1,
                tick,
                kind,
                server,
                conn,
                step,
                cause,
                payload,
                data: Json::Null,
            })
    }

    proptest! {
        #[test]
        fn reading_undoes_writing(events in prop::collection::vec(any_event(), 0..8)) {
            let mut text = write_header(&header());
            events.iter().for_each(|event| text += &write_event(event));
            let trace = read("t.jsonl", text.as_bytes()).unwrap();
            prop_assert_eq!(&trace.header, &header());
            prop_assert_eq!(&trace.events, &events);
        }

        #[test]
        fn never_panics(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = read("t.jsonl", &bytes);
        }
    }
}
