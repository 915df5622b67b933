//! Server-sent events, as far as model APIs use them.

/// One event.
#[derive(Debug, PartialEq, Eq, Default)]
pub(crate) struct SseEvent {
    /// The event field. The APIs repeat it in the data, so it is only a fallback.
    pub(crate) name: String,
    /// The data fields, joined by line ends.
    pub(crate) data: String,
}

/// Cuts a stream of bytes into events.
#[derive(Debug, Default)]
pub(crate) struct SseReader {
    line: Vec<u8>,
    after_cr: bool,
    event: SseEvent,
    has_data: bool,
}

impl SseReader {
    /// Takes bytes in and returns the events that they complete.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Vec<SseEvent> {
        let mut events = Vec::new();
        for &byte in bytes {
            let after_cr = std::mem::replace(&mut self.after_cr, byte == b'\r');
            match byte {
                b'\n' if after_cr => {}
                b'\n' | b'\r' => {
                    let line = std::mem::take(&mut self.line);
                    events.extend(self.end_line(&line));
                }
                _ => self.line.push(byte),
            }
        }
        events
    }

    fn end_line(&mut self, line: &[u8]) -> Option<SseEvent> {
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            return std::mem::take(&mut self.has_data).then_some(event);
        }
        let line = String::from_utf8_lossy(line);
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.event.name),
            "data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(value);
            }
            // Comments, ids and retry times say nothing to a model client.
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(stream: &str, expected: &[(&str, &str)]) {
        let expected: Vec<_> =
            expected.iter().map(|(name, data)| SseEvent { name: (*name).into(), data: (*data).into() }).collect();
        assert_eq!(SseReader::default().feed(stream.as_bytes()), expected, "{stream:?}");
        let mut reader = SseReader::default();
        let byte_by_byte: Vec<_> = stream.bytes().flat_map(|byte| reader.feed(&[byte])).collect();
        assert_eq!(byte_by_byte, expected, "{stream:?} byte by byte");
    }

    #[test]
    fn events_end_with_an_empty_line() {
        check("event: a\ndata: {}\n\n", &[("a", "{}")]);
        check("data:1\n\ndata: 2\n\n", &[("", "1"), ("", "2")]);
        check("event: a\r\ndata: x\r\ndata: y\r\n\r\n", &[("a", "x\ny")]);
        check("data: x\r\rdata: y\r\r", &[("", "x"), ("", "y")]);
        check(": comment\nid: 7\nretry: 5\ndata\n\n", &[("", "")]);
        check("event: only-a-name\n\n", &[]);
        check("data: never ended\n", &[]);
        check("data: ä:😀\n\n", &[("", "ä:😀")]);
    }
}
