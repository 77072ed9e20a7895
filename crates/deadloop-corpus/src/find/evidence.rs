//! How sure it is that a stretch is a repetition that matters. The weights were set by hand, on
//! recordings that were read; they order what a reviewer should look at, and are no probabilities.

use super::grids::{closes, is_grid};
use super::recycled::Recycled;
use super::views::{Numbers, Stretch, View};

/// Chars at which length speaks neither for nor against a repetition.
const CHARS: f64 = 200.0;
/// Likewise, copies.
const COPIES: f64 = 3.0;
/// Copies that are too many to be asked for.
const MANY: f64 = 300.0;

/// Where a stretch ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ends {
    /// Before the text does.
    Before,
    /// With the text, and a copy is whole there: a list may have come to its end.
    Whole,
    /// With the text, in the middle of a copy.
    Cut,
}

/// The confidence in a stretch, from 0 to 1; 0.5: it may be either.
pub(super) fn confidence(text: &[char], stretch: &Stretch, ends: Ends) -> f64 {
    let seen = how(stretch, ends) + what(text, stretch, ends) + shape(text, stretch, ends);
    certain(amount(stretch, ends) + seen + ending(ends))
}

/// The confidence in a stretch of copies that differ.
pub(super) fn confidence_near(text: &[char], near: &Recycled, ends: Ends) -> f64 {
    let stretch = &near.stretch;
    // What is asked for item by item differs in more than that.
    let alike = 15.0 * (near.alike - 0.92);
    let amount = amount(stretch, ends).min(4.0) - 2.9;
    let seen = form(text, stretch) + what(text, stretch, ends) + shape(text, stretch, ends);
    certain(amount + alike + seen + ending(ends))
}

/// The confidence in a stretch of `chars` chars that draws on few words in any order; each came `times` times on average.
pub(super) fn confidence_drawn(chars: usize, times: f64) -> f64 {
    certain(0.8 * (chars as f64 / 1000.0).ln() + (times - 20.0) / 10.0)
}

/// What is in text that fills a form: markup, JSON.
const FIELDS: [&str; 3] = ["</", "\":", "':"];

/// Records that fill a form were asked for more often than not.
fn form(text: &[char], stretch: &Stretch) -> f64 {
    let unit: String = text[stretch.start..stretch.onset].iter().collect();
    if FIELDS.iter().any(|field| unit.contains(field)) {
        -1.5
    } else {
        0.0
    }
}

fn certain(weight: f64) -> f64 {
    1.0 / (1.0 + (-weight).exp())
}

/// Chars of a unit that nobody writes twice by chance: two exact copies of it are a repetition.
const LONG: usize = 500;

/// Whether two copies of a unit are enough.
pub(super) fn is_long(stretch: &Stretch) -> bool {
    stretch.view == View::Chars && stretch.period() >= LONG
}

fn amount(stretch: &Stretch, ends: Ends) -> f64 {
    let long = 0.8 * (stretch.length() as f64 / CHARS).ln();
    let many = (1.2 * (stretch.copies / COPIES).ln()).min(3.0);
    let few = match (is_long(stretch), ends) {
        (false, _) => 4.0,
        // What goes on after two long copies has repeated itself, whatever follows.
        (true, Ends::Before) => 1.0,
        (true, _) => 1.5,
    };
    long + many + few * (stretch.copies - COPIES).min(0.0)
}

/// What counts on and then ends was often asked for: a list, a table, cases one by one.
fn how(stretch: &Stretch, ends: Ends) -> f64 {
    let numbers = match (stretch.numbers, ends) {
        (Numbers::Same, _) => 0.0,
        (Numbers::Counting, Ends::Before) => -5.5,
        (Numbers::Counting, _) => -2.5,
        (Numbers::Data, _) => -4.5,
    };
    let view = match stretch.view {
        View::Chars => 0.7,
        _ => 0.3,
    };
    numbers + view
}

/// Rows of marks and of numbers are often meant: rules, the padding of a table, dots.
fn what(text: &[char], stretch: &Stretch, ends: Ends) -> f64 {
    let unit = &text[stretch.start..stretch.onset];
    let letters = unit.iter().filter(|c| c.is_alphabetic()).count();
    let numbers = unit.iter().any(|c| c.is_numeric());
    match (stretch.view, letters) {
        (View::Chars, 0) if numbers => -0.3,
        (View::Chars, 0) if ends == Ends::Before => -3.5,
        (View::Chars, 0) => -0.7,
        (View::Chars, _) => 0.0,
        // Nobody asks for numbers by the hundred and is cut in the middle of them.
        (_, 0) if stretch.copies >= MANY && ends != Ends::Before => -1.0,
        (_, 0) => -4.0,
        (_, 1..3) => -1.5,
        _ => 0.0,
    }
}

/// The rows of a grid are meant, and so is what closes at the end of a text.
fn shape(text: &[char], stretch: &Stretch, ends: Ends) -> f64 {
    let grid = if is_grid(text, stretch) { -6.0 } else { 0.0 };
    let closed = ends != Ends::Before && closes(&text[stretch.end..]);
    grid - if closed { 4.0 } else { 0.0 }
}

fn ending(ends: Ends) -> f64 {
    match ends {
        Ends::Before => -0.4,
        Ends::Whole => -0.9,
        Ends::Cut => 0.7,
    }
}
