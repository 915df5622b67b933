//! Lossless JSON: member order, duplicate members, number text and lone surrogates survive a round trip.
//!
//! A harness that judges fidelity cannot use a parser that repairs. `9007199254740993` must not become `…992` on its
//! way through us, and a type of our own needs no feature of `serde_json`, which would change the build of our users.

mod number;
mod parse;
mod text;
mod write;

pub use number::{Number, NumberModel};
pub use parse::ParseError;
pub use text::Text;

/// A JSON value as it stood in the source. `==` compares what was written; see [`Json::equals`] for what was meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Json {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number, kept as text.
    Number(Number),
    /// A string.
    String(Text),
    /// An array.
    Array(Vec<Json>),
    /// The members of an object in source order, duplicates included.
    Object(Vec<(Text, Json)>),
}

impl Json {
    /// Parses one JSON text, surrounded by optional white space.
    ///
    /// # Errors
    /// The first place that RFC 8259 does not allow, as a byte offset, with a reason.
    pub fn parse(bytes: impl AsRef<[u8]>) -> Result<Self, ParseError> {
        parse::parse(bytes.as_ref())
    }

    /// An object from members, in the given order.
    pub fn object<K: Into<Text>, V: Into<Json>>(members: impl IntoIterator<Item = (K, V)>) -> Self {
        Self::Object(members.into_iter().map(|(k, v)| (k.into(), v.into())).collect())
    }

    /// The empty object.
    #[must_use]
    pub const fn empty() -> Self {
        Self::Object(Vec::new())
    }

    /// An array from items.
    pub fn array<V: Into<Json>>(items: impl IntoIterator<Item = V>) -> Self {
        Self::Array(items.into_iter().map(Into::into).collect())
    }

    /// The member of an object; of duplicates the last one, which is what most parsers take.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.members().iter().rev().find(|(k, _)| k == key).map(|(_, v)| v)
    }

    /// Follows a path of member names.
    #[must_use]
    pub fn at(&self, path: &[&str]) -> Option<&Self> {
        path.iter().try_fold(self, |value, key| value.get(key))
    }

    /// Follows an RFC 6901 pointer, such as `/_meta/callId` or `/content/0/text`.
    #[must_use]
    pub fn pointer(&self, pointer: &str) -> Option<&Self> {
        if pointer.is_empty() {
            return Some(self);
        }
        pointer.strip_prefix('/')?.split('/').try_fold(self, |value, segment| {
            let key = segment.replace("~1", "/").replace("~0", "~");
            match value {
                Self::Array(items) => items.get(key.parse::<usize>().ok()?),
                other => other.get(&key),
            }
        })
    }

    /// The members, or nothing where this is no object.
    #[must_use]
    pub fn members(&self) -> &[(Text, Self)] {
        match self {
            Self::Object(members) => members,
            _ => &[],
        }
    }

    /// The items, or nothing where this is no array.
    #[must_use]
    pub fn items(&self) -> &[Self] {
        match self {
            Self::Array(items) => items,
            _ => &[],
        }
    }

    /// The string, where this is one and it is valid Unicode.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => text.as_str(),
            _ => None,
        }
    }

    /// The member `key` as a string.
    #[must_use]
    pub fn str(&self, key: &str) -> Option<&str> {
        self.get(key).and_then(Self::as_str)
    }

    /// The boolean, where this is one.
    #[must_use]
    pub const fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The number as an integer, where it is one and fits.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Self::Number(number) => number.as_i64(),
            _ => None,
        }
    }

    /// Whether this is an object.
    #[must_use]
    pub const fn is_object(&self) -> bool {
        matches!(self, Self::Object(_))
    }

    /// Sets a member: replaces the last of that name or appends it. Does nothing where this is no object.
    pub fn set(&mut self, key: &str, value: impl Into<Self>) {
        if let Self::Object(members) = self {
            let value = value.into();
            match members.iter_mut().rev().find(|(k, _)| k == key) {
                Some((_, old)) => *old = value,
                None => members.push((key.into(), value)),
            }
        }
    }

    /// Whether both mean the same: members in any order, numbers by value under `model`.
    ///
    /// Objects with duplicate members are equal only to objects with the same duplicates in the same order.
    #[must_use]
    pub fn equals(&self, other: &Self, model: NumberModel) -> bool {
        match (self, other) {
            (Self::Number(a), Self::Number(b)) => a.equals(b, model),
            (Self::Array(a), Self::Array(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.equals(b, model))
            }
            (Self::Object(a), Self::Object(b)) => {
                let order = |members: &[(Text, Self)]| {
                    let mut index: Vec<usize> = (0..members.len()).collect();
                    // A stable sort keeps duplicates in source order.
                    index.sort_by(|&x, &y| members[x].0.cmp(&members[y].0));
                    index
                };
                a.len() == b.len()
                    && order(a)
                        .into_iter()
                        .zip(order(b))
                        .all(|(x, y)| a[x].0 == b[y].0 && a[x].1.equals(&b[y].1, model))
            }
            (a, b) => a == b,
        }
    }

    /// Visits this value and everything in it, depth first.
    pub fn walk(&self, visit: &mut impl FnMut(&Self)) {
        visit(self);
        match self {
            Self::Array(items) => items.iter().for_each(|item| item.walk(visit)),
            Self::Object(members) => members.iter().for_each(|(_, value)| value.walk(visit)),
            _ => {}
        }
    }
}

impl From<&str> for Json {
    fn from(value: &str) -> Self {
        Self::String(value.into())
    }
}

impl From<String> for Json {
    fn from(value: String) -> Self {
        Self::String(value.into())
    }
}

impl From<&String> for Json {
    fn from(value: &String) -> Self {
        Self::String(value.as_str().into())
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Json {
    fn from(value: i64) -> Self {
        Self::Number(value.into())
    }
}

impl From<u64> for Json {
    fn from(value: u64) -> Self {
        Self::Number(value.into())
    }
}

impl From<u32> for Json {
    fn from(value: u32) -> Self {
        Self::Number(u64::from(value).into())
    }
}

impl From<i32> for Json {
    fn from(value: i32) -> Self {
        Self::Number(i64::from(value).into())
    }
}

impl From<usize> for Json {
    fn from(value: usize) -> Self {
        Self::Number((value as u64).into())
    }
}

impl<T: Into<Json>> From<Vec<T>> for Json {
    fn from(items: Vec<T>) -> Self {
        Self::array(items)
    }
}

impl<T: Into<Json>> From<Option<T>> for Json {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

#[cfg(test)]
mod tests;
