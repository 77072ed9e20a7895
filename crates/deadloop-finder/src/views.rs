//! Views of a text: forms as symbols in which repetitions are periodic runs.
//!
//! The symbols are chars, chars with numbers folded, lines or sentences.

use std::collections::HashMap;
use std::ops::Range;

use super::runs::{PeriodicRun, runs_in};

/// The views of a text, the most exact first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum View {
    /// The unchanged chars.
    Chars,
    /// The chars, with each number as one symbol. A list number at the start of a line belongs to the next symbol.
    Folded,
    /// The lines, compared by their letters in lower case and their numbers. All numbers are equal. List numbers, white
    /// space and punctuation are ignored.
    Lines,
    /// The sentences, compared like lines.
    Sentences,
    /// The folded chars in lower case, with each row of white space or of one mark as one symbol. Differing copies are
    /// aligned in this view.
    Near,
}

/// The views that are searched for runs.
pub(super) const EXACT: [View; 4] = [View::Chars, View::Folded, View::Lines, View::Sentences];

/// A repetition in a text. Positions are chars.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TextStretch {
    /// The view in which the repetition was found.
    pub view: View,
    /// The first char of the first copy.
    pub start: usize,
    /// The first char of the second copy.
    pub onset: usize,
    /// The position after the last char.
    pub end: usize,
    /// The number of copies. A cut last copy counts in part.
    pub copies: f64,
    /// The change of the numbers from copy to copy.
    pub numbers: NumberChange,
}

/// The change of the numbers from copy to copy, list numbers aside.
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

/// The symbols of a text in a view, with the position of each. A symbol extends to the start of the next symbol, and
/// the last one to `end`.
#[derive(Debug, Default)]
struct ViewSymbols {
    symbols: Vec<u32>,
    /// The first char of each symbol.
    starts: Vec<usize>,
    /// The position after the last symbol.
    end: usize,
}

impl ViewSymbols {
    fn push(&mut self, symbol: u32, start: usize, end: usize) {
        self.symbols.push(symbol);
        self.starts.push(start);
        self.end = end;
    }

    /// Returns the position after the symbol before `index`.
    fn end_of(&self, index: usize) -> usize {
        self.starts.get(index).copied().unwrap_or(self.end)
    }

