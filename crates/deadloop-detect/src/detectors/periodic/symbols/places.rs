//! Positions of symbols in the text, if symbols are not its characters.

use std::collections::VecDeque;

use super::super::runs::Tail;
use crate::stream::Chars;

/// Positions of symbols in the text.
#[derive(Default)]
pub(in super::super) struct SymbolPlaces {
    /// The number of characters up to the end of each kept symbol.
    pub(in super::super) ends: Vec<u64>,
    /// The latest positions of omitted list markers.
    markers: VecDeque<u64>,
    /// The origins of tails that began before the kept symbols.
    pub(in super::super) origins: Vec<(Tail, TailOrigin)>,
}

/// The beginning of a tail.
#[derive(Clone, Copy)]
pub(in super::super) struct TailOrigin {
    /// The chars before its first copy.
    pub(in super::super) start: Chars,
    /// The chars before its second copy.
    pub(in super::super) onset: Chars,
    /// Whether list markers were omitted from its first copy.
    pub(in super::super) marked: bool,
}

/// The maximum number of markers that are kept, to recognise lists.
const MARKERS: usize = 4096;

impl SymbolPlaces {
    /// Returns the number of characters read with the first `count` symbols. All but the first `base` symbols are kept.
    pub(in super::super) fn end_of(&self, base: u64, count: u64) -> u64 {
        let index = count.checked_sub(base + 1);
        let index = index.and_then(|index| usize::try_from(index).ok());
        index.and_then(|i| self.ends.get(i)).copied().unwrap_or(0)
    }

    /// Records an omitted list marker that is complete after `at` characters from the start.
    pub(in super::super) fn mark(&mut self, at: u64) {
        if self.markers.len() >= MARKERS {
            self.markers.pop_front();
        }
        self.markers.push_back(at);
    }

    /// Returns whether a kept list marker was omitted between these positions.
    pub(in super::super) fn is_marked(&self, from: Chars, to: Chars) -> bool {
        let mut markers = self.markers.iter();
        markers.any(|at| from.0 < *at && *at <= to.0)
    }
}
