//! Formats an excerpt as rows for a terminal, with positions, copies and marks.
//!
//! Each row begins with the position of its first char. Copies alternate between two background colours; without
//! colours they are in brackets. Each mark has a line below its row.

use std::fmt::Write as _;
use std::ops::Range;

use anstyle::{AnsiColor, Color, Style};
use unicode_width::UnicodeWidthChar;

use super::{Excerpt, ExcerptMark};
use crate::visible::escaped;
use crate::words::count;

/// The maximum number of columns of text in a row.
const MAX_COLUMNS: usize = 76;
/// The minimum number of columns of text in a row, even on a narrow terminal.
const MIN_COLUMNS: usize = 20;
/// The number of columns of the position that begins a row.
const POSITION_COLUMNS: usize = 10;
/// The minimum length in chars of a copy with its own brackets. Shorter copies would have more brackets than text.
const MIN_BRACKETED_CHARS: u64 = 4;

/// The styles of copies, used in turn.
const TINTS: [Style; 2] = [tint(AnsiColor::Cyan), tint(AnsiColor::Yellow)];

const fn tint(background: AnsiColor) -> Style {
    let style = Style::new().fg_color(Some(Color::Ansi(AnsiColor::Black)));
    style.bg_color(Some(Color::Ansi(background)))
}

/// A char of the excerpt and how it is printed.
struct PaintedChar {
    /// The index of the char in the channel.
    at: u64,
    /// The printed form, with invisible chars escaped.
    shown: String,
    /// The bracket before the char, or an empty string.
    before: &'static str,
    after: &'static str,
    width: usize,
    /// The index of the copy that the char belongs to, if any.
    copy: Option<usize>,
    /// Whether `shown` is an escape for an invisible char.
    escaped: bool,
    is_line_end: bool,
}

impl PaintedChar {
    fn columns(&self) -> usize {
        self.width + self.before.len() / "⟦".len() + self.after.len() / "⟧".len()
    }

    fn style(&self, tinted: bool) -> Style {
        let style = match self.copy.filter(|_| tinted) {
            Some(copy) => TINTS[copy % TINTS.len()],
            None => Style::new(),
        };
        if tinted && self.escaped {
            style.dimmed()
        } else {
            style
        }
    }
}

/// The style of printed excerpts: colours and width.
#[derive(Clone, Copy, Debug)]
pub struct Paint {
    /// Whether copies are coloured. If not, they are in brackets.
    tinted: bool,
    /// The number of columns of the output. `None` if unknown.
    pub(super) width: Option<usize>,
    /// The number of columns of text in a row.
    columns: usize,
}

impl Paint {
    /// Creates a style for an output of `width` columns, `None` if unknown.
    pub fn new(tinted: bool, width: Option<usize>) -> Self {
        // The position is followed by a blank, a rule and a blank. The last column stays free for a bracket.
        let room = |width: usize| width.saturating_sub(POSITION_COLUMNS + 4).max(MIN_COLUMNS);
        Self {
            tinted,
            width,
            columns: width.map_or(MAX_COLUMNS, room).min(MAX_COLUMNS),
        }
    }
}

/// Formats an excerpt as rows, each with the lines of its marks.
pub fn render(excerpt: &Excerpt, paint: Paint) -> String {
    let Paint {
        tinted, columns, ..
    } = paint;
    let copies = if tinted {
        excerpt.copies.clone()
    } else {
        copies_in_brackets(excerpt)
    };
    let mut text = String::new();
    for row in split_rows(painted_chars(excerpt, &copies, tinted), columns) {
        let Some(first) = row.first() else { continue };
        let dim = if tinted {
            Style::new().dimmed()
        } else {
            Style::new()
        };
        let place = count(first.at);
        // Writing into a String cannot fail.
        let _ = write!(text, "{dim}{place:>POSITION_COLUMNS$} │{dim:#} ");
        for alike in row.chunk_by(|a, b| a.style(tinted) == b.style(tinted)) {
            let style = alike
                .first()
                .map_or(Style::new(), |cell| cell.style(tinted));
            let shown: String = alike
                .iter()
                .flat_map(|c| [c.before, &c.shown, c.after])
                .collect();
            let _ = write!(text, "{style}{shown}{style:#}");
        }
        text.push('\n');
        let here: Vec<&ExcerptMark> = excerpt
            .marks
            .iter()
            .filter(|m| row.iter().any(|c| c.at == m.at))
            .collect();
        for marks in here.chunk_by(|a, b| (a.at, a.position) == (b.at, b.position)) {
            text.push_str(&mark_line(marks, &row));
        }
    }
    text
}

/// Returns the copies to print in brackets. The part of a copy before the excerpt is cut off, and adjacent short copies
/// are joined.
fn copies_in_brackets(excerpt: &Excerpt) -> Vec<Range<u64>> {
    let mut all: Vec<Range<u64>> = Vec::new();
    for copy in &excerpt.copies {
        let tiny = copy.end - copy.start < MIN_BRACKETED_CHARS;
        match all.last_mut().filter(|last| tiny && last.end == copy.start) {
            Some(last) => last.end = copy.end,
            None => all.push(copy.start.max(excerpt.from)..copy.end),
        }
    }
    all
}

