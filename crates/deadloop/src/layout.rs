//! Fits prose and tables to the width of the terminal.
//!
//! Prose is folded between words. A table that would not fit without a broken word is printed row by row.

use std::ops::Range;

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, Width, presets};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The blank columns around each cell of a table.
const AROUND: usize = 2;
/// The gap between two figures of a row printed as lines.
const APART: &str = "   ";

/// Formats a table without rules, with numbers to the right, for a terminal of `width` columns. `None` wraps nothing.
pub(crate) fn table(
    header: &[&str],
    rows: &[Vec<String>],
    numbers: &Range<usize>,
    width: Option<usize>,
) -> String {
    match width.map(|width| (width, widths(header, rows, numbers, width))) {
        None => draw_table(header, rows, numbers, None),
        Some((_, Some(widths))) => draw_table(header, rows, numbers, Some(&widths)),
        Some((width, None)) => stacked_rows(header, rows, width),
    }
}

fn draw_table(
    header: &[&str],
    rows: &[Vec<String>],
    numbers: &Range<usize>,
    widths: Option<&[usize]>,
) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_header(header.to_vec());
    for row in rows {
        table.add_row(row);
    }
    if widths.is_some() {
        table.set_content_arrangement(ContentArrangement::Dynamic);
    }
    for (at, column) in table.column_iter_mut().enumerate() {
        if numbers.contains(&at) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        let width = widths.and_then(|widths| u16::try_from(widths.get(at)? + AROUND).ok());
        column.set_constraint(match width {
            Some(width) => ColumnConstraint::Absolute(Width::Fixed(width)),
            None => ColumnConstraint::ContentWidth,
        });
    }
    table.trim_fmt()
}

/// Returns the width of each column so that the table fits and no word is broken. `None` if that is impossible.
fn widths(
    header: &[&str],
    rows: &[Vec<String>],
    numbers: &Range<usize>,
    width: usize,
) -> Option<Vec<usize>> {
    let cells = |at: usize| rows.iter().filter_map(move |row| row.get(at));
    let line = |text: &str| text.lines().map(UnicodeWidthStr::width).max().unwrap_or(0);
    let whole = |at: usize| cells(at).map(|cell| line(cell)).max().unwrap_or(0);
    let wide: Vec<usize> = (0..header.len())
        .map(|at| whole(at).max(line(header[at])))
        .collect();
    let least = |at: usize| {
        // A figure stays on one line with its unit. Its heading may be folded.
        let own = if numbers.contains(&at) {
            whole(at)
        } else {
            cells(at).map(|cell| longest(cell)).max().unwrap_or(0)
        };
        own.max(longest(header[at]))
    };
    let mut found: Vec<usize> = (0..header.len()).map(least).collect();
    let all = |widths: &[usize]| widths.iter().sum::<usize>() + AROUND * widths.len();
    let mut left = (width + 1).checked_sub(all(&found))?;
    // The column that lacks most gets the next space.
    while left > 0 {
        let lacks = |at: &usize| wide[*at].saturating_sub(found[*at]);
        let Some(at) = (0..found.len())
            .filter(|at| lacks(at) > 0)
            .max_by_key(lacks)
        else {
            break;
        };
        found[at] += 1;
        left -= 1;
    }
    Some(found)
}

/// Returns the width of the widest unbreakable part of a text. A line may end between wide chars.
fn longest(text: &str) -> usize {
    let (mut most, mut here) = (0, 0);
    for c in text.chars() {
        let width = c.width().unwrap_or(0);
        here = match () {
            () if c.is_whitespace() => 0,
            () if width > 1 => width,
            () => here + width,
        };
        most = most.max(here);
    }
    most
}

