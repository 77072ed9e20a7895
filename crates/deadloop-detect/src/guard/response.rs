//! [`Response`]: the response to an alarm.

crate::words! {
    /// The response to an alarm: `response` in a settings file, or else the [detector's
    /// own](crate::harness::Detector::response).
    #[non_exhaustive]
    pub enum Response {
        /// Ends the stream. Stops are scored, and `tune` chooses among them.
        Stop = "stop",
        /// Keeps one call from being run, and the run goes on. Scored as [`Stop`](Self::Stop), since the course after a
        /// refusal is not recorded.
        Refuse = "refuse",
        /// Adds a remark, and the stream goes on.
        Warn = "warn",
        /// Writes the alarm into a log, without any other effect.
        Observe = "observe",
    }
}

impl Response {
    /// Returns the level at which the response is scored: a refusal counts as a stop, the others as themselves. Alarms
    /// of two levels are never scored together.
    #[must_use]
    pub fn level(self) -> Self {
        match self {
            Self::Refuse => Self::Stop,
            other => other,
        }
    }
}