fn painted_chars(excerpt: &Excerpt, copies: &[Range<u64>], tinted: bool) -> Vec<PaintedChar> {
    let cell = |(at, c): (u64, char)| {
        // Copies are in order and do not overlap.
        let next = copies.partition_point(|copy| copy.end <= at);
        let copy = copies
            .get(next)
            .filter(|copy| copy.contains(&at))
            .map(|_| next);
        let edge =
            |is: fn(&Range<u64>, u64) -> bool| !tinted && copy.is_some_and(|i| is(&copies[i], at));
        let escape = escaped(c);
        let is_escaped = escape.is_some();
        let shown = escape.unwrap_or_else(|| c.into());
        PaintedChar {
            at,
            before: if edge(|copy, at| copy.start == at) {
                "⟦"
            } else {
                ""
            },
            after: if edge(|copy, at| copy.end == at + 1) {
                "⟧"
            } else {
                ""
            },
            width: shown.chars().filter_map(UnicodeWidthChar::width).sum(),
            shown,
            copy,
            escaped: is_escaped,
            is_line_end: c == '\n',
        }
    };
    (excerpt.from..)
        .zip(excerpt.text.chars())
        .map(cell)
        .collect()
}

/// Splits chars into rows of at most `most` columns. A row also ends after a line break of the text.
fn split_rows(cells: Vec<PaintedChar>, most: usize) -> Vec<Vec<PaintedChar>> {
    let mut rows: Vec<Vec<PaintedChar>> = vec![Vec::new()];
    let mut columns = 0;
    for cell in cells {
        let after_line = rows
            .last()
            .and_then(|row| row.last())
            .is_some_and(|c| c.is_line_end);
        if columns + cell.columns() > most || after_line && !cell.is_line_end {
            rows.push(Vec::new());
            columns = 0;
        }
        columns += cell.columns();
        if let Some(row) = rows.last_mut() {
            row.push(cell);
        }
    }
    rows
}

/// Formats the line that points at a char of `row` and describes all `marks` at this char.
fn mark_line(marks: &[&ExcerptMark], row: &[PaintedChar]) -> String {
    let Some(ExcerptMark { at, position, .. }) = marks.first() else {
        return String::new();
    };
    let words: Vec<&str> = marks.iter().map(|mark| mark.what).collect();
    let what = format!("{}: {}", words.join(", "), count(*position));
    let before = row
        .iter()
        .take_while(|cell| cell.at < *at)
        .map(PaintedChar::columns);
    let open = row
        .iter()
        .find(|cell| cell.at == *at)
        .map_or("", |cell| cell.before);
    let column = before.sum::<usize>() + open.len() / "⟦".len();
    // The words stand on the left if there is room.
    let line = match column.checked_sub(1) {
        Some(room) if what.chars().count() <= room => format!("{what:>room$} ▲"),
        _ => format!("{:column$}▲ {what}", ""),
    };
    format!("{:POSITION_COLUMNS$} │ {line}\n", "")
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadloop_detect::Channel;
    use unicode_width::UnicodeWidthStr;

    fn excerpt(text: &str, copies: &[Range<u64>], marks: Vec<ExcerptMark>) -> Excerpt {
        Excerpt {
            channel: Channel::Answer,
            from: 100,
            text: text.into(),
            of: 1000,
            copies: copies.to_vec(),
            marks,
        }
    }

    #[test]
    fn copies_are_bracketed_and_marks_point_at_their_chars() {
        let mark = |at, position, what| ExcerptMark { at, position, what };
        let marks = vec![
            mark(105, 105, "labelled onset"),
            mark(105, 105, "second copy"),
            mark(109, 110, "alarm"),
        ];
        let text = "想一想。\n想一想。\n\u{1b}[0m";
        let shown = render(
            &excerpt(text, &[100..105, 105..110], marks),
            Paint::new(false, None),
        );
        let rows = [
            "       100 │ ⟦想一想。⏎⟧",
            "       105 │ ⟦想一想。⏎⟧",
            "           │  ▲ labelled onset, second copy: 105",
            "           │          ▲ alarm: 110",
            "       110 │ \\u{1b}[0m",
        ];
        assert_eq!(shown.lines().collect::<Vec<_>>(), rows);
    }

    #[test]
    fn tints_alternate_and_tiny_copies_share_a_bracket() {
        let short = excerpt("ababab", &[100..102, 102..104, 104..106], Vec::new());
        assert_eq!(
            render(&short, Paint::new(false, None)),
            "       100 │ ⟦ababab⟧\n"
        );
        let tinted = render(&short, Paint::new(true, None));
        assert!(!tinted.contains('⟦'), "{tinted:?}");
        let tints = ["\u{1b}[46m", "\u{1b}[43m"].map(|tint| tinted.contains(tint));
        assert_eq!(tints, [true, true], "{tinted:?}");
    }

    #[test]
    fn wide_text_fills_a_row_by_columns() {
        let shown = render(
            &excerpt(&"想".repeat(50), &[], Vec::new()),
            Paint::new(false, None),
        );
        let rows: Vec<usize> = shown.lines().map(|row| row.matches('想').count()).collect();
        assert_eq!(rows, [38, 12]);
    }

    #[test]
    fn a_row_is_as_wide_as_the_terminal_allows() {
        for width in [0, 34, 60, 80, 200] {
            let text = excerpt(&"so 想".repeat(60), &[], Vec::new());
            let shown = render(&text, Paint::new(false, Some(width)));
            let widest = shown.lines().map(UnicodeWidthStr::width).max();
            let most = width.clamp(34, 90);
            assert!(
                widest.is_some_and(|widest| widest < most),
                "{width}: {shown}"
            );
        }
    }
}
