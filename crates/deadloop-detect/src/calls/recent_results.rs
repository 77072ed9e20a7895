//! [`RecentResults`]: recent results, which new results are matched with.
//!
//! With `volatile = "row"`, two results of a call are equal if they differ only in dates and ids, and if the same ids
//! differ each time. An id that is generated anew each time therefore carries no information. An id that changes once
//! (a version, a commit, the item at the head of a queue) is news. A changed number is news too, unless it counts
//! (`volatile = "counters"`).

use std::collections::VecDeque;

use xxhash_rust::xxh3::xxh3_64;

use super::result_comparison::without_dates;
use super::{ResultClass, ResultComparison, hash, ids};
use crate::settings::param::Param;

/// The parameter for ignoring parts of results that change every time.
pub(crate) const VOLATILE: Param = Param::word("volatile", "off", &["off", "row", "counters"]).doc(
    "row: results of a call that differ in dates and in ids that change every time are the same; counters: and in numbers that move by the same small step every time",
);

/// The parameter for classifying results by their text.
pub(crate) const KINDS: Param = Param::flag("kinds", false)
    .doc("true: what a result says counts: that something is done, not yet done, nothing, or no");

/// The parameter for the count from which results of unfinished work are reported.
pub(crate) const WAITING_N: Param = Param::count("waiting_n", 30, 0..=1000)
    .unit("calls")
    .doc("results that say not yet done count from this many on, with kinds");

/// The parameter for the count from which results without information are reported.
pub(crate) const STATELESS_N: Param = Param::count("stateless_n", 0, 0..=1000)
    .unit("calls")
    .doc("results that say nothing count from this many on; 0: as all others");

/// The parameter for the longest result without information.
pub(crate) const STATELESS_CHARS: Param = Param::count("stateless_chars", 12, 0..=1000)
    .unit("chars")
    .doc("the longest result that says nothing, without its tags and, with volatile, without the id and the date of a response; it has no digit but 0 and is no error");

/// The parameter for whether the arguments of calls are compared.
pub(crate) const ARGUMENTS: Param = Param::flag("arguments", true)
    .doc("false: the tool alone is compared, whatever its arguments are");

/// The maximum number of results that are kept. If there are more, the one that has not recurred for longest is
/// dropped.
const RESULTS: usize = 64;
/// The maximum number of ids and numbers of a result that may differ. Later ones are compared like other text.
const MARKS: usize = 256;
/// The placeholder of an id in a compared text.
pub(super) const HOLE: &str = "\0";
/// Placeholder of a number in a compared text.
const NUMBER: &str = "\0n";
/// The largest step of a number that counts. If calls alternate, a counter in the answers of one call counts the other
/// calls too.
const STEP: u64 = 3;
/// The number of results that distinguishes a counter from progress.
const COUNTED: u64 = 4;

/// Recent results: at most [`RESULTS`], each with at most [`MARKS`] ids and numbers.
#[derive(Default)]
pub(crate) struct RecentResults(VecDeque<RecentResult>);

/// A recent result, as it was last returned.
struct RecentResult {
    /// The hash shared by results of one key that differ only in ids and numbers.
    frame: u128,
    marks: Vec<VolatileValue>,
    /// For each mark, whether it differs each time. `None` if the result has occurred only once.
    moving: Option<Vec<bool>>,
    /// The hash shared by equal results.
    class: u128,
    times: u64,
    /// The series of earlier results whose numbers this result continues.
    counted: Option<ResultSeries>,
}

/// A series of results whose numbers move by equal steps.
#[derive(Clone)]
struct ResultSeries {
    steps: Vec<i64>,
    /// The hash shared by the series, from [`COUNTED`] results on.
    class: u128,
    length: u64,
}

/// A compared call and result.
#[derive(Clone, Copy)]
pub(crate) struct ComparedResult {
    /// The hash shared by equal pairs.
    pub(crate) pair: u128,
    /// The class of the result.
    pub(crate) says: ResultClass,
    /// The number of recent occurrences, the current one included. 0 if no parameter needs the number.
    pub(crate) times: u64,
}

