//! A text seen as symbols, so that runs of symbols are what repeats in it: its chars; its chars with
//! numbers folded; its lines; its sentences.

use std::collections::HashMap;

use super::runs::{Run, runs};

/// How a text is seen, the sharpest view first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum View {
    /// Its chars as they are.
    Chars,
    /// Its chars, each number one symbol, the numbers that begin a line left out.
    Folded,
    /// Its lines: their letters in one case, each number one symbol, without list numbers, white
    /// space and punctuation.
    Lines,
    /// Its sentences, likewise.
    Sentences,
    /// Which of its n-grams stood in it before: copies that differ a little.
    Near,
}

/// The views of which the runs are taken.
pub(super) const EXACT: [View; 4] = [View::Chars, View::Folded, View::Lines, View::Sentences];

/// A stretch of a text that repeats itself; positions in chars.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch {
    /// How it was seen.
    pub view: View,
    /// The first char of the first copy.
    pub start: usize,
    /// The first char of the second copy.
    pub onset: usize,
    /// One past the last char that belongs to it.
    pub end: usize,
    /// How often the unit stands in it, a cut last copy counted in part.
    pub copies: f64,
}

impl Stretch {
    /// Chars from the first copy to the second.
    pub fn period(&self) -> usize {
        self.onset - self.start
    }

    /// Chars in it.
    pub fn length(&self) -> usize {
        self.end - self.start
    }
}

/// A text as the symbols of a view, and where each stands: from its start up to the start of the
/// next one belongs to it; the last ends at `end`.
#[derive(Debug, Default)]
pub(super) struct Symbols {
    pub(super) symbols: Vec<u32>,
    pub(super) starts: Vec<usize>,
    end: usize,
}

impl Symbols {
    fn push(&mut self, symbol: u32, start: usize, end: usize) {
        self.symbols.push(symbol);
        self.starts.push(start);
        self.end = end;
    }

    /// One past the last char of the symbol before `index`.
    fn end_of(&self, index: usize) -> usize {
        self.starts.get(index).copied().unwrap_or(self.end)
    }

    fn stretch(&self, view: View, run: &Run) -> Stretch {
        Stretch {
            view,
            start: self.starts[run.start],
            onset: self.starts[run.start + run.period],
            end: self.end_of(run.end),
            copies: run.copies(),
        }
    }
}

/// Everything that a view shows to stand at least `copies` times in a row, over at least `length`
/// chars.
pub(super) fn stretches(view: View, text: &[char], copies: f64, length: usize) -> Vec<Stretch> {
    let (symbols, keys) = match view {
        View::Chars => (chars(text), Vec::new()),
        View::Folded => (folded(text), Vec::new()),
        View::Lines => elements(text, |at| text[at] == '\n'),
        View::Sentences => elements(text, |at| ends_sentence(text, at)),
        View::Near => return Vec::new(),
    };
    let long = |s: &Stretch| s.copies >= copies && s.length() >= length;
    let taken = |mut run: Run| {
        if cut_copy(&run, &keys) {
            run.end += 1;
        }
        Some(symbols.stretch(view, &run)).filter(long)
    };
    runs(&symbols.symbols)
        .into_iter()
        .filter_map(taken)
        .collect()
}

/// Whether the last element follows the run and begins like the one that is due: the text was cut
/// in the middle of it.
fn cut_copy(run: &Run, keys: &[String]) -> bool {
    if run.end + 1 != keys.len() {
        return false;
    }
    keys[run.end - run.period].starts_with(&keys[run.end])
}

fn chars(text: &[char]) -> Symbols {
    Symbols {
        symbols: text.iter().map(|c| u32::from(*c)).collect(),
        starts: (0..text.len()).collect(),
        end: text.len(),
    }
}

/// The chars with numbers folded. A list number belongs to what follows it.
pub(super) fn folded(text: &[char]) -> Symbols {
    let mut seen = Symbols::default();
    let mut at = 0;
    while at < text.len() {
        let begins_line = at == 0 || text[at - 1] == '\n';
        let from = at;
        if begins_line {
            at += list_number(&text[at..]);
        }
        let Some(c) = text.get(at) else { break };
        let mut next = at + 1;
        let digit = c.is_numeric();
        if digit {
            next += text[next..].iter().take_while(|c| c.is_numeric()).count();
        }
        seen.push(
            if digit { u32::from('0') } else { u32::from(*c) },
            from,
            next,
        );
        at = next;
    }
    seen.end = text.len();
    seen
}

/// Chars of the list number that a line begins with, the blanks around it included: `12. `, `(3) `,
/// `**4)** `, `5、`.
pub(super) fn list_number(line: &[char]) -> usize {
    let count =
        |from: usize, is: fn(&char) -> bool| line[from..].iter().take_while(|c| is(c)).count();
    let blank = |c: &char| matches!(c, ' ' | '\t' | '\u{3000}');
    let mut at = count(0, blank);
    at += count(at, |c| matches!(c, '*' | '(' | '（' | '#' | ' '));
    let digits = count(at, |c| c.is_numeric());
    at += digits;
    let marks = count(at, |c| {
        matches!(c, '.' | ')' | '）' | '、' | ':' | '．' | '*')
    });
    if digits == 0 || digits > 6 || marks == 0 {
        return 0;
    }
    at += marks;
    at + count(at, blank)
}

fn ends_sentence(text: &[char], at: usize) -> bool {
    match text[at] {
        '\n' | '。' | '！' | '？' | '；' | '!' | '?' | ';' => true,
        '.' => text.get(at + 1).is_none_or(|c| c.is_whitespace()),
        _ => false,
    }
}

/// The elements of a text that is cut after certain chars, as symbols, and what each says. An element
/// of nothing but white space is none.
fn elements(text: &[char], ends: impl Fn(usize) -> bool) -> (Symbols, Vec<String>) {
    let mut seen = Symbols::default();
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

/// What an element says: letters and numbers, or all of it where it has none.
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
