//! [`Verdict`] and [`Outcome`]: what became of a transcript under a setting.

use deadloop_replay::detect::Unit;

use crate::tally::Count;

deadloop_replay::detect::words! {
    /// What became of a transcript under a setting.
    pub enum Verdict {
        /// A loop, found.
        Hit = "hit",
        /// An alarm before the loop: a healthy stream was cut.
        Premature = "premature",
        /// An alarm after the loop: the model had escaped.
        Stale = "stale",
        /// A loop, never found.
        Miss = "miss",
        /// An alarm on a clean transcript.
        FalseAlarm = "false-alarm",
        /// No alarm on a clean transcript.
        Quiet = "quiet",
        /// An alarm on a repetition that ends by itself.
        TransientStop = "transient-stop",
        /// No alarm on one.
        TransientPass = "transient-pass",
        /// Nobody says what is true; counted, not scored.
        Unlabelled = "unlabelled",
        /// The detector failed on it; not scored.
        Error = "error",
    }
}

impl Verdict {
    /// Whether healthy text was cut: `false-alarm`, `premature` or `stale`.
    pub fn is_false(self) -> bool {
        matches!(self, Self::FalseAlarm | Self::Premature | Self::Stale)
    }

    /// Returns whether it is about a loop: `hit`, `premature`, `stale` or `miss`. A loop whose
    /// earlier repetition was stopped counts too: see [`Outcome::is_earlier`].
    pub fn is_loop(self) -> bool {
        matches!(self, Self::Hit | Self::Premature | Self::Stale | Self::Miss)
    }
}

/// Units up to which `in_periods` counts a loop whose copies are shorter.
const MOST_OF_COPY: u64 = 1000;

/// The verdict on one transcript under one setting, with its delay and savings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// The verdict.
    pub verdict: Verdict,
    /// The span that was judged or charged: an index into [`Truth::spans`](crate::Truth::spans).
    pub span: Option<usize>,
    /// Units from the onset to the alarm, 0 for an alarm before it; hits only.
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
    /// What `delay` sums: units of that loop which were generated.
    pub delay: u64,
    /// The count of the least `within_N` of the unit that this delay is within, of a loop that was ended.
    pub within: Option<Count>,
    /// Whether a loop was ended by the end of its second whole copy, or within 1,000 units.
    pub in_periods: bool,
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
            within: None,
            in_periods: false,
            censored: false,
        }
    }

    /// Whether an earlier repetition was stopped in a transcript that loops later: the loop counts, it was
    /// not found, and it never came.
    pub fn is_earlier(&self) -> bool {
        self.verdict == Verdict::TransientStop && self.span.is_some()
    }

    /// The outcome with what the delay of a loop that was ended is within; `period` is the length of one copy.
    pub(crate) fn ended_within(self, unit: Unit, period: Option<u64>) -> Self {
        let copy = period.unwrap_or(0).max(MOST_OF_COPY);
        Self {
            within: Count::within(unit, self.delay),
            in_periods: self.delay <= copy,
            ..self
        }
    }

    /// The outcome of a transcript on which the detector failed.
    pub fn error() -> Self {
        Self::bare(Verdict::Error)
    }
}
