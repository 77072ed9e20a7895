//! [`Verdict`] and [`Outcome`]: what became of a transcript under a setting.

deadloop_replay::detect::words! {
    /// What became of a transcript under a setting.
    pub enum Verdict {
        /// A loop, found in time.
        Hit = "hit",
        /// A loop, found after the deadline.
        Late = "late",
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
