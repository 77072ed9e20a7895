//! [`Verdict`] and [`Outcome`]: the result of a transcript under a setting.

use deadloop_replay::detect::Unit;

use crate::tally::Count;

deadloop_replay::detect::words! {
    /// The result of a transcript under a setting.
    #[derive(Default)]
    pub enum Verdict {
        /// An alarm inside a loop.
        Hit = "hit",
        /// An alarm before the loop: a healthy stream was cut.
        Premature = "premature",
        /// An alarm after the loop: the model had escaped.
        Stale = "stale",
        /// A loop without an alarm.
        Miss = "miss",
        /// An alarm on a clean transcript.
        FalseAlarm = "false-alarm",
        /// No alarm on a clean transcript.
        Quiet = "quiet",
        /// An alarm on a repetition that ends on its own.
        TransientStop = "transient-stop",
        /// No alarm on a repetition that ends on its own.
        TransientPass = "transient-pass",
        /// A transcript without a label; counted, not scored.
        #[default]
        Unlabelled = "unlabelled",
        /// A transcript on which the detector failed; not scored.
        Error = "error",
    }
}

impl Verdict {
    /// Returns whether healthy text was cut: `false-alarm`, `premature` or `stale`.
    pub fn is_false(self) -> bool {
        matches!(self, Self::FalseAlarm | Self::Premature | Self::Stale)
    }

    /// Returns whether the verdict is about a loop: `hit`, `premature`, `stale` or `miss`.
    ///
    /// A loop whose earlier repetition was stopped counts too: see [`Outcome::is_earlier`].
    pub fn is_loop(self) -> bool {
        matches!(self, Self::Hit | Self::Premature | Self::Stale | Self::Miss)
    }
}

/// The length that a shorter copy counts as in the limit of `in_periods`.
const MIN_COPY_UNITS: u64 = 1000;

/// The verdict on one transcript under one setting, with its delay and savings.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The verdict.
    pub verdict: Verdict,
    /// The span that was judged or charged: an index into [`Truth::spans`](crate::Truth::spans).
    pub span: Option<usize>,
    /// Units from the onset to the alarm, 0 for an alarm before it. Hits only.
    pub latency: Option<u64>,
    /// The latency in milliseconds, if the recording has times.
    pub latency_ms: Option<f64>,
    /// The latency in tokens, if the recording has counts.
    pub latency_tokens: Option<u64>,
    /// Units of the loop that were not generated thanks to the alarm.
    pub saved: u64,
    /// Units of healthy output thrown away by the alarm. Chars count in watched channels only.
    pub lost: u64,
    /// Healthy units that the setting watched.
    pub exposure: u64,
    /// Watched units up to a wrong alarm, otherwise 0.
    pub generated: u64,
    /// Length of the judged or charged loop, onset to end. 0 if no loop counts.
    pub loop_chars: u64,
    /// Generated units of the loop, which `delay` sums.
    pub delay: u64,
    /// The count of the least `within_N` that includes the delay of an ended loop.
    pub within: Option<Count>,
    /// Whether a loop was ended by the end of its second whole copy, or within 1,000 units.
    pub in_periods: bool,
    /// Whether the loop still ran when the recording stopped, so that `saved` is a lower bound.
    pub censored: bool,
}

impl Outcome {
    /// Creates an outcome with a verdict and nothing else.
    pub(crate) fn from_verdict(verdict: Verdict) -> Self {
        Self {
            verdict,
            ..Self::default()
        }
    }

    /// Returns whether an earlier repetition was stopped in a transcript that loops later. The loop counts as ended,
    /// not as a hit: it never came.
    pub fn is_earlier(&self) -> bool {
        self.verdict == Verdict::TransientStop && self.span.is_some()
    }

    /// Adds the `within_N` and `in_periods` of an ended loop. `period` is the length of one copy.
    pub(crate) fn ended_within(self, unit: Unit, period: Option<u64>) -> Self {
        let copy = period.unwrap_or(0).max(MIN_COPY_UNITS);
        Self {
            within: Count::within(unit, self.delay),
            in_periods: self.delay <= copy,
            ..self
        }
    }

    /// Creates the outcome of a transcript on which the detector failed.
    pub fn error() -> Self {
        Self::from_verdict(Verdict::Error)
    }
}
