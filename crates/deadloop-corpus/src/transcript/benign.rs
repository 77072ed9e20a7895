//! [`BenignSpan`]: a span of harmless repetition in an agent's run.

deadloop_detect::words! {
    /// Reason why repetition is harmless.
    pub enum BenignReason {
        /// A query repeated until the answer changes.
        Poll = "poll",
        /// A tool used for many items.
        Batch = "batch",
        /// A query repeated after each change.
        Verify = "verify",
        /// A call repeated until it succeeds.
        Retry = "retry",
    }
}

/// A span of harmless repetition, in call numbers from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BenignSpan {
    /// Reason why the repetition is harmless.
    pub reason: BenignReason,
    /// Number of the first call.
    pub start: u64,
    /// Number after the last call.
    pub end: u64,
}
