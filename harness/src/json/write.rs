//! Writing JSON: compact, in source order.

use std::fmt;

use super::Json;

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(number) => f.write_str(number.as_str()),
            Self::String(text) => text.write(f),
            Self::Array(items) => {
                f.write_str("[")?;
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        f.write_str(",")?;
                    }
                    item.fmt(f)?;
                }
                f.write_str("]")
            }
            Self::Object(members) => {
                f.write_str("{")?;
                for (at, (key, value)) in members.iter().enumerate() {
                    if at > 0 {
                        f.write_str(",")?;
                    }
                    key.write(f)?;
                    f.write_str(":")?;
                    value.fmt(f)?;
                }
                f.write_str("}")
            }
        }
    }
}

impl Json {
    /// The compact text as bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.to_string().into_bytes()
    }

    /// A copy with members sorted by name, for hashing and for texts that must not depend on member order.
    #[must_use]
    pub fn sorted(&self) -> Self {
        match self {
            Self::Array(items) => Self::Array(items.iter().map(Self::sorted).collect()),
            Self::Object(members) => {
                let mut members: Vec<_> = members.iter().map(|(k, v)| (k.clone(), v.sorted())).collect();
                members.sort_by(|a, b| a.0.cmp(&b.0));
                Self::Object(members)
            }
            other => other.clone(),
        }
    }
}
