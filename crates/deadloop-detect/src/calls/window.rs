//! [`CallWindow`]: the latest items of a run. [`WindowCounter`]: a counter in a window.

use std::collections::{HashMap, HashSet, VecDeque};

use super::{CallRepetition, CountedItem, ItemCounter, ItemPosition, LastReport, number};
use crate::measure::fact::Fact;
use crate::settings::param::Param;
use crate::settings::params::Params;
use crate::stream::{Calls, Kind, Units};

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

/// The hashes and positions of the latest items of a run.
#[derive(Clone)]
struct CallWindow {
    size: usize,
    last: VecDeque<(u128, Units)>,
    counts: HashMap<u128, u64>,
}

impl CallWindow {
    /// Returns an empty window of `size` items.
    fn new(size: u64) -> Self {
        Self {
            size: usize::try_from(size).unwrap_or(usize::MAX),
            last: VecDeque::new(),
            counts: HashMap::new(),
        }
    }

    /// Adds the next item, and drops the oldest of a full window. Returns the count of the new item.
    fn push(&mut self, hash: u128, place: Units) -> u64 {
        if self.last.len() == self.size
            && let Some((oldest, _)) = self.last.pop_front()
            && let Some(count) = self.counts.get_mut(&oldest)
        {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&oldest);
            }
        }
        self.last.push_back((hash, place));
        let count = self.counts.entry(hash).or_default();
        *count += 1;
        *count
    }

    /// Returns the number of distinct items, once the window is full.
    fn distinct(&self) -> Option<i64> {
        (self.last.len() == self.size).then(|| number(self.counts.len() as u64))
    }

    /// Returns whether an item of the older half occurs in the newer half, and the newest item is not new. `count` is
    /// the number of occurrences of the newest item.
    fn has_returns(&self, count: u64) -> bool {
        let mut all = self.last.iter().map(|(hash, _)| hash);
        let older: HashSet<&u128> = all.by_ref().take(self.size / 2).collect();
        count > 1 && all.any(|hash| older.contains(hash))
    }

    /// Returns the position of the second occurrence of the newest item.
    fn second(&self) -> Option<Units> {
        let (newest, _) = self.last.back()?;
        let mut equal = self.last.iter().filter(|(hash, _)| hash == newest);
        equal.nth(1).map(|(_, place)| *place)
    }

    /// Returns the position of the first repeated item.
    fn first_repeated(&self) -> Option<Units> {
        let mut seen = HashSet::new();
        let mut all = self.last.iter();
        all.find(|(hash, _)| !seen.insert(*hash))
            .map(|(_, place)| *place)
    }

    /// Clears the window.
    fn clear(&mut self) {
        self.last.clear();
        self.counts.clear();
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
            window: CallWindow::new(params.count(LENGTH)),
            last_report: LastReport::default(),
        }
    }

    /// Sets whether a window counts only if items of its older half recur.
    pub(crate) fn returning(self, returning: bool) -> Self {
        Self { returning, ..self }
    }
}

impl ItemCounter for WindowCounter {
    fn count(&mut self, next: CountedItem, at: ItemPosition<'_>) -> Option<Fact> {
        let count = self.window.push(next.key, at.call.into());
        let distinct = self.window.distinct().unwrap_or(i64::MAX);
        let (value, wanted) = match self.measure {
            WindowMeasure::Newest => (
                number(count),
                number(count) >= self.loosest && count >= next.enough,
            ),
            WindowMeasure::Distinct => {
                let wanted = distinct <= self.loosest;
                let circles = wanted && (!self.returning || self.window.has_returns(count));
                (distinct, circles)
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
        let repeat = CallRepetition {
            onset: onset.unwrap_or(at.call.into()),
            period: Calls(0).into(),
            copies,
            unit: at.unit,
        };
        Some(at.run.fact(what, [(self.threshold, value)], repeat))
    }

    fn clear(&mut self) {
        self.window.clear();
        self.last_report = LastReport::default();
    }
}
