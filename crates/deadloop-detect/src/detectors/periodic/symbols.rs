//! From chars to symbols: what is left out, what is folded together, what an element is.
//!
//! Three stages, each char by char: code fences are recognised, markers and numbers are folded,
//! chars are gathered into sentences or lines where those are compared.

use std::ops::RangeInclusive;

use super::elements::{self, Elements};
use super::fold::{Fold, Lines};
use super::inside::{Inside, inside};
use super::marker::{HELD, Step};
use super::numeral::Numeral;
use super::wide::is_numeral;
use crate::text::bytes::Bytes;
use crate::text::class::{self, Class, Classes, NAMED};
use crate::text::fence::Fence;

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum On {
    Chars,
    Sentences,
    /// Sentences, and clauses of Chinese and Japanese.
    Clauses,
    Lines,
}

/// How chars become symbols.
#[derive(Clone, Copy, Debug)]
pub(super) struct Symbols {
    fold: Fold,
    on: On,
    skip_code: bool,
    /// Whether fences are followed at all.
    fences: bool,
    fence: Fence,
    /// The line so far, while it can be a list marker.
    lines: Lines,
    /// The chars that make a number.
    numbers: Class,
    /// The chars at which reading letters at once stops.
    stops: Class,
    /// Whether the last folded char belongs to a number.
    in_number: bool,
    /// That number, where its value is wanted.
    numeral: Numeral,
    /// The last chars, the nearest first, blanks in a row as one; where a number may be one of an item.
    before: [char; BEFORE],
    classes: Classes,
    /// Chars read.
    seen: u64,
}

/// A run of digits, as a symbol: past every char.
pub(super) const NUMBER: u32 = 0x11_0000;

/// The most symbols that one char completes.
pub(super) const MOST: usize = HELD + 2;

/// Chars before a number that say whether it can be one of an item.
const BEFORE: usize = 3;

impl Symbols {
    pub(super) fn new(fold: Fold, on: On, code: (bool, bool)) -> Self {
        let (fences, skip_code) = code;
        Self {
            fold,
            on,
            skip_code,
            fences,
            fence: Fence::default(),
            lines: fold.lines(),
            numbers: fold.numbers(),
            stops: match fold {
                Fold::Markers | Fold::Numerals | Fold::Counters => class::NUMBER | class::HAN,
                _ => class::NUMBER,
            },
            in_number: false,
            numeral: Numeral::default(),
            before: ['\n'; BEFORE],
            classes: Classes::new(),
            seen: 0,
        }
    }

    /// Whether each char is its own symbol and is only compared.
    pub(super) fn are_plain(&self) -> bool {
        self.are_chars() && !self.follow_fences()
    }

    /// Whether each char is its own symbol, at once.
    pub(super) fn are_chars(&self) -> bool {
        self.fold == Fold::None && self.on == On::Chars && !self.skip_code
    }

    /// Whether copies of a unit may differ in more than blanks.
    pub(super) fn fold(&self) -> bool {
        !matches!(self.fold, Fold::None | Fold::Indent)
    }

    /// Whether numbers must count up.
    pub(super) fn count(&self) -> bool {
        self.fold == Fold::Counters
    }

    /// Returns whether text inside code fences is handled apart from text outside.
    pub(super) fn follow_fences(&self) -> bool {
        self.fences
    }

    /// Whether what was read last is inside a code fence.
    pub(super) fn fenced(&self) -> bool {
        self.fences && self.fence.is_inside()
    }

    /// Whether symbols are lines.
    pub(super) fn are_lines(&self) -> bool {
        self.on == On::Lines
    }

    /// Whether symbols are elements of several chars.
    pub(super) fn are_elements(&self) -> bool {
        self.on != On::Chars
    }

