//! The unit of a tail: its text, and the kind of its loop.

use std::sync::LazyLock;

use regex::Regex;

use super::super::conditions::UnitClass;
use super::super::runs::Tail;
use super::super::symbols::{NUMBER, elements::NAMED, places::TailOrigin};
use super::PeriodicMeter;
use crate::stream::Kind;
use crate::text::recent_text::{SHORT, kind};

impl PeriodicMeter {
    /// Returns the unit of a tail as text, read from the last copy. All copies give the same text. A folded number is a
    /// `#`.
    pub(super) fn unit(&self, run: Tail, until: u64) -> String {
        let copy = self.copy(run, until);
        if self.look.symbols.are_elements() {
            return self
                .folded
                .elements
                .unit(copy, self.look.symbols.are_lines());
        }
        let char_of = |s: &u32| match *s {
            NUMBER => Some('#'),
            symbol => char::from_u32(symbol),
        };
        self.symbols_of(copy).iter().filter_map(char_of).collect()
    }

    /// Returns the range of the last whole copy among the kept symbols.
    fn copy(&self, run: Tail, until: u64) -> (usize, usize) {
        let (from, to) = run.last_copy(until);
        let base = self.runs.base();
        let index = |at: u64| usize::try_from(at.saturating_sub(base)).unwrap_or(0);
        (index(from), index(to))
    }

    fn symbols_of(&self, (from, to): (usize, usize)) -> &[u32] {
        &self.runs.kept()[from..to]
    }

    /// Returns the classes of the unit's content that have a special threshold, the one that decides first. If numbers
    /// are compared, a number does not count as a name, since dumps and grids are often intended. In rows whose numbers
    /// were left out (`marked`), empty cells are blanks to fill in.
    pub(super) fn holds(
        &self,
        run: Tail,
        until: u64,
        (unit, marked): (&str, bool),
    ) -> Vec<UnitClass> {
        let symbols = &self.look.symbols;
        let one = !symbols.are_elements() && (run.lag == 1 || is_escape(unit));
        let letter = unit.chars().find(|c| c.is_alphabetic());
        let bare = letter.is_none();
        let number = |c: char| c.is_numeric() || c == '#' && symbols.fold();
        let rows = symbols.are_elements() || unit.contains('\n');
        // The unit of a sentence is shown with a dot at its end.
        let element = unit.strip_suffix('.').filter(|_| symbols.are_elements());
        let only = |sign| made_of(element.unwrap_or(unit), sign);
        // Rows of one letter are the zeros of a base64 text.
        let is_ruled = |c| rows && only(c) >= RULED;
        let is_bare = || bare && !one && (unit.contains(number) || PICTURE.is_match(unit));
        let blank = || only('_') >= RULED || marked && only('|') > 1;
        let is_of = |class: &UnitClass| match class {
            UnitClass::Bare => is_bare() || letter.is_some_and(is_ruled),
            UnitClass::Form => rows && (is_form(unit) || blank()),
            _ => one || symbols.count() && bare || !self.is_named(run, until, unit),
        };
        self.look.special_classes().filter(is_of).collect()
    }

    /// Returns the number of copies above which the rows of this unit are not a grid, since a grid is not much taller
    /// than wide. 0 if the unit has no rows.
    pub(super) fn tall(&self, run: Tail, unit: &str) -> u64 {
        if self.look.symbols.are_elements() {
            // If dots cut rows into cells, the unit is one row.
            let rows = run.lag as usize;
            let cut = unit
                .split(is_between)
                .filter(|cell| !cell.is_empty())
                .count()
                <= 2 * rows;
            return max_grid_copies(unit, if cut { 1 } else { rows });
        }
        let lines = unit.matches('\n').count();
        if lines > 0 && unit.contains(char::is_alphabetic) {
            // In rows of one letter each is a cell, wherever the unit begins.
            return (unit.chars().count() + MORE).div_ceil(lines) as u64;
        }
        // If everything is on one line, a bracket ends a row.
        let ends = || unit.matches([']', '}']).count();
        max_grid_copies(unit, if lines > 0 { lines } else { ends() })
    }

    /// Returns whether the unit has a letter or a number.
    pub(super) fn is_named(&self, run: Tail, until: u64, unit: &str) -> bool {
        let mut symbols = self.symbols_of(self.copy(run, until)).iter();
        if self.look.symbols.are_elements() {
            return symbols.any(|symbol| symbol & NAMED != 0);
        }
        LETTER_OR_NUMBER.is_match(unit) || symbols.any(|symbol| *symbol == NUMBER)
    }

