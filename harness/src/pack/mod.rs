//! Packs: what can fail a host that wants an update of hopcheck to change nothing by itself.
//!
//! A profile with `pack = "2026.12"` is failed only by what that pack has: requirements, each no stronger than it was, in
//! scenarios that there were. Whatever came later is still judged, and is told as a trait until the author moves to a newer
//! pack. Scenarios of the author's own are in every pack.
//!
//! A pack freezes what is asked, not the code that judges it: a check that sees more than it did, or a scenario that was
//! mended, can find in a host what was wrong before.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use crate::catalogue::Level;

/// Each pack with what it added, oldest first. The newest one grows until hopcheck is released with it; the lines of an older
/// one never change. A line is `requirement ID LEVEL` or `scenario ID`.
pub const PACKS: [(&str, &str); 1] = [("2026.12", include_str!("2026.12.txt"))];

/// What can fail.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pack {
    requirements: BTreeMap<String, Level>,
    scenarios: BTreeSet<String>,
}

impl Pack {
    /// The names of all packs, oldest first.
    #[must_use]
    pub fn names() -> Vec<&'static str> {
        PACKS.map(|(name, _)| name).to_vec()
    }

    /// The pack of that name, with all that the packs before it have.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        static ALL: LazyLock<Vec<Pack>> = LazyLock::new(|| {
            let mut pack = Pack::default();
            PACKS
                .iter()
                .map(|(_, text)| {
                    pack.add(text);
                    pack.clone()
                })
                .collect()
        });
        let at = PACKS.iter().position(|(known, _)| *known == name)?;
        ALL.get(at)
    }

    /// The pack that such lines make.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut pack = Self::default();
        pack.add(text);
        pack
    }

    /// Adds lines. A requirement that is there already gets the level that it has now.
    fn add(&mut self, text: &str) {
        for line in text.lines() {
            match line.split(' ').collect::<Vec<_>>().as_slice() {
                ["requirement", id, level] => {
                    if let Some(level) = Level::ALL.into_iter().find(|known| known.as_str() == *level) {
                        self.requirements.insert((*id).to_owned(), level);
                    }
                }
                ["scenario", id] => {
                    self.scenarios.insert((*id).to_owned());
                }
                _ => {}
            }
        }
    }

    /// The level that a requirement has in this pack, where it is in it.
    #[must_use]
    pub fn level(&self, requirement: &str) -> Option<Level> {
        self.requirements.get(requirement).copied()
    }

    /// Whether a scenario of hopcheck is in this pack.
    #[must_use]
    pub fn has_scenario(&self, id: &str) -> bool {
        self.scenarios.contains(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_every_pack_is_read() {
        for (name, text) in PACKS {
            let pack = Pack::parse(text);
            let lines = text.lines().filter(|line| !line.starts_with('#')).count();
            assert_eq!(pack.requirements.len() + pack.scenarios.len(), lines, "{name}");
            assert!(!pack.requirements.is_empty() && !pack.scenarios.is_empty(), "{name}");
        }
        assert_eq!(Pack::find("2026.12"), Some(&Pack::parse(PACKS[0].1)));
        assert_eq!(Pack::find("2025.01"), None);
    }

    #[test]
    fn a_later_line_has_the_last_word() {
        let pack = Pack::parse("# x\nrequirement a.b should\nrequirement a.b must\nscenario c/d[e]\n");
        assert_eq!(pack.level("a.b"), Some(Level::Must));
        assert!(pack.has_scenario("c/d[e]") && !pack.has_scenario("c/d"));
    }
}