    /// Reads text, and reports each symbol that it completes: at most one a char, and one less than
    /// [`MOST`] besides.
    pub(super) fn read(&mut self, text: &str, out: &mut impl Out) {
        let mut rest = text;
        loop {
            if !self.fences && self.lines.are_past() {
                rest = match self.on {
                    On::Chars => self.pass_all(rest, out),
                    _ => self.gather_all(rest, text, out),
                };
            }
            let Some(c) = rest.chars().next() else {
                break;
            };
            let before = &text[..text.len() - rest.len()];
            rest = &rest[c.len_utf8()..];
            self.seen += 1;
            self.char(c, before, out);
        }
        if self.lines.look_inside() {
            self.before = self.before(text);
        }
    }

    /// The last chars before what follows `text`.
    fn before(&self, text: &str) -> [char; BEFORE] {
        let mut last = ['\n'; BEFORE];
        let mut count = 0;
        for c in text.chars().rev().chain(self.before) {
            let c = if c.is_whitespace() { ' ' } else { c };
            if count > 0 && c == ' ' && last[count - 1] == ' ' {
                continue;
            }
            last[count] = c;
            count += 1;
            if count == BEFORE {
                break;
            }
        }
        last
    }

    /// What makes the number that follows `text` one that can be an item's, if anything does.
    fn inside(&self, text: &str) -> Option<Inside> {
        let asked = self.lines.look_inside() && !self.in_number;
        asked.then(|| inside(self.before(text))).flatten()
    }

