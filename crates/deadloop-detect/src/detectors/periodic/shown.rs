//! [`Shown`]: how the sentences or lines that are compared begin, which is what an alarm shows of
//! them.
//!
//! It is the text as it is compared: blanks are one space, a number that is folded is a `#`, what is
//! left out is left out. So all copies of a unit have one text, whichever of them was read last when
//! an alarm is told, and that does not depend on chunks.

use super::symbols::NUMBER;
use crate::fact::UNIT_CHARS;
use crate::word::Word;

/// The beginnings of the kept elements and of the one in the making.
pub(super) struct Shown {
    text: Vec<u8>,
    /// Where each begins; the one in the making last.
    starts: Vec<usize>,
    /// How long `text` is when no more of the one in the making is kept.
    full: usize,
}

/// Bytes of an element that are kept: few chars but emoji have more than three.
const MOST: usize = 3 * UNIT_CHARS;
/// Room is made in steps of so many bytes: doubling it would hold twice what is needed.
const STEP: usize = 1 << 15;

/// Bytes of a unit after which no more elements are added: enough to tell a list from other text.
const LONG: usize = 4096;

impl Default for Shown {
    fn default() -> Self {
        Self {
            text: Vec::new(),
            starts: vec![0],
            full: MOST,
        }
    }
}

impl Shown {
    /// Adds a symbol to the element in the making, after a space if it owes one.
    #[inline]
    pub(super) fn symbol(&mut self, space: bool, symbol: u32) {
        if self.text.len() >= self.full {
            return;
        }
        if space {
            self.text.push(b' ');
        }
        match symbol {
            0..0x80 => self.text.push(symbol as u8),
            NUMBER => self.text.push(b'#'),
            _ => {
                let c = char::from_u32(symbol).unwrap_or(char::REPLACEMENT_CHARACTER);
                self.text.extend(c.encode_utf8(&mut [0; 4]).bytes());
            }
        }
    }

    /// Adds chars of which each is one byte, but for a space at their end.
    #[inline]
    pub(super) fn word(&mut self, space: bool, word: Word) {
        if self.text.len() >= self.full || word.len == 0 {
            return;
        }
        if space {
            self.text.push(b' ');
        }
        let bytes = word.bytes.to_le_bytes();
        let len = word.len - usize::from(bytes[word.len - 1] == b' ');
        let end = self.text.len() + len;
        self.text.extend_from_slice(&bytes);
        self.text.truncate(end);
    }

    /// Ends an element.
    pub(super) fn end(&mut self) {
        // A longer one may have been cut anywhere: what came in words, or inside a char.
        let begun = self.starts.last().copied().unwrap_or(0);
        let end = self.text.len().min(begun + MOST);
        let whole = (begun..=end)
            .rev()
            .find(|at| self.text.get(*at).is_none_or(|byte| byte & 0xC0 != 0x80));
        self.text.truncate(whole.unwrap_or(end));
        self.starts.push(self.text.len());
        self.full = self.text.len() + MOST;
        if self.text.capacity() < self.full + 2 * Word::MOST {
            self.text.reserve_exact(STEP);
        }
    }

    /// Forgets the first elements.
    pub(super) fn forget(&mut self, count: usize) {
        let Some(until) = self.starts.get(count).copied() else {
            return;
        };
        self.text.drain(..until);
        self.starts.drain(..count);
        self.starts.iter_mut().for_each(|start| *start -= until);
        self.full -= until;
    }

    /// The elements from number `from` to `to` of those that are kept, each ended as sentences are, or
    /// as `lines` are; of long ones the beginning.
    pub(super) fn unit(&self, (from, to): (usize, usize), lines: bool) -> String {
        let mut unit = String::new();
        for ends in self.starts.windows(2).take(to).skip(from) {
            let bytes = &self.text[ends[0]..ends[1]];
            unit += &String::from_utf8_lossy(bytes);
            unit += match bytes.last() {
                _ if lines => "\n",
                Some(0x80..) => "。",
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
