//! [`RecentResults`]: the recent results of a run, for comparison with new ones.
//!
//! With `volatile = "row"`, two results of a call are equal if they differ only in dates and ids, and if the same ids
//! differ each time. So an id that is generated for each result is ignored. An id that changes once (a version, a
//! commit, the head of a queue) makes a new result. A changed number makes a new result, too, unless it is a counter
//! (`volatile = "counters"`).

use std::collections::VecDeque;

use xxhash_rust::xxh3::xxh3_64;

use super::result_comparison::without_dates;
use super::{ResultClass, ResultComparison, hash, ids};
use crate::settings::param::Param;

/// The parameter `volatile`: the parts of results that are ignored because they change each time.
pub(crate) const VOLATILE: Param = Param::word("volatile", "off", &["off", "row", "counters"]).doc(
    "row: results of a call that differ in dates and in ids that change every time are the same; counters: and in numbers that move by the same small step every time",
);

/// The parameter `kinds`: whether results are classified by their text.
pub(crate) const KINDS: Param = Param::flag("kinds", false)
    .doc("true: what a result says counts: that something is done, not yet done, nothing, or no");

/// The parameter `waiting_n`: the minimum count of reported results of unfinished work.
pub(crate) const WAITING_N: Param = Param::count("waiting_n", 30, 0..=1000)
    .unit("calls")
    .doc("results that say not yet done count from this many on, with kinds");

/// The parameter `stateless_n`: the minimum count of reported results without information.
pub(crate) const STATELESS_N: Param = Param::count("stateless_n", 0, 0..=1000)
    .unit("calls")
    .doc("results that say nothing count from this many on; 0: as all others");

/// The parameter `stateless_chars`: the maximum length of a result without information.
pub(crate) const STATELESS_CHARS: Param = Param::count("stateless_chars", 12, 0..=1000)
    .unit("chars")
    .doc("the longest result that says nothing, without its tags and, with volatile, without the id and the date of a response; it has no digit but 0 and is no error");

/// The parameter `arguments`: whether the arguments of calls are compared.
pub(crate) const ARGUMENTS: Param = Param::flag("arguments", true)
    .doc("false: the tool alone is compared, whatever its arguments are");

/// The maximum number of stored results. The least recently seen one is dropped first.
const MAX_RESULTS: usize = 64;
/// The maximum number of ids and numbers that are extracted from a result. Later ones are compared like other text.
const MAX_MARKS: usize = 256;
/// The placeholder of an id in a compared text.
pub(super) const ID_MARK: &str = "\0";
/// Placeholder of a number in a compared text.
const NUMBER_MARK: &str = "\0n";
/// The maximum step of a counter. If calls alternate, a counter in the results of one call also counts the other calls.
const MAX_STEP: u64 = 3;
/// The minimum number of results in a series. In fewer results, a rising number may be progress.
const MIN_SERIES: u64 = 4;

/// The recent results of a run, the newest last.
#[derive(Default)]
pub(crate) struct RecentResults(VecDeque<RecentResult>);

/// A stored result. It holds the ids and numbers of its last occurrence.
struct RecentResult {
    /// The hash shared by results of one key that differ only in ids and numbers.
    frame: u128,
    marks: Vec<VolatileValue>,
    /// For each id and number, whether it changes each time. `None` after one occurrence.
    varies: Option<Vec<bool>>,
    /// The hash shared by equal results.
    key: u128,
    times: u64,
    /// The series of results that ends with this one.
    series: Option<ResultSeries>,
}

/// A series of results whose numbers change by equal steps.
#[derive(Clone)]
struct ResultSeries {
    steps: Vec<i64>,
    /// The hash of the series, by which its results are equal from [`MIN_SERIES`] results on.
    key: u128,
    length: u64,
}

/// A compared call and result.
#[derive(Clone, Copy)]
pub(crate) struct ComparedResult {
    /// The hash shared by equal pairs.
    pub(crate) pair: u128,
    /// The class of the result.
    pub(crate) class: ResultClass,
    /// The number of recent occurrences, including this one. 0 if no parameter needs it.
    pub(crate) times: u64,
}

