//! [`Response`]: what an alarm does.

crate::words! {
    /// What an alarm does: `response` in a settings file; where it says nothing, what the
    /// [detector](crate::harness::Detector::response) brings.
    #[non_exhaustive]
    pub enum Response {
        /// It ends the stream: what is scored, and what `tune` chooses among.
        Stop = "stop",
        /// It keeps one call from being run, and the run goes on. Scored as [`Stop`](Self::Stop): what
        /// would have come after it is not recorded.
        Refuse = "refuse",
        /// It adds a remark, and the stream goes on.
        Warn = "warn",
        /// It is written into a log, and nothing else happens.
        Observe = "observe",
    }
}

impl Response {
    /// The level at which it is scored: a refusal counts as a stop, the others as themselves. Alarms of two levels are
    /// never scored together.
    #[must_use]
    pub fn level(self) -> Self {
        match self {
            Self::Refuse => Self::Stop,
            other => other,
        }
    }
}
