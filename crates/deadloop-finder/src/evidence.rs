//! The confidence that a repetition is a loop.
//!
//! The weights were set by hand while reading recordings. The result ranks repetitions for review. It is not a
//! probability.

use std::collections::VecDeque;

use super::grids::{closes_structure, is_grid};
use super::near_copies::NearCopies;
use super::views::{NumberChange, TextStretch, View, numbers_of};

/// The length of a stretch, in chars, that has weight 0.
const NEUTRAL_CHARS: f64 = 200.0;
/// The number of copies that has weight 0.
const NEUTRAL_COPIES: f64 = 3.0;
/// The number of copies from which they were not requested.
const MANY: f64 = 300.0;

/// The end of a stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StretchEnd {
    /// The text continues after the stretch.
    Before,
    /// The text ends with a complete copy, as a finished list does.
    Whole,
    /// The text ends in the middle of a copy.
    Cut,
}

/// Returns the confidence in a stretch of equal copies, from 0 to 1.
pub(super) fn confidence(text: &[char], stretch: &TextStretch, ends: StretchEnd) -> f64 {
    let view = weigh_view(stretch, ends);
    let seen = view + weigh_unit(text, stretch, ends) + weigh_shape(text, stretch, ends);
    sigmoid(weigh_amount(stretch, ends) + seen + weigh_end(ends))
}

/// Returns the confidence in a stretch whose copies differ, from 0 to 1.
pub(super) fn confidence_near(text: &[char], near: &NearCopies, ends: StretchEnd) -> f64 {
    let stretch = &near.stretch;
    // Requested items differ by more than a share of 0.08.
    let alike = 15.0 * (near.likeness - 0.92);
    let amount = weigh_amount(stretch, ends).min(4.0) - 2.9;
    let data = if stretch.numbers == NumberChange::Data {
        -3.0
    } else {
        0.0
    };
    let record = weigh_record(text, stretch);
    let seen = record + weigh_unit(text, stretch, ends) + weigh_shape(text, stretch, ends) + data;
    sigmoid(amount + alike + seen + weigh_end(ends))
}

/// Returns the confidence in a loop without a period of `chars` chars, in which each word occurs `times` times on
/// average.
pub(super) fn confidence_aperiodic(chars: usize, times: f64) -> f64 {
    sigmoid(0.8 * (chars as f64 / 1000.0).ln() + (times - 20.0) / 10.0)
}

/// The share of letters from which rows are prose, not data.
const PROSE_LETTERS: f64 = 0.75;
/// The number of preceding numbers in which a number may recur.
const RECENT_NUMBERS: usize = 30;
/// The share of recurring numbers from which text loops. Most numbers of a table are new.
const RECURRING: f64 = 0.8;
/// The minimum share of marks in a row of a table, data or markup. Sentence ends do not count.
const MIN_MARKS: f64 = 0.2;

/// Returns whether differing copies are rows of data: lines with few letters and mostly new numbers.
pub(super) fn is_data(text: &[char], stretch: &TextStretch) -> bool {
    let part = &text[stretch.start..stretch.end];
    let rows = part.iter().filter(|c| **c == '\n').count() as f64;
    let prose = share(part, char::is_alphabetic) >= PROSE_LETTERS;
    !prose && rows >= 0.8 * stretch.copies && has_new_numbers(text, stretch)
}

/// Returns whether the text has at least one number per copy and most numbers are new.
pub(super) fn has_new_numbers(text: &[char], stretch: &TextStretch) -> bool {
    let numbers = numbers_of(text, stretch.start..stretch.end);
    let mut before = VecDeque::with_capacity(RECENT_NUMBERS + 1);
    let mut recurring = 0;
    for number in &numbers {
        recurring += usize::from(before.contains(&number));
        before.push_back(number);
        if before.len() > RECENT_NUMBERS {
            before.pop_front();
        }
    }
    numbers.len() as f64 >= stretch.copies && (recurring as f64) < RECURRING * numbers.len() as f64
}

/// Returns whether a copy consists of rows of a table, of data or of markup.
pub(super) fn is_row(text: &[char], stretch: &TextStretch) -> bool {
    let unit = &text[stretch.start..stretch.onset];
    let mark = |c: char| !c.is_alphanumeric() && !".,!?。，！？、".contains(c);
    unit.contains(&'\n') && share(unit, mark) >= MIN_MARKS
}

