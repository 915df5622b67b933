//! Numbers as they were written, compared as exact decimals.

use std::fmt;

/// How numbers compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberModel {
    /// By exact decimal value: `9007199254740993` differs from `9007199254740992`, and `1.0` equals `1`.
    Decimal,
    /// As IEEE 754 doubles, for surfaces whose programs are JavaScript.
    Double,
}

/// The text of a JSON number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Number(String);

impl Number {
    /// The number as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn from_valid(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// The value, where the text is that of an integer that fits.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        self.0.parse().ok()
    }

    /// The nearest double.
    #[must_use]
    pub fn as_f64(&self) -> f64 {
        // Every JSON number is also a valid Rust float; overflow gives infinity.
        self.0.parse().unwrap_or(f64::NAN)
    }

    /// Whether both have the same value under `model`. Minus zero equals zero in both models.
    #[must_use]
    pub fn equals(&self, other: &Self, model: NumberModel) -> bool {
        match model {
            NumberModel::Decimal if self.0 == other.0 => true,
            // An integer has one text, so that different texts are different values. Most numbers are request ids.
            NumberModel::Decimal if self.is_plain_integer() && other.is_plain_integer() => false,
            NumberModel::Decimal => self.decimal() == other.decimal(),
            NumberModel::Double => self.as_f64() == other.as_f64(),
        }
    }

    /// Digits alone. JSON allows no zeros before them.
    fn is_plain_integer(&self) -> bool {
        self.0.bytes().all(|byte| byte.is_ascii_digit())
    }

    /// Sign, digits without leading and trailing zeros, and the power of ten of the last digit.
    fn decimal(&self) -> (bool, String, i128) {
        let (negative, text) = match self.0.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, self.0.as_str()),
        };
        let (mantissa, exponent) = match text.find(['e', 'E']) {
            Some(at) => (&text[..at], saturating_exponent(&text[at + 1..])),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits: String = whole.chars().chain(fraction.chars()).collect();
        let kept = digits.trim_end_matches('0');
        let dropped = (digits.len() - kept.len()) as i128;
        let kept = kept.trim_start_matches('0');
        if kept.is_empty() {
            return (false, String::new(), 0);
        }
        (negative, kept.to_owned(), exponent - fraction.len() as i128 + dropped)
    }
}

fn saturating_exponent(text: &str) -> i128 {
    // An exponent of more than 30 digits is beyond every number that a text could hold.
    let limit = i128::MAX / 4;
    text.parse().unwrap_or(if text.starts_with('-') { -limit } else { limit })
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Self(value.to_string())
    }
}

impl From<u64> for Number {
    fn from(value: u64) -> Self {
        Self(value.to_string())
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
