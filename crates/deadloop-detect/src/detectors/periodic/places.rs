//! Where symbols lie in the text, where they are not simply its chars.

use std::collections::VecDeque;

use super::runs::Run;
use crate::position::Chars;
use crate::repeated::Recent;

/// Where symbols lie in the text.
#[derive(Default)]
pub(super) struct Places {
    /// The chars that had been read when each kept symbol was complete.
    pub(super) ends: Vec<u64>,
    /// The last chars, where symbols are elements: what units are told from.
    recent: Option<Recent>,
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

/// Markers that are kept to tell lists from.
const MARKERS: usize = 4096;

impl Places {
    pub(super) fn new(elements: bool) -> Self {
        Self {
            recent: elements.then(Recent::default),
            ..Self::default()
        }
    }

    /// Keeps what is read.
    pub(super) fn note(&mut self, text: &str) {
        if let Some(recent) = &mut self.recent {
            recent.extend(text);
        }
    }

    /// A list marker that was left out is complete, so many chars from the start.
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

    /// The chars from position `from` to `to`, as far as they are kept.
    pub(super) fn text(&self, from: u64, to: u64) -> Option<String> {
        Some(self.recent.as_ref()?.text(from, to))
    }
}
