//! From chars to symbols: what is left out, what is folded together, what an element is.
//!
//! Three stages, each char by char: code fences are told apart, markers and numbers are folded,
//! chars are gathered into sentences or lines where those are compared.

use super::marker::{HELD, Marker, Step};
use super::shown::Shown;
use crate::element::{Element, ends_sentence};
use crate::fence::Fence;
use crate::script::is_common;
use crate::word::{Marks, Word};

/// What counts as equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fold {
    /// Equal chars only.
    None,
    /// List markers at line starts are left out.
    Lists,
    /// So they are, and each run of digits is one symbol.
    Digits,
}

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum On {
    Chars,
    Sentences,
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
    marker: Marker,
    /// Whether the last folded char was a digit.
    in_number: bool,
    element: Element,
    /// Whether the element so far has a letter or a number.
    named: bool,
    /// Chars read.
    seen: u64,
}

/// A run of digits, as a symbol: past every char.
pub(super) const NUMBER: u32 = 0x11_0000;

/// The bit of an element's symbol that says whether it has a letter or a number: what was folded away
/// differs from copy to copy, so the text does not say it.
pub(super) const NAMED: u32 = 1;

/// The most symbols that one char completes.
pub(super) const MOST: usize = HELD + 1;

impl Symbols {
    pub(super) fn new(fold: Fold, on: On, code: (bool, bool)) -> Self {
        let (fences, skip_code) = code;
        Self {
            fold,
            on,
            skip_code,
            fences,
            fence: Fence::default(),
            marker: Marker::default(),
            in_number: false,
            element: Element::default(),
            named: false,
            seen: 0,
        }
    }

    /// Whether each char is its own symbol, and nothing else is asked of it.
    pub(super) fn are_plain(&self) -> bool {
        self.are_chars() && !self.follow_fences()
    }

    /// Whether each char is its own symbol, at once.
    pub(super) fn are_chars(&self) -> bool {
        self.fold == Fold::None && self.on == On::Chars && !self.skip_code
    }

    /// Whether something is folded away.
    pub(super) fn fold(&self) -> bool {
        self.fold != Fold::None
    }

    /// Whether code fences are told apart.
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

    /// Reads text, and tells of each symbol that it completes: as many as it has chars and
    /// [`MOST`] - 1 at most.
    pub(super) fn read(&mut self, text: &str, out: &mut impl Out) {
        let mut rest = text;
        loop {
            let plain = self.are_elements() && !self.fences;
            let gathers = plain && (!self.fold() || self.marker.is_past());
            if gathers && rest.bytes().next().is_some_and(begins_words) {
                rest = &rest[self.words(rest.as_bytes(), out.shown())..];
            }
            let Some(c) = rest.chars().next() else {
                return;
            };
            rest = &rest[c.len_utf8()..];
            self.seen += 1;
            if gathers && is_common(c) {
                self.letter(c, out.shown());
            } else {
                self.char(c, out);
            }
        }
    }

    /// Gathers ASCII that cannot end an element, as [`char`](Self::char) would one by one: most of
    /// what most texts are. Gives back how many bytes that was.
    fn words(&mut self, bytes: &[u8], shown: &mut Shown) -> usize {
        let (mut element, mut named) = (self.element, self.named);
        let mut in_number = self.in_number;
        let mut rest = bytes;
        loop {
            let word = Word::first(rest);
            let word = word.before(ends_words(word));
            let space = element.owes_blank();
            if element.add_word(word) {
                shown.word(space, word);
            } else {
                let bytes = rest[..word.len].iter();
                bytes.for_each(|byte| add(&mut element, shown, u32::from(*byte), *byte == b' '));
            }
            named = named || letters(word) != 0;
            in_number = in_number && word.len == 0;
            rest = &rest[word.len..];
            if word.len == Word::MOST {
                continue;
            }
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            if digits == 0 || self.fold != Fold::Digits {
                break;
            }
            if !in_number {
                add(&mut element, shown, NUMBER, false);
            }
            (in_number, named) = (true, true);
            rest = &rest[digits..];
        }
        self.seen += (bytes.len() - rest.len()) as u64;
        (self.element, self.named, self.in_number) = (element, named, in_number);
        bytes.len() - rest.len()
    }

