//! The tree of a TOML file.

use crate::diagnostic::{Span, Spanned};

/// A value and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Value {
    /// What it is.
    pub data: Data,
    /// Where it stands; of a `[table]` the header.
    pub span: Span,
}

/// What a value is.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// A string, decoded.
    String(String),
    /// An integer as decimal text, of any length.
    Integer(String),
    /// A float as text, or `inf`, `nan` with a sign.
    Float(String),
    /// `true` or `false`.
    Bool(bool),
    /// A date or time as it was written.
    Date(String),
    /// Items.
    Array(Vec<Value>),
    /// Members in file order.
    Table(Vec<Member>),
    /// Something that a syntax error left behind; every later pass keeps silent about it.
    Broken,
}

/// A key with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// The key.
    pub key: Spanned<String>,
    /// The value.
    pub value: Value,
}

impl Value {
    /// A table without members, for keys that are left out.
    #[must_use]
    pub const fn empty_table(span: Span) -> Self {
        Self { data: Data::Table(Vec::new()), span }
    }

    /// The members of a table, or nothing.
    #[must_use]
    pub fn members(&self) -> &[Member] {
        match &self.data {
            Data::Table(members) => members,
            _ => &[],
        }
    }

    /// The items of an array, or nothing.
    #[must_use]
    pub fn items(&self) -> &[Self] {
        match &self.data {
            Data::Array(items) => items,
            _ => &[],
        }
    }

    /// The items of an array, or the value itself: for keys that take one or many.
    #[must_use]
    pub fn one_or_many(&self) -> &[Self] {
        match &self.data {
            Data::Array(items) => items,
            _ => std::slice::from_ref(self),
        }
    }

    /// The member of that key.
    #[must_use]
    pub fn member(&self, key: &str) -> Option<&Member> {
        self.members().iter().find(|member| member.key.value == key)
    }

    /// The value of that key.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.member(key).map(|member| &member.value)
    }

    /// The items under that key, or nothing.
    #[must_use]
    pub fn list(&self, key: &str) -> &[Self] {
        self.get(key).map_or(&[], Self::items)
    }

    /// The string.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match &self.data {
            Data::String(text) => Some(text),
            _ => None,
        }
    }

    /// The boolean.
    #[must_use]
    pub const fn as_bool(&self) -> Option<bool> {
        match self.data {
            Data::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// The integer, where it fits.
    #[must_use]
    pub fn as_integer<T: std::str::FromStr>(&self) -> Option<T> {
        match &self.data {
            Data::Integer(text) => text.parse().ok(),
            _ => None,
        }
    }

    /// The string with its place.
    #[must_use]
    pub fn spanned_str(&self) -> Option<Spanned<String>> {
        self.as_str().map(|text| self.spanned(text.to_owned()))
    }

    /// The strings of a list with their places.
    #[must_use]
    pub fn spanned_strings(&self) -> Vec<Spanned<String>> {
        self.one_or_many().iter().filter_map(Self::spanned_str).collect()
    }

    /// Another value at this place.
    #[must_use]
    pub fn spanned<T>(&self, value: T) -> Spanned<T> {
        Spanned::new(value, self.span.clone())
    }

    /// The string under that key.
    #[must_use]
    pub fn string(&self, key: &str) -> Option<String> {
        self.get(key)?.as_str().map(str::to_owned)
    }

    /// The strings of the list under that key.
    #[must_use]
    pub fn strings(&self, key: &str) -> Vec<String> {
        self.list(key).iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
    }

    /// What a closed word stands for, by a table of words.
    #[must_use]
    pub fn pick<T: Copy>(&self, words: &[(&str, T)]) -> Option<T> {
        let text = self.as_str()?;
        words.iter().find(|(word, _)| *word == text).map(|(_, meaning)| *meaning)
    }

    /// Its type for messages.
    #[must_use]
    pub const fn type_name(&self) -> &'static str {
        match self.data {
            Data::String(_) => "a string",
            Data::Integer(_) => "an integer",
            Data::Float(_) => "a float",
            Data::Bool(_) => "a boolean",
            Data::Date(_) => "a date",
            Data::Array(_) => "an array",
            Data::Table(_) => "a table",
            Data::Broken => "nothing",
        }
    }
}
