//! Joining constant tables into one.

/// All rows of all tables, in order. `N` must be the number of rows.
pub(super) const fn joined<T: Copy, const N: usize>(tables: &[&[T]]) -> [T; N] {
    let mut all = [tables[0][0]; N];
    let (mut table, mut row, mut at) = (0, 0, 0);
    while table < tables.len() {
        if row < tables[table].len() {
            all[at] = tables[table][row];
            (row, at) = (row + 1, at + 1);
        } else {
            (table, row) = (table + 1, 0);
        }
    }
    all
}

/// The number of rows of all tables.
pub(super) const fn rows<T>(tables: &[&[T]]) -> usize {
    let (mut table, mut count) = (0, 0);
    while table < tables.len() {
        count += tables[table].len();
        table += 1;
    }
    count
}
