//! One transcript seen through one setting, and what became of it.

use deadloop_score::Verdict;
use std::sync::Arc;

/// One transcript seen through one setting. A run leaves one a transcript and setting: names that many have are there once.
#[derive(Debug, Clone)]
pub struct OutcomeRow {
    /// The transcript's id.
    pub transcript: Box<str>,
    /// Its model.
    pub model: Arc<str>,
    /// Index into [`ReportData::settings`](crate::ReportData::settings).
    pub setting: usize,
    /// The kind of its loop.
    pub kind: Option<Arc<str>>,
    /// The channel of the label or alarm.
    pub channel: Option<Arc<str>>,
    /// Where the second copy starts.
    pub onset: Option<u64>,
    /// Where the loop ended.
    pub end: Option<u64>,
    /// The transcript's length.
    pub length: Option<u64>,
    /// What became of it.
    pub verdict: Verdict,
    /// Whether an alarm in an earlier repetition ended a transcript that loops later.
    pub earlier: bool,
    /// Where the alarm came.
    pub alarm_at: Option<u64>,
    /// How many calls and turns there were then, on a run of an agent.
    pub alarm_calls: Option<u64>,
    /// See `alarm_calls`.
    pub alarm_turns: Option<u64>,
    /// The kind that the alarm claims.
    pub alarm_kind: Option<Arc<str>>,
    /// The detector that alarmed.
    pub detector: Option<Arc<str>>,
    /// Chars from onset to alarm.
    pub latency: Option<f64>,
    /// Healthy chars thrown away.
    pub lost: Option<u64>,
    /// What went wrong.
    pub error: Option<Arc<str>>,
}

/// Rows in their order, in blocks: a list in one piece is there twice while it grows, and finds no room among what a replay
/// freed.
#[derive(Debug, Clone, Default)]
pub struct Outcomes(Vec<Vec<OutcomeRow>>);

/// Rows of a block.
const BLOCK: usize = 1 << 10;

impl Outcomes {
    /// Adds a row.
    pub fn push(&mut self, row: OutcomeRow) {
        match self.0.last_mut() {
            Some(block) if block.len() < BLOCK => block.push(row),
            _ => {
                let mut block = Vec::with_capacity(BLOCK);
                block.push(row);
                self.0.push(block);
            }
        }
    }

    /// Whether it has no row.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The rows.
    pub fn iter(&self) -> impl Iterator<Item = &OutcomeRow> {
        self.0.iter().flatten()
    }

    /// The same, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut OutcomeRow> {
        self.0.iter_mut().flatten()
    }
}

impl OutcomeRow {
    /// Returns whether it is about a loop, also one that never came.
    pub(crate) fn is_loop(&self) -> bool {
        self.verdict.is_loop() || self.earlier
    }

    /// Whether nothing happened: no loop, no alarm, no error.
    pub(crate) fn is_idle(&self) -> bool {
        !self.is_loop() && self.alarm_at.is_none() && self.verdict != Verdict::Error
    }
}