    /// Gathers a letter, as [`char`](Self::char) would.
    #[inline]
    fn letter(&mut self, c: char, shown: &mut Shown) {
        (self.in_number, self.named) = (false, true);
        add(&mut self.element, shown, u32::from(c), false);
    }

    #[inline]
    fn char(&mut self, c: char, out: &mut impl Out) {
        if self.fences {
            self.fence.step(c);
        }
        if self.skip_code && self.fence.is_inside() {
            return;
        }
        if self.fold == Fold::None {
            self.gather(c, out);
        } else if c != '\n' && self.marker.is_past() {
            self.number(c, out);
        } else {
            match self.marker.read(c) {
                Step::Wait => {}
                Step::Marker => out.marker(self.seen),
                Step::Text => {
                    let (held, len) = self.marker.take();
                    held[..len].iter().for_each(|c| self.number(*c, out));
                    self.number(c, out);
                }
            }
        }
    }

    /// Folds a number into one symbol.
    #[inline]
    fn number(&mut self, c: char, out: &mut impl Out) {
        let digit = self.fold == Fold::Digits && is_digit(c);
        let going_on = digit && self.in_number;
        self.in_number = digit;
        if digit && !going_on {
            self.symbol(NUMBER, false, out);
        } else if !digit {
            self.gather(c, out);
        }
    }

    #[inline]
    fn gather(&mut self, c: char, out: &mut impl Out) {
        let ends = match self.on {
            On::Chars => false,
            On::Lines => c == '\n',
            On::Sentences => ends_sentence(c),
        };
        if ends {
            let named = std::mem::take(&mut self.named);
            // The high half of the hash holds every char.
            if let Some((hash, _)) = self.element.finish() {
                out.shown().end();
                let symbol = u32::try_from(hash >> 32).unwrap_or(u32::MAX);
                out.symbol(symbol & !NAMED | if named { NAMED } else { 0 }, self.seen);
            }
        } else {
            self.symbol(u32::from(c), c.is_whitespace(), out);
        }
    }

    #[inline]
    fn symbol(&mut self, symbol: u32, blank: bool, out: &mut impl Out) {
        match self.on {
            On::Chars => out.symbol(symbol, self.seen),
            _ => {
                let named = |c: char| c.is_alphanumeric();
                self.named =
                    self.named || symbol == NUMBER || char::from_u32(symbol).is_some_and(named);
                add(&mut self.element, out.shown(), symbol, blank);
            }
        }
    }
}

/// Adds a symbol to an element, and to what is shown of it.
#[inline]
fn add(element: &mut Element, shown: &mut Shown, symbol: u32, blank: bool) {
    if !blank {
        shown.symbol(element.owes_blank(), symbol);
    }
    element.add(symbol, blank);
}

/// Whether a char is a digit of some script, or a number by itself.
#[inline]
fn is_digit(c: char) -> bool {
    // Quotes, dashes and the like are no numbers either, and stand in every text.
    let sign = matches!(c, '\u{2010}'..='\u{205F}');
    c.is_ascii_digit() || !c.is_ascii() && !is_common(c) && !sign && c.is_numeric()
}

/// Whether words can begin with a byte: it is ASCII, and neither ends an element nor is blank but
/// for a space.
#[inline]
fn begins_words(byte: u8) -> bool {
    matches!(byte, b' '..0x80) && !matches!(byte, b'.' | b';' | b'!' | b'?')
}

/// What is not ASCII, can end an element or be a number, or is blank but for a space.
#[inline]
fn ends_words(word: Word) -> Marks {
    let signs = [b'.', b';', b'!', b'?'].map(|sign| word.equal(sign));
    let digits = word.within(b'0', b'9');
    let others = word.foreign() | digits | word.within(0, b' ' - 1);
    signs.into_iter().fold(others, |all, marks| all | marks)
}

#[inline]
fn letters(word: Word) -> Marks {
    word.within(b'a', b'z') | word.within(b'A', b'Z')
}

/// What takes symbols. Positions are chars from the start of the stream.
pub(super) trait Out {
    /// A symbol that is complete with the `at`-th char.
    fn symbol(&mut self, symbol: u32, at: u64);
    /// A list marker that was left out, and is one by the `at`-th char.
    fn marker(&mut self, at: u64);
    /// Where what elements say goes.
    fn shown(&mut self) -> &mut Shown;
}
