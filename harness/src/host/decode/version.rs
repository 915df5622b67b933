//! Version requirements: `>=0.180`, `<2`, `=1.2.3`, or several with commas between them.

use std::cmp::Ordering;
use std::fmt;

use crate::decode::{Reporter, Value};

/// What a version must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionReq(Vec<(Relation, Vec<u64>)>);

impl fmt::Display for VersionReq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, (relation, version)) in self.0.iter().enumerate() {
            let sign = SIGNS.iter().find(|(_, known)| known == relation).map_or("", |(sign, _)| sign);
            let parts: Vec<String> = version.iter().map(u64::to_string).collect();
            write!(f, "{}{sign}{}", if at == 0 { "" } else { ", " }, parts.join("."))?;
        }
        Ok(())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Relation {
    Below,
    AtMost,
    Equal,
    AtLeast,
    Above,
}

/// Longer signs first, as `<` is the start of `<=`.
const SIGNS: [(&str, Relation); 5] = [
    ("<=", Relation::AtMost),
    (">=", Relation::AtLeast),
    ("<", Relation::Below),
    (">", Relation::Above),
    ("=", Relation::Equal),
];

impl VersionReq {
    /// Reads a requirement.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let one = |part: &str| {
            let part = part.trim();
            let (sign, relation) = SIGNS.into_iter().find(|(sign, _)| part.starts_with(sign))?;
            let version = part[sign.len()..].trim();
            let digits = version.chars().all(|c| c.is_ascii_digit() || c == '.');
            (digits && !version.is_empty()).then(|| (relation, numbers(version)))
        };
        text.split(',').map(one).collect::<Option<Vec<_>>>().map(Self)
    }

    /// Reads the requirement under a key, and reports one that is none.
    pub fn read(table: &Value, key: &str, out: &mut Reporter) -> Option<Self> {
        let value = table.get(key)?;
        let text = value.as_str()?;
        let req = Self::parse(text);
        // That it is empty was said when its shape was looked at.
        if req.is_none() && !text.is_empty() {
            out.error(value.span.clone(), format!("`{text}` is no version requirement"))
                .label("expected a sign and a version")
                .help("write `>=0.180`, `<2`, `=1.2.3`, or several with commas between them");
        }
        req
    }

    /// A version for each way in which versions can fulfil some of these requirements and not the others: those below all
    /// bounds, the bounds, and those between.
    #[must_use]
    pub fn samples(reqs: &[Self]) -> Vec<String> {
        let bounds = || reqs.iter().flat_map(|req| &req.0).map(|(_, bound)| bound.as_slice());
        let longest = bounds().map(<[u64]>::len).max().unwrap_or(0);
        // Just above a bound: longer than any other, so that no bound is between the two.
        let above = |bound: &[u64]| {
            let mut parts = bound.to_vec();
            parts.resize(longest, 0);
            parts.push(1);
            parts
        };
        let mut samples: Vec<Vec<u64>> = bounds().flat_map(|bound| [bound.to_vec(), above(bound)]).collect();
        samples.push(vec![0]);
        samples.sort_by(|a, b| compare(a, b));
        samples.dedup_by(|a, b| compare(a, b).is_eq());
        let text = |parts: Vec<u64>| parts.iter().map(u64::to_string).collect::<Vec<_>>().join(".");
        samples.into_iter().map(text).collect()
    }

    /// Whether a version fulfils it. What follows the leading numbers (`-beta.1`) does not count.
    #[must_use]
    pub fn matches(&self, version: &str) -> bool {
        let version = numbers(version);
        self.0.iter().all(|(relation, bound)| {
            let order = compare(&version, bound);
            match relation {
                Relation::Below => order == Ordering::Less,
                Relation::AtMost => order != Ordering::Greater,
                Relation::Equal => order == Ordering::Equal,
                Relation::AtLeast => order != Ordering::Less,
                Relation::Above => order == Ordering::Greater,
            }
        })
    }
}

/// The leading dotted numbers.
fn numbers(version: &str) -> Vec<u64> {
    let version = version.strip_prefix('v').unwrap_or(version);
    let end = version.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(version.len());
    version[..end].split('.').map(|part| part.parse().unwrap_or(0)).collect()
}

/// Compares part by part; missing parts are zero.
fn compare(a: &[u64], b: &[u64]) -> Ordering {
    let part = |parts: &[u64], at: usize| parts.get(at).copied().unwrap_or(0);
    (0..a.len().max(b.len()))
        .map(|at| part(a, at).cmp(&part(b, at)))
        .find(|order| order.is_ne())
        .unwrap_or(Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use super::VersionReq;

    fn check(req: &str, version: &str, expected: bool) {
        assert_eq!(VersionReq::parse(req).unwrap().matches(version), expected, "{version} against {req}");
    }

    #[test]
    fn compares_numbers_part_by_part() {
        check(">=0.180", "0.180.0", true);
        check(">=0.180", "0.99.9", false);
        check("<2", "1.99", true);
        check("<=2.1", "2.1.0-beta.1", true);
        check(">1.2, <1.4", "1.3", true);
        check(">1.2, <1.4", "1.4", false);
        check("=1.2.0", "v1.2", true);
    }

    #[test]
    fn samples_stand_for_all_versions() {
        let reqs = [">=1.2, <1.3", "<2", "=1.3.5"].map(|text| VersionReq::parse(text).unwrap());
        let fulfilled = |version: &str| reqs.iter().map(|req| req.matches(version)).collect::<Vec<_>>();
        let samples = VersionReq::samples(&reqs);
        let seen: Vec<Vec<bool>> = samples.iter().map(|sample| fulfilled(sample)).collect();
        for version in
            ["0", "0.9", "1.1.99", "1.2", "1.2.7", "1.3", "1.3.4", "1.3.5", "1.3.5.1", "1.99", "2", "7.1"]
        {
            assert!(seen.contains(&fulfilled(version)), "{version} is like none of {samples:?}");
        }
        assert_eq!(VersionReq::samples(&[]), ["0"]);
    }

    #[test]
    fn refuses_other_texts() {
        for text in ["", "1.2", ">=", ">=x", ">=1,,<2", "~1.2"] {
            assert_eq!(VersionReq::parse(text), None, "{text}");
        }
    }
}
