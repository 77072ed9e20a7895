//! Views of a text as symbols, whose runs are its repetitions.
//!
//! The views are its chars, its chars with numbers folded, its lines and its sentences.

use std::collections::HashMap;
use std::ops::Range;

use super::runs::{PeriodicRun, runs_in};

/// The forms in which a text is compared with itself, the most exact first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum View {
    /// The unchanged chars.
    Chars,
    /// The chars, with each number as one symbol. List numbers at the beginning of lines are left out.
    Folded,
    /// The lines: their letters in lower case and each number as one symbol, without list numbers, white space and
    /// punctuation.
    Lines,
    /// The sentences, treated like lines.
    Sentences,
    /// The folded chars in lower case, with white space and marks squeezed. Copies with larger differences are aligned
    /// in this view.
    Near,
}

/// The views in which runs are searched.
pub(super) const EXACT: [View; 4] = [View::Chars, View::Folded, View::Lines, View::Sentences];

/// A stretch of a text that repeats itself. Positions are chars.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TextStretch {
    /// The view in which it was found.
    pub view: View,
    /// The first char of the first copy.
    pub start: usize,
    /// The first char of the second copy.
    pub onset: usize,
    /// The position after the last char.
    pub end: usize,
    /// The number of copies. A cut last copy counts in part.
    pub copies: f64,
    /// The differences between the numbers in the copies.
    pub numbers: NumberChange,
}

/// The kinds of differences between copies in their numbers, list numbers aside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NumberChange {
    /// The numbers are the same.
    Same,
    /// The numbers continue, each by its own step: a counter, a list, years.
    Counting,
    /// The numbers are the content of the text: scores, measurements.
    Data,
}

impl TextStretch {
    /// Returns the number of chars from the first copy to the second.
    pub fn period(&self) -> usize {
        self.onset - self.start
    }

    /// Returns the number of chars.
    pub fn length(&self) -> usize {
        self.end - self.start
    }
}

/// A text as the symbols of a view, with the start of each. A symbol extends to the start of the next one, and the
/// last symbol to `end`.
#[derive(Debug, Default)]
struct ViewSymbols {
    symbols: Vec<u32>,
    starts: Vec<usize>,
    end: usize,
}

impl ViewSymbols {
    fn push(&mut self, symbol: u32, start: usize, end: usize) {
        self.symbols.push(symbol);
        self.starts.push(start);
        self.end = end;
    }

    /// Returns the position after the last char of the symbol before `index`.
    fn end_of(&self, index: usize) -> usize {
        self.starts.get(index).copied().unwrap_or(self.end)
    }

    fn stretch(&self, view: View, text: &[char], run: &PeriodicRun) -> TextStretch {
        let copies = (run.start..=run.end - run.period).step_by(run.period);
        let numbers = match view {
            View::Chars => NumberChange::Same,
            _ => {
                let copy = |at: usize| self.starts[at]..self.end_of(at + run.period);
                numbers(copies.take(MEASURED).map(|at| numbers_of(text, copy(at))))
            }
        };
        TextStretch {
            view,
            start: self.starts[run.start],
            onset: self.starts[run.start + run.period],
            end: self.end_of(run.end),
            copies: run.copies(),
            numbers,
        }
    }
}

/// Returns the stretches with at least `copies` copies and `least` chars in a view.
pub(super) fn stretches(view: View, text: &[char], copies: f64, least: usize) -> Vec<TextStretch> {
    let (symbols, keys) = symbols(view, text);
    let taken = |mut run: PeriodicRun| {
        if cut_copy(&run, &keys) {
            run.end += 1;
        }
        let length = symbols.end_of(run.end) - symbols.starts[run.start];
        let long = run.copies() >= copies && length >= least;
        long.then(|| symbols.stretch(view, text, &run))
    };
    // One symbol more is counted, since a cut copy may follow.
    let worth = |from: usize, to: usize| symbols.end_of(to + 1) - symbols.starts[from] >= least;
    runs_in(&symbols.symbols, worth)
        .into_iter()
        .filter_map(taken)
        .collect()
}

/// Returns the symbols of a view, and the keys of its elements if it has any.
fn symbols(view: View, text: &[char]) -> (ViewSymbols, Vec<String>) {
    match view {
        View::Chars => (chars(text), Vec::new()),
        View::Folded => (fold_numbers(text), Vec::new()),
        View::Lines => elements(text, |at| text[at] == '\n'),
        View::Sentences => elements(text, |at| ends_sentence(text, at)),
        View::Near => (squeeze_rows(text), Vec::new()),
    }
}