    /// Adds the text that surely belongs to the element, as [`char`](Self::char) would char by char: nearly
    /// all of most texts. `rest` is the end of `text`. Returns what is left of it.
    fn gather_all<'a>(&mut self, rest: &'a str, text: &str, out: &mut impl Out) -> &'a str {
        let mut rest = rest;
        loop {
            let digits = matches!(rest.as_bytes().first(), Some(b'0'..=b'9'));
            if digits && self.inside(&text[..text.len() - rest.len()]).is_some() {
                return rest;
            }
            let (bytes, chars) = match rest.as_bytes().first() {
                Some(b'0'..=b'9') => self.digits(rest, out.elements()),
                Some(0..0x80) => twice(out.elements().words(rest.as_bytes())),
                _ => out.elements().letters(rest, (self.classes, self.stops)),
            };
            if bytes == 0 {
                return rest;
            }
            if !digits {
                self.end_number(self.seen, out);
            }
            self.in_number = digits && self.numbers != 0;
            self.seen += chars as u64;
            rest = &rest[bytes..];
        }
    }

    /// Reports the chars that surely are symbols of their own, as [`char`](Self::char) would char by char: nearly all of
    /// most texts. A number ends with the char after it, which is left to that. Returns what is left of the text.
    fn pass_all<'a>(&mut self, text: &'a str, out: &mut impl Out) -> &'a str {
        if self.in_number {
            return text;
        }
        let (bytes, chars) = passing(text, (self.classes, self.stops));
        let (all, rest) = text.split_at(bytes);
        if bytes > 0 {
            out.chars(all, self.seen + 1..=self.seen + chars);
            self.seen += chars;
        }
        rest
    }

    /// Gathers the digits that a text begins with; how many bytes and chars.
    fn digits(&mut self, text: &str, elements: &mut Elements) -> (usize, usize) {
        let digits = text.bytes().take_while(u8::is_ascii_digit);
        if self.numbers == 0 {
            let read = digits.inspect(|digit| elements.char(char::from(*digit), NAMED));
            return twice(read.count());
        }
        if !self.in_number {
            elements.number(!self.count());
        }
        if !self.count() {
            return twice(digits.count());
        }
        let read = digits.inspect(|digit| self.numeral.add(char::from(*digit)));
        twice(read.count())
    }

    /// Adds the value of the number of an element that ends with the `at`-th char, if it is wanted.
    #[inline]
    fn end_number(&mut self, at: u64, out: &mut impl Out) {
        if self.in_number && self.count() {
            let value = std::mem::take(&mut self.numeral).value();
            out.elements().value(value);
            out.number(value, at);
        }
        self.in_number = false;
    }

    #[inline]
    fn char(&mut self, c: char, before: &str, out: &mut impl Out) {
        if self.fences {
            let was = self.fence.is_line();
            self.fence.step(c);
            if self.skip_code && self.are_elements() && !was && self.fence.is_line() {
                // Its first two backticks were taken for text.
                out.elements().abandon();
                if self.count() {
                    (self.in_number, self.numeral) = (false, Numeral::default());
                }
            }
        }
        if self.skip_code && self.fence.is_inside() {
            return;
        }
        if matches!(self.lines, Lines::Kept) {
            return self.gather(c, out);
        }
        let step = match self.begin(c, before) {
            Some(step) => step,
            None if c != '\n' && self.lines.are_past() => return self.number(c, out),
            None => self.lines.read(c),
        };
        match step {
            Step::Wait => return,
            Step::Marker => return out.marker(self.seen),
            Step::Left { ends } => {
                out.marker(self.seen);
                if ends && matches!(self.on, On::Sentences | On::Clauses) {
                    self.end(out);
                }
            }
            Step::Text => {}
        }
        if let Some((held, len)) = self.lines.take() {
            held[..len].iter().for_each(|c| self.number(*c, out));
        }
        self.number(c, out);
    }

    /// What the first char of a number inside a line does, if it can be an item's.
    #[inline]
    fn begin(&mut self, c: char, before: &str) -> Option<Step> {
        if !self.lines.look_inside() || !self.lines.are_past() || !is_numeral(self.classes.of(c)) {
            return None;
        }
        let inside = self.inside(before)?;
        match &mut self.lines {
            Lines::Wide(wide) => Some(wide.begin(inside, c)),
            _ => None,
        }
    }

    /// Folds a number into one symbol.
    #[inline]
    fn number(&mut self, c: char, out: &mut impl Out) {
        let digit = self.classes.of(c) & self.numbers != 0;
        let going_on = digit && self.in_number;
        if !digit && self.in_number && self.count() {
            self.tell_number(out);
        }
        self.in_number = digit;
        if digit && self.count() {
            self.numeral.add(c);
        }
        match (digit, self.on) {
            (true, _) if going_on => {}
            // Its value is known once it has ended.
            (true, On::Chars) if self.count() => {}
            (true, On::Chars) => out.symbol(NUMBER, 0, self.seen),
            (true, _) => out.elements().number(!self.count()),
            (false, _) => self.gather(c, out),
        }
    }

    /// Reports a number that has ended.
    fn tell_number(&mut self, out: &mut impl Out) {
        if self.on == On::Chars {
            let value = std::mem::take(&mut self.numeral).value();
            out.number(value, self.seen - 1);
            out.symbol(NUMBER, value, self.seen);
        } else {
            self.end_number(self.seen - 1, out);
        }
    }

    #[inline]
    fn gather(&mut self, c: char, out: &mut impl Out) {
        if self.on == On::Chars {
            return out.symbol(u32::from(c), 0, self.seen);
        }
        let class = self.classes.of(c);
        let ends = match self.on {
            On::Lines => c == '\n',
            On::Clauses => class & (class::ENDS | class::CLAUSE) != 0,
            _ => class & class::ENDS != 0,
        };
        if ends {
            self.end(out);
        } else {
            out.elements().char(c, class);
        }
    }

    /// Ends an element.
    fn end(&self, out: &mut impl Out) {
        let unnamed = self.on == On::Clauses && !out.elements().is_wide();
        if let Some((symbol, value)) = out.elements().end() {
            let symbol = if unnamed {
                symbol & !elements::NAMED
            } else {
                symbol
            };
            out.symbol(symbol, value, self.seen);
        }
    }
}

