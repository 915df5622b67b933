//! Bytes to lines, as they are: nothing is repaired, and no line is large enough to exhaust memory.

use sha2::{Digest, Sha256};

use crate::trace::cut::{MAX_PAYLOAD, hex};
use crate::trace::event::Payload;

/// A longer line is kept by head, length and hash alone, and nobody can answer it: no trace would hold it either.
const MAX_LINE: usize = MAX_PAYLOAD;

/// What is kept of a line that is too long.
const HEAD: usize = 64 << 10;

/// How a line ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// With a line feed.
    Lf,
    /// With carriage return and line feed.
    CrLf,
    /// The stream ended in the middle.
    Eof,
}

impl End {
    /// Its word in a trace.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Lf => "lf",
            Self::CrLf => "crlf",
            Self::Eof => "eof",
        }
    }
}

/// A line without its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its bytes.
    pub content: Content,
    /// How it ended.
    pub end: End,
}

/// The bytes of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// All of them.
    Whole(Vec<u8>),
    /// It was too long; always a cut payload.
    TooLong(Payload),
}

/// Cuts a stream into lines.
#[derive(Debug, Default)]
pub struct Lines {
    pending: Vec<u8>,
    overlong: Option<Overlong>,
}

#[derive(Debug)]
struct Overlong {
    hash: Sha256,
    len: u64,
    last: u8,
}

impl Lines {
    /// Takes in bytes and hands out the lines that they complete.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<Line>) {
        let mut rest = bytes;
        while let Some(at) = rest.iter().position(|&byte| byte == b'\n') {
            self.append(&rest[..at]);
            out.push(self.take(End::Lf));
            rest = &rest[at + 1..];
        }
        self.append(rest);
    }

    /// Ends the stream and hands out the line that it cut short, where there is one.
    pub fn finish(&mut self) -> Option<Line> {
        (!self.pending.is_empty()).then(|| self.take(End::Eof))
    }

    /// Bytes of the line that is not complete.
    #[must_use]
    pub fn held(&self) -> usize {
        self.pending.len()
    }

    fn append(&mut self, bytes: &[u8]) {
        let Some(&last) = bytes.last() else { return };
        if let Some(overlong) = &mut self.overlong {
            overlong.hash.update(bytes);
            overlong.len += bytes.len() as u64;
            overlong.last = last;
            return;
        }
        self.pending.extend_from_slice(bytes);
        if self.pending.len() > MAX_LINE {
            let hash = Sha256::new_with_prefix(&self.pending);
            self.overlong = Some(Overlong { hash, len: self.pending.len() as u64, last });
            self.pending.truncate(HEAD);
            self.pending.shrink_to_fit();
        }
    }

    fn take(&mut self, end: End) -> Line {
        let mut bytes = std::mem::take(&mut self.pending);
        if let Some(Overlong { hash, len, last }) = self.overlong.take() {
            // The hash of an overlong line covers a carriage return, where it ends with one.
            let end = if end == End::Lf && last == b'\r' { End::CrLf } else { end };
            let sha256 = hex(&hash.finalize());
            return Line { content: Content::TooLong(Payload::Cut { head: bytes, len, sha256 }), end };
        }
        let crlf = end == End::Lf && bytes.last() == Some(&b'\r');
        if crlf {
            bytes.pop();
        }
        Line { content: Content::Whole(bytes), end: if crlf { End::CrLf } else { end } }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn split(parts: &[&[u8]]) -> Vec<(Vec<u8>, End)> {
        let mut lines = Lines::default();
        let mut out = Vec::new();
        parts.iter().for_each(|part| lines.push(part, &mut out));
        out.extend(lines.finish());
        let plain = out.into_iter().map(|line| match line.content {
            Content::Whole(bytes) => (bytes, line.end),
            Content::TooLong(_) => panic!("too long"),
        });
        plain.collect()
    }

    #[test]
    fn ends_are_told_apart() {
        let got = split(&[b"a\nb\r", b"\n\nc\r"]);
        let expected: [(&[u8], End); 4] = [(b"a", End::Lf), (b"b", End::CrLf), (b"", End::Lf), (b"c\r", End::Eof)];
        assert_eq!(got, expected.map(|(bytes, end)| (bytes.to_vec(), end)));
    }

    #[test]
    fn a_line_that_never_ends_is_kept_by_its_hash() {
        let mut lines = Lines::default();
        let mut out = Vec::new();
        let block = vec![b'x'; 1 << 20];
        (0..9).for_each(|_| lines.push(&block, &mut out));
        lines.push(b"\nnext\n", &mut out);
        assert!(matches!(&out[0].content, Content::TooLong(Payload::Cut { head, len, sha256 })
            if head.len() == HEAD && *len == 9 << 20 && sha256.len() == 64));
        assert_eq!(out[1].content, Content::Whole(b"next".to_vec()));
    }

    proptest! {
        #[test]
        fn split_frames_equal_whole_ones(text in "[ab\r\n]{0,40}", cuts in prop::collection::vec(0_usize..40, 0..6)) {
            let mut cuts: Vec<usize> = cuts.into_iter().filter(|&cut| cut < text.len()).collect();
            cuts.sort_unstable();
            let mut parts = Vec::new();
            let mut from = 0;
            for cut in cuts.into_iter().chain([text.len()]) {
                parts.push(&text.as_bytes()[from..cut]);
                from = cut;
            }
            prop_assert_eq!(split(&parts), split(&[text.as_bytes()]));
        }
    }
}
