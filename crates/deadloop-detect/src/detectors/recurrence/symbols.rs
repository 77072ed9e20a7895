//! From chars to symbols: code is left out, structures reset, words and elements are gathered.

use super::structure::{Line, Structures};
use crate::element::{Element, ends_sentence};
use crate::fence::{Fence, Ticks};
use crate::script::is_unspaced;

/// What a symbol is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    Chars,
    Words,
    Sentences,
    Lines,
}

/// One symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Symbol {
    /// Equal for equal symbols, and never 0.
    pub(super) value: u64,
    /// The chars before it.
    pub(super) start: u64,
}

/// What a char has brought about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Step {
    /// All that was read before is to be forgotten.
    pub(super) reset: bool,
    /// The symbols that are complete with it: an ideograph also ends the word before it.
    pub(super) complete: [Option<Symbol>; 2],
}

/// Which text is code.
#[derive(Clone, Copy, Debug)]
pub(super) enum Code {
    /// What fence lines hold; whether it is left out.
    Lines { skip: bool },
    /// What stands between three backticks and the next; it is left out.
    Ticks,
}

/// Where code begins and ends.
#[derive(Clone, Copy, Debug)]
enum Fences {
    Lines(Fence),
    Ticks(Ticks),
}

impl Fences {
    /// Reads a char; whether a fence shows with it.
    fn step(&mut self, c: char) -> bool {
        match self {
            Self::Lines(fence) => {
                let was = fence.is_line();
                fence.step(c);
                !was && fence.is_line()
            }
            Self::Ticks(ticks) => {
                ticks.step(c);
                ticks.are_read()
            }
        }
    }

    fn is_inside(self) -> bool {
        match self {
            Self::Lines(fence) => fence.is_inside(),
            Self::Ticks(ticks) => ticks.is_inside(),
        }
    }
}

/// How chars become symbols.
#[derive(Clone, Copy, Debug)]
pub(super) struct Symbols {
    by: By,
    /// Which lengths words and elements may have, chars.
    lengths: (u64, u64),
    reset_on: Structures,
    skip_code: bool,
    fences: Fences,
    line: Line,
    element: Element,
    /// The chars before the element.
    start: u64,
}

impl Symbols {
    /// Symbols of these lengths, with these resets, and which code is left out.
    pub(super) fn new(by: By, lengths: (u64, u64), reset_on: Structures, code: Code) -> Self {
        let (fences, skip_code) = match code {
            Code::Lines { skip } => (Fences::Lines(Fence::default()), skip),
            Code::Ticks => (Fences::Ticks(Ticks::default()), true),
        };
        Self {
            by,
            lengths,
            reset_on,
            skip_code,
            fences,
            line: Line::default(),
            element: Element::default(),
            start: 0,
        }
    }

    /// Reads a char, with `at` chars before it.
    pub(super) fn read(&mut self, c: char, at: u64) -> Step {
        let shows = self.fences.step(c);
        if shows && self.skip_code {
            // Its first two backticks were taken for text.
            self.element = Element::default();
        }
        let fence = shows && self.reset_on.meet(Structures::FENCE);
        let skipped = self.skip_code && self.fences.is_inside();
        // Also of skipped text: what follows the fence may stand on the same line.
        let structures = self.line.step(c);
        if fence || !skipped && structures.meet(self.reset_on) {
            self.element = Element::default();
            return Step {
                reset: true,
                ..Step::default()
            };
        }
        let complete = match skipped {
            true => [None; 2],
            false => self.gather(c, at),
        };
        Step {
            reset: false,
            complete,
        }
    }

    fn gather(&mut self, c: char, at: u64) -> [Option<Symbol>; 2] {
        let ends = match self.by {
            By::Chars => {
                let value = u64::from(c) + 1;
                return [Some(Symbol { value, start: at }), None];
            }
            By::Words => return self.word(c, at),
            By::Sentences => ends_sentence(c),
            By::Lines => c == '\n',
        };
        if ends {
            return [self.finish(), None];
        }
        self.add(c, at);
        [None; 2]
    }

    fn word(&mut self, c: char, at: u64) -> [Option<Symbol>; 2] {
        if !c.is_alphanumeric() {
            return [self.finish(), None];
        }
        if !is_unspaced(c) {
            c.to_lowercase().for_each(|c| self.add(c, at));
            return [None; 2];
        }
        let before = self.finish();
        self.add(c, at);
        [before, self.finish()]
    }

    fn add(&mut self, c: char, at: u64) {
        let blank = c.is_whitespace();
        if self.element.is_empty() && !blank {
            self.start = at;
        }
        self.element.add(c, blank);
    }

    fn finish(&mut self) -> Option<Symbol> {
        let (hash, chars) = self.element.finish()?;
        let (min, max) = self.lengths;
        (min <= chars && chars <= max).then_some(Symbol {
            value: hash.max(1),
            start: self.start,
        })
    }
}
