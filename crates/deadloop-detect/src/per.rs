//! [`Per`]: where a detector of text begins anew in a run of an agent.

use serde::{Deserialize, Serialize};

/// What a detector of text takes for one text in a run of an agent: `per` in a settings file. Positions count over
/// the run either way. A stream without turns is one text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Per {
    /// The text of a turn: its thresholds count from the turn's beginning.
    #[default]
    Turn,
    /// The channel of the whole run.
    Run,
}

impl Per {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Turn, Self::Run];

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Turn => "turn",
            Self::Run => "run",
        }
    }

    /// The one with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|per| per.name() == name)
    }
}
