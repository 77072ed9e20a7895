//! Where symbols lie in the text, where they are not simply its chars.

use std::collections::VecDeque;

use super::runs::Run;

/// Where symbols lie in the text.
#[derive(Default)]
pub(super) struct Places {
    /// Chars read.
    pub(super) read: u64,
    /// The chars that had been read when each kept symbol was complete.
    pub(super) ends: Vec<u64>,
    /// The last chars, where symbols are elements: what units are told from.
    recent: Option<Vec<char>>,
    /// Where list markers were left out last.
    pub(super) markers: VecDeque<u64>,
    /// Of tails that began before what is kept: lag, first symbol, chars before the first copy and
    /// before the second.
    pub(super) origins: Vec<(Run, u64, u64)>,
}

/// Chars that are kept to tell units from, and markers to tell lists from.
const RECENT: usize = 4096;

impl Places {
    pub(super) fn new(elements: bool) -> Self {
        Self {
            recent: elements.then(Vec::new),
            ..Self::default()
        }
    }

    #[inline]
    pub(super) fn read(&mut self, c: char) {
        self.read += 1;
        if let Some(recent) = &mut self.recent {
            if recent.len() >= 2 * RECENT {
                recent.drain(..RECENT);
            }
            recent.push(c);
        }
    }

    /// A list marker was left out.
    pub(super) fn mark(&mut self) {
        if self.markers.len() >= RECENT {
            self.markers.pop_front();
        }
        self.markers.push_back(self.read);
    }

    /// The chars from position `from` to `to`, as far as they are kept.
    pub(super) fn text(&self, from: u64, to: u64) -> Option<String> {
        let recent = self.recent.as_ref()?;
        let base = self.read - recent.len() as u64;
        let index = |at: u64| usize::try_from(at.saturating_sub(base)).unwrap_or(0);
        let to = index(to).min(recent.len());
        Some(recent[index(from).min(to)..to].iter().collect())
    }
}
