//! [`Known`]: the results that were seen lately, and which of them a new one is the same as.
//!
//! With `volatile = "row"` two results of a call are the same where they differ in ids and dates alone, and an id that
//! differed before differs again. So an id that is drawn anew each time says nothing, and one that changes once (a
//! version, a commit, the item at the head of a queue) is news. A number that moves is always news.

use std::collections::VecDeque;

use xxhash_rust::xxh3::xxh3_64;

use super::{Look, hash, ids};
use crate::param::Param;

/// The parameter that takes as equal what changes every time.
pub(crate) const VOLATILE: Param = Param::word("volatile", "off", &["off", "row"]).doc(
    "row: results of a call that differ in dates and in ids that change every time are the same",
);

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
/// Ids of a result that may differ; those behind them are compared like any text.
const IDS: usize = 256;
/// What stands for an id in the text that is compared.
pub(super) const HOLE: &str = "\0";

/// The results that were seen lately: at most [`RESULTS`], each as hashes of at most [`IDS`] ids.
#[derive(Default)]
pub(crate) struct Known(VecDeque<Met>);

/// A result as it was met last.
struct Met {
    /// Equal of results of one key that differ in ids alone.
    frame: u128,
    ids: Vec<u64>,
    /// Which ids differed when it was met again; `None`: it was met once.
    moving: Option<Vec<bool>>,
    /// What the same results share.
    class: u128,
    times: u64,
}

/// A call and its result, as they are compared.
#[derive(Clone, Copy)]
pub(crate) struct Same {
    /// Equal of those that are the same.
    pub(crate) pair: u128,
    /// The result says nothing.
    pub(crate) nothing: bool,
    /// How often it was met lately, this time included; 0 where no parameter asks for that.
    pub(crate) times: u64,
}

impl Known {
    /// What the same results of one key share, and how often this one was met lately.
    pub(crate) fn met(&mut self, key: u128, content: &str, look: &Look) -> (u128, u64) {
        let exact = hash(&[&key.to_string(), content]);
        if !look.remembers() {
            return (exact, 0);
        }
        let (frame, ids) = if look.volatile {
            framed(key, &look.without_dates(content))
        } else {
            (exact, Vec::new())
        };
        let found = self.0.iter_mut().rposition(|old| old.takes(frame, &ids));
        let mut result = match found.and_then(|at| self.0.remove(at)) {
            Some(found) => found,
            None => Met::new(frame, exact),
        };
        result.ids = ids;
        result.times += 1;
        let met = (result.class, result.times);
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
    fn new(frame: u128, class: u128) -> Self {
        Self {
            frame,
            ids: Vec::new(),
            moving: None,
            class,
            times: 0,
        }
    }

    /// Whether a result with these ids is the same one; then it is remembered which of them differ.
    fn takes(&mut self, frame: u128, ids: &[u64]) -> bool {
        if self.frame != frame || self.ids.len() != ids.len() {
            return false;
        }
        let differ: Vec<bool> = self.ids.iter().zip(ids).map(|(a, b)| a != b).collect();
        let same = self.moving.as_ref().is_none_or(|moving| *moving == differ);
        if same {
            self.moving = Some(differ);
        }
        same
    }
}

/// The hash of a text with its first ids taken out, and theirs.
fn framed(key: u128, text: &str) -> (u128, Vec<u64>) {
    let mut found = Vec::new();
    let frame = ids::replaced(text, |id| {
        if found.len() < IDS {
            found.push(xxh3_64(id.as_bytes()));
            HOLE.to_owned()
        } else {
            id.to_owned()
        }
    });
    (hash(&[&key.to_string(), &frame]), found)
}
