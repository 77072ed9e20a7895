//! Grids: rows of cells without letters, as in puzzles and matrices.
//!
//! Many rows of a requested grid are equal. Unlike a loop, a grid is not much taller than wide, and it ends.

use super::views::TextStretch;

/// The number of rows that a grid may have beyond 1.5 times its width.
const EXTRA_ROWS: usize = 5;
/// The number of copies from which a repeated grid is a loop. A puzzle may show its grid after each step.
const MANY_COPIES: f64 = 5.0;

/// Returns whether a stretch can be the rows of one grid, or a few copies of a grid.
pub(super) fn is_grid(text: &[char], stretch: &TextStretch) -> bool {
    let bare = |row: &&[char]| !row.iter().any(|c| c.is_alphabetic());
    let lines = text[stretch.start..stretch.end].split(|c| *c == '\n');
    let rows: Vec<usize> = lines
        .clone()
        .filter(bare)
        .map(count_cells)
        .filter(|cells| *cells > 0)
        .collect();
    let others = lines.filter(|row| !bare(row)).count();
    if rows.len() < 2 {
        return others == 0 && is_within_row(text, stretch);
    }
    if others * 10 > rows.len() {
        return false;
    }
    let wide = rows.iter().sum::<usize>() / rows.len();
    let unit = text[stretch.start..stretch.onset].split(|c| *c == '\n');
    let drawn = unit.filter(|row| count_cells(row) > 0).count() > 2;
    rows.len() <= wide + wide / 2 + EXTRA_ROWS || drawn && stretch.copies < MANY_COPIES
}

/// Returns whether a stretch within one row is no longer than the row above or below it.
fn is_within_row(text: &[char], stretch: &TextStretch) -> bool {
    let mut before = text[..stretch.start].rsplit(|c| *c == '\n');
    let mut after = text[stretch.end..].split(|c| *c == '\n');
    let (begun, rest) = (
        before.next().unwrap_or_default(),
        after.next().unwrap_or_default(),
    );
    let bare = |row: &[char]| !row.iter().any(|c| c.is_alphabetic());
    let like = |row: Option<&[char]>| {
        row.is_some_and(|row| bare(row) && stretch.length() <= row.len() + 2)
    };
    bare(begun) && bare(rest) && (like(before.next()) || like(after.next()))
}

/// Returns the number of cells of a row, or of chars if the row has no gaps.
fn count_cells(row: &[char]) -> usize {
    let mut cells = row.split(|c| !is_cell(*c)).filter(|cell| !cell.is_empty());
    let (first, second) = (cells.next().map_or(0, <[char]>::len), cells.next());
    match second {
        Some(_) => 2 + cells.count(),
        None => first,
    }
}

/// Returns whether a char is the content of a cell.
fn is_cell(c: char) -> bool {
    !c.is_whitespace() && !",;|[](){}&+-".contains(c)
}

/// Returns whether a text closes a bracket, a code fence or an element. Nothing is closed after a loop.
pub(super) fn closes_structure(rest: &[char]) -> bool {
    let fence = rest.windows(3).any(|marks| marks == ['`', '`', '`']);
    fence || rest.iter().any(|c| ")]}>）】」』".contains(*c))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::selection::find;
    use deadloop_corpus::Class;

    fn class(text: &str) -> Class {
        find(text).class
    }

    #[test]
    fn a_grid_of_any_width_is_healthy_and_rows_without_end_are_a_loop() {
        for wide in [6, 10, 24, 40] {
            for cell in ["0", "0 ", "0, ", "1", "."] {
                let row = cell.repeat(wide) + "\n";
                let grid = format!("After one step the board is this:\n\n{}", row.repeat(wide));
                assert_eq!(class(&grid), Class::Clean, "{wide} {cell:?}");
                let looped = format!(
                    "After one step the board is this:\n\n{}",
                    row.repeat(4 * wide + 40)
                );
                assert_eq!(class(&looped), Class::Loop, "{wide} {cell:?}");
            }
        }
    }

    #[test]
    fn a_board_drawn_for_each_step_is_healthy() {
        let board = "0 0 1 0 2 0 0\n".repeat(3) + &"0 1 0 0 0 0 2\n".repeat(4) + "\n";
        assert_eq!(
            class(&format!(
                "Each step leaves the board as it is.\n\n{}",
                board.repeat(3)
            )),
            Class::Clean
        );
        assert_eq!(
            class(&format!(
                "Each step leaves the board as it is.\n\n{}",
                board.repeat(30)
            )),
            Class::Loop
        );
    }

    #[test]
    fn closing_marks_are_found() {
        let rest = |text: &str| closes_structure(&text.chars().collect::<Vec<_>>());
        assert!(rest("]\n```") && rest("}") && rest("</a>") && rest("```"));
        assert!(!rest("") && !rest("0, 0") && !rest("``"));
    }
}
