//! [`KeptElements`]: the compared sentences or lines, as texts and as symbols.
//!
//! The text of an element is its compared part only. Blanks at its ends are dropped, blanks inside become one space, a
//! folded number becomes one byte, and omitted text is left out. All copies of a unit have the same text, so the unit
//! in an alarm does not depend on the chunks or on the copy that was read last.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::measure::fact::UNIT_CHARS;
use crate::text::bytes::ByteBlock;
use crate::text::class::{self, CharClass, CharClasses};
use crate::text::hash::{BASE, spread};

/// The beginnings of the kept elements, and the element that is being read.
pub(in super::super) struct KeptElements {
    /// The beginnings of the kept elements, and of the one being read once it is long.
    text: Vec<u8>,
    /// The offset of each element in `text`. The last offset belongs to the element being read.
    starts: Vec<usize>,
    /// The bytes of the element being read that are not hashed yet.
    making: Vec<u8>,
    /// The number of used bytes in `making`.
    len: usize,
    /// The hash of the bytes before those of `making`.
    hash: u64,
    /// Whether a blank was read and is added only if more text follows.
    blank: bool,
    /// Whether the element being read has a letter or a number.
    named: bool,
    /// Whether the element being read has a Chinese or Japanese char.
    wide: bool,
    /// The sum of the element's numbers, each times the [`factor`] of its place. Used only if values count.
    sum: u64,
    /// The count of the element's numbers. Used only if values count.
    numbers: u64,
}

/// The bit of a symbol that is set if its element has a letter or a number.
pub(in super::super) const NAMED: u32 = 1;

/// The byte of a folded number, which no character has.
const NUMBER: u8 = 0xFF;

/// The maximum number of bytes of an element that are kept. Few characters except emoji have more than three bytes.
const MOST: usize = 3 * UNIT_CHARS;
/// The size of the blocks in which a long element is hashed, in bytes.
const BLOCK: usize = 1024;
/// The size of `making`. Less than a block waits to be hashed, and at most a blank and a block, or a few words, are
/// added at a time.
const ROOM: usize = 2 * BLOCK + 2 * ByteBlock::MOST as usize;
/// The step by which `text` grows, in bytes. Doubling would take up to twice the memory.
const STEP: usize = 1 << 14;

/// The length of a unit after which no more elements are added, in bytes: enough to tell a list from other text.
const LONG: usize = 4096;

impl KeptElements {
    /// Returns empty elements. Nothing is allocated unless `used`.
    pub(in super::super) fn new(used: bool) -> Self {
        Self {
            text: Vec::new(),
            starts: vec![0],
            making: vec![0; if used { ROOM } else { 0 }],
            len: 0,
            hash: 0,
            blank: false,
            named: false,
            wide: false,
            sum: 0,
            numbers: 0,
        }
    }

    /// Adds a character that ends no element.
    #[inline]
    pub(super) fn char(&mut self, c: char, class: CharClass) {
        if class & class::BLANK != 0 {
            self.blank = !self.is_empty();
            return;
        }
        self.named |= class & class::NAMED != 0;
        self.wide |= class & class::WIDE != 0;
        self.add(c.encode_utf8(&mut [0; 4]).as_bytes());
    }

    /// Adds a folded number. With `names` the element counts as named; a number that is compared by its value does not
    /// name it.
    #[inline]
    pub(super) fn number(&mut self, names: bool) {
        self.named |= names;
        self.add(&[NUMBER]);
    }

    /// Adds the value of the last number.
    #[inline]
    pub(super) fn value(&mut self, value: u64) {
        self.sum = self
            .sum
            .wrapping_add(value.wrapping_mul(factor(self.numbers)));
        self.numbers += 1;
    }

    /// Adds the letters at the beginning of a text, up to ASCII or a character of the classes `stops`. Returns the
    /// number of bytes and of characters.
    #[inline]
    pub(super) fn letters(
        &mut self,
        text: &str,
        (classes, stops): (CharClasses, CharClass),
    ) -> (usize, usize) {
        let is_letter = |c: &char| {
            let named = classes.class(*c) & (class::NAMED | stops) == class::NAMED;
            named && !c.is_ascii()
        };
        let letters = text.chars().take_while(is_letter);
        let (bytes, chars) = letters.fold((0, 0), |(bytes, chars), c| {
            self.wide |= classes.class(c) & class::WIDE != 0;
            (bytes + c.len_utf8(), chars + 1)
        });
        self.named |= bytes > 0;
        text.as_bytes()[..bytes]
            .chunks(BLOCK)
            .for_each(|part| self.add(part));
        (bytes, chars)
    }

