//! `tools/list` in pages (`server/utilities/pagination` of every revision).

use std::ops::Range;

use super::script::Pages;

/// One page: which tools are on it and which cursor leads on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Page {
    /// Its index, from 0.
    pub(super) index: usize,
    /// The tools on it, as indices into the list; empty on the pages after the last tool.
    pub(super) tools: Range<usize>,
    /// `nextCursor`; `None` on the last page.
    pub(super) next: Option<String>,
}

/// The page that `cursor` leads to; `None` where no page does.
///
/// A script may give one cursor to several pages, to see what a host makes of a list that seems to stand still. Such a
/// cursor leads to the next of its pages after `last`, the page that was served before, so that a host which follows
/// every cursor reaches the end. A cursor that stands for one page leads there whatever was served before.
pub(super) fn page(pages: &Pages, total: usize, cursor: Option<&str>, last: usize) -> Option<Page> {
    // A page size of zero would never end.
    let size = pages.size.unwrap_or(total).max(1);
    let count = total.div_ceil(size).max(pages.cursors.len() + 1);
    let index = match cursor {
        None => 0,
        Some(cursor) => {
            (last + 1..count).chain(1..count.min(last + 1)).find(|index| cursor_to(pages, *index) == cursor)?
        }
    };
    let start = (index * size).min(total);
    Some(Page {
        index,
        tools: start..(start + size).min(total),
        next: (index + 1 < count).then(|| cursor_to(pages, index + 1)),
    })
}

/// The cursor that leads to a page other than the first.
fn cursor_to(pages: &Pages, index: usize) -> String {
    match pages.cursors.get(index - 1) {
        Some(cursor) => cursor.clone(),
        None => format!("page-{}", index + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(size: Option<usize>, cursors: &[&str]) -> Pages {
        Pages { size, cursors: cursors.iter().map(|&cursor| cursor.to_owned()).collect() }
    }

    /// Follows every cursor to the end: the number of tools on each page, and the cursors.
    fn walk(pages: &Pages, total: usize) -> (Vec<usize>, Vec<String>) {
        let (mut sizes, mut cursors, mut last) = (Vec::new(), Vec::new(), 0);
        let mut cursor = None;
        loop {
            let page = page(pages, total, cursor.as_deref(), last).unwrap();
            last = page.index;
            sizes.push(page.tools.len());
            let Some(next) = page.next else { return (sizes, cursors) };
            cursors.push(next.clone());
            cursor = Some(next);
        }
    }

    #[test]
    fn every_tool_is_on_one_page() {
        for (size, cursors, total, expected, given) in [
            (None, &[][..], 3, vec![3], vec![]),
            (None, &[], 0, vec![0], vec![]),
            (Some(1), &[], 3, vec![1, 1, 1], vec!["page-2", "page-3"]),
            (Some(2), &["", "ä/+="], 5, vec![2, 2, 1], vec!["", "ä/+="]),
            (Some(2), &["x"], 5, vec![2, 2, 1], vec!["x", "page-3"]),
            (Some(0), &[], 2, vec![1, 1], vec!["page-2"]),
            (Some(9), &[], 2, vec![2], vec![]),
            (None, &["a", "b"], 2, vec![2, 0, 0], vec!["a", "b"]),
            (Some(1), &["same", "same", "same", "same"], 3, vec![1, 1, 1, 0, 0], vec!["same"; 4]),
        ] {
            let (sizes, cursors) = walk(&pages(size, cursors), total);
            assert_eq!((sizes, cursors), (expected, given.into_iter().map(str::to_owned).collect()));
        }
    }

    #[test]
    fn a_cursor_of_one_page_needs_no_history() {
        let pages = pages(Some(1), &["a", "b"]);
        for last in 0..3 {
            assert_eq!(page(&pages, 3, Some("a"), last).unwrap().index, 1);
            assert_eq!(page(&pages, 3, Some("b"), last).unwrap().index, 2);
        }
    }

    #[test]
    fn unknown_cursors_lead_nowhere() {
        assert_eq!(page(&pages(Some(1), &["a"]), 3, Some("A"), 0), None);
        assert_eq!(page(&pages(None, &[]), 3, Some(""), 0), None);
        assert_eq!(page(&pages(Some(1), &["a"]), 3, Some("page-2"), 0), None);
    }
}
