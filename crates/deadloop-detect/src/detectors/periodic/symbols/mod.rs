//! Conversion of characters to symbols: sentences and lines, folded markers and numbers, code fences.
//!
//! The conversion has three stages, which all work character by character. Code fences are recognised, and markers and
//! numbers are folded. If sentences or lines are compared, characters are gathered into these.

use std::ops::RangeInclusive;

use crate::text::bytes::ByteBlock;
use crate::text::class::{self, CharClass, CharClasses, NAMED};
use crate::text::fence::Fence;

use elements::KeptElements;
use fold::{Fold, LineStartReader};
use inline_numbers::{NumberContext, closes, inside};
use marker::{HELD, MarkerStep};
use numeral::Numeral;
use wide::is_numeral;

pub(super) mod elements;
pub(super) mod fold;
mod inline_numbers;
mod marker;
mod numeral;
pub(super) mod places;
mod wide;

/// The elements that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ElementKind {
    Chars,
    Sentences,
    /// Sentences, and clauses of Chinese and Japanese.
    Clauses,
    Lines,
}

/// A converter of characters to symbols.
#[derive(Clone, Copy, Debug)]
pub(super) struct PeriodicSymbols {
    fold: Fold,
    on: ElementKind,
    skip_code: bool,
    /// Whether code fences are tracked.
    fences: bool,
    fence: Fence,
    /// The state of the current line, while it can be a list marker.
    lines: LineStartReader,
    /// The classes of characters that form a number.
    numbers: CharClass,
    /// The classes of characters at which the fast path for letters stops.
    stops: CharClass,
    /// Whether the last folded char belongs to a number.
    in_number: bool,
    /// Whether the last folded char is a colon right after a number.
    after_colon: bool,
    /// Whether a number and a colon come right before the current number, as in `12:30`.
    in_time: bool,
    /// The current number, if its value is needed.
    numeral: Numeral,
    /// The last characters, nearest first, with blanks in a row as one. Filled only if numbers inside a line are
    /// examined.
    before: [char; BEFORE],
    classes: CharClasses,
    /// The number of characters read.
    seen: u64,
}

/// The symbol of a run of digits, above every character.
pub(super) const NUMBER: u32 = 0x11_0000;

/// The maximum number of symbols that one character completes.
pub(super) const MOST: usize = HELD + 2;

/// The number of characters before a number that decide whether it can be an item's.
const BEFORE: usize = 3;