    /// Adds the ASCII at the beginning of a text, up to a byte that can end an element, a blank without effect or, with
    /// `numbers`, a digit. Returns the number of bytes.
    #[inline]
    pub(super) fn words(&mut self, text: &[u8], numbers: bool) -> usize {
        let (mut blank, mut named, mut len) = (self.blank, self.named, self.len);
        let leading = |text: &[u8]| text.iter().take_while(|byte| **byte == b' ').count();
        // A blank at the beginning has no effect.
        let mut read = if self.is_empty() { leading(text) } else { 0 };
        loop {
            if blank {
                read += leading(&text[read..]);
            }
            let bytes = ByteBlock::first(&text[read..]);
            let spaces = bytes.equal(b' ');
            let ends = bytes.ends(numbers) | spaces & spaces << 1;
            let count = ends.trailing_zeros().min(ByteBlock::MOST) as usize;
            if count == 0 {
                break;
            }
            read += count;
            named = named || bytes.of_words(b'0').trailing_zeros() < count as u32;
            self.making[len] = b' ';
            len += usize::from(blank);
            self.making[len..len + ByteBlock::MOST as usize].copy_from_slice(&bytes.0);
            // The last blank waits for what follows.
            blank = spaces >> (count - 1) & 1 != 0;
            len += count - usize::from(blank);
            if len >= BLOCK {
                self.len = len;
                self.hash_block();
                len = self.len;
            }
            if count < ByteBlock::MOST as usize && !blank {
                break;
            }
        }
        (self.blank, self.named, self.len) = (blank, named, len);
        read
    }

    /// Ends an element. Returns its symbol and the sum of its numbers. `None` if there were only blanks.
    ///
    /// Equal elements share a symbol. Different ones do with probability 2^-31. The sum is linear: it rises evenly if
    /// each number does, and otherwise with probability 2^-63.
    pub(super) fn end(&mut self) -> Option<(u32, u64)> {
        self.blank = false;
        if self.is_empty() {
            return None;
        }
        let hash = xxh3_64_with_seed(&self.making[..self.len], self.hash);
        let symbol = (hash >> 32) as u32 & !NAMED;
        let named = if std::mem::take(&mut self.named) {
            NAMED
        } else {
            0
        };
        self.wide = false;
        self.keep();
        (self.len, self.hash) = (0, 0);
        // The text is cut between characters.
        let is_whole = |at: &usize| self.text.get(*at).is_none_or(|byte| byte & 0xC0 != 0x80);
        let end = self.text.len().min(self.element_start() + MOST);
        self.text
            .truncate((0..=end).rev().find(is_whole).unwrap_or(end));
        self.starts.push(self.text.len());
        self.numbers = 0;
        Some((symbol | named, std::mem::take(&mut self.sum)))
    }

    /// Returns whether the element being read has a Chinese or Japanese character.
    pub(super) fn is_wide(&self) -> bool {
        self.wide
    }

    /// Drops the element being read.
    pub(super) fn abandon(&mut self) {
        self.text.truncate(self.element_start());
        (self.len, self.hash) = (0, 0);
        (self.blank, self.named, self.wide) = (false, false, false);
        (self.sum, self.numbers) = (0, 0);
    }

