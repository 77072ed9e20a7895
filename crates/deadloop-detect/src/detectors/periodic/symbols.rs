//! From chars to symbols: what is left out, what is folded together, what an element is.
//!
//! Three stages, each char by char: code fences are told apart, markers and numbers are folded,
//! chars are gathered into sentences or lines where those are compared.

use super::elements::Elements;
use super::marker::{HELD, Marker, Step};
use crate::class::{self, Classes, NAMED};
use crate::fence::Fence;

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
    classes: Classes,
    /// Chars read.
    seen: u64,
}

/// A run of digits, as a symbol: past every char.
pub(super) const NUMBER: u32 = 0x11_0000;

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
            classes: Classes::new(),
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
        let plain = self.are_elements() && !self.fences;
        let mut rest = text;
        loop {
            if plain && (!self.fold() || self.marker.is_past()) {
                rest = self.gather_all(rest, out.elements());
            }
            let Some(c) = rest.chars().next() else {
                return;
            };
            rest = &rest[c.len_utf8()..];
            self.seen += 1;
            self.char(c, out);
        }
    }

    /// Gathers what is sure to go on with an element, as [`char`](Self::char) would char by char: nearly
    /// all of most texts. Gives back what follows.
    fn gather_all<'a>(&mut self, text: &'a str, elements: &mut Elements) -> &'a str {
        let mut rest = text;
        loop {
            let (bytes, chars) = match rest.as_bytes().first() {
                Some(b'0'..=b'9') => self.digits(rest, elements),
                Some(0..0x80) => twice(elements.words(rest.as_bytes())),
                _ => elements.letters(rest, self.classes),
            };
            if bytes == 0 {
                return rest;
            }
            let digit = rest.as_bytes()[bytes - 1].is_ascii_digit();
            self.in_number = digit && self.fold == Fold::Digits;
            self.seen += chars as u64;
            rest = &rest[bytes..];
        }
    }

    /// Gathers the digits that a text begins with; how many bytes and chars.
    fn digits(&self, text: &str, elements: &mut Elements) -> (usize, usize) {
        let digits = text.bytes().take_while(u8::is_ascii_digit);
        if self.fold != Fold::Digits {
            let read = digits.inspect(|digit| elements.char(char::from(*digit), NAMED));
            return twice(read.count());
        }
        if !self.in_number {
            elements.number();
        }
        twice(digits.count())
    }

    #[inline]
    fn char(&mut self, c: char, out: &mut impl Out) {
        if self.fences {
            let was = self.fence.is_line();
            self.fence.step(c);
            if self.skip_code && self.are_elements() && !was && self.fence.is_line() {
                // Its first two backticks were taken for text.
                out.elements().abandon();
            }
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
                    if let Some((held, len)) = self.marker.take() {
                        held[..len].iter().for_each(|c| self.number(*c, out));
                    }
                    self.number(c, out);
                }
            }
        }
    }

    /// Folds a number into one symbol.
    #[inline]
    fn number(&mut self, c: char, out: &mut impl Out) {
        let digit = self.fold == Fold::Digits && self.classes.of(c) & class::NUMBER != 0;
        let going_on = digit && self.in_number;
        self.in_number = digit;
        match (digit, self.on) {
            (true, _) if going_on => {}
            (true, On::Chars) => out.symbol(NUMBER, self.seen),
            (true, _) => out.elements().number(),
            (false, _) => self.gather(c, out),
        }
    }

    #[inline]
    fn gather(&mut self, c: char, out: &mut impl Out) {
        if self.on == On::Chars {
            return out.symbol(u32::from(c), self.seen);
        }
        let class = self.classes.of(c);
        let ends = match self.on {
            On::Lines => c == '\n',
            _ => class & class::ENDS != 0,
        };
        if !ends {
            out.elements().char(c, class);
        } else if let Some(symbol) = out.elements().end() {
            out.symbol(symbol, self.seen);
        }
    }
}

/// Each of so many bytes is a char.
fn twice(bytes: usize) -> (usize, usize) {
    (bytes, bytes)
}

/// What takes symbols. Positions are chars from the start of the stream.
pub(super) trait Out {
    /// A symbol that is complete with the `at`-th char.
    fn symbol(&mut self, symbol: u32, at: u64);
    /// A list marker that was left out, and is one by the `at`-th char.
    fn marker(&mut self, at: u64);
    /// Where elements are gathered.
    fn elements(&mut self) -> &mut Elements;
}
