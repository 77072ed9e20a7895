//! The confidence that a stretch is a relevant repetition.
//!
//! The weights were set by hand, after reading recordings. They order the stretches for review and are not
//! probabilities.

use std::collections::VecDeque;

use super::grids::{closes, is_grid};
use super::near_copies::NearCopies;
use super::views::{NumberChange, TextStretch, View, numbers_of};

/// The length, in chars, that counts neither for nor against a repetition.
const CHARS: f64 = 200.0;
/// The number of copies that counts neither for nor against a repetition.
const COPIES: f64 = 3.0;
/// The number of copies that is too large to be intended.
const MANY: f64 = 300.0;

/// The ways in which a stretch ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StretchEnd {
    /// Before the end of the text.
    Before,
    /// At the end of the text, with a complete copy. A list may have ended there.
    Whole,
    /// At the end of the text, in the middle of a copy.
    Cut,
}

/// Returns the confidence in a stretch, from 0 to 1. At 0.5 it may be either.
pub(super) fn confidence(text: &[char], stretch: &TextStretch, ends: StretchEnd) -> f64 {
    let seen = weigh(stretch, ends) + body(text, stretch, ends) + shape(text, stretch, ends);
    sigmoid(amount(stretch, ends) + seen + ending(ends))
}

/// Returns the confidence in a stretch whose copies differ.
pub(super) fn confidence_near(text: &[char], near: &NearCopies, ends: StretchEnd) -> f64 {
    let stretch = &near.stretch;
    // Items that were requested one by one differ by more than that.
    let alike = 15.0 * (near.alike - 0.92);
    let amount = amount(stretch, ends).min(4.0) - 2.9;
    let data = if stretch.numbers == NumberChange::Data {
        -3.0
    } else {
        0.0
    };
    let seen = form(text, stretch) + body(text, stretch, ends) + shape(text, stretch, ends) + data;
    sigmoid(amount + alike + seen + ending(ends))
}

/// Returns the confidence in a stretch of `chars` chars that uses few words in any order, each `times` times on
/// average.
pub(super) fn confidence_of_recycled(chars: usize, times: f64) -> f64 {
    sigmoid(0.8 * (chars as f64 / 1000.0).ln() + (times - 20.0) / 10.0)
}

/// The maximum share of letters in rows of data. Prose has more of them.
const LETTERS: f64 = 0.75;
/// The number of numbers before one among which it may recur.
const BEFORE: usize = 30;
/// The minimum share of recurring numbers in a loop. The numbers of a table are new.
const RECUR: f64 = 0.8;
/// The minimum share of marks in a row of a table, data or markup, sentence ends aside.
const MARKS: f64 = 0.2;

/// Returns whether differing copies are rows of data: their numbers, at least one in each, differ and are mostly new.
pub(super) fn is_data(text: &[char], stretch: &TextStretch) -> bool {
    let part = &text[stretch.start..stretch.end];
    let rows = part.iter().filter(|c| **c == '\n').count() as f64;
    let prose = share(part, char::is_alphabetic) >= LETTERS;
    !prose && rows >= 0.8 * stretch.copies && has_new_numbers(text, stretch)
}

/// Returns whether each copy has a number and most numbers are new.
pub(super) fn has_new_numbers(text: &[char], stretch: &TextStretch) -> bool {
    let numbers = numbers_of(text, stretch.start..stretch.end);
    let mut before = VecDeque::with_capacity(BEFORE + 1);
    let mut recurring = 0;
    for number in &numbers {
        recurring += usize::from(before.contains(&number));
        before.push_back(number);
        if before.len() > BEFORE {
            before.pop_front();
        }
    }
    numbers.len() as f64 >= stretch.copies && (recurring as f64) < RECUR * numbers.len() as f64
}

/// Returns whether a copy is a row, or several, of a table, data or markup.
pub(super) fn is_row(text: &[char], stretch: &TextStretch) -> bool {
    let unit = &text[stretch.start..stretch.onset];
    let mark = |c: char| !c.is_alphanumeric() && !".,!?。，！？、".contains(c);
    unit.contains(&'\n') && share(unit, mark) >= MARKS
}

/// Returns the share of chars, blanks aside, for which `is` returns true.
fn share(part: &[char], is: impl Fn(char) -> bool) -> f64 {
    let (mut of, mut all) = (0_usize, 0_usize);
    for c in part.iter().filter(|c| !c.is_whitespace()) {
        all += 1;
        of += usize::from(is(*c));
    }
    of as f64 / all.max(1) as f64
}

/// Marks of text that fills a form: markup, JSON.
const FIELDS: [&str; 3] = ["</", "\":", "':"];

