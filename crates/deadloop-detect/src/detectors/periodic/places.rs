//! Where symbols lie in the text, where they are not simply its chars.

use std::collections::VecDeque;

use super::runs::Run;
use crate::stream::Chars;

/// Where symbols lie in the text.
#[derive(Default)]
pub(super) struct Places {
    /// The chars that had been read when each kept symbol was complete.
    pub(super) ends: Vec<u64>,
    /// Where list markers were left out last.
    markers: VecDeque<u64>,
    /// Of tails that began before what is kept.
    pub(super) origins: Vec<(Run, Origin)>,
}

/// How a tail began.
#[derive(Clone, Copy)]
pub(super) struct Origin {
    /// The chars before its first copy.
    pub(super) start: Chars,
    /// The chars before its second copy.
    pub(super) onset: Chars,
    /// Whether list markers were left out of its first copy.
    pub(super) marked: bool,
}

/// Markers that are kept, to recognise lists.
const MARKERS: usize = 4096;

impl Places {
    /// The chars that had been read with the first `count` symbols, of which those but the first
    /// `base` are kept.
    pub(super) fn end_of(&self, base: u64, count: u64) -> u64 {
        let index = count.checked_sub(base + 1);
        let index = index.and_then(|index| usize::try_from(index).ok());
        index.and_then(|i| self.ends.get(i)).copied().unwrap_or(0)
    }

    /// Notes a list marker that was left out: it is complete after `at` chars from the start.
    pub(super) fn mark(&mut self, at: u64) {
        if self.markers.len() >= MARKERS {
            self.markers.pop_front();
        }
        self.markers.push_back(at);
    }

    /// Whether a list marker was left out between these positions, as far as they are kept.
    pub(super) fn is_marked(&self, from: Chars, to: Chars) -> bool {
        let mut markers = self.markers.iter();
        markers.any(|at| from.0 < *at && *at <= to.0)
    }
}
