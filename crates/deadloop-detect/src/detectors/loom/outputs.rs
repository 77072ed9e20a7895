//! [`Outputs`]: the outputs of the last turns, and their repeated windows.

use std::borrow::Cow;
use std::collections::VecDeque;

use crate::calls::{hash, start_of};
use crate::stream::Calls;

/// The maximum number of outputs that a setting may keep.
pub(super) const MOST_KEPT: i64 = 200;

/// The number of compared chars of an output.
const CHARS: usize = 200;

/// The output of a turn: the beginning of its first result or, without a result, of its answer.
pub(super) struct TurnOutput {
    /// The number of calls before the turn.
    began: Calls,
    result: Option<String>,
    answer: String,
}

impl TurnOutput {
    /// Returns the empty output of a turn that begins after `began` calls.
    pub(super) fn new(began: Calls) -> Self {
        Self {
            began,
            result: None,
            answer: String::new(),
        }
    }

    /// Adds a result. Only the first one counts.
    pub(super) fn result<'a>(&mut self, content: impl FnOnce() -> Cow<'a, str>) {
        self.result
            .get_or_insert_with(|| start_of(&content(), CHARS).to_owned());
    }

    /// Adds a piece of the answer.
    pub(super) fn answer(&mut self, piece: &str) {
        let room = CHARS.saturating_sub(self.answer.chars().count());
        self.answer.extend(piece.chars().take(room));
    }

    fn text(&self) -> &str {
        self.result.as_deref().unwrap_or(&self.answer)
    }
}

/// The last outputs that are not empty.
#[derive(Clone)]
pub(super) struct Outputs {
    keep: usize,
    /// The hash of each output, with the number of calls before its turn, newest last.
    last: VecDeque<(u128, Calls)>,
    /// For each window length from 1 on, the number of consecutive outputs that equal the output one window earlier.
    again: Vec<u64>,
}

impl Outputs {
    pub(super) fn new(keep: u64) -> Self {
        let keep = usize::try_from(keep).unwrap_or(0);
        Self {
            keep,
            last: VecDeque::new(),
            again: vec![0; keep / 2],
        }
    }

    /// Adds the output of a turn. Returns the lengths of windows for which the last two windows have just become equal.
    pub(super) fn push(&mut self, output: &TurnOutput) -> Vec<u64> {
        if output.text().is_empty() {
            return Vec::new();
        }
        let new = hash(&[output.text()]);
        let mut met = Vec::new();
        for (window, again) in (1_u64..).zip(&mut self.again) {
            let before = usize::try_from(window).ok();
            let before = before.and_then(|window| self.last.len().checked_sub(window));
            let same = before.and_then(|i| self.last.get(i)).map(|(hash, _)| *hash) == Some(new);
            *again = if same { *again + 1 } else { 0 };
            if *again == window {
                met.push(window);
            }
        }
        if self.last.len() == self.keep {
            self.last.pop_front();
        }
        self.last.push_back((new, output.began));
        met
    }

    /// Returns the positions, in calls, at which the last two windows of this length begin.
    pub(super) fn copies(&self, window: u64) -> Option<(Calls, Calls)> {
        let window = usize::try_from(window).ok()?;
        let second = self.last.len().checked_sub(window)?;
        let first = second.checked_sub(window)?;
        Some((self.last.get(first)?.1, self.last.get(second)?.1))
    }

    pub(super) fn clear(&mut self) {
        self.last.clear();
        self.again.fill(0);
    }
}
