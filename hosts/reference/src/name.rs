//! Published names: what the model sees. The wire never does.

use std::collections::HashSet;

/// The longest name that the model APIs take.
const LONGEST: usize = 128;

/// Which characters besides letters and digits a name may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Alphabet {
    /// `_` and `-`.
    WithHyphen,
    /// `_` only.
    UnderscoreOnly,
}

/// Replaces each character that the alphabet does not have by `_`.
pub(crate) fn mangle(name: &str, alphabet: Alphabet) -> String {
    let keep = |c: char| c.is_ascii_alphanumeric() || c == '_' || (c == '-' && alphabet == Alphabet::WithHyphen);
    name.chars().map(|c| if keep(c) { c } else { '_' }).collect()
}

/// Gives out names, each only once.
#[derive(Debug, Default)]
pub(crate) struct Namer {
    taken: HashSet<String>,
}

impl Namer {
    /// The wanted name, cut to length, with the first free number behind it when it is taken. The same questions in the same order get the same names.
    pub(crate) fn take(&mut self, wanted: &str) -> String {
        let mut name = cut(wanted, LONGEST).to_owned();
        let mut number = 2_usize;
        while self.taken.contains(&name) {
            let suffix = format!("_{number}");
            name = format!("{}{suffix}", cut(wanted, LONGEST - suffix.len()));
            number += 1;
        }
        self.taken.insert(name.clone());
        name
    }
}

fn cut(name: &str, longest: usize) -> &str {
    // Mangled names are ASCII, so every index is a boundary.
    name.get(..longest).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_mangle(name: &str, expected: &str, expected_without_hyphen: &str) {
        assert_eq!(mangle(name, Alphabet::WithHyphen), expected);
        assert_eq!(mangle(name, Alphabet::UnderscoreOnly), expected_without_hyphen);
    }

    #[test]
    fn characters_outside_the_alphabet_become_underscores() {
        check_mangle("lookup_order", "lookup_order", "lookup_order");
        check_mangle("a-b", "a-b", "a_b");
        check_mangle("admin.tools.list", "admin_tools_list", "admin_tools_list");
        check_mangle("lösch en", "l_sch_en", "l_sch_en");
        check_mangle("", "", "");
    }

    #[track_caller]
    fn check_names(wanted: &[&str], expected: &[&str]) {
        let mut namer = Namer::default();
        let names: Vec<_> = wanted.iter().map(|name| namer.take(name)).collect();
        assert_eq!(names, expected);
    }

    #[test]
    fn every_pair_stays_reachable() {
        check_names(&["a_b", "a_b", "a_b"], &["a_b", "a_b_2", "a_b_3"]);
        check_names(&["a_b", "a_b", "a_b_2"], &["a_b", "a_b_2", "a_b_2_2"]);
        check_names(&["a_b_2", "a_b", "a_b"], &["a_b_2", "a_b", "a_b_3"]);
    }

    #[test]
    fn long_names_are_cut_and_stay_apart() {
        let mut namer = Namer::default();
        let long = "x".repeat(130);
        let names = [namer.take(&long), namer.take(&long), namer.take(&"x".repeat(128))];
        assert!(names.iter().all(|name| name.len() == LONGEST));
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), 3);
        assert!(names[1].ends_with("x_2"));
    }
}
