//! [`HistoryEntry`]: an entry of a history. [`Measures`]: the counts of a history.

use crate::stream::Calls;

/// An entry of a history.
#[derive(Clone)]
pub(super) enum HistoryEntry {
    /// A call.
    Act(HistoryCall),
    /// The result of a call. Equal results have equal keys.
    Observation { key: u128, error: bool },
    /// A turn without a call: the first chars of its text.
    Message { head: String },
}

/// A call, prepared for comparison.
#[derive(Clone)]
pub(super) struct HistoryCall {
    /// A key that is equal for equal actions.
    pub(super) key: u128,
    pub(super) call: Calls,
    pub(super) unit: String,
}

/// The counts of all scenarios, in the order of the thresholds.
pub(super) struct Measures {
    pub(super) bounds: [i64; 4],
    /// The last action.
    pub(super) last: Option<HistoryCall>,
    /// The first chars of the last message.
    pub(super) message: String,
}
