//! The compiled structural parameters.

use regex::Regex;

use crate::settings::params::Params;

/// The compiled structural parameters.
pub(super) struct StructuralParams {
    checkpoints: Vec<u64>,
    every: u64,
    /// The first char that a checkpoint or a later one reads, for each listed checkpoint and the first unlisted one.
    keep_from: Vec<u64>,
    pub(super) window: u64,
    checks_short_runs: bool,
    /// The length of the segment. `None` for all text since the previous checkpoint.
    segment: Option<u64>,
    pub(super) drop_tail: bool,
    pub(super) delimiters: Delimiters,
    pub(super) marker: Option<Regex>,
    pub(super) code: FenceRule,
}

/// A set of chars with a fast test.
pub(super) struct Delimiters {
    ascii: [bool; 128],
    other: Vec<char>,
}

impl Delimiters {
    fn new(chars: &str) -> Self {
        let ascii = std::array::from_fn(|byte| chars.bytes().any(|b| usize::from(b) == byte));
        let other = chars.chars().filter(|c| !c.is_ascii()).collect();
        Self { ascii, other }
    }

    pub(super) fn contains(&self, c: char) -> bool {
        let ascii = self.ascii.get(c as usize).copied();
        ascii.unwrap_or_else(|| self.other.contains(&c))
    }
}

/// The treatment of text in code fences.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FenceRule {
    Check,
    Skip,
    /// Check text in code fences with this value in place of `min_matches`.
    Matches(i64),
}

impl StructuralParams {
    pub(super) fn new(params: &Params) -> Self {
        let regex = |value: &crate::Value| value.as_text().and_then(|text| Regex::new(text).ok());
        let word = |name, word| params.text(name) == word;
        let listed = params
            .items("checkpoints")
            .iter()
            .filter_map(crate::Value::as_int);
        let look = Self {
            checkpoints: listed.map(i64::unsigned_abs).collect(),
            every: params.count("every"),
            keep_from: Vec::new(),
            window: params.count("window"),
            checks_short_runs: word("short_at", "all"),
            segment: params
                .get("segment")
                .and_then(crate::Value::as_int)
                .map(i64::unsigned_abs),
            drop_tail: word("partial_tail", "drop"),
            delimiters: Delimiters::new(params.text("delimiters")),
            marker: params.get("list_marker").and_then(regex),
            code: match params.get("code").and_then(crate::Value::as_int) {
                Some(n) => FenceRule::Matches(n),
                None if word("code", "skip") => FenceRule::Skip,
                None => FenceRule::Check,
            },
        };
        Self {
            keep_from: look.all_keep_from(),
            ..look
        }
    }

    fn all_keep_from(&self) -> Vec<u64> {
        let last = self.checkpoints.len();
        let mut all: Vec<u64> = (0..=last).map(|i| self.reads_from(i)).collect();
        for i in (0..last).rev() {
            all[i] = all[i].min(all[i + 1]);
        }
        all
    }

    pub(super) fn segment_start(&self, at: u64, previous: u64) -> u64 {
        self.segment.map_or(previous, |n| at.saturating_sub(n))
    }

    /// Returns the position of checkpoint number `index`, if there is one.
    pub(super) fn checkpoint(&self, index: usize) -> Option<u64> {
        let last = self.checkpoints.last()?;
        match self.checkpoints.get(index) {
            Some(at) => Some(*at),
            None if self.every == 0 => None,
            None => Some(last + self.every * (index + 1 - self.checkpoints.len()) as u64),
        }
    }

    pub(super) fn previous(&self, index: usize) -> u64 {
        let before = index.checked_sub(1);
        before.and_then(|i| self.checkpoint(i)).unwrap_or(0)
    }

    /// Returns the first char that checkpoint number `index` reads.
    fn reads_from(&self, index: usize) -> u64 {
        let Some(at) = self.checkpoint(index) else {
            return u64::MAX;
        };
        let short = self
            .reads_short_runs(index)
            .then(|| at.saturating_sub(self.window));
        let period = (index > 0).then(|| self.segment_start(at, self.previous(index)));
        short.into_iter().chain(period).min().unwrap_or(at)
    }

    /// Returns the first char that checkpoint number `index` or a later one reads. Unlisted checkpoints read from later
    /// and later chars, so only the next one matters.
    pub(super) fn keep_from(&self, index: usize) -> u64 {
        let listed = self.keep_from.get(index).copied();
        listed.unwrap_or_else(|| self.reads_from(index))
    }

    pub(super) fn reads_short_runs(&self, index: usize) -> bool {
        index == 0 || self.checks_short_runs
    }
}
