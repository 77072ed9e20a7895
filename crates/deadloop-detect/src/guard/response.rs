//! [`Response`]: the response to an alarm.

crate::words! {
    /// The response to an alarm: `response` in a settings file, or else the [detector's
    /// own](crate::harness::Detector::response).
    #[non_exhaustive]
    pub enum Response {
        /// Ends the stream. Stops are scored, and `tune` chooses among them.
        Stop = "stop",
        /// Keeps one call from being run. The run continues. Scored as [`Stop`](Self::Stop), since the course after a
        /// refusal is not recorded.
        Refuse = "refuse",
        /// Adds a remark. The stream continues.
        Warn = "warn",
        /// Writes the alarm into a log, without any other effect.
        Observe = "observe",
    }
}

impl Response {
    /// Returns the level at which the response is scored. A refusal counts as a stop, and every other response is a
    /// level of its own. Alarms of two levels are never scored together.
    #[must_use]
    pub fn level(self) -> Self {
        match self {
            Self::Refuse => Self::Stop,
            other => other,
        }
    }
}
