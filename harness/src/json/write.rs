//! Writing JSON in source order: compact, or over several lines for people.

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

    /// The text over several lines, indented; values that fit into a line of `width` stay on one.
    #[must_use]
    pub fn pretty(&self, width: usize) -> String {
        let mut out = String::new();
        self.write_pretty(&mut out, width, 0);
        out
    }

    fn write_pretty(&self, out: &mut String, width: usize, indent: usize) {
        let line = out.rsplit('\n').next().unwrap_or_default().chars().count();
        let flat = self.to_string();
        let items: Vec<(String, &Self)> = match self {
            // One more for the comma that may follow.
            _ if line + flat.chars().count() < width => Vec::new(),
            Self::Array(items) => items.iter().map(|item| (String::new(), item)).collect(),
            Self::Object(members) => {
                members.iter().map(|(key, value)| (format!("{}: ", Self::String(key.clone())), value)).collect()
            }
            _ => Vec::new(),
        };
        if items.is_empty() {
            out.push_str(&flat);
            return;
        }
        let (open, close) = if matches!(self, Self::Array(_)) { ('[', ']') } else { ('{', '}') };
        out.push(open);
        for (at, (key, value)) in items.into_iter().enumerate() {
            out.push_str(if at == 0 { "\n" } else { ",\n" });
            out.extend(std::iter::repeat_n(' ', indent + 2));
            out.push_str(&key);
            value.write_pretty(out, width, indent + 2);
        }
        out.push('\n');
        out.extend(std::iter::repeat_n(' ', indent));
        out.push(close);
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