impl PeriodicSymbols {
    pub(super) fn new(fold: Fold, on: ElementKind, code: (bool, bool)) -> Self {
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
            after_colon: false,
            in_time: false,
            numeral: Numeral::default(),
            before: ['\n'; BEFORE],
            classes: CharClasses::new(),
            seen: 0,
        }
    }

    /// Returns whether each character is a symbol of its own, and code fences do not matter.
    pub(super) fn are_plain(&self) -> bool {
        self.are_chars() && !self.follow_fences()
    }

    /// Returns whether each character is a symbol of its own, known at once.
    pub(super) fn are_chars(&self) -> bool {
        self.fold == Fold::None && self.on == ElementKind::Chars && !self.skip_code
    }

    /// Returns whether copies of a unit may differ in more than blanks.
    pub(super) fn fold(&self) -> bool {
        !matches!(self.fold, Fold::None | Fold::Indent)
    }

    /// Returns whether the values of numbers are compared.
    pub(super) fn count(&self) -> bool {
        self.fold == Fold::Counters
    }

    /// Returns whether text inside code fences is handled apart from text outside.
    pub(super) fn follow_fences(&self) -> bool {
        self.fences
    }

    /// Returns whether the last character read is inside a code fence.
    pub(super) fn is_fenced(&self) -> bool {
        self.fences && self.fence.is_inside()
    }

    /// Returns whether symbols are lines.
    pub(super) fn are_lines(&self) -> bool {
        self.on == ElementKind::Lines
    }

    /// Returns whether symbols are elements of several characters.
    pub(super) fn are_elements(&self) -> bool {
        self.on != ElementKind::Chars
    }

    /// Reads text, and reports each symbol that it completes: at most one for each character, and at most [`MOST`] - 1
    /// more.
    pub(super) fn read(&mut self, text: &str, out: &mut impl SymbolSink) {
        let mut rest = text;
        loop {
            if !self.fences && self.lines.are_past() {
                rest = match self.on {
                    ElementKind::Chars => self.pass_all(rest, text, out),
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
            self.before = self.chars_before(text);
        }
    }

    /// Returns the last characters before the text that follows `text`.
    fn chars_before(&self, text: &str) -> [char; BEFORE] {
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

    /// Returns the context of the number after `text`, if that number can be an item's.
    fn context(&self, text: &str) -> Option<NumberContext> {
        // After most signs no number is an item's.
        let near = text.as_bytes().last();
        let is_plain = |sign: &u8| sign.is_ascii_graphic() && !b"(:;!?".contains(sign);
        if self.in_number || !self.lines.look_inside() || near.is_some_and(is_plain) {
            return None;
        }
        inside(self.chars_before(text))
    }

    /// Returns whether the digits at the beginning of `rest`, the end of `text`, surely are no item's number.
    fn are_plain_digits(&self, rest: &str, text: &str) -> bool {
        let Some(context) = self.context(&text[..text.len() - rest.len()]) else {
            return true;
        };
        let after = rest.bytes().find(|byte| !byte.is_ascii_digit());
        after.is_some_and(|sign| {
            sign.is_ascii() && sign != b'.' && !closes(context, char::from(sign))
        })
    }

    /// Adds the text that surely belongs to the current element, with the effect of [`char`](Self::char) for each
    /// character. In most texts this is nearly all text. `rest` is the end of `text`. Returns the part of `rest` that
    /// is left.
    fn gather_all<'a>(&mut self, rest: &'a str, text: &str, out: &mut impl SymbolSink) -> &'a str {
        let mut rest = rest;
        let numbers = self.numbers != 0 || self.lines.look_inside();
        loop {
            let digits = numbers && starts_with_digit(rest);
            if digits && !self.are_plain_digits(rest, text) {
                return rest;
            }
            let (bytes, chars) = match rest.as_bytes().first() {
                _ if digits => twice(self.digits(rest, out.elements())),
                Some(0..0x80) => twice(out.elements().words(rest.as_bytes(), numbers)),
                _ => out.elements().letters(rest, (self.classes, self.stops)),
            };
            if bytes == 0 {
                return rest;
            }
            if !digits {
                self.after_colon = self.in_number && bytes == 1 && rest.starts_with(':');
                self.end_number(self.seen, out);
            }
            self.in_number = digits && self.numbers != 0;
            self.seen += chars as u64;
            rest = &rest[bytes..];
        }
    }

    /// Reports the characters that surely are symbols of their own, with the effect of [`char`](Self::char) for each.
    /// In most texts these are nearly all characters. Reads a number after them if its value is needed. Inside a number
    /// nothing is read, because the next character may end it. `rest` is the end of `text`. Returns the part of `rest`
    /// that is left.
    fn pass_all<'a>(&mut self, rest: &'a str, text: &str, out: &mut impl SymbolSink) -> &'a str {
        if self.in_number {
            return rest;
        }
        let (bytes, chars) = plain_prefix(rest, (self.classes, self.stops));
        let (all, rest) = rest.split_at(bytes);
        if bytes > 0 {
            self.after_colon = false;
            out.chars(all, self.seen + 1..=self.seen + chars);
            self.seen += chars;
        }
        if self.count() && starts_with_digit(rest) && self.are_plain_digits(rest, text) {
            let digits = self.digits(rest, out.elements());
            (self.in_number, self.seen) = (true, self.seen + digits as u64);
            return &rest[digits..];
        }
        rest
    }

    /// Reads the digits at the beginning of a text, and returns their number.
    fn digits(&mut self, text: &str, elements: &mut KeptElements) -> usize {
        let digits = text.bytes().take_while(u8::is_ascii_digit);
        if self.numbers == 0 {
            let read = digits.inspect(|digit| elements.char(char::from(*digit), NAMED));
            return read.count();
        }
        if !self.in_number {
            self.in_time = std::mem::take(&mut self.after_colon);
            if self.are_elements() {
                elements.number(!self.count());
            }
        }
        if !self.count() {
            return digits.count();
        }
        let read = digits.inspect(|digit| self.numeral.add(char::from(*digit)));
        read.count()
    }

    /// Ends a number at the `at`-th character, and reports it if its value is needed.
    #[inline]
    fn end_number(&mut self, at: u64, out: &mut impl SymbolSink) {
        if self.in_number && self.count() {
            let value = std::mem::take(&mut self.numeral).value();
            out.number(value, at, self.in_time);
            if self.are_elements() {
                out.elements().value(value);
            } else {
                // The next character ends it.
                out.symbol(NUMBER, value, at + 1);
            }
        }
        self.in_number = false;
    }

    #[inline]
    fn char(&mut self, c: char, before: &str, out: &mut impl SymbolSink) {
        if self.fences {
            let was = self.fence.is_line();
            self.fence.step(c);
            if self.skip_code && self.are_elements() && !was && self.fence.is_line() {
                // The first two backticks of the line were taken for text.
                out.elements().abandon();
                if self.count() {
                    (self.in_number, self.numeral) = (false, Numeral::default());
                }
            }
        }
        if self.skip_code && self.fence.is_inside() {
            return;
        }
        if matches!(self.lines, LineStartReader::Kept) {
            return self.gather(c, out);
        }
        let step = match self.begin(c, before) {
            Some(step) => step,
            None if c != '\n' && self.lines.are_past() => return self.number(c, out),
            None => self.lines.read(c),
        };
        match step {
            MarkerStep::Wait => return,
            MarkerStep::Marker => return out.marker(self.seen),
            MarkerStep::Left { ends } => {
                out.marker(self.seen);
                if ends && matches!(self.on, ElementKind::Sentences | ElementKind::Clauses) {
                    self.end(out);
                }
            }
            MarkerStep::Text => {}
        }
        if let Some((held, len)) = self.lines.take() {
            held[..len].iter().for_each(|c| self.number(*c, out));
        }
        self.number(c, out);
    }

    /// Returns the step for the first character of a number inside a line, if the number can be an item's.
    #[inline]
    fn begin(&mut self, c: char, before: &str) -> Option<MarkerStep> {
        if !self.lines.look_inside() || !self.lines.are_past() || !is_numeral(self.classes.class(c))
        {
            return None;
        }
        let inside = self.context(before)?;
        match &mut self.lines {
            LineStartReader::Wide(wide) => Some(wide.begin(inside, c)),
            _ => None,
        }
    }

    /// Folds a number into one symbol.
    #[inline]
    fn number(&mut self, c: char, out: &mut impl SymbolSink) {
        let digit = self.classes.class(c) & self.numbers != 0;
        let going_on = digit && self.in_number;
        if digit && !going_on {
            self.in_time = self.after_colon;
        }
        self.after_colon = !digit && self.in_number && c == ':';
        if !digit {
            self.end_number(self.seen - 1, out);
        }
        self.in_number = digit;
        if digit && self.count() {
            self.numeral.add(c);
        }
        match (digit, self.on) {
            (true, _) if going_on => {}
            // The value is known only at the end of the number.
            (true, ElementKind::Chars) if self.count() => {}
            (true, ElementKind::Chars) => out.symbol(NUMBER, 0, self.seen),
            (true, _) => out.elements().number(!self.count()),
            (false, _) => self.gather(c, out),
        }
    }

    #[inline]
    fn gather(&mut self, c: char, out: &mut impl SymbolSink) {
        if self.on == ElementKind::Chars {
            return out.symbol(u32::from(c), 0, self.seen);
        }
        let class = self.classes.class(c);
        let ends = match self.on {
            ElementKind::Lines => c == '\n',
            ElementKind::Clauses => class & (class::ENDS | class::CLAUSE) != 0,
            _ => class & class::ENDS != 0,
        };
        if ends {
            self.end(out);
        } else {
            out.elements().char(c, class);
        }
    }

    /// Ends an element.
    fn end(&self, out: &mut impl SymbolSink) {
        let unnamed = self.on == ElementKind::Clauses && !out.elements().is_wide();
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

/// Returns the number of bytes and of characters before the first character of the classes `stops`, digit or line end.
#[inline]
fn plain_prefix(text: &str, (classes, stops): (CharClasses, CharClass)) -> (usize, u64) {
    let (mut bytes, mut chars) = (0, 0);
    loop {
        let ascii = ByteBlock::first(&text.as_bytes()[bytes..]).plain_prefix();
        (bytes, chars) = (bytes + ascii, chars + ascii as u64);
        if ascii == ByteBlock::MOST as usize {
            continue;
        }
        let passes = |c: &char| !c.is_ascii() && classes.class(*c) & stops == 0;
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

fn starts_with_digit(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
}

/// Returns the number of bytes and of characters in `bytes` bytes of ASCII, which are equal.
fn twice(bytes: usize) -> (usize, usize) {
    (bytes, bytes)
}

/// A receiver of symbols. Positions are characters from the start of the stream.
pub(super) trait SymbolSink {
    /// Receives a symbol that the `at`-th character completes. `value` is the value of its numbers, if it is needed.
    fn symbol(&mut self, symbol: u32, value: u64, at: u64);
    /// Receives a number that ends with the `at`-th character, if its value is needed. In a time such as `12:30`, a
    /// number and a colon come right before it.
    fn number(&mut self, value: u64, at: u64, in_time: bool);
    /// Receives characters that are symbols of their own without a value, with the position of each.
    fn chars(&mut self, text: &str, at: RangeInclusive<u64>);
    /// Receives an omitted list marker, recognised at the `at`-th character.
    fn marker(&mut self, at: u64);
    /// Returns the elements that are being gathered.
    fn elements(&mut self) -> &mut KeptElements;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// All reports: symbols, values and places, the places of markers, numbers.
    struct Recorder(
        Vec<(u32, u64, u64)>,
        Vec<u64>,
        KeptElements,
        Vec<(u64, u64, bool)>,
    );

    impl SymbolSink for Recorder {
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
        fn number(&mut self, value: u64, at: u64, in_time: bool) {
            self.3.push((value, at, in_time));
        }
        fn elements(&mut self) -> &mut KeptElements {
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
            chunks in prop::collection::vec("(?s)[ab1２三、，思.:|*#é🙂\n -]{0,40}|[ -~]{0,60}|.{0,9}", 0..6),
            fold in prop::sample::select(FOLDS.to_vec()),
            on in prop::sample::select(vec![ElementKind::Chars, ElementKind::Sentences, ElementKind::Clauses, ElementKind::Lines]),
        ) {
            let told = || Recorder(Vec::new(), Vec::new(), KeptElements::new(true), Vec::new());
            let symbols = || PeriodicSymbols::new(fold, on, (false, false));
            let (mut fast, mut slow) = ((symbols(), told()), (symbols(), told()));
            for chunk in &chunks {
                fast.0.read(chunk, &mut fast.1);
                let (symbols, out) = &mut slow;
                for (at, c) in chunk.char_indices() {
                    symbols.seen += 1;
                    symbols.char(c, &chunk[..at], out);
                }
                symbols.before = symbols.chars_before(chunk);
            }
            prop_assert_eq!(&fast.1.0, &slow.1.0);
            prop_assert_eq!(&fast.1.1, &slow.1.1);
            prop_assert_eq!(&fast.1.3, &slow.1.3);
        }
    }
}