/// Returns the symbols of a view, and the first char of each.
pub(super) fn seen_as(view: View, text: &[char]) -> (Vec<u32>, Vec<usize>) {
    let (seen, _) = symbols(view, text);
    (seen.symbols, seen.starts)
}

/// Returns whether the last element is a cut copy: it follows the run, and is the start of the next expected element.
fn cut_copy(run: &PeriodicRun, keys: &[String]) -> bool {
    if run.end + 1 != keys.len() {
        return false;
    }
    keys[run.end - run.period].starts_with(&keys[run.end])
}

fn chars(text: &[char]) -> ViewSymbols {
    ViewSymbols {
        symbols: text.iter().map(|c| u32::from(*c)).collect(),
        starts: (0..text.len()).collect(),
        end: text.len(),
    }
}

/// Returns the chars with numbers folded: digits, and Chinese numerals after 第. A list number belongs to the text
/// after it.
fn fold_numbers(text: &[char]) -> ViewSymbols {
    let mut seen = ViewSymbols::default();
    let mut at = 0;
    while at < text.len() {
        let from = at;
        if at == 0 || text[at - 1] == '\n' {
            at += list_number(&text[at..]);
        }
        let Some(c) = text.get(at) else { break };
        let ordinal = at > 0 && text[at - 1] == '第';
        let number = |c: &char| c.is_numeric() || ordinal && CHINESE.contains(*c);
        let digits = text[at..].iter().take_while(|c| number(c)).count();
        let symbol = if digits > 0 { '0' } else { *c };
        at += digits.max(1);
        seen.push(u32::from(symbol), from, at);
    }
    seen.end = text.len();
    seen
}

/// Returns the folded chars in lower case. A row of white space or of one mark is one symbol, since it may pad a
/// table.
fn squeeze_rows(text: &[char]) -> ViewSymbols {
    let all = fold_numbers(text);
    let mut seen = ViewSymbols::default();
    for (symbol, start) in all.symbols.iter().zip(&all.starts) {
        let c = char::from_u32(*symbol).unwrap_or(' ');
        let symbol = match c {
            c if c.is_whitespace() => u32::from(' '),
            c => c.to_lowercase().next().map_or(*symbol, u32::from),
        };
        if c.is_alphanumeric() || seen.symbols.last() != Some(&symbol) {
            seen.push(symbol, *start, *start + 1);
        }
    }
    seen.end = text.len();
    seen
}

/// Chinese numerals.
const CHINESE: &str = "一二三四五六七八九十百千零〇";

/// The number of copies whose numbers are compared.
const MEASURED: usize = 40;
/// The share of equal steps in a counter, which may start again or miss one.
const STEADY: f64 = 0.7;

fn numbers(copies: impl Iterator<Item = Vec<f64>>) -> NumberChange {
    let rows: Vec<Vec<f64>> = copies.collect();
    let slots = rows.iter().map(Vec::len).min().unwrap_or(0);
    if rows.iter().any(|row| row.len() != slots) {
        return NumberChange::Data;
    }
    let how = |slot: usize| {
        let mut steps: Vec<f64> = rows.windows(2).map(|w| w[1][slot] - w[0][slot]).collect();
        steps.sort_unstable_by(f64::total_cmp);
        let common = steps
            .chunk_by(|a, b| a == b)
            .max_by_key(|alike| alike.len());
        match common {
            Some(alike) if (alike.len() as f64) < STEADY * steps.len() as f64 => NumberChange::Data,
            Some([step, ..]) if *step != 0.0 => NumberChange::Counting,
            _ => NumberChange::Same,
        }
    };
    (0..slots).map(how).max().unwrap_or(NumberChange::Same)
}

/// Returns the numbers in a part of a text, in order, without list numbers.
pub(super) fn numbers_of(text: &[char], part: Range<usize>) -> Vec<f64> {
    let mut found = Vec::new();
    let mut at = part.start;
    while at < part.end {
        if at == 0 || text[at - 1] == '\n' {
            at += list_number(&text[at..part.end]);
        }
        let digits = text[at.min(part.end)..part.end]
            .iter()
            .map_while(|c| c.to_digit(10));
        let (length, number) =
            digits.fold((0, 0.0), |(n, sum), d| (n + 1, sum * 10.0 + f64::from(d)));
        found.extend((length > 0).then_some(number));
        at += length.max(1);
    }
    found
}

