//! One transcript seen through one setting, and what became of it.

/// What became of a case (scoring.md); names as in the files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// A loop, found in time.
    Hit,
    /// A loop, found after the deadline.
    Late,
    /// A loop, cut before it began.
    Premature,
    /// A loop, alarmed after it had ended.
    Stale,
    /// A loop without an alarm.
    Miss,
    /// A clean transcript with an alarm.
    FalseAlarm,
    /// A clean transcript without one.
    Quiet,
    /// A transient repetition with an alarm.
    TransientStop,
    /// A transient repetition without one.
    TransientPass,
    /// Not labelled, or unsure.
    Unlabelled,
    /// The detector failed.
    Error,
}

impl Verdict {
    /// Every verdict with its name in the files.
    pub const ALL: [(Self, &'static str); 11] = [
        (Self::Hit, "hit"),
        (Self::Late, "late"),
        (Self::Premature, "premature"),
        (Self::Stale, "stale"),
        (Self::Miss, "miss"),
        (Self::FalseAlarm, "false-alarm"),
        (Self::Quiet, "quiet"),
        (Self::TransientStop, "transient-stop"),
        (Self::TransientPass, "transient-pass"),
        (Self::Unlabelled, "unlabelled"),
        (Self::Error, "error"),
    ];

    /// The verdict with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .find(|verdict| verdict.1 == name)
            .map(|verdict| verdict.0)
    }

    /// Its name in the files.
    pub fn name(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|verdict| verdict.0 == self)
            .map_or("", |verdict| verdict.1)
    }

    /// Whether the transcript loops: these are the denominator of recall.
    pub fn is_loop(self) -> bool {
        matches!(
            self,
            Self::Hit | Self::Late | Self::Premature | Self::Stale | Self::Miss
        )
    }

    /// Whether healthy text was cut.
    pub fn is_false(self) -> bool {
        matches!(self, Self::FalseAlarm | Self::Premature | Self::Stale)
    }
}

/// One transcript seen through one setting.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The transcript's id.
    pub transcript: String,
    /// Its model.
    pub model: String,
    /// Index into [`ReportData::settings`](crate::ReportData::settings).
    pub setting: usize,
    /// The kind of its loop.
    pub kind: Option<String>,
    /// The channel of the label or alarm.
    pub channel: Option<String>,
    /// Where the second copy starts.
    pub onset: Option<u64>,
    /// Where the loop ended.
    pub end: Option<u64>,
    /// The transcript's length.
    pub length: Option<u64>,
    /// What became of it.
    pub verdict: Verdict,
    /// Where the alarm came.
    pub alarm_at: Option<u64>,
    /// The kind that the alarm claims.
    pub alarm_kind: Option<String>,
    /// The detector that alarmed.
    pub detector: Option<String>,
    /// Chars from onset to alarm.
    pub latency: Option<f64>,
    /// Healthy chars thrown away.
    pub lost: Option<u64>,
    /// What went wrong.
    pub error: Option<String>,
}
