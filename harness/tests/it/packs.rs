//! The packs say what there is. An id that came to be is added to the newest pack, and nothing is ever taken out.
//!
//! `HOPCHECK_BLESS=1` adds what is missing to the newest pack; the file is data of the crate, so the tests pass after the next
//! build.

use std::collections::BTreeSet;
use std::path::Path;
use std::{env, fs};

use hopcheck::check::registry::REQUIREMENTS;
use hopcheck::invocation::select;
use hopcheck::library;
use hopcheck::pack::{PACKS, Pack};

/// The hash of each pack that hopcheck was released with. Such a pack never changes again.
const RELEASED: [(&str, &str); 0] = [];

fn newest() -> (&'static str, &'static Pack) {
    let name = Pack::names().pop().unwrap();
    (name, Pack::find(name).unwrap())
}

/// Lines for all that is judged and is not in the newest pack as it is.
fn missing() -> Vec<String> {
    let (_, pack) = newest();
    let requirements =
        REQUIREMENTS.iter().filter(|requirement| pack.level(requirement.id) != Some(requirement.level));
    let requirements =
        requirements.map(|requirement| format!("requirement {} {}", requirement.id, requirement.level));
    let mut errors = Vec::new();
    let scenarios = select::builtin(&mut errors);
    assert!(errors.is_empty(), "{errors:?}");
    let scenarios = scenarios.iter().map(|scenario| scenario.id.to_string()).filter(|id| !pack.has_scenario(id));
    requirements.chain(scenarios.map(|id| format!("scenario {id}"))).collect()
}

#[test]
fn the_newest_pack_has_everything_that_can_fail() {
    let missing = missing();
    let (name, _) = newest();
    if env::var_os("HOPCHECK_BLESS").is_some() && !missing.is_empty() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("src/pack/{name}.txt"));
        let text = fs::read_to_string(&path).unwrap();
        let (comments, lines): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with('#'));
        // A level that changed before the release replaces the old one; all else is only added.
        let id = |line: &str| line.split(' ').take(2).collect::<Vec<_>>().join(" ");
        let changed: BTreeSet<String> = missing.iter().map(|line| id(line)).collect();
        let kept = lines.into_iter().filter(|line| !changed.contains(&id(line))).map(str::to_owned);
        let all: BTreeSet<String> = kept.chain(missing).collect();
        let lines: Vec<String> = comments.into_iter().map(str::to_owned).chain(all).collect();
        fs::write(&path, lines.join("\n") + "\n").unwrap();
        return;
    }
    assert!(
        missing.is_empty(),
        "not in the pack {name}; HOPCHECK_BLESS=1 adds it, and the next build has it:\n{}",
        missing.join("\n")
    );
}

#[test]
fn a_pack_that_was_released_never_changes() {
    assert!(RELEASED.len() < PACKS.len(), "the newest pack is open");
    for ((released, hash), (name, text)) in RELEASED.iter().zip(PACKS) {
        assert_eq!((*released, *hash), (name, hopcheck::trace::cut::sha256_hex(text.as_bytes()).as_str()));
    }
}

#[test]
fn packs_are_in_the_order_of_their_names_and_each_line_once() {
    let names = Pack::names();
    assert!(names.is_sorted() && names.len() == PACKS.len(), "{names:?}");
    for (name, text) in PACKS {
        let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        let unique: BTreeSet<&&str> = lines.iter().collect();
        assert!(lines.is_sorted() && unique.len() == lines.len(), "{name}");
    }
}

/// The words of the profile format are the packs.
#[test]
fn a_profile_can_be_pinned_to_every_pack_and_to_nothing_else() {
    let (_, reference) = library::profiles().iter().find(|(name, _)| name == "reference").unwrap();
    let pinned = |pack: &str| {
        let text = format!("pack = \"{pack}\"\n{}", reference.text);
        hopcheck::host::decode::parse(&hopcheck::diagnostic::Source::new("p.toml", text), None, None)
    };
    for name in Pack::names() {
        assert_eq!(pinned(name).unwrap().pack.as_deref(), Some(name));
    }
    let errors = pinned("2026.13").unwrap_err();
    assert!(errors[0].help[0].contains("did you mean `2026.12`?"), "{}", errors[0]);
}