/// Formats rows one after the other: the first cell, and below it the other cells with their headings.
fn stacked_rows(header: &[&str], rows: &[Vec<String>], width: usize) -> String {
    let mut lines = Vec::new();
    for row in rows {
        let (first, rest) = row.split_first().map_or(("", &[][..]), |(a, b)| (a, b));
        lines.extend(fold_lines(first, width));
        let mut line = String::from(" ");
        for (cell, head) in rest.iter().zip(&header[1..]) {
            let one = format!("{head} {cell}").replace('\n', " ");
            let one = one.trim();
            if cell.trim().is_empty() {
                continue;
            }
            if line.width() + APART.len() + one.width() > width && !line.trim().is_empty() {
                lines.extend(fold_lines(&line, width));
                line = String::from(" ");
            }
            line.push_str(if line.trim().is_empty() { " " } else { APART });
            line.push_str(one);
        }
        if !line.trim().is_empty() {
            lines.extend(fold_lines(&line, width));
        }
    }
    lines.join("\n")
}

/// Folds a text between words into lines of at most `width` columns. Further lines are indented by two more columns
/// than the first. A word is broken only if it is longer than a line.
pub(crate) fn fold_lines(text: &str, width: usize) -> Vec<String> {
    if text.width() <= width {
        return vec![text.to_owned()];
    }
    let indent = text.len() - text.trim_start().len();
    let lead = " ".repeat((indent + 2).min(width / 2));
    let mut lines = Vec::new();
    let mut line = text[..indent].to_owned();
    let mut empty = true;
    for word in text.trim_start().split(' ') {
        let gap = usize::from(!empty);
        if !empty && line.width() + gap + word.width() > width {
            lines.push(std::mem::replace(&mut line, lead.clone()));
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        for c in word.chars() {
            if line.width() + c.width().unwrap_or(0) > width && line.len() > lead.len() {
                lines.push(std::mem::replace(&mut line, lead.clone()));
            }
            line.push(c);
        }
        empty = false;
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: [&str; 4]) -> Vec<String> {
        cells.map(str::to_owned).to_vec()
    }

    #[test]
    fn a_table_fits_and_breaks_no_word() {
        let header = ["model", "wrong alarms", "per Mchar", "setting in use"];
        let rows = [
            row([
                "deepseek-r1-distill-qwen",
                "12 345",
                "0.45",
                "min_chars=700, rules=3 rows",
            ]),
            row([
                "通义千问二点五-七十亿参数-指令微调",
                "6",
                "12.00",
                "recommended guard",
            ]),
        ];
        for width in 20..130 {
            let shown = table(&header, &rows, &(1..3), Some(width));
            let widest = shown.lines().map(UnicodeWidthStr::width).max();
            // The longest name alone needs 24.
            assert!(
                widest.is_some_and(|widest| widest <= width.max(24)),
                "{width}:\n{shown}"
            );
            for word in [
                "deepseek-r1-distill-qwen",
                "12 345",
                "min_chars=700,",
                "recommended",
            ] {
                assert!(
                    width < 26 || shown.contains(word),
                    "{width}, {word}:\n{shown}"
                );
            }
        }
        let natural = table(&header, &rows, &(1..3), None);
        assert_eq!(table(&header, &rows, &(1..3), Some(200)), natural);
    }

    #[test]
    fn a_row_without_room_is_told_in_lines() {
        let header = ["model", "recall", "per Mchar", "setting"];
        let rows = [row([
            "a-very-long-name-of-a-model",
            "84.3 %",
            "",
            "document",
        ])];
        let shown = table(&header, &rows, &(1..3), Some(30));
        let lines = [
            "a-very-long-name-of-a-model",
            "  recall 84.3 %",
            "  setting document",
        ];
        assert_eq!(shown.lines().collect::<Vec<_>>(), lines);
    }

    #[test]
    fn prose_is_folded_between_words() {
        let folded = |text| fold_lines(text, 20).join("|");
        assert_eq!(folded("short"), "short");
        assert_eq!(
            folded("  the guard pays where one loops"),
            "  the guard pays|    where one loops"
        );
        assert_eq!(
            folded("一二三四五六七八九十一"),
            "一二三四五六七八九十|  一"
        );
        assert_eq!(
            folded("0123456789012345678901"),
            "01234567890123456789|  01"
        );
    }
}
