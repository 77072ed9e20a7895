//! [`Entry`]: what is in a history, and what is [measured](Measures) of one.

use crate::stream::Calls;

/// One thing that happened.
#[derive(Clone)]
pub(super) enum Entry {
    /// A call.
    Act(Act),
    /// Its result: equal ones have one key.
    Observation { key: u128, error: bool },
    /// A turn without a call: the first chars of what it said.
    Message { head: String },
}

/// A call, as it is compared.
#[derive(Clone)]
pub(super) struct Act {
    /// Equal of equal actions.
    pub(super) key: u128,
    pub(super) call: Calls,
    pub(super) unit: String,
}

/// How far each scenario has come, in the order of the thresholds.
pub(super) struct Measures {
    pub(super) bounds: [i64; 4],
    /// The last action.
    pub(super) last: Option<Act>,
    /// What the last message said.
    pub(super) message: String,
}