/// Returns the share of chars for which `is` returns true. White space does not count.
fn share(part: &[char], is: impl Fn(char) -> bool) -> f64 {
    let (mut matching, mut all) = (0_usize, 0_usize);
    for c in part.iter().filter(|c| !c.is_whitespace()) {
        all += 1;
        matching += usize::from(is(*c));
    }
    matching as f64 / all.max(1) as f64
}

/// Marks of structured records: markup, JSON.
const RECORD_MARKS: [&str; 3] = ["</", "\":", "':"];

/// Weighs structured records, which were usually requested.
fn weigh_record(text: &[char], stretch: &TextStretch) -> f64 {
    let unit: String = text[stretch.start..stretch.onset].iter().collect();
    if RECORD_MARKS.iter().any(|field| unit.contains(field)) {
        -1.5
    } else {
        0.0
    }
}

fn sigmoid(weight: f64) -> f64 {
    1.0 / (1.0 + (-weight).exp())
}

/// The length of a unit, in chars, from which two exact copies are enough.
const LONG_UNIT: usize = 500;

/// Returns whether the unit is so long that two copies are a repetition.
pub(super) fn is_long(stretch: &TextStretch) -> bool {
    stretch.view == View::Chars && stretch.period() >= LONG_UNIT
}

/// Weighs the length and the number of copies.
fn weigh_amount(stretch: &TextStretch, ends: StretchEnd) -> f64 {
    let long = 0.8 * (stretch.length() as f64 / NEUTRAL_CHARS).ln();
    let many = (1.2 * (stretch.copies / NEUTRAL_COPIES).ln()).min(3.0);
    let few = match (is_long(stretch), ends) {
        (false, _) => 4.0,
        // Two long copies are a repetition, even if the text continues.
        (true, StretchEnd::Before) => 1.0,
        (true, _) => 1.5,
    };
    long + many + few * (stretch.copies - NEUTRAL_COPIES).min(0.0)
}

/// Weighs the view and the numbers. A counter that ends was often requested: a list, a table, a proof by cases.
fn weigh_view(stretch: &TextStretch, ends: StretchEnd) -> f64 {
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

/// Weighs the unit. Rows of marks and of numbers were often requested: rules, the padding of a table, dots.
fn weigh_unit(text: &[char], stretch: &TextStretch, ends: StretchEnd) -> f64 {
    let unit = &text[stretch.start..stretch.onset];
    let letters = unit.iter().filter(|c| c.is_alphabetic()).count();
    let numbers = unit.iter().any(|c| c.is_numeric());
    match (stretch.view, letters) {
        (View::Chars, 0) if numbers => -0.3,
        (View::Chars, 0) if ends == StretchEnd::Before => -3.5,
        (View::Chars, 0) => -0.7,
        (View::Chars, _) => 0.0,
        // Hundreds of numbers up to the end were not requested.
        (_, 0) if stretch.copies >= MANY && ends != StretchEnd::Before => -1.0,
        (_, 0) => -4.0,
        (_, 1..3) => -1.5,
        _ => 0.0,
    }
}

/// Weighs the shape. Grids were requested, and so were structures that close at the end of the text.
fn weigh_shape(text: &[char], stretch: &TextStretch, ends: StretchEnd) -> f64 {
    let grid = if is_grid(text, stretch) { -6.0 } else { 0.0 };
    let closed = ends != StretchEnd::Before && closes_structure(&text[stretch.end..]);
    grid - if closed { 4.0 } else { 0.0 }
}

/// Weighs the end.
fn weigh_end(ends: StretchEnd) -> f64 {
    match ends {
        StretchEnd::Before => -0.4,
        StretchEnd::Whole => -0.9,
        StretchEnd::Cut => 0.7,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classify(text: &str, period: usize) -> (bool, bool) {
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
        assert_eq!(classify(&table, 18), (true, true));
        let loops: String = (10..60).map(|n| row(n % 4)).collect();
        assert_eq!(classify(&loops, 18), (false, true));
        // Prose, and numbers within one line.
        let tries = |n: u32| format!("So let us try the number {} once more.\n", n * 7919 % 900);
        let prose: String = (10..60).map(tries).collect();
        assert_eq!(classify(&prose, 40), (false, false));
        assert_eq!(classify(&table.replace('\n', " "), 18), (false, false));
    }
}
