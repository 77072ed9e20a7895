//! The text and the kind of a repeated unit, for alarms.
//!
//! [`RecentText`] keeps the last chars of a stream, and [`kind`] returns the kind.

use std::sync::LazyLock;

use regex::Regex;

use crate::stream::Kind;

/// The last chars of a stream, from which units are cut. A piece is stored at once, and its chars are then read one by
/// one.
#[derive(Default)]
pub(crate) struct RecentText {
    read: u64,
    /// The stored end of the text, up to the end of the current piece.
    text: String,
    /// The number of chars before `text`.
    before: u64,
    /// The last position that was looked up, in chars and in bytes of `text`. The next one is usually near.
    found: (u64, usize),
}

/// The minimum number of kept chars. At twice as many, half of them is dropped.
const KEPT: u64 = 4096;

impl RecentText {
    /// Stores a piece. All chars of the previous piece must have been read.
    pub(crate) fn begin(&mut self, piece: &str) {
        let gone = self.base() - self.before;
        if gone > 0 {
            let bytes = self.place(self.base());
            self.text.drain(..bytes);
            self.before += gone;
            self.found = (self.before, 0);
        }
        self.text.push_str(piece);
    }

    /// Reads the next char of the piece.
    #[inline]
    pub(crate) fn step(&mut self) {
        self.read += 1;
    }

    /// Reads chars of the piece, up to `read` chars of the stream.
    #[inline]
    pub(crate) fn read_to(&mut self, read: u64) {
        self.read = read;
    }

    /// Reads the remaining chars of the piece.
    pub(crate) fn read_to_end(&mut self) {
        let (chars, bytes) = self.found;
        self.read = chars + self.text[bytes..].chars().count() as u64;
    }

    /// Returns the number of chars read.
    pub(crate) fn read(&self) -> u64 {
        self.read
    }

    /// Returns the position of the first kept char.
    pub(crate) fn base(&self) -> u64 {
        KEPT * self.read.div_ceil(KEPT).saturating_sub(2)
    }

    /// Returns the kept chars from position `from` to `to`.
    pub(crate) fn text(&mut self, from: u64, to: u64) -> &str {
        let (base, read) = (self.base(), self.read);
        let known = |at: u64| at.clamp(base, read);
        let (from, to) = (known(from), known(to));
        let from_byte = self.place(from);
        let to_byte = self.place(to.max(from));
        &self.text[from_byte..to_byte]
    }

    /// Returns the byte index in `text` of a position.
    fn place(&mut self, at: u64) -> usize {
        let (chars, bytes) = self.found;
        let (before, after) = self.text.split_at(bytes);
        let steps = at.abs_diff(chars);
        self.found = match steps
            .checked_sub(1)
            .map(|last| usize::try_from(last).unwrap_or(usize::MAX))
        {
            None => self.found,
            Some(last) if at > chars => {
                let mut rest = after.chars();
                rest.nth(last);
                (at, self.text.len() - rest.as_str().len())
            }
            Some(last) => {
                let mut rest = before.chars();
                rest.nth_back(last);
                (at, rest.as_str().len())
            }
        };
        self.found.1
    }
}

/// The pattern of a line that begins with a list number.
#[allow(
    clippy::expect_used,
    reason = "a constant pattern; every test would see it fail"
)]
static LISTED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?m)^\s*\**[(（]?\d+[.)）、]").expect("a pattern"));

/// The length of a unit, in chars, below which it is a short sequence.
pub(crate) const SHORT: u64 = 40;

/// Returns the kind of a loop of this text. `short` is set if its unit has fewer than [`SHORT`] chars.
pub(crate) fn kind(text: &str, short: bool) -> Kind {
    if LISTED.is_match(text) {
        Kind::OrderedList
    } else if short {
        Kind::ShortSequence
    } else {
        Kind::Paragraph
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A reference that keeps every char separately.
    #[derive(Default)]
    struct Slow {
        chars: Vec<char>,
        read: u64,
    }

    impl Slow {
        fn push(&mut self, c: char) {
            if self.chars.len() as u64 >= 2 * KEPT {
                self.chars.drain(..KEPT as usize);
            }
            self.read += 1;
            self.chars.push(c);
        }

        fn text(&self, from: u64, to: u64) -> String {
            let base = self.read - self.chars.len() as u64;
            let index = |at: u64| (at.saturating_sub(base) as usize).min(self.chars.len());
            let (from, to) = (index(from), index(to));
            self.chars[from.min(to)..to].iter().collect()
        }
    }

    proptest! {
        #[test]
        fn pieces_are_kept_as_chars_would_be(
            pieces in prop::collection::vec("[ab长🙂]{0,9}", 1..12),
            times in 1_usize..400,
            (from, length) in (0_u64..12_000, 0_u64..6_000),
        ) {
            let (mut recent, mut slow) = (RecentText::default(), Slow::default());
            for piece in pieces {
                let piece = piece.repeat(times);
                recent.begin(&piece);
                for (i, c) in piece.chars().enumerate() {
                    recent.step();
                    slow.push(c);
                    prop_assert_eq!(recent.base(), slow.read - slow.chars.len() as u64);
                    if i % 997 == 0 {
                        let back = slow.read.saturating_sub(from);
                        for (from, to) in [(from, from + length), (back, back + length)] {
                            prop_assert_eq!(recent.text(from, to), slow.text(from, to));
                        }
                    }
                }
            }
        }
    }
}
