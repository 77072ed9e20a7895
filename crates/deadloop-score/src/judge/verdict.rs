//! [`Verdict`] and [`Outcome`]: what became of a transcript under a setting.

use serde::{Deserialize, Serialize};

/// What became of a transcript under a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// A loop, found in time.
    Hit,
    /// A loop, found after the deadline.
    Late,
    /// An alarm before the loop: a healthy stream was cut.
    Premature,
    /// An alarm after the loop: the model had escaped.
    Stale,
    /// A loop, never found.
    Miss,
    /// An alarm on a clean transcript.
    FalseAlarm,
    /// No alarm on a clean transcript.
    Quiet,
    /// An alarm on a repetition that ends by itself.
    TransientStop,
    /// No alarm on one.
    TransientPass,
    /// Nobody says what is true; counted, not scored.
    Unlabelled,
    /// The detector failed on it; not scored.
    Error,
}

impl Verdict {
    /// All verdicts, in the order of scoring.md.
    pub const ALL: [Self; 11] = [
        Self::Hit,
        Self::Late,
        Self::Premature,
        Self::Stale,
        Self::Miss,
        Self::FalseAlarm,
        Self::Quiet,
        Self::TransientStop,
        Self::TransientPass,
        Self::Unlabelled,
        Self::Error,
    ];

    /// The name used in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hit => "hit",
            Self::Late => "late",
            Self::Premature => "premature",
            Self::Stale => "stale",
            Self::Miss => "miss",
            Self::FalseAlarm => "false-alarm",
            Self::Quiet => "quiet",
            Self::TransientStop => "transient-stop",
            Self::TransientPass => "transient-pass",
            Self::Unlabelled => "unlabelled",
            Self::Error => "error",
        }
    }

    /// The verdict with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verdict| verdict.name() == name)
    }

    /// Whether healthy text was cut: `false-alarm`, `premature` or `stale`.
    pub fn is_false(self) -> bool {
        matches!(self, Self::FalseAlarm | Self::Premature | Self::Stale)
    }

    /// Returns whether it is about a loop: `hit`, `late`, `premature`, `stale` or `miss`. A loop whose
    /// earlier repetition was stopped counts too: see [`Outcome::is_earlier`].
    pub fn is_loop(self) -> bool {
        matches!(
            self,
            Self::Hit | Self::Late | Self::Premature | Self::Stale | Self::Miss
        )
    }
}

/// The verdict on one transcript under one setting, with its delay and savings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// The verdict.
    pub verdict: Verdict,
    /// The span that was judged or charged: an index into [`Truth::spans`](crate::Truth::spans).
    pub span: Option<usize>,
    /// Units from the onset to the alarm, 0 for an alarm before it; hits and lates only.
    pub latency: Option<u64>,
    /// The same in milliseconds, where the recording has them.
    pub latency_ms: Option<f64>,
    /// The same in tokens, where the recording has them.
    pub latency_tokens: Option<u64>,
    /// Units of the loop that were not generated thanks to the alarm.
    pub saved: u64,
    /// Units of healthy output thrown away by the alarm; of chars those in the channels that are watched.
    pub lost: u64,
    /// Healthy units that the setting watched.
    pub exposure: u64,
    /// Watched units up to the alarm, where it was wrong; else 0.
    pub generated: u64,
    /// Length of the judged or charged loop, onset to end; 0 where no loop counts.
    pub loop_chars: u64,
    /// What `delay` sums: units of that loop which were generated, capped by the horizon.
    pub delay: u64,
    /// Whether a hit's kind is the label's; `None` where the label names none, or it is no hit.
    pub kind_right: Option<bool>,
    /// Whether a loop counts that still ran when the recording stopped: `saved` is a lower bound.
    pub censored: bool,
}

impl Outcome {
    /// An outcome in which nothing but the verdict is known.
    pub(crate) fn bare(verdict: Verdict) -> Self {
        Self {
            verdict,
            span: None,
            latency: None,
            latency_ms: None,
            latency_tokens: None,
            saved: 0,
            lost: 0,
            exposure: 0,
            generated: 0,
            loop_chars: 0,
            delay: 0,
            kind_right: None,
            censored: false,
        }
    }

    /// Whether an earlier repetition was stopped in a transcript that loops later: the loop counts, it was
    /// not found, and it never came.
    pub fn is_earlier(&self) -> bool {
        self.verdict == Verdict::TransientStop && self.span.is_some()
    }

    /// The outcome of a transcript on which the detector failed.
    pub fn error() -> Self {
        Self::bare(Verdict::Error)
    }
}
