//! [`Benign`]: a stretch of harmless repetition in an agent's run.

deadloop_detect::words! {
    /// The reasons why repetition is harmless.
    pub enum Reason {
        /// A question repeated until the answer changes.
        Poll = "poll",
        /// A tool used for many things.
        Batch = "batch",
        /// A question repeated after each change.
        Verify = "verify",
        /// A call repeated until it succeeds.
        Retry = "retry",
    }
}

/// A stretch of harmless repetition, in calls from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Benign {
    /// The reason why it is harmless.
    pub reason: Reason,
    /// The first call.
    pub start: u64,
    /// The position after the last call.
    pub end: u64,
}
