//! Converts chars to symbols: skips code, resets at structures, and collects words, sentences and lines.

use super::structure::{StructureLine, StructureSet};
use crate::text::bytes::{ByteBlock, runs};
use crate::text::class::{CharClasses, NAMED};
use crate::text::element::{ElementChars, ends_sentence};
use crate::text::fence::{Fence, Ticks};
use crate::text::script::is_unspaced;

/// The unit of text that is one symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SymbolUnit {
    Chars,
    Words,
    Sentences,
    Lines,
}

/// A symbol: a char, word, sentence or line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Symbol {
    /// A nonzero value that is equal for equal symbols.
    pub(super) value: u64,
    /// The number of chars before the symbol.
    pub(super) start: u64,
}

impl Symbol {
    /// Returns the symbol of a char with `at` chars before it.
    #[inline]
    pub(super) fn of_char(c: char, at: u64) -> Self {
        Self {
            value: u64::from(c) + 1,
            start: at,
        }
    }
}

/// The definition of code.
#[derive(Clone, Copy, Debug)]
pub(super) enum CodeDefinition {
    /// The text between fence lines, skipped if `skip`.
    Lines { skip: bool },
    /// The text between three backticks and the next three, skipped.
    Ticks,
}

/// A scanner of code fences.
#[derive(Clone, Copy, Debug)]
enum Fences {
    Lines(Fence),
    Ticks(Ticks),
}

impl Fences {
    /// Reads a char. Returns whether it completes a fence.
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

    /// Returns whether only a line end or a backtick can change the state.
    fn are_quiet(self) -> bool {
        match self {
            Self::Lines(fence) => fence.is_past(),
            Self::Ticks(ticks) => ticks.are_none(),
        }
    }

    fn is_inside(self) -> bool {
        match self {
            Self::Lines(fence) => fence.is_inside(),
            Self::Ticks(ticks) => ticks.is_inside(),
        }
    }
}

/// A converter of chars to symbols.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecurrenceSymbols {
    by: SymbolUnit,
    reset_on: StructureSet,
    skip_code: bool,
    classes: CharClasses,
    /// Whether fences are tracked, and whether line starts are.
    follows: (bool, bool),
    fences: Fences,
    line: StructureLine,
    element: ElementChars,
    /// The number of chars before the element in progress (a word, sentence or line).
    start: u64,
}

impl RecurrenceSymbols {
    /// Returns a converter. `by` is the unit of a symbol, `reset_on` the structures that reset, and `code` the
    /// definition of code.
    pub(super) fn new(by: SymbolUnit, reset_on: StructureSet, code: CodeDefinition) -> Self {
        let (fences, skip_code) = match code {
            CodeDefinition::Lines { skip } => (Fences::Lines(Fence::default()), skip),
            CodeDefinition::Ticks => (Fences::Ticks(Ticks::default()), true),
        };
        Self {
            by,
            reset_on,
            skip_code,
            classes: CharClasses::new(),
            follows: (
                skip_code || reset_on.meet(StructureSet::FENCE),
                reset_on.has_more_than(StructureSet::FENCE),
            ),
            fences,
            line: StructureLine::default(),
            element: ElementChars::default(),
            start: 0,
        }
    }

    /// Returns the length, in bytes, of the start of a text in which no structure and no fence begins or ends.
    pub(super) fn quiet(&self, text: &str) -> usize {
        let line = !self.follows.1 || self.line == StructureLine::Text;
        if self.by != SymbolUnit::Chars || !line || self.follows.0 && !self.fences.are_quiet() {
            return 0;
        }
        let mut read = 0;
        while let Some(rest) = text.as_bytes().get(read..).filter(|rest| !rest.is_empty()) {
            let bytes = ByteBlock::first(rest);
            let stops = bytes.equal(b'\n') | bytes.equal(b'`');
            let count = stops.trailing_zeros().min(ByteBlock::MOST) as usize;
            read += count.min(rest.len());
            if count < ByteBlock::MOST as usize {
                break;
            }
        }
        read
    }