    /// Returns the offset of the element being read.
    fn element_start(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    fn is_empty(&self) -> bool {
        self.len == 0 && self.text.len() == self.element_start()
    }

    /// Adds at most [`BLOCK`] bytes, after the pending blank.
    #[inline]
    fn add(&mut self, bytes: &[u8]) {
        if std::mem::take(&mut self.blank) {
            self.making[self.len] = b' ';
            self.len += 1;
        }
        self.making[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
        while self.len >= BLOCK {
            self.hash_block();
        }
    }

    /// Hashes a block of a long element. Blocks always have the same size.
    #[cold]
    fn hash_block(&mut self) {
        self.hash = xxh3_64_with_seed(&self.making[..BLOCK], self.hash);
        self.keep();
        self.making.copy_within(BLOCK..self.len, 0);
        self.len -= BLOCK;
    }

    /// Keeps the bytes of `making` if they begin an element: at least as many as are shown, and one more.
    fn keep(&mut self) {
        if self.text.len() > self.element_start() {
            return;
        }
        let bytes = &self.making[..self.len.min(MOST + 1)];
        if self.text.capacity() - self.text.len() < bytes.len() {
            self.text.reserve_exact(STEP);
        }
        self.text.extend_from_slice(bytes);
    }

    /// Drops the first `count` elements.
    pub(in super::super) fn forget(&mut self, count: usize) {
        let Some(until) = self.starts.get(count).copied() else {
            return;
        };
        self.text.drain(..until);
        self.starts.drain(..count);
        self.starts.iter_mut().for_each(|start| *start -= until);
    }

    /// Returns the kept elements from number `from` to `to` as text, each ended as a sentence or, with `lines`, as a
    /// line. Long elements are truncated. A folded number is a `#`.
    pub(in super::super) fn unit(&self, (from, to): (usize, usize), lines: bool) -> String {
        let mut unit = String::new();
        for ends in self.starts.windows(2).take(to).skip(from) {
            let bytes = &self.text[ends[0]..ends[1]];
            let shown = bytes.iter().map(|byte| match *byte {
                NUMBER => b'#',
                byte => byte,
            });
            unit += &String::from_utf8_lossy(&shown.collect::<Vec<u8>>());
            unit += match bytes.last() {
                _ if lines => "\n",
                Some(0x80..=0xFE) => "。",
                _ => ". ",
            };
            if unit.len() >= LONG {
                break;
            }
        }
        unit.truncate(unit.trim_end().len());
        unit
    }
}

/// Returns the factor of the number at this place of an element. Factors are odd and unlike their neighbours.
fn factor(place: u64) -> u64 {
    spread(place.wrapping_add(1).wrapping_mul(BASE)) | 1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns the symbols of these lines, added char by char or as the detector adds them.
    fn symbols(lines: &[String], fast: bool) -> Vec<Option<u32>> {
        let mut elements = KeptElements::new(true);
        let add = |line: &String| {
            let mut rest = line.as_str();
            while !rest.is_empty() {
                let classes = CharClasses::new();
                let fast_bytes = match fast {
                    true if rest.as_bytes()[0].is_ascii() => elements.words(rest.as_bytes(), false),
                    true => elements.letters(rest, (classes, class::NUMBER)).0,
                    false => 0,
                };
                rest = &rest[fast_bytes..];
                if let (0, Some(c)) = (fast_bytes, rest.chars().next()) {
                    elements.char(c, classes.class(c));
                    rest = &rest[c.len_utf8()..];
                }
            }
            elements.end().map(|(symbol, _)| symbol)
        };
        lines.iter().map(add).collect()
    }

    fn plain(line: &str) -> String {
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Generates short lines of few chars, and long ones that differ late.
    fn lines() -> impl Strategy<Value = Vec<String>> {
        let unit = prop::sample::select(vec!["ab ", "长", "é", "x"]);
        let run = (unit, 300..1100_usize).prop_map(|(unit, n)| unit.repeat(n));
        let long = (prop::collection::vec(run, 1..4), 0..3_usize);
        let long = long.prop_map(|(runs, x)| runs.join(" ") + &"x".repeat(x));
        prop::collection::vec(
            prop_oneof![9 => "[ab! ]{0,9}|[ab!1长é ]{0,20}", 1 => long],
            0..9,
        )
    }

    proptest! {
        #[test]
        fn equal_where_the_blanks_alone_differ(lines in lines()) {
            let chars = symbols(&lines, false);
            prop_assert_eq!(&chars, &symbols(&lines, true));
            for (line, symbol) in lines.iter().zip(&chars) {
                for (other, same) in lines.iter().zip(&chars) {
                    prop_assert_eq!(symbol == same, plain(line) == plain(other));
                }
                let named = line.contains(char::is_alphanumeric);
                prop_assert_eq!(symbol.is_some_and(|s| s & NAMED != 0), named);
                prop_assert_eq!(symbol.is_none(), plain(line).is_empty());
            }
        }

        #[test]
        fn the_unit_is_how_its_elements_begin(lines in lines(), forgotten in 0..9_usize) {
            let mut elements = KeptElements::new(true);
            let mut kept = Vec::new();
            for line in &lines {
                line.chars().for_each(|c| elements.char(c, CharClasses::new().class(c)));
                if elements.end().is_some() {
                    let line = plain(line);
                    kept.push(line[..line.floor_char_boundary(MOST)].to_owned());
                }
            }
            let forgotten = forgotten.min(kept.len());
            elements.forget(forgotten);
            for (i, line) in kept[forgotten..].iter().enumerate() {
                prop_assert_eq!(elements.unit((i, i + 1), true), line.trim_end());
            }
        }
    }

    #[test]
    fn where_blocks_end_does_not_show() {
        let line = |x, n| "x".repeat(x) + " " + &"é".repeat(n);
        let lines = (1000..1030).flat_map(|x| (505..520).map(move |n| line(x, n)));
        let lines: Vec<String> = lines.collect();
        assert_eq!(symbols(&lines, true), symbols(&lines, false));
    }

    #[test]
    fn like_texts_differ() {
        let mut elements = KeptElements::new(true);
        let mut seen = std::collections::HashSet::new();
        for n in 0..200_000 {
            let line = format!("Attempt {n} of the same thing, in all but its number {n}");
            line.chars()
                .for_each(|c| elements.char(c, CharClasses::new().class(c)));
            seen.insert(elements.end());
            elements.forget(1);
        }
        // Of 2^31 values 200,000 draws meet in 9.3 pairs on average; in 40 almost never.
        assert!(seen.len() > 199_960, "{}", seen.len());
    }
}
