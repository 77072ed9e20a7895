//! [`OutcomeRow`]: the outcome of a transcript under a setting.

use deadloop_score::Verdict;
use std::sync::Arc;

/// The outcome of a transcript under a setting.
///
/// Names are shared, since a run has a row for each transcript and setting.
#[derive(Debug, Clone)]
pub struct OutcomeRow {
    /// The transcript's id.
    pub transcript: Box<str>,
    /// The transcript's model.
    pub model: Arc<str>,
    /// The setting, as an index into [`ReportData::settings`](crate::ReportData::settings).
    pub setting: usize,
    /// The kind of the loop.
    pub kind: Option<Arc<str>>,
    /// The channel of the label, or of the alarm.
    pub channel: Option<Arc<str>>,
    /// The position of the start of the second copy.
    pub onset: Option<u64>,
    /// The position of the end of the loop.
    pub end: Option<u64>,
    /// The length of the channel.
    pub length: Option<u64>,
    /// The verdict.
    pub verdict: Verdict,
    /// Whether the alarm was in an earlier repetition of a transcript that loops later.
    pub earlier: bool,
    /// The position of the alarm.
    pub alarm_at: Option<u64>,
    /// The number of calls up to the alarm, for an agent's run.
    pub alarm_calls: Option<u64>,
    /// The number of turns up to the alarm, for an agent's run.
    pub alarm_turns: Option<u64>,
    /// The kind of loop that the alarm claims.
    pub alarm_kind: Option<Arc<str>>,
    /// The detector that alarmed.
    pub detector: Option<Arc<str>>,
    /// The number of chars from the onset to the alarm.
    pub latency: Option<f64>,
    /// The number of healthy chars thrown away.
    pub lost: Option<u64>,
    /// The error message of the detector.
    pub error: Option<Arc<str>>,
}

impl OutcomeRow {
    /// Returns whether the transcript has a loop, or would have had one without an earlier alarm.
    pub(crate) fn is_loop(&self) -> bool {
        self.verdict.is_loop() || self.earlier
    }

    /// Returns whether the outcome has no loop, no alarm and no error.
    pub(crate) fn is_idle(&self) -> bool {
        !self.is_loop() && self.alarm_at.is_none() && self.verdict != Verdict::Error
    }
}
