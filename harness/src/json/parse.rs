//! A strict RFC 8259 parser that keeps what it read.

use super::{Json, Number, Text};

/// Deeper nesting than this is refused, so that a hostile host cannot overflow our stack.
const MAX_DEPTH: u32 = 512;

/// More values than this are refused: a value costs us some forty times the two bytes that it may have in the text.
const MAX_VALUES: u32 = 1 << 18;

/// Where and why a text is no JSON.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason} at byte {offset}")]
pub struct ParseError {
    /// Byte offset into the text.
    pub offset: usize,
    /// What is wrong there, as a lowercase fragment.
    pub reason: &'static str,
}

pub(super) fn parse(bytes: &[u8]) -> Result<Json, ParseError> {
    if let Err(error) = str::from_utf8(bytes) {
        return Err(ParseError { offset: error.valid_up_to(), reason: "invalid UTF-8" });
    }
    let mut parser = Parser { bytes, at: 0, depth: 0, values: 0 };
    parser.space();
    let value = parser.value()?;
    parser.space();
    match parser.peek() {
        None => Ok(value),
        Some(_) => Err(parser.error("unexpected text after the value")),
    }
}

struct Parser<'a> {
    bytes: &'a [u8],
    at: usize,
    depth: u32,
    values: u32,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn error(&self, reason: &'static str) -> ParseError {
        ParseError { offset: self.at, reason }
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn word(&mut self, word: &str, value: Json) -> Result<Json, ParseError> {
        if self.bytes[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            Ok(value)
        } else {
            Err(self.error("expected a value"))
        }
    }

    fn value(&mut self) -> Result<Json, ParseError> {
        self.values += 1;
        if self.values > MAX_VALUES {
            return Err(self.error("too many values"));
        }
        match self.peek() {
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b'"') => self.string().map(Json::String),
            Some(b'-' | b'0'..=b'9') => self.number().map(Json::Number),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            Some(b'n') => self.word("null", Json::Null),
            Some(_) => Err(self.error("expected a value")),
            None => Err(self.error("unexpected end")),
        }
    }

    fn nested(&mut self, body: fn(&mut Self) -> Result<Json, ParseError>) -> Result<Json, ParseError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.error("nested too deeply"));
        }
        self.at += 1;
        let value = body(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn object(&mut self) -> Result<Json, ParseError> {
        let mut members = Vec::new();
        self.space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Json::Object(members));
        }
        loop {
            self.space();
            if self.peek() != Some(b'"') {
                return Err(self.error("expected a member name"));
            }
            let key = self.string()?;
            self.space();
            if self.peek() != Some(b':') {
                return Err(self.error("expected `:`"));
            }
            self.at += 1;
            self.space();
            members.push((key, self.value()?));
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(Json::Object(members));
                }
                Some(_) => return Err(self.error("expected `,` or `}`")),
                None => return Err(self.error("unexpected end")),
            }
        }
    }

    fn array(&mut self) -> Result<Json, ParseError> {
        let mut items = Vec::new();
        self.space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Json::Array(items));
        }
        loop {
            self.space();
            items.push(self.value()?);
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(Json::Array(items));
                }
                Some(_) => return Err(self.error("expected `,` or `]`")),
                None => return Err(self.error("unexpected end")),
            }
        }
    }

    fn digits(&mut self) -> Result<(), ParseError> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start { Err(self.error("expected a digit")) } else { Ok(()) }
    }

    fn number(&mut self) -> Result<Number, ParseError> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        // The scanned bytes are ASCII.
        Ok(Number::from_valid(&String::from_utf8_lossy(&self.bytes[start..self.at])))
    }

    fn string(&mut self) -> Result<Text, ParseError> {
        self.at += 1;
        let mut out = Vec::new();
        loop {
            let plain = self.at;
            while matches!(self.peek(), Some(byte) if byte >= 0x20 && byte != b'"' && byte != b'\\') {
                self.at += 1;
            }
            let plain = &self.bytes[plain..self.at];
            match self.peek() {
                // Most strings have no escapes, and are copied once.
                Some(b'"') if out.is_empty() => {
                    self.at += 1;
                    return Ok(Text::from_generalised(plain));
                }
                Some(b'"') => {
                    self.at += 1;
                    out.extend_from_slice(plain);
                    return Ok(Text::from_generalised(&out));
                }
                Some(b'\\') => {
                    out.extend_from_slice(plain);
                    self.escape(&mut out)?;
                }
                Some(_) => return Err(self.error("control character in a string")),
                None => return Err(self.error("unexpected end")),
            }
        }
    }

    fn escape(&mut self, out: &mut Vec<u8>) -> Result<(), ParseError> {
        let escaped = self.bytes.get(self.at + 1).copied();
        let byte = match escaped {
            Some(b'"') => b'"',
            Some(b'\\') => b'\\',
            Some(b'/') => b'/',
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'u') => {
                let mut unit = self.unit()?;
                if (0xd800..0xdc00).contains(&unit) && self.bytes[self.at..].starts_with(b"\\u") {
                    let back = self.at;
                    let low = self.unit()?;
                    if (0xdc00..0xe000).contains(&low) {
                        unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
                    } else {
                        self.at = back;
                    }
                }
                push_generalised(unit, out);
                return Ok(());
            }
            _ => return Err(self.error("unknown escape")),
        };
        self.at += 2;
        out.push(byte);
        Ok(())
    }

    /// Reads `\uXXXX`.
    fn unit(&mut self) -> Result<u32, ParseError> {
        let digits = self.bytes.get(self.at + 2..self.at + 6).unwrap_or_default();
        let unit = str::from_utf8(digits)
            .ok()
            .filter(|text| text.len() == 4 && text.bytes().all(|b| b.is_ascii_hexdigit()))
            .and_then(|text| u32::from_str_radix(text, 16).ok())
            .ok_or_else(|| self.error("expected four hexadecimal digits"))?;
        self.at += 6;
        Ok(unit)
    }
}

/// UTF-8, with surrogates in the same scheme.
fn push_generalised(unit: u32, out: &mut Vec<u8>) {
    match char::from_u32(unit) {
        Some(char) => out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes()),
        None => out.extend_from_slice(&[
            0xe0 | (unit >> 12) as u8,
            0x80 | ((unit >> 6) & 0x3f) as u8,
            0x80 | (unit & 0x3f) as u8,
        ]),
    }
}
