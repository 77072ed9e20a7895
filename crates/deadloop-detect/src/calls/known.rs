//! [`Known`]: the results that were seen lately, and which of them a new one is the same as.
//!
//! With `volatile = "row"` two results of a call are the same where they differ in ids and dates alone, and an id that
//! differed before differs again. So an id that is drawn anew each time says nothing, and one that changes once (a
//! version, a commit, the item at the head of a queue) is news. A number that moves is news too, but for one that
//! counts (`volatile = "counters"`).

use std::collections::VecDeque;

use xxhash_rust::xxh3::xxh3_64;

use super::compare::without_dates;
use super::{Comparison, Says, hash, ids};
use crate::settings::param::Param;

/// The parameter that takes as equal what changes every time.
pub(crate) const VOLATILE: Param = Param::word("volatile", "off", &["off", "row", "counters"]).doc(
    "row: results of a call that differ in dates and in ids that change every time are the same; counters: and in numbers that move by the same small step every time",
);

/// The parameter that tells results apart by what they say.
pub(crate) const KINDS: Param = Param::flag("kinds", false)
    .doc("true: what a result says counts: that something is done, not yet done, nothing, or no");

/// The parameter that says when results that something is not done yet count.
pub(crate) const WAITING_N: Param = Param::count("waiting_n", 30, 0..=1000)
    .unit("calls")
    .doc("with kinds: results that say that something is not done yet count from this many on");

/// The parameter that says when results that say nothing count.
pub(crate) const STATELESS_N: Param = Param::count("stateless_n", 0, 0..=1000)
    .unit("calls")
    .doc("results that say nothing count from this many on; 0: as all others");

/// The parameter that says how short a result that says nothing is.
pub(crate) const STATELESS_CHARS: Param = Param::count("stateless_chars", 12, 0..=1000)
    .unit("chars")
    .doc("the longest result that says nothing, without its tags and, with volatile, without the id and the date of a response; it has no digit but 0 and is no error");

/// The parameter that says whether calls with other arguments are other calls.
pub(crate) const ARGUMENTS: Param = Param::flag("arguments", true)
    .doc("false: the tool alone is compared, whatever its arguments are");

/// Different results that are kept in mind; of more the one that was not met for longest is forgotten.
const RESULTS: usize = 64;
/// Ids and numbers of a result that may differ; those behind them are compared like any text.
const MARKS: usize = 256;
/// What stands for an id in the text that is compared, and for a number.
pub(super) const HOLE: &str = "\0";
const NUMBER: &str = "\0n";
/// The longest step of a number that counts: of calls that are made in turn, each one's answer counts the others.
const STEP: u64 = 3;
/// How many results it takes to tell a number that counts from one that shows progress.
const COUNTED: u64 = 4;

/// The results that were seen lately: at most [`RESULTS`], each with at most [`MARKS`] ids and numbers.
#[derive(Default)]
pub(crate) struct Known(VecDeque<Met>);

/// A result as it was met last.
struct Met {
    /// Equal of results of one key that differ in ids and numbers alone.
    frame: u128,
    marks: Vec<Mark>,
    /// Which marks differed when it was met again; `None`: it was met once.
    moving: Option<Vec<bool>>,
    /// What the same results share.
    class: u128,
    times: u64,
    /// The results before it from which its numbers moved on.
    counted: Option<Counted>,
}

/// Results between which numbers move by the same steps.
#[derive(Clone)]
struct Counted {
    steps: Vec<i64>,
    /// What they share, once they are [`COUNTED`].
    class: u128,
    length: u64,
}

/// A call and its result, as they are compared.
#[derive(Clone, Copy)]
pub(crate) struct Same {
    /// Equal of those that are the same.
    pub(crate) pair: u128,
    /// What the result says.
    pub(crate) says: Says,
    /// How often it was met lately, this time included; 0 where no parameter asks for that.
    pub(crate) times: u64,
}

impl Known {
    /// What the same results of one key share, and how often this one was met lately. Numbers may count where the key is
    /// that of a call: after other questions they are what was asked.
    pub(crate) fn met(
        &mut self,
        (key, of_call): (u128, bool),
        content: &str,
        look: &Comparison,
    ) -> (u128, u64) {
        let exact = hash(&[&key.to_string(), content]);
        if !look.remembers() {
            return (exact, 0);
        }
        let (frame, marks) = if look.volatile {
            framed((key, of_call), &without_dates(content), look)
        } else {
            (exact, Vec::new())
        };
        let found = self.0.iter_mut().rposition(|old| old.takes(frame, &marks));
        let mut result = match found.and_then(|at| self.0.remove(at)) {
            Some(found) => found,
            None => Met {
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

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

impl Met {
    /// Whether a result with these marks is the same one; then it is remembered which of its ids differ.
    fn takes(&mut self, frame: u128, marks: &[Mark]) -> bool {
        if self.frame != frame || self.marks.len() != marks.len() {
            return false;
        }
        let both = || self.marks.iter().zip(marks);
        let ids = both().all(|(a, b)| a == b || matches!((a, b), (Mark::Id(_), Mark::Id(_))));
        let differ: Vec<bool> = both().map(|(a, b)| a != b).collect();
        let same = ids && self.moving.as_ref().is_none_or(|moving| *moving == differ);
        if same {
            self.moving = Some(differ);
        }
        same
    }

    /// What a result counts on from this one, if its numbers moved by small steps, and by the same as before.
    fn counts(&self, frame: u128, marks: &[Mark]) -> Option<Counted> {
        if self.frame != frame || self.marks.len() != marks.len() {
            return None;
        }
        let steps = self.marks.iter().zip(marks).map(|(a, b)| match (a, b) {
            (Mark::Number(a), Mark::Number(b)) => (a.abs_diff(*b) <= STEP).then(|| b - a),
            (Mark::Id(_), Mark::Id(_)) => Some(0),
            _ => None,
        });
        let steps: Vec<i64> = steps.collect::<Option<_>>()?;
        let before = self.counted.as_ref().filter(|before| before.steps == steps);
        let (class, length) = match before {
            Some(before) => (before.class, before.length + 1),
            None => (hash(&["counted", &self.class.to_string()]), 2),
        };
        let moved = steps.iter().any(|step| *step != 0);
        moved.then_some(Counted {
            steps,
            class,
            length,
        })
    }
}

/// What may differ, as it is kept.
#[derive(Clone, Copy, PartialEq)]
enum Mark {
    /// The hash of an id.
    Id(u64),
    Number(i64),
}

/// The hash of a text with its first ids, and numbers that may count, taken out, and what they are. Numbers that are the
/// same whatever they are (`numbers`) are taken out last, so that ids are known by their digits.
fn framed((key, of_call): (u128, bool), text: &str, look: &Comparison) -> (u128, Vec<Mark>) {
    let mut found = Vec::new();
    let frame = ids::marked(text, of_call && look.counters && !look.numbers, |mark| {
        let (mark, hole) = match mark {
            ids::Mark::Id(id) => (Mark::Id(xxh3_64(id.as_bytes())), HOLE),
            ids::Mark::Number(number) => (Mark::Number(number), NUMBER),
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
