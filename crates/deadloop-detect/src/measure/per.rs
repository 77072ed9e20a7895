//! [`Per`]: where a detector of text begins anew in a run of an agent.

use crate::settings::param::Param;

/// The parameter of every detector of text.
pub(crate) const PER: Param = Param::word("per", Per::Turn.name(), &Per::NAMES)
    .doc("what is one text in a run of an agent: each turn, or the channel of the whole run");

crate::words! {
    /// The stretch of a run of an agent that is one text to a detector. Positions count over the run either way. A
    /// stream without turns is one text.
    pub enum Per {
        /// The text of a turn: its thresholds count from the turn's beginning.
        Turn = "turn",
        /// The channel of the whole run.
        Run = "run",
    }
}
