//! Splits a segment into elements: blocks that end at a delimiter, or lines without their markers.

use std::collections::HashMap;
use std::ops::Range;

use regex::Regex;

use crate::measure::fact::UNIT_CHARS;
use crate::stream::Chars;

/// The text before a checkpoint, and the parts that checks read.
#[derive(Debug)]
pub(super) struct Segment<'a> {
    /// The text.
    pub(super) text: &'a str,
    /// The position of the text in the channel, in chars.
    pub(super) start: u64,
    /// The byte ranges of the parts that checks read, in order, and whether each is in a code fence.
    pub(super) parts: Vec<(Range<usize>, bool)>,
}

/// The rules for splitting a segment into elements.
pub(super) struct SegmentRules<'a> {
    /// A marker that is removed from the start of an element before the comparison.
    pub(super) marker: Option<&'a Regex>,
    /// Whether blank elements are skipped.
    pub(super) drop_blank: bool,
    /// Whether the last element, which the checkpoint cut, is skipped.
    pub(super) drop_tail: bool,
}

/// The elements of a segment, as numbers: equal elements have equal numbers.
#[derive(Debug, Default)]
pub(super) struct SegmentElements<'a> {
    /// The number of each element.
    pub(super) ids: Vec<u32>,
    /// The byte at which each element begins. Only those of a reported tail are converted to chars.
    starts: Vec<usize>,
    marked: Vec<bool>,
    /// Whether the last element is in a code fence.
    pub(super) last_fenced: bool,
    text: &'a str,
    /// Position of the text in the channel, in chars.
    start: u64,
}

/// A periodic tail of a list of elements, with its position in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SegmentTail {
    /// The position of the second copy in the channel.
    pub(super) onset: u64,
    /// The length of the first copy, in chars.
    pub(super) period: u64,
    /// The first copy, truncated.
    pub(super) unit: String,
    /// Whether a marker was removed inside the tail.
    pub(super) marked: bool,
}

impl<'a> Segment<'a> {
    /// Splits the parts into elements after each char for which `ends` returns true, and at the end of each part.
    pub(super) fn split_elements(
        &self,
        ends: impl Fn(char) -> bool,
        cut: &SegmentRules<'_>,
    ) -> SegmentElements<'a> {
        let mut elements = SegmentElements {
            text: self.text,
            start: self.start,
            ..SegmentElements::default()
        };
        let mut ids = HashMap::new();
        for (part, fenced) in &self.parts {
            let text = &self.text[part.clone()];
            let mut byte = part.start;
            for piece in text.split(&ends) {
                let end = byte + piece.len();
                let open = end == self.text.len();
                // A part that ends with a complete element has no rest. Only the last part adds an empty one.
                let nothing = piece.is_empty() && end == part.end && !open;
                let left_out = nothing || open && cut.drop_tail;
                if !left_out && cut.keeps(piece) {
                    elements.push(cut.comparable_part(piece), piece, byte, &mut ids);
                    elements.last_fenced = *fenced;
                }
                // Skips the char that ended the piece.
                byte = end + self.text[end..].chars().next().map_or(0, char::len_utf8);
            }
        }
        elements
    }
}

impl SegmentRules<'_> {
    fn keeps(&self, piece: &str) -> bool {
        !(self.drop_blank && piece.trim().is_empty())
    }

    fn comparable_part<'t>(&self, piece: &'t str) -> &'t str {
        let mark = self
            .marker
            .and_then(|m| m.find(piece))
            .filter(|m| m.start() == 0);
        mark.map_or(piece, |m| &piece[m.end()..])
    }
}

impl<'a> SegmentElements<'a> {
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

    /// Returns the tail of the last `count` elements, whose first copy has `period` elements.
    pub(super) fn tail(&self, count: usize, period: usize) -> SegmentTail {
        let first = self.ids.len() - count;
        let (from, until) = (self.starts[first], self.starts[first + period]);
        let unit = &self.text[from..until];
        let period = Chars::count(unit).0;
        SegmentTail {
            onset: self.start + Chars::count(&self.text[..from]).0 + period,
            period,
            unit: unit.chars().take(UNIT_CHARS).collect(),
            marked: self.marked[first..].contains(&true),
        }
    }
}