    /// Returns the kind of loop: a list if its numbers are in the unit or were omitted from the first copy, otherwise
    /// short or long. Copies of folded text differ, so only the first copy decides. It does not depend on the time at
    /// which a fact is emitted.
    pub(super) fn kind(&self, run: Tail, unit: &str, origin: TailOrigin) -> Kind {
        if self.look.symbols.fold() {
            let text = if origin.marked { "1." } else { "" };
            return self.kind_of(run, text);
        }
        self.kind_of(run, unit)
    }

    fn kind_of(&self, run: Tail, text: &str) -> Kind {
        let elements = self.look.symbols.are_elements();
        kind(text, !elements && u64::from(run.lag) < SHORT)
    }
}

/// The number of rows by which a grid may be taller than it is wide.
const MORE: usize = 5;
/// The number of cells in a row for which a grid may be one row taller.
const TALLER: usize = 4;
/// The number of copies of several rows that is too high for a grid redrawn at each step.
const DRAWN: u64 = 8;

/// Returns whether a character separates cells.
fn is_between(c: char) -> bool {
    c.is_whitespace() || ",;|[](){}&".contains(c)
}

/// Returns the number of copies above which `unit`, with `rows` rows, is not a grid. 0 if the unit has no rows.
fn max_grid_copies(unit: &str, rows: usize) -> u64 {
    if rows == 0 {
        return 0;
    }
    let (mut count, mut longest) = (0, 0);
    for cell in unit.split(is_between).filter(|cell| !cell.is_empty()) {
        count += 1;
        longest = cell.chars().count().max(longest);
    }
    // In a row of one piece, each character is a cell.
    let wide = match count / rows {
        cells if count > rows => cells + cells / TALLER,
        _ => longest,
    };
    let copies = (wide + MORE).div_ceil(rows) as u64;
    copies.max(if rows > 2 { DRAWN } else { 0 })
}

/// A char of the Unicode categories L and N.
static LETTER_OR_NUMBER: LazyLock<Regex> = LazyLock::new(|| pattern(r"[\p{L}\p{N}]"));

/// An emoji or another picture, such as the cells of a board.
static PICTURE: LazyLock<Regex> = LazyLock::new(|| pattern(r"[\p{So}\p{Extended_Pictographic}]"));

/// A blank to fill in: a line, a box, an empty text, an empty cell of markup or of LaTeX, a string of a staff.
static BLANK: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"[:：] ?__|\[ ?\]|[□☐▢]|[:=,] ?""|></|& +[&\\]|\w\|-{5}"#));

/// The maximum number of chars of a form for each blank in it.
const FORM_CHARS: usize = 80;

/// The minimum number of underscores in a ruled line to write on.
const RULED: usize = 20;

/// Returns whether a unit has blanks to fill in throughout.
fn is_form(unit: &str) -> bool {
    let blanks = BLANK.find_iter(unit).count();
    blanks > 0 && unit.chars().count() <= FORM_CHARS * blanks
}

/// An escape of one character by its number, or of a class of characters.
static ESCAPE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^(?:\\[Uux]\{?[0-9A-Fa-f]{2,8}\}?|\\[Pp]\{?\w{1,20}\}?|&#\w{1,8};)$")
});

/// Returns whether a unit is the escape of one character, such as `\u0020`. The unit may begin anywhere in the escape.
fn is_escape(unit: &str) -> bool {
    let begin = unit.find(['\\', '&']);
    begin.is_some_and(|at| ESCAPE.is_match(&[&unit[at..], &unit[..at]].concat()))
}

/// Counts a character in a text of nothing else but blanks. 0 in any other text.
fn made_of(text: &str, sign: char) -> usize {
    let others = |c: char| c != sign && !c.is_whitespace();
    if text.contains(others) {
        0
    } else {
        text.matches(sign).count()
    }
}

/// The pattern of `unit_holds = "letter"`. Digits are not enough.
pub(in super::super) static LETTER: LazyLock<Regex> = LazyLock::new(|| pattern(r"\p{L}"));

/// The pattern of `unit_holds = "letter-or-emoji"`.
pub(in super::super) static LETTER_OR_EMOJI: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"[\p{L}\p{Extended_Pictographic}]"));

#[allow(
    clippy::expect_used,
    reason = "a constant pattern; every test would see it fail"
)]
fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a pattern")
}
