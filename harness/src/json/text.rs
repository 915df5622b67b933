//! JSON strings, including those that are not valid Unicode.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// A decoded JSON string.
///
/// JSON can write a lone surrogate (`"\ud800"`), which no `String` can hold. Such a string is kept in generalised UTF-8
/// (each surrogate as three bytes), so that two of them compare right and can be written back.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text(Repr);

/// Shared, so that the many who keep a part of one message keep its text once.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Repr {
    Valid(Arc<str>),
    Wide(Arc<[u8]>),
}

impl Text {
    /// The string, where it is valid Unicode.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match &self.0 {
            Repr::Valid(text) => Some(text),
            Repr::Wide(_) => None,
        }
    }

    /// The string for display; lone surrogates become U+FFFD.
    #[must_use]
    pub fn to_lossy(&self) -> Cow<'_, str> {
        match &self.0 {
            Repr::Valid(text) => Cow::Borrowed(text),
            Repr::Wide(bytes) => String::from_utf8_lossy(bytes),
        }
    }

    /// The bytes in generalised UTF-8.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            Repr::Valid(text) => text.as_bytes(),
            Repr::Wide(bytes) => bytes,
        }
    }

    pub(super) fn from_generalised(bytes: &[u8]) -> Self {
        match str::from_utf8(bytes) {
            Ok(text) => Self(Repr::Valid(text.into())),
            Err(_) => Self(Repr::Wide(bytes.into())),
        }
    }

    pub(super) fn write(&self, out: &mut impl fmt::Write) -> fmt::Result {
        out.write_char('"')?;
        match &self.0 {
            Repr::Valid(text) => write_escaped(text, out)?,
            Repr::Wide(bytes) => write_wide(bytes, out)?,
        }
        out.write_char('"')
    }
}

fn write_escaped(text: &str, out: &mut impl fmt::Write) -> fmt::Result {
    let mut plain = 0;
    for (at, byte) in text.bytes().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.write_str(&text[plain..at])?;
        plain = at + 1;
        match byte {
            b'"' => out.write_str("\\\"")?,
            b'\\' => out.write_str("\\\\")?,
            b'\n' => out.write_str("\\n")?,
            b'\r' => out.write_str("\\r")?,
            b'\t' => out.write_str("\\t")?,
            other => write!(out, "\\u{other:04x}")?,
        }
    }
    out.write_str(&text[plain..])
}

fn write_wide(mut bytes: &[u8], out: &mut impl fmt::Write) -> fmt::Result {
    loop {
        let valid = match str::from_utf8(bytes) {
            Ok(text) => return write_escaped(text, out),
            Err(error) => error.valid_up_to(),
        };
        let (text, rest) = bytes.split_at(valid);
        write_escaped(&String::from_utf8_lossy(text), out)?;
        // The only invalid sequences that the parser makes are three-byte surrogates.
        let [a, b, c, rest @ ..] = rest else { return Ok(()) };
        let unit = (u32::from(a & 0x0f) << 12) | (u32::from(b & 0x3f) << 6) | u32::from(c & 0x3f);
        write!(out, "\\u{unit:04x}")?;
        bytes = rest;
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f)
    }
}

impl From<&str> for Text {
    fn from(value: &str) -> Self {
        Self(Repr::Valid(value.into()))
    }
}

impl From<String> for Text {
    fn from(value: String) -> Self {
        Self(Repr::Valid(value.into()))
    }
}

impl From<&String> for Text {
    fn from(value: &String) -> Self {
        Self(Repr::Valid(value.as_str().into()))
    }
}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        self == *other
    }
}
