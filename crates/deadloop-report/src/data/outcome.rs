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
