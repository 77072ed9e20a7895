//! [`Verdict`] and [`Outcome`]: the result of a setting on a transcript.

use deadloop_replay::detect::Unit;

use crate::tally::Count;

deadloop_replay::detect::words! {
    /// The verdict on the alarm of a setting on a transcript, or on its absence.
    #[derive(Default)]
    pub enum Verdict {
        /// An alarm inside a loop.
        Hit = "hit",
        /// An alarm before the loop, which cuts a healthy stream.
        Premature = "premature",
        /// An alarm after the loop, when the model had recovered.
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
        /// A transcript without a label. It is counted, but not scored.
        #[default]
        Unlabelled = "unlabelled",
        /// A transcript on which the detector failed. It is not scored.
        Error = "error",
    }
}

impl Verdict {
    /// Returns whether healthy text was cut: `false-alarm`, `premature` or `stale`.
    pub fn is_false(self) -> bool {
        matches!(self, Self::FalseAlarm | Self::Premature | Self::Stale)
    }

    /// Returns whether the verdict is on a loop: `hit`, `premature`, `stale` or `miss`.
    ///
    /// A loop after a stopped earlier repetition has another verdict (see [`Outcome::is_earlier`]).
    pub fn is_loop(self) -> bool {
        matches!(self, Self::Hit | Self::Premature | Self::Stale | Self::Miss)
    }
}

/// The minimum delay that counts as within one copy, in units.
const MIN_COPY_UNITS: u64 = 1000;

/// The verdict on one transcript under one setting, with its delay and savings.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The verdict.
    pub verdict: Verdict,
    /// The span by which the alarm was judged, as an index into [`Truth::spans`](crate::Truth::spans).
    pub span: Option<usize>,
    /// Number of units from the onset to the alarm, 0 for an alarm before the onset. `None` without a hit.
    pub latency: Option<u64>,
    /// The latency in milliseconds, if the recording has times.
    pub latency_ms: Option<f64>,
    /// The latency in tokens, if the recording has counts.
    pub latency_tokens: Option<u64>,
    /// Number of units of the loop that were not generated because of the alarm.
    pub saved: u64,
    /// Number of units of healthy output that the alarm cuts. Chars count in watched channels only.
    pub lost: u64,
    /// Number of healthy units that the setting watched.
    pub exposure: u64,
    /// Number of watched units up to a wrong alarm, otherwise 0.
    pub generated: u64,
    /// Number of units of the judged loop, from onset to end. 0 if no loop counts.
    pub loop_chars: u64,
    /// Number of units of the loop that were generated.
    pub delay: u64,
    /// The count of the smallest `within_N` that includes the delay, if the loop was ended.
    pub within: Option<Count>,
    /// Whether the loop was ended by the end of its second whole copy, or within 1,000 units.
    pub in_periods: bool,
    /// Whether the loop continued at the end of the recording, so that `saved` is a lower bound.
    pub censored: bool,
}

impl Outcome {
    /// Creates an outcome with a verdict. All other fields are empty.
    pub(crate) fn from_verdict(verdict: Verdict) -> Self {
        Self {
            verdict,
            ..Self::default()
        }
    }

    /// Returns whether an earlier repetition was stopped in a transcript that loops later. The later loop counts as
    /// ended, but not as a hit.
    pub fn is_earlier(&self) -> bool {
        self.verdict == Verdict::TransientStop && self.span.is_some()
    }

    /// Sets `within` and `in_periods` from the delay of an ended loop. `period` is the length of one copy.
    pub(crate) fn with_delay_counts(self, unit: Unit, period: Option<u64>) -> Self {
        let copy = period.unwrap_or(0).max(MIN_COPY_UNITS);
        Self {
            within: Count::of_delay(unit, self.delay),
            in_periods: self.delay <= copy,
            ..self
        }
    }

    /// Creates the outcome of a transcript on which the detector failed.
    pub fn error() -> Self {
        Self::from_verdict(Verdict::Error)
    }
}