/// Returns the weight of a form. Records that fill in a form were usually requested.
fn form(text: &[char], stretch: &TextStretch) -> f64 {
    let unit: String = text[stretch.start..stretch.onset].iter().collect();
    if FIELDS.iter().any(|field| unit.contains(field)) {
        -1.5
    } else {
        0.0
    }
}

fn sigmoid(weight: f64) -> f64 {
    1.0 / (1.0 + (-weight).exp())
}

/// The length of a unit, in chars, from which two exact copies are a repetition, since they are not a coincidence.
const LONG: usize = 500;

/// Returns whether two copies of a unit are enough.
pub(super) fn is_long(stretch: &TextStretch) -> bool {
    stretch.view == View::Chars && stretch.period() >= LONG
}

fn amount(stretch: &TextStretch, ends: StretchEnd) -> f64 {
    let long = 0.8 * (stretch.length() as f64 / CHARS).ln();
    let many = (1.2 * (stretch.copies / COPIES).ln()).min(3.0);
    let few = match (is_long(stretch), ends) {
        (false, _) => 4.0,
        // A text that continues after two long copies has repeated itself in any case.
        (true, StretchEnd::Before) => 1.0,
        (true, _) => 1.5,
    };
    long + many + few * (stretch.copies - COPIES).min(0.0)
}

/// Returns the weight of the view and the numbers. A stretch that counts on and then ends was often requested: a
/// list, a table, cases one by one.
fn weigh(stretch: &TextStretch, ends: StretchEnd) -> f64 {
    let numbers = match (stretch.numbers, ends) {
        (NumberChange::Same, _) => 0.0,
        (NumberChange::Counting, StretchEnd::Before) => -5.5,
        (NumberChange::Counting, _) => -2.5,
        (NumberChange::Data, _) => -4.5,
    };
    let view = match stretch.view {
        View::Chars => 0.7,
        _ => 0.3,
    };
    numbers + view
}

/// Returns the weight of the content. Rows of marks and of numbers are often intended: rules, the padding of a table,
/// dots.
fn body(text: &[char], stretch: &TextStretch, ends: StretchEnd) -> f64 {
    let unit = &text[stretch.start..stretch.onset];
    let letters = unit.iter().filter(|c| c.is_alphabetic()).count();
    let numbers = unit.iter().any(|c| c.is_numeric());
    match (stretch.view, letters) {
        (View::Chars, 0) if numbers => -0.3,
        (View::Chars, 0) if ends == StretchEnd::Before => -3.5,
        (View::Chars, 0) => -0.7,
        (View::Chars, _) => 0.0,
        // Hundreds of numbers that are cut in the middle are not requested.
        (_, 0) if stretch.copies >= MANY && ends != StretchEnd::Before => -1.0,
        (_, 0) => -4.0,
        (_, 1..3) => -1.5,
        _ => 0.0,
    }
}

/// Returns the weight of the shape. The rows of a grid are intended, and so is a structure that closes at the end of
/// a text.
fn shape(text: &[char], stretch: &TextStretch, ends: StretchEnd) -> f64 {
    let grid = if is_grid(text, stretch) { -6.0 } else { 0.0 };
    let closed = ends != StretchEnd::Before && closes(&text[stretch.end..]);
    grid - if closed { 4.0 } else { 0.0 }
}

fn ending(ends: StretchEnd) -> f64 {
    match ends {
        StretchEnd::Before => -0.4,
        StretchEnd::Whole => -0.9,
        StretchEnd::Cut => 0.7,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, period: usize) -> (bool, bool) {
        let text: Vec<char> = text.chars().collect();
        let stretch = TextStretch {
            view: View::Near,
            start: 0,
            onset: period,
            end: text.len(),
            copies: text.len() as f64 / period as f64,
            numbers: NumberChange::Same,
        };
        (is_data(&text, &stretch), is_row(&text, &stretch))
    }

    #[test]
    fn numbers_of_a_table_are_new_and_those_of_a_loop_recur() {
        let row = |n: u32| format!("| x | {} | {} |\n", n * 7919 % 900, n * 104_729 % 700);
        let table: String = (10..60).map(row).collect();
        assert_eq!(of(&table, 18), (true, true));
        let loops: String = (10..60).map(|n| row(n % 4)).collect();
        assert_eq!(of(&loops, 18), (false, true));
        // Prose, and numbers within one line.
        let tries = |n: u32| format!("So let us try the number {} once more.\n", n * 7919 % 900);
        let prose: String = (10..60).map(tries).collect();
        assert_eq!(of(&prose, 40), (false, false));
        assert_eq!(of(&table.replace('\n', " "), 18), (false, false));
    }
}
