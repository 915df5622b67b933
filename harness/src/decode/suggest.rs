//! The word that was probably meant.

use crate::diagnostic::did_you_mean;

/// A part shorter than this is in too many words to be a hint.
const SHORTEST_PART: usize = 3;

/// The closest of the known words: by typing mistakes, then by letter case, then as the only one with this part.
#[must_use]
pub fn suggest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let known: Vec<&str> = known.into_iter().collect();
    if let Some(close) = did_you_mean(word, known.iter().copied()) {
        return Some(close);
    }
    let lower = word.to_lowercase();
    if let Some(same) = known.iter().find(|candidate| candidate.to_lowercase() == lower) {
        return Some(same);
    }
    let mut with_part =
        known.iter().filter(|candidate| word.len() >= SHORTEST_PART && candidate.to_lowercase().contains(&lower));
    with_part.next().filter(|_| with_part.next().is_none()).copied()
}

#[cfg(test)]
mod tests {
    use super::suggest;

    #[test]
    fn sees_typing_mistakes_case_and_parts() {
        let known = ["sigint", "sigterm", "lookup_order", "create_note", "delete_note"];
        assert_eq!(suggest("sigtrm", known), Some("sigterm"));
        assert_eq!(suggest("SIGTERM", known), Some("sigterm"));
        assert_eq!(suggest("lookup", known), Some("lookup_order"));
        assert_eq!(suggest("note", known), None);
        assert_eq!(suggest("or", known), None);
    }
}