/// Returns the length, in chars, of the list number at the start of a line, with the blanks around it: `12. `, `(3) `,
/// `**4)** `, `5、`, `iv. `, `b) `, `七、`. Also covers a time: `[00:01.5 --> 00:02.0] `.
pub(super) fn list_number(line: &[char]) -> usize {
    let line = &line[..line.len().min(LIST)];
    let stamp = stamp(line);
    if stamp > 0 {
        return stamp;
    }
    let count =
        |from: usize, is: fn(&char) -> bool| line[from..].iter().take_while(|c| is(c)).count();
    let blank = |c: &char| matches!(c, ' ' | '\t' | '\u{3000}');
    let opened = count(0, |c| {
        matches!(c, '*' | '(' | '（' | '#' | ' ' | '\t' | '\u{3000}')
    });
    let number = number_length(&line[opened..]);
    let at = opened + number;
    let marks = count(at, |c| {
        matches!(c, '.' | ')' | '）' | '、' | ':' | '：' | '．' | '*')
    });
    if number == 0 || marks == 0 {
        return 0;
    }
    at + marks + count(at + marks, blank)
}

/// The maximum number of chars of a list number. Anything longer is text.
const LIST: usize = 128;

/// The maximum number of chars of a time in brackets.
const STAMP: usize = 48;

/// Returns the length, in chars, of the bracketed time at the start of a line of a transcribed speech, including the
/// blanks after it.
fn stamp(line: &[char]) -> usize {
    let blank = |c: &&char| matches!(c, ' ' | '\t' | '\u{3000}');
    let opened = line.iter().take_while(blank).count();
    if !matches!(line.get(opened), Some('[' | '(')) {
        return 0;
    }
    let inside = &line[opened + 1..line.len().min(opened + STAMP)];
    let time = |c: &&char| c.is_numeric() || ":.,->–s ".contains(**c);
    let length = inside.iter().take_while(time).count();
    let clock = inside[..length]
        .windows(3)
        .any(|w| w[1] == ':' && w[0].is_numeric() && w[2].is_numeric());
    if !clock || !matches!(inside.get(length), Some(']' | ')')) {
        return 0;
    }
    let at = opened + length + 2;
    at + line[at..].iter().take_while(blank).count()
}

/// Returns the length, in chars, of the number at the start of a text, in the forms of list numbers: digits, letters,
/// Roman or Chinese numerals.
fn number_length(text: &[char]) -> usize {
    let count = |is: fn(&char) -> bool| text.iter().take_while(|c| is(c)).count();
    let most = |n: usize, most: usize| if n <= most { n } else { 0 };
    let ways = [
        most(count(|c| c.is_numeric()), 6),
        most(count(|c| c.is_ascii_uppercase()), 2),
        most(count(|c| c.is_ascii_lowercase()), 1),
        count(|c| matches!(c, 'I' | 'V' | 'X' | 'L' | 'C')),
        count(|c| matches!(c, 'i' | 'v' | 'x' | 'l')),
        count(|c| CHINESE.contains(*c)),
    ];
    // In a word, only some of the letters are numerals.
    let ends = |n: &usize| text.get(*n).is_none_or(|c| !c.is_alphanumeric());
    ways.into_iter().filter(ends).max().unwrap_or(0)
}

pub(super) fn ends_sentence(text: &[char], at: usize) -> bool {
    match text[at] {
        '\n' | '。' | '！' | '？' | '；' | '!' | '?' | ';' => true,
        '.' => text.get(at + 1).is_none_or(|c| c.is_whitespace()),
        _ => false,
    }
}

/// Splits a text after the chars for which `ends` returns true. Returns the elements as symbols, and the key of each.
/// Elements of white space alone are left out.
fn elements(text: &[char], ends: impl Fn(usize) -> bool) -> (ViewSymbols, Vec<String>) {
    let mut seen = ViewSymbols::default();
    let mut keys = Vec::new();
    let mut ids: HashMap<String, u32> = HashMap::new();
    let mut from = 0;
    for at in 0..text.len() {
        if !ends(at) && at + 1 < text.len() {
            continue;
        }
        let element = &text[from..=at];
        let blanks = element.iter().take_while(|c| c.is_whitespace()).count();
        if blanks < element.len() {
            let key = key(&element[blanks..]);
            let next = ids.len() as u32;
            let id = *ids.entry(key.clone()).or_insert(next);
            seen.push(id, from + blanks, at + 1);
            keys.push(key);
        }
        from = at + 1;
    }
    (seen, keys)
}

/// Returns the key by which an element is compared: its letters and numbers, or all chars if it has none.
fn key(element: &[char]) -> String {
    let mut key = String::new();
    for c in &element[list_number(element)..] {
        match c {
            c if c.is_numeric() && key.ends_with('0') => {}
            c if c.is_numeric() => key.push('0'),
            c if c.is_alphabetic() => key.extend(c.to_lowercase()),
            _ => {}
        }
    }
    if key.is_empty() {
        key.extend(element.iter().filter(|c| !c.is_whitespace()));
    }
    key
}
