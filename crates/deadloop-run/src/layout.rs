//! [`TextDocument`]: prose and tables, fitted to the width of a terminal.
//!
//! Prose is folded between words. A table that cannot fit without breaking a word is printed row by row.

use std::fmt::{self, Display, Formatter};
use std::ops::Range;

use anstyle::Style;
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, Width, presets};
use deadloop_report::TextTable;
use serde_json::{Map, Value};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::visible::visible_lines;

/// A text of blocks, each of whole lines.
///
/// `Display` takes the number of columns from the width of the formatter, as in `{text:80}`. Without a width nothing is
/// folded. An alternate formatter, as in `{text:#}`, shows colours.
#[derive(Default)]
pub struct TextDocument(Vec<TextBlockFn>);

/// A function that formats a block for a number of columns, with colours or without.
type TextBlockFn = Box<dyn Fn(Option<usize>, bool) -> String + Send + Sync>;

impl TextDocument {
    fn push(mut self, block: impl Fn(Option<usize>) -> String + Send + Sync + 'static) -> Self {
        self.0.push(Box::new(move |width, _| block(width)));
        self
    }

    /// Adds prose after a word in a style, such as a verdict. The style shows where the formatter is alternate.
    #[must_use]
    pub fn headed(mut self, style: Style, word: String, prose: &str) -> Self {
        let text = format!("{word}  {prose}");
        self.0.push(Box::new(move |width, coloured| {
            let text = fold_prose(&text, width);
            // Folding counts columns, so the colour is added afterwards.
            let head = format!("{style}{word}{style:#}");
            if coloured {
                text.replacen(&word, &head, 1)
            } else {
                text
            }
        }));
        self
    }

    /// Adds lines that are never folded, such as lines with colours.
    #[must_use]
    pub fn lines(self, text: impl Into<String>) -> Self {
        let text = text.into();
        self.push(move |_| text.clone())
    }

    /// Adds prose that is folded between words. A line with a command is not folded.
    #[must_use]
    pub fn prose(self, text: impl Into<String>) -> Self {
        let text = text.into();
        self.push(move |width| fold_prose(&text, width))
    }

    /// Adds a table without rules. `numbers` is the range of columns that hold numbers.
    #[must_use]
    pub fn table(
        self,
        header: &[impl AsRef<str>],
        rows: Vec<Vec<String>>,
        numbers: Range<usize>,
    ) -> Self {
        let header: Vec<String> = header.iter().map(|name| name.as_ref().to_owned()).collect();
        self.push(move |width| {
            let header: Vec<&str> = header.iter().map(String::as_str).collect();
            table(&header, &rows, &numbers, width)
        })
    }
}

/// Adds the tables of a summary of `repair` or `budget`, each after an empty line and its explanation.
pub(crate) fn with_summary_tables(
    text: TextDocument,
    summary: &Map<String, Value>,
) -> TextDocument {
    // The report separates thousands by a narrow blank, the terminal by a comma.
    let cells = |row: &Vec<String>| {
        row.iter()
            .map(|cell| cell.replace('\u{202f}', ","))
            .collect()
    };
    let add = |text: TextDocument, one: TextTable| {
        let rows = one.rows.iter().map(cells).collect();
        let text = text.lines("").prose(one.head);
        text.table(&one.header, rows, one.words..one.header.len())
    };
    let tables = deadloop_report::summary_tables(summary).into_iter();
    tables.fold(text, add)
}

impl Display for TextDocument {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (at, block) in self.0.iter().enumerate() {
            f.write_str(if at > 0 { "\n" } else { "" })?;
            f.write_str(&block(f.width(), f.alternate()))?;
        }
        Ok(())
    }
}

/// Folds the lines of a text to a width. A line with a command stays whole, so that it can be copied.
pub fn fold_prose(text: &str, width: Option<usize>) -> String {
    let Some(width) = width else {
        return text.to_owned();
    };
    let line = |line: &str| {
        if line.contains("deadloop ") {
            vec![line.to_owned()]
        } else {
            fold_lines(line, width)
        }
    };
    text.lines().flat_map(line).collect::<Vec<_>>().join("\n")
}

/// The number of blank columns around a cell of a table.
const CELL_PADDING: usize = 2;
/// The gap between two cells of a row printed as lines.
const SPACER: &str = "   ";

/// Formats a table without rules for a terminal of `width` columns, or without wrapping if `None`. The columns in
/// `numbers` are aligned right. Cells are escaped, since names in them are untrusted.
pub fn table(
    header: &[&str],
    rows: &[Vec<String>],
    numbers: &Range<usize>,
    width: Option<usize>,
) -> String {
    let row = |row: &Vec<String>| row.iter().map(|cell| visible_lines(cell)).collect();
    let rows = &rows.iter().map(row).collect::<Vec<Vec<String>>>()[..];
    match width.map(|width| (width, fit_columns(header, rows, numbers, width))) {
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
        let width = widths.and_then(|widths| u16::try_from(widths.get(at)? + CELL_PADDING).ok());
        column.set_constraint(match width {
            Some(width) => ColumnConstraint::Absolute(Width::Fixed(width)),
            None => ColumnConstraint::ContentWidth,
        });
    }
    table.trim_fmt()
}

/// Returns the width of each column so that the table fits and no word is broken. `None` if that is impossible.
fn fit_columns(
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
        // A number stays on one line with its unit. Its heading may be folded.
        let own = if numbers.contains(&at) {
            whole(at)
        } else {
            cells(at).map(|cell| word_width(cell)).max().unwrap_or(0)
        };
        own.max(word_width(header[at]))
    };
    let mut found: Vec<usize> = (0..header.len()).map(least).collect();
    let all = |widths: &[usize]| widths.iter().sum::<usize>() + CELL_PADDING * widths.len();
    let mut left = (width + 1).checked_sub(all(&found))?;
    // The column that lacks most columns gets the next one.
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

/// Returns the width of the widest part of a text that cannot be broken. A line may end between wide chars.
fn word_width(text: &str) -> usize {
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

/// Formats each row as lines: the first cell, then the other cells with their headings.
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
            if line.width() + SPACER.len() + one.width() > width && !line.trim().is_empty() {
                lines.extend(fold_lines(&line, width));
                line = String::from(" ");
            }
            line.push_str(if line.trim().is_empty() { " " } else { SPACER });
            line.push_str(one);
        }
        if !line.trim().is_empty() {
            lines.extend(fold_lines(&line, width));
        }
    }
    lines.join("\n")
}

/// Folds a text between words into lines of at most `width` columns. Lines after the first are indented by two more
/// columns. A word is broken only if it is longer than a line.
pub fn fold_lines(text: &str, width: usize) -> Vec<String> {
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