    /// Converts a run of symbols to a stretch of the text.
    fn stretch(&self, view: View, text: &[char], run: &PeriodicRun) -> TextStretch {
        let copies = (run.start..=run.end - run.period).step_by(run.period);
        let numbers = match view {
            View::Chars => NumberChange::Same,
            _ => {
                let copy = |at: usize| self.starts[at]..self.end_of(at + run.period);
                changes(copies.take(COMPARED).map(|at| numbers_of(text, copy(at))))
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

/// Returns the repetitions in a view with at least `copies` copies and `least` chars.
pub(super) fn stretches(view: View, text: &[char], copies: f64, least: usize) -> Vec<TextStretch> {
    let (symbols, keys) = symbols(view, text);
    let taken = |mut run: PeriodicRun| {
        if ends_in_cut_copy(&run, &keys) {
            run.end += 1;
        }
        let length = symbols.end_of(run.end) - symbols.starts[run.start];
        let long = run.copies() >= copies && length >= least;
        long.then(|| symbols.stretch(view, text, &run))
    };
    // A cut copy may follow, so one more symbol is included.
    let accepts = |from: usize, to: usize| symbols.end_of(to + 1) - symbols.starts[from] >= least;
    runs_in(&symbols.symbols, accepts)
        .into_iter()
        .filter_map(taken)
        .collect()
}

/// Returns the symbols of a view. A view of elements also returns their keys.
fn symbols(view: View, text: &[char]) -> (ViewSymbols, Vec<String>) {
    match view {
        View::Chars => (unchanged(text), Vec::new()),
        View::Folded => (fold_numbers(text), Vec::new()),
        View::Lines => split_elements(text, |at| text[at] == '\n'),
        View::Sentences => split_elements(text, |at| ends_sentence(text, at)),
        View::Near => (squeeze_rows(text), Vec::new()),
    }
}

/// Returns the symbols of a view, and the position of each.
pub(super) fn view_symbols(view: View, text: &[char]) -> (Vec<u32>, Vec<usize>) {
    let (found, _) = symbols(view, text);
    (found.symbols, found.starts)
}

/// Returns whether the last element is a cut copy: it follows the run, and the next element of the period begins with
/// it.
fn ends_in_cut_copy(run: &PeriodicRun, keys: &[String]) -> bool {
    if run.end + 1 != keys.len() {
        return false;
    }
    keys[run.end - run.period].starts_with(&keys[run.end])
}

/// Returns each char as one symbol.
fn unchanged(text: &[char]) -> ViewSymbols {
    ViewSymbols {
        symbols: text.iter().map(|c| u32::from(*c)).collect(),
        starts: (0..text.len()).collect(),
        end: text.len(),
    }
}

/// Returns the chars with each number as one symbol: digits, and Chinese numerals after 第. A list number belongs to the
/// symbol after it.
fn fold_numbers(text: &[char]) -> ViewSymbols {
    let mut found = ViewSymbols::default();
    let mut at = 0;
    while at < text.len() {
        let from = at;
        if at == 0 || text[at - 1] == '\n' {
            at += list_number(&text[at..]);
        }
        let Some(c) = text.get(at) else { break };
        let ordinal = at > 0 && text[at - 1] == '第';
        let number = |c: &char| c.is_numeric() || ordinal && CHINESE_NUMERALS.contains(*c);
        let digits = text[at..].iter().take_while(|c| number(c)).count();
        let symbol = if digits > 0 { '0' } else { *c };
        at += digits.max(1);
        found.push(u32::from(symbol), from, at);
    }
    found.end = text.len();
    found
}

/// Returns the symbols of [`View::Near`]. Rows of one mark are squeezed, since they pad tables.
fn squeeze_rows(text: &[char]) -> ViewSymbols {
    let all = fold_numbers(text);
    let mut found = ViewSymbols::default();
    for (symbol, start) in all.symbols.iter().zip(&all.starts) {
        let c = char::from_u32(*symbol).unwrap_or(' ');
        let symbol = match c {
            c if c.is_whitespace() => u32::from(' '),
            c => c.to_lowercase().next().map_or(*symbol, u32::from),
        };
        if c.is_alphanumeric() || found.symbols.last() != Some(&symbol) {
            found.push(symbol, *start, *start + 1);
        }
    }
    found.end = text.len();
    found
}

/// Chinese numerals.
const CHINESE_NUMERALS: &str = "一二三四五六七八九十百千零〇";

/// The maximum number of copies whose numbers are compared.
const COMPARED: usize = 40;
/// The minimum share of equal steps in a counter. A counter may restart or skip a number.
const STEADY: f64 = 0.7;

/// Returns the change of the numbers over copies, given the numbers of each copy.
fn changes(copies: impl Iterator<Item = Vec<f64>>) -> NumberChange {
    let rows: Vec<Vec<f64>> = copies.collect();
    let slots = rows.iter().map(Vec::len).min().unwrap_or(0);
    if rows.iter().any(|row| row.len() != slots) {
        return NumberChange::Data;
    }
    let change = |slot: usize| {
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
    (0..slots).map(change).max().unwrap_or(NumberChange::Same)
}

/// Returns the numbers in a part of a text, in order. List numbers are skipped.
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
/// `**4)** `, `5、`, `iv. `, `b) `, `七、`. A timestamp counts, too: `[00:01.5 --> 00:02.0] `.
pub(super) fn list_number(line: &[char]) -> usize {
    let line = &line[..line.len().min(MAX_LIST_NUMBER)];
    let stamp = timestamp(line);
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

/// The maximum length of a list number, in chars.
const MAX_LIST_NUMBER: usize = 128;

/// The maximum length of a timestamp, in chars.
const MAX_TIMESTAMP: usize = 48;

/// Returns the length, in chars, of the timestamp at the start of a line of a transcript of speech, with the blanks
/// after it.
fn timestamp(line: &[char]) -> usize {
    let blank = |c: &&char| matches!(c, ' ' | '\t' | '\u{3000}');
    let opened = line.iter().take_while(blank).count();
    if !matches!(line.get(opened), Some('[' | '(')) {
        return 0;
    }
    let inside = &line[opened + 1..line.len().min(opened + MAX_TIMESTAMP)];
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

/// Returns the length, in chars, of the number at the start of a list item: digits, letters, Roman or Chinese numerals.
fn number_length(text: &[char]) -> usize {
    let count = |is: fn(&char) -> bool| text.iter().take_while(|c| is(c)).count();
    let most = |n: usize, most: usize| if n <= most { n } else { 0 };
    let forms = [
        most(count(|c| c.is_numeric()), 6),
        most(count(|c| c.is_ascii_uppercase()), 2),
        most(count(|c| c.is_ascii_lowercase()), 1),
        count(|c| matches!(c, 'I' | 'V' | 'X' | 'L' | 'C')),
        count(|c| matches!(c, 'i' | 'v' | 'x' | 'l')),
        count(|c| CHINESE_NUMERALS.contains(*c)),
    ];
    // A word may begin with letters that are numerals.
    let ends = |n: &usize| text.get(*n).is_none_or(|c| !c.is_alphanumeric());
    forms.into_iter().filter(ends).max().unwrap_or(0)
}

/// Returns whether the char at `at` ends a sentence.
pub(super) fn ends_sentence(text: &[char], at: usize) -> bool {
    match text[at] {
        '\n' | '。' | '！' | '？' | '；' | '!' | '?' | ';' => true,
        '.' => text.get(at + 1).is_none_or(|c| c.is_whitespace()),
        _ => false,
    }
}

/// Splits a text into elements, after each position that `ends` accepts. Returns the elements as symbols, and their
/// keys. Blank elements are skipped.
fn split_elements(text: &[char], ends: impl Fn(usize) -> bool) -> (ViewSymbols, Vec<String>) {
    let mut found = ViewSymbols::default();
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
            let key = element_key(&element[blanks..]);
            let next = ids.len() as u32;
            let id = *ids.entry(key.clone()).or_insert(next);
            found.push(id, from + blanks, at + 1);
            keys.push(key);
        }
        from = at + 1;
    }
    (found, keys)
}

/// Returns the key by which an element is compared: its letters in lower case, with `0` for each number. Without any,
/// the key is all chars that are not blank.
fn element_key(element: &[char]) -> String {
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
