//! What detectors report about a repeated unit: its text, from the chars that were [read
//! last](Recent), and its [kind].

use std::sync::LazyLock;

use regex::Regex;

use crate::stream::Kind;

/// The last chars of a stream, from which repeated units are shown.
#[derive(Default)]
pub(crate) struct Recent {
    read: u64,
    chars: Vec<char>,
}

/// The fewest chars that are kept. When there are twice as many, half of them are dropped.
const KEPT: usize = 4096;

impl Recent {
    /// Reads a char.
    #[inline]
    pub(crate) fn push(&mut self, c: char) {
        self.drop_old();
        self.read += 1;
        self.chars.push(c);
    }

    fn drop_old(&mut self) {
        if self.chars.len() >= 2 * KEPT {
            self.chars.drain(..KEPT);
        }
    }

    /// Chars read.
    pub(crate) fn read(&self) -> u64 {
        self.read
    }

    /// The position of the first char that is kept.
    pub(crate) fn base(&self) -> u64 {
        self.read - self.chars.len() as u64
    }

    /// The chars from position `from` to `to`, as far as they are kept.
    pub(crate) fn text(&self, from: u64, to: u64) -> String {
        let index = |at: u64| usize::try_from(at.saturating_sub(self.base())).unwrap_or(0);
        let to = index(to).min(self.chars.len());
        self.chars[index(from).min(to)..to].iter().collect()
    }
}

/// A line that begins with a list number.
#[allow(
    clippy::expect_used,
    reason = "a constant pattern; every test would see it fail"
)]
static LISTED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?m)^\s*\**[(（]?\d+[.)）、]").expect("a pattern"));

/// Units of fewer chars are short sequences.
pub(crate) const SHORT: u64 = 40;

/// The kind of a loop of this text; `short`: its unit has fewer than [`SHORT`] chars.
pub(crate) fn kind(text: &str, short: bool) -> Kind {
    if LISTED.is_match(text) {
        Kind::OrderedList
    } else if short {
        Kind::ShortSequence
    } else {
        Kind::Paragraph
    }
}
