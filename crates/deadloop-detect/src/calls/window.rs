//! [`CallWindow`]: the latest items of a run. [`WindowCounter`]: a counter in a window.

use std::collections::{HashMap, HashSet, VecDeque};

use super::{CallRepetition, CountedItem, ItemCounter, ItemPosition, LastReport, number};
use crate::measure::fact::Fact;
use crate::settings::param::Param;
use crate::settings::params::Params;
use crate::stream::{Calls, Kind};

/// The maximum length of a window, in items.
pub(crate) const WINDOW: i64 = 1000;

pub(super) const WITH_RESULT: &str = "with_result";

/// Returns the parameter `with_result`: whether results are compared, too.
pub(crate) const fn with_result(default: bool) -> Param {
    Param::flag(WITH_RESULT, default)
        .doc("true: a call and its result are compared; false: the call alone")
}

const LENGTH: &str = "window";

/// Returns the parameter for the length of a window.
pub(crate) const fn window(default: i64, unit: &'static str, doc: &'static str) -> Param {
    Param::count(LENGTH, default, 2..=WINDOW)
        .unit(unit)
        .doc(doc)
}

/// The latest items of a run, by their hashes, each with its call.
#[derive(Clone, Default)]
struct CallWindow {
    size: usize,
    last: VecDeque<(u128, Calls)>,
    counts: HashMap<u128, u64>,
    /// The maximum number of items that are kept before the window.
    reach: usize,
    before: VecDeque<u128>,
}

impl CallWindow {
    /// Adds the next item, and removes the oldest one from a full window. Returns the count of the new item.
    fn push(&mut self, hash: u128, call: Calls) -> u64 {
        if self.last.len() == self.size
            && let Some((oldest, _)) = self.last.pop_front()
            && let Some(count) = self.counts.get_mut(&oldest)
        {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&oldest);
            }
            self.before.push_back(oldest);
            if self.before.len() > self.reach {
                self.before.pop_front();
            }
        }
        self.last.push_back((hash, call));
        let count = self.counts.entry(hash).or_default();
        *count += 1;
        *count
    }

    /// Returns the number of distinct items that do not occur before the window, once the window is full.
    fn distinct(&self) -> Option<i64> {
        let known: HashSet<&u128> = self.before.iter().collect();
        let distinct = || self.counts.keys().filter(|hash| !known.contains(hash));
        (self.last.len() == self.size).then(|| number(distinct().count() as u64))
    }

    /// Returns whether an item of the older half, or from before the window, occurs in the newer half, and the newest item
    /// is not new. `count` is the number of occurrences of the newest item in the window.
    fn has_returns(&self, count: u64) -> bool {
        let mut items = self.last.iter().map(|(hash, _)| hash);
        let older = self.before.iter().chain(items.by_ref().take(self.size / 2));
        let older: HashSet<&u128> = older.collect();
        let newest = self.last.back().map(|(hash, _)| hash);
        let is_known = count > 1 || newest.is_some_and(|hash| older.contains(hash));
        is_known && items.any(|hash| older.contains(hash))
    }

    /// Returns the call of the second occurrence of the newest item.
    fn second(&self) -> Option<Calls> {
        let (newest, _) = self.last.back()?;
        let mut equal = self.last.iter().filter(|(hash, _)| hash == newest);
        equal.nth(1).map(|(_, call)| *call)
    }

    /// Returns the call of the first item that is not new.
    fn first_repeated(&self) -> Option<Calls> {
        let mut seen: HashSet<u128> = self.before.iter().copied().collect();
        let mut all = self.last.iter();
        all.find(|(hash, _)| !seen.insert(*hash))
            .map(|(_, call)| *call)
    }

    /// Removes all items.
    fn clear(&mut self) {
        self.last.clear();
        self.counts.clear();
        self.before.clear();
    }
}

/// A counter of calls in a window, by the parameter [`window`].
#[derive(Clone)]
pub(crate) struct WindowCounter {
    measure: WindowMeasure,
    /// The name of the threshold.
    threshold: &'static str,
    /// The value of the threshold in the loosest setting.
    loosest: i64,
    /// Whether a window counts only if items of its older half recur (see [`CallWindow::has_returns`]).
    returning: bool,
    window: CallWindow,
    last_report: LastReport,
}

/// The measure of a window.
#[derive(Clone, Copy)]
pub(crate) enum WindowMeasure {
    /// The number of occurrences of the newest item.
    Newest,
    /// The number of distinct items.
    Distinct,
}

impl WindowCounter {
    /// Returns a counter of this measure. `threshold` is the minimum of [`Newest`](WindowMeasure::Newest), or the
    /// maximum of [`Distinct`](WindowMeasure::Distinct).
    pub(crate) fn new(params: &Params, measure: WindowMeasure, threshold: &Param) -> Self {
        Self {
            measure,
            threshold: threshold.name,
            loosest: params.int(threshold.name),
            returning: false,
            window: CallWindow {
                size: usize::try_from(params.count(LENGTH)).unwrap_or(usize::MAX),
                ..CallWindow::default()
            },
            last_report: LastReport::default(),
        }
    }

    /// Sets whether a window counts only if items of its older half recur, and the number of items before the window
    /// that are not counted as distinct when they recur.
    pub(crate) fn with_returns(mut self, returning: bool, before: u64) -> Self {
        self.returning = returning;
        self.window.reach = usize::try_from(before).unwrap_or(usize::MAX);
        self
    }
}

impl ItemCounter for WindowCounter {
    fn count(&mut self, next: CountedItem, at: ItemPosition<'_>) -> Option<Fact> {
        let count = self.window.push(next.key, at.call);
        let (value, wanted) = match self.measure {
            WindowMeasure::Newest => (
                number(count),
                number(count) >= self.loosest && count >= next.enough,
            ),
            WindowMeasure::Distinct => {
                let distinct = self.window.distinct().unwrap_or(i64::MAX);
                let circles = || !self.returning || self.window.has_returns(count);
                (distinct, distinct <= self.loosest && circles())
            }
        };
        if !self.last_report.is_news(value, wanted) {
            return None;
        }
        let (what, onset, copies) = match self.measure {
            WindowMeasure::Newest => ((Kind::Interleaved, "count"), self.window.second(), count),
            WindowMeasure::Distinct => {
                let what = (Kind::AperiodicStagnation, "distinct");
                (what, self.window.first_repeated(), 0)
            }
        };
        let repeat = CallRepetition::calls(onset.unwrap_or(at.call), copies, at.unit);
        Some(at.run.fact(what, [(self.threshold, value)], repeat))
    }

    fn clear(&mut self) {
        self.window.clear();
        self.last_report = LastReport::default();
    }
}
