//! Cuts a segment into elements: blocks that end at a delimiter, or lines without their markers.

use std::collections::HashMap;
use std::ops::Range;

use regex::Regex;

use crate::measure::fact::UNIT_CHARS;
use crate::stream::Chars;

/// A text that ends at a checkpoint, and which parts of it are looked at.
#[derive(Debug)]
pub(super) struct Segment<'a> {
    /// The text.
    pub(super) text: &'a str,
    /// Position of its first char in the channel.
    pub(super) start: u64,
    /// Byte ranges that are looked at, in order, and whether each is in a code fence.
    pub(super) parts: Vec<(Range<usize>, bool)>,
}

/// What an element is.
pub(super) struct Cut<'a> {
    /// Taken off the start of an element before it is compared.
    pub(super) marker: Option<&'a Regex>,
    /// Elements of white space are left out.
    pub(super) drop_blank: bool,
    /// The last element, which the checkpoint cut, is left out.
    pub(super) drop_tail: bool,
}

/// The elements of a segment, as numbers: equal elements have equal numbers.
#[derive(Debug, Default)]
pub(super) struct Elements<'a> {
    /// What is compared.
    pub(super) ids: Vec<u32>,
    /// Where each begins in the segment, bytes. Chars are counted only for a tail that matters.
    starts: Vec<usize>,
    marked: Vec<bool>,
    /// Whether the last one is in a code fence.
    pub(super) last_fenced: bool,
    text: &'a str,
    /// Position of the text in the channel, chars.
    start: u64,
}

/// Where the periodic tail of a list of elements lies in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tail {
    /// First char of the second copy, in the channel.
    pub(super) onset: u64,
    /// Length of the first copy, chars.
    pub(super) period: u64,
    /// The first copy, cut.
    pub(super) unit: String,
    /// Whether a marker was removed inside.
    pub(super) marked: bool,
}

impl<'a> Segment<'a> {
    /// Cuts the parts that are looked at where `ends` says; a part's edges end an element too.
    pub(super) fn cut(&self, ends: impl Fn(char) -> bool, cut: &Cut<'_>) -> Elements<'a> {
        let mut elements = Elements {
            text: self.text,
            start: self.start,
            ..Elements::default()
        };
        let mut ids = HashMap::new();
        for (part, fenced) in &self.parts {
            let text = &self.text[part.clone()];
            let mut byte = part.start;
            for piece in text.split(&ends) {
                let end = byte + piece.len();
                let open = end == self.text.len();
                // What is left of a part that ended with its element, where another part follows.
                let nothing = piece.is_empty() && end == part.end && !open;
                let left_out = nothing || open && cut.drop_tail;
                if !left_out && cut.keeps(piece) {
                    elements.push(cut.compared(piece), piece, byte, &mut ids);
                    elements.last_fenced = *fenced;
                }
                // The char that ended the piece, if one did.
                byte = end + self.text[end..].chars().next().map_or(0, char::len_utf8);
            }
        }
        elements
    }
}

impl Cut<'_> {
    fn keeps(&self, piece: &str) -> bool {
        !(self.drop_blank && piece.trim().is_empty())
    }

    fn compared<'t>(&self, piece: &'t str) -> &'t str {
        let mark = self
            .marker
            .and_then(|m| m.find(piece))
            .filter(|m| m.start() == 0);
        mark.map_or(piece, |m| &piece[m.end()..])
    }
}

impl<'a> Elements<'a> {
    fn push(
        &mut self,
        compared: &'a str,
        piece: &str,
        start: usize,
        ids: &mut HashMap<&'a str, u32>,
    ) {
        let next = u32::try_from(ids.len()).unwrap_or(u32::MAX);
        self.ids.push(*ids.entry(compared).or_insert(next));
        self.starts.push(start);
        self.marked.push(compared.len() < piece.len());
    }

    /// The last `count` elements, of which the first `period` are the first copy.
    pub(super) fn tail(&self, count: usize, period: usize) -> Tail {
        let first = self.ids.len() - count;
        let (from, until) = (self.starts[first], self.starts[first + period]);
        let unit = &self.text[from..until];
        let period = Chars::of(unit).0;
        Tail {
            onset: self.start + Chars::of(&self.text[..from]).0 + period,
            period,
            unit: unit.chars().take(UNIT_CHARS).collect(),
            marked: self.marked[first..].contains(&true),
        }
    }
}