impl RecentResults {
    /// Records a result. Returns the hash shared by equal results of one key, and the number of recent occurrences.
    /// Counting numbers are recognised only if the key covers the arguments: with other arguments, a number is part of
    /// the answer.
    pub(crate) fn met(
        &mut self,
        (key, of_call): (u128, bool),
        content: &str,
        look: &ResultComparison,
    ) -> (u128, u64) {
        let exact = hash(&[&key.to_string(), content]);
        if !look.remembers() {
            return (exact, 0);
        }
        let (frame, marks) = if look.volatile {
            hash_frame((key, of_call), &without_dates(content), look)
        } else {
            (exact, Vec::new())
        };
        let found = self.0.iter_mut().rposition(|old| old.takes(frame, &marks));
        let mut result = match found.and_then(|at| self.0.remove(at)) {
            Some(found) => found,
            None => RecentResult {
                frame,
                marks: Vec::new(),
                moving: None,
                class: exact,
                times: 0,
                counted: self
                    .0
                    .iter()
                    .rev()
                    .find_map(|old| old.counts(frame, &marks)),
            },
        };
        result.marks = marks;
        result.times += 1;
        let counted = result.counted.as_ref().filter(|_| result.times == 1);
        let met = match counted {
            Some(counted) if counted.length >= COUNTED => (counted.class, counted.length),
            _ => (result.class, result.times),
        };
        if self.0.len() == RESULTS {
            self.0.pop_front();
        }
        self.0.push_back(result);
        met
    }

    /// Removes all results.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

impl RecentResult {
    /// Returns whether a result with these marks is equal to this one, and if so records which ids differ.
    fn takes(&mut self, frame: u128, marks: &[VolatileValue]) -> bool {
        if self.frame != frame || self.marks.len() != marks.len() {
            return false;
        }
        let both = || self.marks.iter().zip(marks);
        let ids = both()
            .all(|(a, b)| a == b || matches!((a, b), (VolatileValue::Id(_), VolatileValue::Id(_))));
        let differ: Vec<bool> = both().map(|(a, b)| a != b).collect();
        let same = ids && self.moving.as_ref().is_none_or(|moving| *moving == differ);
        if same {
            self.moving = Some(differ);
        }
        same
    }

    /// Returns the series of a new result whose numbers moved from this one by small steps. Equal steps continue the
    /// series of this result, other steps begin a new series.
    fn counts(&self, frame: u128, marks: &[VolatileValue]) -> Option<ResultSeries> {
        if self.frame != frame || self.marks.len() != marks.len() {
            return None;
        }
        let steps = self.marks.iter().zip(marks).map(|(a, b)| match (a, b) {
            (VolatileValue::Number(a), VolatileValue::Number(b)) => {
                (a.abs_diff(*b) <= STEP).then(|| b - a)
            }
            (VolatileValue::Id(_), VolatileValue::Id(_)) => Some(0),
            _ => None,
        });
        let steps: Vec<i64> = steps.collect::<Option<_>>()?;
        let before = self.counted.as_ref().filter(|before| before.steps == steps);
        let (class, length) = match before {
            Some(before) => (before.class, before.length + 1),
            None => (hash(&["counted", &self.class.to_string()]), 2),
        };
        let moved = steps.iter().any(|step| *step != 0);
        moved.then_some(ResultSeries {
            steps,
            class,
            length,
        })
    }
}

/// A stored id or number.
#[derive(Clone, Copy, PartialEq)]
enum VolatileValue {
    /// The hash of an id.
    Id(u64),
    Number(i64),
}

/// Returns the hash of a text without its first ids and counting numbers, and those marks. With `numbers`, numbers are
/// removed last, because ids are recognised by their digits.
fn hash_frame(
    (key, of_call): (u128, bool),
    text: &str,
    look: &ResultComparison,
) -> (u128, Vec<VolatileValue>) {
    let mut found = Vec::new();
    let frame = ids::replace_volatile(text, of_call && look.counters && !look.numbers, |mark| {
        let (mark, hole) = match mark {
            ids::VolatilePart::Id(id) => (VolatileValue::Id(xxh3_64(id.as_bytes())), HOLE),
            ids::VolatilePart::Number(number) => (VolatileValue::Number(number), NUMBER),
        };
        (found.len() < MARKS).then(|| {
            found.push(mark);
            hole.to_owned()
        })
    });
    (
        hash(&[&key.to_string(), &look.without_numbers(frame)]),
        found,
    )
}