/// The bytes and chars that a text begins with up to a char of the classes `stops`, a digit or the end of a line.
#[inline]
fn passing(text: &str, (classes, stops): (Classes, Class)) -> (usize, u64) {
    let (mut bytes, mut chars) = (0, 0);
    loop {
        let ascii = Bytes::first(&text.as_bytes()[bytes..]).passing();
        (bytes, chars) = (bytes + ascii, chars + ascii as u64);
        if ascii == Bytes::MOST as usize {
            continue;
        }
        let passes = |c: &char| !c.is_ascii() && classes.of(*c) & stops == 0;
        let others = text[bytes..].chars().take_while(passes);
        let (more, count) = others.fold((0, 0), |(bytes, count), c| {
            (bytes + c.len_utf8(), count + 1)
        });
        if more == 0 {
            return (bytes, chars);
        }
        (bytes, chars) = (bytes + more, chars + count);
    }
}

/// The number of bytes and chars of `bytes` bytes of ASCII.
fn twice(bytes: usize) -> (usize, usize) {
    (bytes, bytes)
}

/// What takes symbols. Positions are chars from the start of the stream.
pub(super) trait Out {
    /// A symbol that is complete with the `at`-th char. `value`: that of the numbers in it, where it is wanted.
    fn symbol(&mut self, symbol: u32, value: u64, at: u64);
    /// A number that ends with the `at`-th char, where its value is wanted.
    fn number(&mut self, value: u64, at: u64);
    /// Chars, each a symbol of its own that is worth nothing, and what has been read with each of them.
    fn chars(&mut self, text: &str, at: RangeInclusive<u64>);
    /// A list marker that was left out, and is one by the `at`-th char.
    fn marker(&mut self, at: u64);
    /// Where elements are gathered.
    fn elements(&mut self) -> &mut Elements;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// All that is reported: symbols, values and places, the places of markers, numbers.
    struct Told(Vec<(u32, u64, u64)>, Vec<u64>, Elements, Vec<(u64, u64)>);

    impl Out for Told {
        fn symbol(&mut self, symbol: u32, value: u64, at: u64) {
            self.0.push((symbol, value, at));
        }
        fn chars(&mut self, text: &str, at: RangeInclusive<u64>) {
            self.0
                .extend(text.chars().zip(at).map(|(c, at)| (u32::from(c), 0, at)));
        }
        fn marker(&mut self, at: u64) {
            self.1.push(at);
        }
        fn number(&mut self, value: u64, at: u64) {
            self.3.push((value, at));
        }
        fn elements(&mut self) -> &mut Elements {
            &mut self.2
        }
    }

    const FOLDS: [Fold; 7] = [
        Fold::None,
        Fold::Indent,
        Fold::Lists,
        Fold::Digits,
        Fold::Markers,
        Fold::Numerals,
        Fold::Counters,
    ];

    proptest! {
        /// Many chars are read at once, with what each of them would report by itself.
        #[test]
        fn as_char_by_char(
            chunks in prop::collection::vec("(?s)[ab1２三、，思.|*#é🙂\n -]{0,40}|[ -~]{0,60}|.{0,9}", 0..6),
            fold in prop::sample::select(FOLDS.to_vec()),
            on in prop::sample::select(vec![On::Chars, On::Sentences, On::Clauses, On::Lines]),
        ) {
            let told = || Told(Vec::new(), Vec::new(), Elements::new(true), Vec::new());
            let symbols = || Symbols::new(fold, on, (false, false));
            let (mut fast, mut slow) = ((symbols(), told()), (symbols(), told()));
            for chunk in &chunks {
                fast.0.read(chunk, &mut fast.1);
                let (symbols, out) = &mut slow;
                for (at, c) in chunk.char_indices() {
                    symbols.seen += 1;
                    symbols.char(c, &chunk[..at], out);
                }
                symbols.before = symbols.before(chunk);
            }
            prop_assert_eq!(&fast.1.0, &slow.1.0);
            prop_assert_eq!(&fast.1.1, &slow.1.1);
            prop_assert_eq!(&fast.1.3, &slow.1.3);
        }
    }
}
