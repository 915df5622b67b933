//! Version requirements: `>=0.180`, `<2`, `=1.2.3`, or several with commas between them.

use std::cmp::Ordering;

/// What a version must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionReq(Vec<(Relation, Vec<u64>)>);

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
    fn refuses_other_texts() {
        for text in ["", "1.2", ">=", ">=x", ">=1,,<2", "~1.2"] {
            assert_eq!(VersionReq::parse(text), None, "{text}");
        }
    }
}