impl RecentResults {
    /// Records a result. Returns a hash that is equal for equal results of one key, and the number of recent
    /// occurrences. Counters are recognised only if the key includes the arguments: with other arguments, a number is
    /// content.
    pub(crate) fn record(
        &mut self,
        (key, of_call): (u128, bool),
        content: &str,
        rules: &ResultComparison,
    ) -> (u128, u64) {
        let exact = hash(&[&key.to_string(), content]);
        if !rules.needs_history() {
            return (exact, 0);
        }
        let (frame, marks) = if rules.volatile {
            hash_frame((key, of_call), &without_dates(content), rules)
        } else {
            (exact, Vec::new())
        };
        let found = self.0.iter_mut().rposition(|old| old.equals(frame, &marks));
        let mut result = match found.and_then(|at| self.0.remove(at)) {
            Some(found) => found,
            None => RecentResult {
                frame,
                marks: Vec::new(),
                varies: None,
                key: exact,
                times: 0,
                series: self
                    .0
                    .iter()
                    .rev()
                    .find_map(|old| old.continue_series(frame, &marks)),
            },
        };
        result.marks = marks;
        result.times += 1;
        let series = result.series.as_ref().filter(|_| result.times == 1);
        let found = match series {
            Some(series) if series.length >= MIN_SERIES => (series.key, series.length),
            _ => (result.key, result.times),
        };
        if self.0.len() == MAX_RESULTS {
            self.0.pop_front();
        }
        self.0.push_back(result);
        found
    }

    /// Removes all results.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

impl RecentResult {
    /// Returns whether a result with these ids and numbers is equal to this one. If so, records which ids differ.
    fn equals(&mut self, frame: u128, marks: &[VolatileValue]) -> bool {
        if self.frame != frame || self.marks.len() != marks.len() {
            return false;
        }
        let both = || self.marks.iter().zip(marks);
        let ids = both()
            .all(|(a, b)| a == b || matches!((a, b), (VolatileValue::Id(_), VolatileValue::Id(_))));
        let differ: Vec<bool> = both().map(|(a, b)| a != b).collect();
        let same = ids && self.varies.as_ref().is_none_or(|varies| *varies == differ);
        if same {
            self.varies = Some(differ);
        }
        same
    }

    /// Returns the series of a new result whose numbers changed from this one by small steps. Equal steps continue the
    /// series of this result, and other steps begin a new one. `None` if the new result is no continuation.
    fn continue_series(&self, frame: u128, marks: &[VolatileValue]) -> Option<ResultSeries> {
        if self.frame != frame || self.marks.len() != marks.len() {
            return None;
        }
        let steps = self.marks.iter().zip(marks).map(|(a, b)| match (a, b) {
            (VolatileValue::Number(a), VolatileValue::Number(b)) => {
                (a.abs_diff(*b) <= MAX_STEP).then(|| b - a)
            }
            (VolatileValue::Id(_), VolatileValue::Id(_)) => Some(0),
            _ => None,
        });
        let steps: Vec<i64> = steps.collect::<Option<_>>()?;
        let before = self.series.as_ref().filter(|before| before.steps == steps);
        let (key, length) = match before {
            Some(before) => (before.key, before.length + 1),
            None => (hash(&["counted", &self.key.to_string()]), 2),
        };
        let moved = steps.iter().any(|step| *step != 0);
        moved.then_some(ResultSeries { steps, key, length })
    }
}

/// A stored id or number.
#[derive(Clone, Copy, PartialEq)]
enum VolatileValue {
    /// The hash of an id.
    Id(u64),
    Number(i64),
}

/// Returns the hash of a text without its first ids and counters, and these ids and numbers. With `numbers`, numbers
/// are removed last, since ids are recognised by their digits.
fn hash_frame(
    (key, of_call): (u128, bool),
    text: &str,
    rules: &ResultComparison,
) -> (u128, Vec<VolatileValue>) {
    let mut found = Vec::new();
    let frame = ids::replace_volatile(text, of_call && rules.counters && !rules.numbers, |mark| {
        let (mark, hole) = match mark {
            ids::VolatilePart::Id(id) => (VolatileValue::Id(xxh3_64(id.as_bytes())), ID_MARK),
            ids::VolatilePart::Number(number) => (VolatileValue::Number(number), NUMBER_MARK),
        };
        (found.len() < MAX_MARKS).then(|| {
            found.push(mark);
            hole.to_owned()
        })
    });
    (
        hash(&[&key.to_string(), &rules.without_numbers(frame)]),
        found,
    )
}