    /// Returns whether chars are symbols here, and not in skipped code.
    pub(super) fn are_read(&self) -> bool {
        !(self.skip_code && self.fences.is_inside())
    }

    /// Returns whether symbols are words, sentences or lines, and nothing else is tracked.
    pub(super) fn are_elements(&self) -> bool {
        self.by != SymbolUnit::Chars && self.follows == (false, false)
    }

    /// Reads a text with `at` chars before it, like [`read`](Self::read) for each char, if
    /// [`are_elements`](Self::are_elements). Passes each element to `complete`, with the number of chars read at its
    /// end.
    pub(super) fn read_all(
        &mut self,
        text: &str,
        mut at: u64,
        mut complete: impl FnMut(Symbol, u64),
    ) {
        if self.by == SymbolUnit::Words {
            return self.read_words(text, at, complete);
        }
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let bytes = rest.as_bytes();
            let count = ByteBlock::first(bytes).of_sentence(self.element.leaves_out_blanks());
            let count = count.min(bytes.len());
            if count > 0 {
                if self.element.is_empty() {
                    self.start = at;
                }
                self.element.add_ascii(bytes, 0..count);
            } else {
                self.gather(c, at, |symbol| complete(symbol, at + 1));
            }
            let (chars, bytes) = match count {
                0 => (1, c.len_utf8()),
                _ => (count, count),
            };
            (at, rest) = (at + chars as u64, &rest[bytes..]);
        }
    }

    fn read_words(&mut self, text: &str, mut at: u64, mut complete: impl FnMut(Symbol, u64)) {
        let mut rest = text;
        while !rest.is_empty() {
            let bytes = rest.as_bytes();
            let ascii = runs(bytes, b'0', |run, named| {
                let before = at + run.start as u64;
                if named {
                    if self.element.is_empty() {
                        self.start = before;
                    }
                    self.element.add_word(bytes, run);
                } else {
                    if let Some(symbol) = self.finish() {
                        complete(symbol, before + 1);
                    }
                }
            });
            (at, rest) = (at + ascii as u64, &rest[ascii..]);
            let others = rest.chars().take_while(|c| !c.is_ascii());
            let others = others.fold(0, |bytes, c| {
                self.word(c, at, |symbol| complete(symbol, at + 1));
                at += 1;
                bytes + c.len_utf8()
            });
            rest = &rest[others..];
        }
    }

    /// Reads a char with `at` chars before it. Passes the symbols that it completes to `complete`: at most two, since
    /// an ideograph also ends the word before it. Returns whether the char resets the counts and so completes no
    /// symbol.
    #[inline]
    pub(super) fn read(&mut self, c: char, at: u64, complete: impl FnMut(Symbol)) -> bool {
        let shows = self.follows.0 && self.fences.step(c);
        if shows && self.skip_code {
            // The first two backticks of the fence were read as text.
            self.element = ElementChars::default();
        }
        let fence = shows && self.reset_on.meet(StructureSet::FENCE);
        let skipped = self.skip_code && self.fences.is_inside();
        // Skipped text is tracked, since other text may follow the fence on its line.
        let begins = self.follows.1 && self.line.step(c).meet(self.reset_on);
        if fence || !skipped && begins {
            self.element = ElementChars::default();
            return true;
        }
        if !skipped {
            self.gather(c, at, complete);
        }
        false
    }

    #[inline]
    fn gather(&mut self, c: char, at: u64, mut complete: impl FnMut(Symbol)) {
        let ends = match self.by {
            SymbolUnit::Chars => return complete(Symbol::of_char(c, at)),
            SymbolUnit::Words => return self.word(c, at, complete),
            SymbolUnit::Sentences => ends_sentence(c),
            SymbolUnit::Lines => c == '\n',
        };
        if ends {
            self.finish().into_iter().for_each(complete)
        } else {
            self.add(c, at)
        }
    }

    #[inline]
    fn word(&mut self, c: char, at: u64, mut complete: impl FnMut(Symbol)) {
        if c.is_ascii_alphanumeric() {
            return self.add_char(c.to_ascii_lowercase(), at, false);
        }
        if self.classes.class(c) & NAMED == 0 {
            return self.finish().into_iter().for_each(complete);
        }
        if !is_unspaced(c) {
            return c.to_lowercase().for_each(|c| self.add(c, at));
        }
        self.finish().into_iter().for_each(&mut complete);
        self.add(c, at);
        self.finish().into_iter().for_each(complete);
    }

    #[inline]
    fn add(&mut self, c: char, at: u64) {
        self.add_char(c, at, c.is_whitespace());
    }

    #[inline]
    fn add_char(&mut self, c: char, at: u64, blank: bool) {
        if self.element.is_empty() && !blank {
            self.start = at;
        }
        self.element.add(c, blank);
    }

    #[inline]
    fn finish(&mut self) -> Option<Symbol> {
        let (hash, _) = self.element.finish()?;
        Some(Symbol {
            value: hash.max(1),
            start: self.start,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The symbols with the number of chars read at the end of each, and the positions of resets.
    type SymbolLog = (Vec<(Symbol, u64)>, Vec<u64>);

    /// Reads char by char.
    fn slow(mut symbols: RecurrenceSymbols, text: &str) -> SymbolLog {
        let (mut told, mut resets) = (Vec::new(), Vec::new());
        for (at, c) in (0..).zip(text.chars()) {
            if symbols.read(c, at, |symbol| told.push((symbol, at + 1))) {
                resets.push(at + 1);
            }
        }
        (told, resets)
    }

    /// Reads like the meter.
    fn quietly(mut symbols: RecurrenceSymbols, pieces: &[String]) -> SymbolLog {
        let (mut told, mut resets, mut at) = (Vec::new(), Vec::new(), 0);
        for piece in pieces {
            let mut rest = piece.as_str();
            while !rest.is_empty() {
                let (quiet, others) = rest.split_at(symbols.quiet(rest));
                for c in quiet.chars() {
                    if symbols.are_read() {
                        told.push((Symbol::of_char(c, at), at + 1));
                    }
                    at += 1;
                }
                let mut others = others.chars();
                if let Some(c) = others.next() {
                    if symbols.read(c, at, |symbol| told.push((symbol, at + 1))) {
                        resets.push(at + 1);
                    }
                    at += 1;
                }
                rest = others.as_str();
            }
        }
        (told, resets)
    }

    fn pieces() -> impl Strategy<Value = Vec<String>> {
        let piece =
            "(?s)[aB1_ .!\n]{0,30}|[aé长か。 \n]{0,9}|(```|# |- |\n){0,4}|[ -~]{0,40}|.{0,5}";
        prop::collection::vec(piece, 0..9)
    }

    proptest! {
        #[test]
        fn elements_are_those_char_by_char(
            pieces in pieces(),
            by in prop::sample::select(vec![SymbolUnit::Words, SymbolUnit::Sentences, SymbolUnit::Lines]),
        ) {
            let code = CodeDefinition::Lines { skip: false };
            let symbols = RecurrenceSymbols::new(by, StructureSet::default(), code);
            prop_assert!(symbols.are_elements());
            let (mut fast, mut told, mut at) = (symbols, Vec::new(), 0);
            for piece in &pieces {
                fast.read_all(piece, at, |symbol, read| told.push((symbol, read)));
                at += piece.chars().count() as u64;
            }
            prop_assert_eq!(told, slow(symbols, &pieces.concat()).0);
        }

        #[test]
        fn quiet_chars_are_symbols(
            pieces in pieces(),
            code in prop::sample::select(vec![
                CodeDefinition::Lines { skip: false }, CodeDefinition::Lines { skip: true }, CodeDefinition::Ticks,
            ]),
            resets in any::<bool>(),
        ) {
            let names = ["fence", "list", "heading"].into_iter().filter(|_| resets);
            let symbols = RecurrenceSymbols::new(SymbolUnit::Chars, StructureSet::from_names(names), code);
            prop_assert_eq!(quietly(symbols, &pieces), slow(symbols, &pieces.concat()));
        }
    }
}
