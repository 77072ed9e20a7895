//! [`RecentEntries`]: the latest entries since the last user message.

use std::collections::VecDeque;

use super::entry::{HistoryCall, HistoryEntry, Measures};
use crate::calls::number;

/// The latest entries since the last user message.
pub(super) struct RecentEntries {
    scan: usize,
    last: VecDeque<HistoryEntry>,
}

impl RecentEntries {
    pub(super) fn new(scan: u64) -> Self {
        Self {
            scan: usize::try_from(scan).unwrap_or(usize::MAX),
            last: VecDeque::new(),
        }
    }

    pub(super) fn push(&mut self, entry: HistoryEntry) {
        if self.last.len() == self.scan {
            self.last.pop_front();
        }
        self.last.push_back(entry);
    }

    pub(super) fn clear(&mut self) {
        self.last.clear();
    }

    /// Returns the measures of the history. `None` for fewer than three entries.
    pub(super) fn measures(&self) -> Option<Measures> {
        if self.last.len() < 3 {
            return None;
        }
        let acts: Vec<&HistoryCall> = self.newest().filter_map(act).collect();
        let keys: Vec<u128> = acts.iter().map(|act| act.key).collect();
        let observed: Vec<(u128, bool)> = self.newest().filter_map(observation).collect();
        let seen: Vec<u128> = observed.iter().map(|(key, _)| *key).collect();
        let errors = observed.iter().take_while(|(_, error)| *error).count();
        let messages = self.newest().map_while(message).count();
        let equal = stretch(&keys, 1);
        let bounds = [
            equal.min(stretch(&seen, 1)),
            // The scenario needs one more than the threshold.
            equal.min(errors).saturating_sub(1),
            messages,
            stretch(&keys, 2).min(stretch(&seen, 2)),
        ];
        Some(Measures {
            bounds: bounds.map(|count| number(count as u64)),
            last: acts.first().map(|act| (*act).clone()),
            message: self.newest().find_map(message).unwrap_or_default().into(),
        })
    }

    fn newest(&self) -> impl Iterator<Item = &HistoryEntry> {
        self.last.iter().rev()
    }
}

fn act(entry: &HistoryEntry) -> Option<&HistoryCall> {
    match entry {
        HistoryEntry::Act(act) => Some(act),
        _ => None,
    }
}

fn observation(entry: &HistoryEntry) -> Option<(u128, bool)> {
    match entry {
        HistoryEntry::Observation { key, error } => Some((*key, *error)),
        _ => None,
    }
}

fn message(entry: &HistoryEntry) -> Option<&str> {
    match entry {
        HistoryEntry::Message { head } => Some(head),
        _ => None,
    }
}

/// Returns the length of the newest stretch of keys with this period.
fn stretch(keys: &[u128], period: usize) -> usize {
    let pairs = keys.iter().zip(keys.iter().skip(period));
    let again = pairs.take_while(|(new, old)| new == old).count();
    (again + period).min(keys.len())
}
