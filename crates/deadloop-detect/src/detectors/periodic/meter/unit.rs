//! What a tail repeats: its unit as a text, and what kind of loop that makes it.

use std::sync::LazyLock;

use regex::Regex;

use super::super::elements::NAMED;
use super::super::look::Holds;
use super::super::places::Origin;
use super::super::runs::Run;
use super::super::symbols::NUMBER;
use super::PeriodicMeter;
use crate::stream::Kind;
use crate::text::repeated::{SHORT, kind};

impl PeriodicMeter {
    /// A tail's unit; a number that was folded is a `#`. The last copy says it, and says what any would.
    pub(super) fn unit(&self, run: Run, until: u64) -> String {
        let copy = self.copy(run, until);
        if self.look.symbols.are_elements() {
            return self.elements.unit(copy, self.look.symbols.are_lines());
        }
        let char_of = |s: &u32| match *s {
            NUMBER => Some('#'),
            symbol => char::from_u32(symbol),
        };
        self.symbols_of(copy).iter().filter_map(char_of).collect()
    }

    /// Where the last whole copy lies among the kept symbols.
    fn copy(&self, run: Run, until: u64) -> (usize, usize) {
        let (from, to) = run.last_copy(until);
        let base = self.runs.base();
        let index = |at: u64| usize::try_from(at.saturating_sub(base)).unwrap_or(0);
        (index(from), index(to))
    }

    fn symbols_of(&self, (from, to): (usize, usize)) -> &[u32] {
        &self.runs.kept()[from..to]
    }

    /// What the unit holds, for the thresholds that ask for it. Where numbers are compared, they are no names: dumps
    /// and grids are often meant.
    pub(super) fn holds(&self, run: Run, until: u64, unit: &str) -> Holds {
        let symbols = &self.look.symbols;
        let one = !symbols.are_elements() && run.lag == 1;
        let bare = !unit.contains(char::is_alphabetic);
        let number = |c: char| c.is_numeric() || c == '#' && symbols.fold();
        if self.look.min_bare > 0
            && !one
            && bare
            && (unit.contains(number) || PICTURE.is_match(unit))
        {
            return Holds::Bare;
        }
        let rows = symbols.are_elements() || unit.contains('\n');
        if self.look.min_form > 0 && rows && is_form(unit) {
            return Holds::Form;
        }
        if one || symbols.count() && bare || !self.is_named(run, until, unit) {
            Holds::Single
        } else {
            Holds::Named
        }
    }

    /// The copies of a unit after which its rows are no grid: those are not much taller than they are wide. 0: it is
    /// not made of rows.
    pub(super) fn tall(&self, run: Run, unit: &str) -> u64 {
        if self.look.symbols.are_elements() {
            // Where points cut rows into cells, the unit is one row.
            let rows = run.lag as usize;
            let cut = unit
                .split(is_between)
                .filter(|cell| !cell.is_empty())
                .count()
                <= 2 * rows;
            return tall(unit, if cut { 1 } else { rows });
        }
        let lines = unit.matches('\n').count();
        // Where all stands on one line, a bracket ends a row.
        let ends = || unit.matches([']', '}']).count();
        tall(unit, if lines > 0 { lines } else { ends() })
    }

    /// Whether the unit has a letter or a number.
    pub(super) fn is_named(&self, run: Run, until: u64, unit: &str) -> bool {
        let mut symbols = self.symbols_of(self.copy(run, until)).iter();
        if self.look.symbols.are_elements() {
            return symbols.any(|symbol| symbol & NAMED != 0);
        }
        LETTER_OR_NUMBER.is_match(unit) || symbols.any(|symbol| *symbol == NUMBER)
    }

    /// A list where its numbers are in the unit, or were left out of the first copy; else short or
    /// long. The copies of folded text differ, so only the first one decides: it is the same whenever
    /// a fact is emitted.
    pub(super) fn kind(&self, run: Run, unit: &str, origin: Origin) -> Kind {
        if self.look.symbols.fold() {
            let text = if origin.marked { "1." } else { "" };
            return self.kind_of(run, text);
        }
        self.kind_of(run, unit)
    }

    fn kind_of(&self, run: Run, text: &str) -> Kind {
        let elements = self.look.symbols.are_elements();
        kind(text, !elements && u64::from(run.lag) < SHORT)
    }
}

/// Rows that a grid may have more than it is wide.
const MORE: usize = 5;
/// Copies of several rows together that are more than a grid that is drawn again for each step.
const DRAWN: u64 = 8;

/// Whether a char stands between cells.
fn is_between(c: char) -> bool {
    c.is_whitespace() || ",;|[](){}&".contains(c)
}

/// The copies of `unit`, which has `rows` rows, after which they are no grid; 0 if it has no rows.
fn tall(unit: &str, rows: usize) -> u64 {
    if rows == 0 {
        return 0;
    }
    let (mut count, mut longest) = (0, 0);
    for cell in unit.split(is_between).filter(|cell| !cell.is_empty()) {
        count += 1;
        longest = cell.chars().count().max(longest);
    }
    // Of a row in one piece each char is a cell.
    let wide = if count <= rows { longest } else { count / rows };
    let copies = (wide + MORE).div_ceil(rows) as u64;
    copies.max(if rows > 2 { DRAWN } else { 0 })
}

/// A char of the Unicode categories L and N.
static LETTER_OR_NUMBER: LazyLock<Regex> = LazyLock::new(|| pattern(r"[\p{L}\p{N}]"));

/// An emoji or another picture, as the cells of a board are.
static PICTURE: LazyLock<Regex> = LazyLock::new(|| pattern(r"[\p{So}\p{Extended_Pictographic}]"));

/// A blank to fill in: a line, a box, an empty text, an empty cell of markup or of LaTeX, a string of a staff.
static BLANK: LazyLock<Regex> =
    LazyLock::new(|| pattern(r#"[:：] ?__|\[ ?\]|[□☐▢]|[:=,] ?""|></|& +[&\\]|\w\|-{5}"#));

/// The most chars of a form for each blank in it.
const FORM_CHARS: usize = 80;

/// Whether a unit has blanks to fill in all over.
fn is_form(unit: &str) -> bool {
    let blanks = BLANK.find_iter(unit).count();
    blanks > 0 && unit.chars().count() <= FORM_CHARS * blanks
}

/// What `unit_holds` asks for: digits are not enough.
pub(in super::super) static LETTER: LazyLock<Regex> = LazyLock::new(|| pattern(r"\p{L}"));

/// The same, or an emoji.
pub(in super::super) static LETTER_OR_EMOJI: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"[\p{L}\p{Extended_Pictographic}]"));

#[allow(
    clippy::expect_used,
    reason = "a constant pattern; every test would see it fail"
)]
fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a pattern")
}
