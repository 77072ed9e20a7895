//! [`TextScope`]: the part of an agent run that is one text.

use crate::settings::param::Param;

/// The parameter `per` of all text detectors.
pub(crate) const PER: Param = Param::word("per", TextScope::Turn.name(), &TextScope::NAMES)
    .doc("what is one text in a run of an agent: each turn, or the channel of the whole run");

crate::words! {
    /// The part of an agent run that a text detector reads as one text. Positions count over the run in both cases. A
    /// stream without turns is one text.
    pub enum TextScope {
        /// A turn: thresholds count from the turn's beginning.
        Turn = "turn",
        /// The channel of the whole run.
        Run = "run",
    }
}
