//! An excerpt as rows for a terminal, with positions, copies and marks.
//!
//! Each row begins with the position of its first char. Copies alternate in tint, or are in brackets if there are no
//! colours. Each mark has a line under its row.

use std::fmt::Write as _;
use std::ops::Range;

use anstyle::{AnsiColor, Color, Style};
use unicode_width::UnicodeWidthChar;

use super::{Excerpt, ExcerptMark};
use crate::visible::escaped;
use crate::words::count;

/// The columns of text in a row if the width of the output is unknown.
const COLUMNS: usize = 76;
/// The minimum number of columns of text in a row, even on a narrow terminal.
const NARROW: usize = 20;
/// The columns of the position before a row.
const GUTTER: usize = 10;
/// The length of units below which copies are not bracketed one by one. There would be more brackets than text.
const TINY: u64 = 4;

/// The colours of copies, in turn.
const TINTS: [Style; 2] = [tint(AnsiColor::Cyan), tint(AnsiColor::Yellow)];

const fn tint(ground: AnsiColor) -> Style {
    let style = Style::new().fg_color(Some(Color::Ansi(AnsiColor::Black)));
    style.bg_color(Some(Color::Ansi(ground)))
}

/// A char in the form in which it is shown.
struct PaintedChar {
    at: u64,
    shown: String,
    /// The bracket before the char.
    before: &'static str,
    after: &'static str,
    width: usize,
    /// The index of the copy that the char belongs to.
    copy: Option<usize>,
    /// Whether `shown` replaces a char that cannot be shown.
    escaped: bool,
    line_end: bool,
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

/// The style of excerpts: colours and width.
#[derive(Clone, Copy, Debug)]
pub struct Paint {
    /// Whether copies are coloured. Otherwise they are in brackets.
    tinted: bool,
    /// The columns of the output. `None` if they are unknown.
    pub(super) width: Option<usize>,
    /// The columns of text in a row.
    columns: usize,
}

impl Paint {
    /// Creates a style for an output of `width` columns. `None` for an unknown width.
    pub fn new(tinted: bool, width: Option<usize>) -> Self {
        // A blank, a rule and a blank follow the position. The last column stays free for a bracket.
        let room = |width: usize| width.saturating_sub(GUTTER + 4).max(NARROW);
        Self {
            tinted,
            width,
            columns: width.map_or(COLUMNS, room).min(COLUMNS),
        }
    }
}

/// Formats the rows of an excerpt.
pub fn painted(excerpt: &Excerpt, paint: Paint) -> String {
    let Paint {
        tinted, columns, ..
    } = paint;
    let copies = if tinted {
        excerpt.copies.clone()
    } else {
        copies_in_brackets(excerpt)
    };
    let mut text = String::new();
    for row in rows(cells(excerpt, &copies, tinted), columns) {
        let Some(first) = row.first() else { continue };
        let dim = if tinted {
            Style::new().dimmed()
        } else {
            Style::new()
        };
        let place = count(first.at);
        // Writing into a String cannot fail.
        let _ = write!(text, "{dim}{place:>GUTTER$} │{dim:#} ");
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
            text.push_str(&pointer(marks, &row));
        }
    }
    text
}

/// Returns the copies to put in brackets. Copies that begin before the excerpt are left out, and adjacent tiny copies
/// are joined.
fn copies_in_brackets(excerpt: &Excerpt) -> Vec<Range<u64>> {
    let mut all: Vec<Range<u64>> = Vec::new();
    for copy in &excerpt.copies {
        let tiny = copy.end - copy.start < TINY;
        match all.last_mut().filter(|last| tiny && last.end == copy.start) {
            Some(last) => last.end = copy.end,
            None => all.push(copy.start.max(excerpt.from)..copy.end),
        }
    }
    all
}

fn cells(excerpt: &Excerpt, copies: &[Range<u64>], tinted: bool) -> Vec<PaintedChar> {
    let cell = |(at, c): (u64, char)| {
        // Copies follow each other.
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
            line_end: c == '\n',
        }
    };
    (excerpt.from..)
        .zip(excerpt.text.chars())
        .map(cell)
        .collect()
}

/// Cuts chars into rows of at most `most` columns. A row ends when it is full, and after a line break of the text.
fn rows(cells: Vec<PaintedChar>, most: usize) -> Vec<Vec<PaintedChar>> {
    let mut rows: Vec<Vec<PaintedChar>> = vec![Vec::new()];
    let mut columns = 0;
    for cell in cells {
        let after_line = rows
            .last()
            .and_then(|row| row.last())
            .is_some_and(|c| c.line_end);
        if columns + cell.columns() > most || after_line && !cell.line_end {
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

/// Formats a line that points at a char, with the words of all marks there.
fn pointer(marks: &[&ExcerptMark], row: &[PaintedChar]) -> String {
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
    // The words are put on the side with enough room.
    let line = match column.checked_sub(1) {
        Some(room) if what.chars().count() <= room => format!("{what:>room$} ▲"),
        _ => format!("{:column$}▲ {what}", ""),
    };
    format!("{:GUTTER$} │ {line}\n", "")
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
        let shown = painted(
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
            painted(&short, Paint::new(false, None)),
            "       100 │ ⟦ababab⟧\n"
        );
        let tinted = painted(&short, Paint::new(true, None));
        assert!(!tinted.contains('⟦'), "{tinted:?}");
        let tints = ["\u{1b}[46m", "\u{1b}[43m"].map(|tint| tinted.contains(tint));
        assert_eq!(tints, [true, true], "{tinted:?}");
    }

    #[test]
    fn wide_text_fills_a_row_by_columns() {
        let shown = painted(
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
            let shown = painted(&text, Paint::new(false, Some(width)));
            let widest = shown.lines().map(UnicodeWidthStr::width).max();
            let most = width.clamp(34, 90);
            assert!(
                widest.is_some_and(|widest| widest < most),
                "{width}: {shown}"
            );
        }
    }
}
