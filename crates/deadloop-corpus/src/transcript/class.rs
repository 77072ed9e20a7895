//! [`Class`]: what a transcript is, seen as a whole.

use serde::{Deserialize, Serialize};

/// What a transcript is, seen as a whole: by whoever labels it, and by the offline finder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// It loops: an alarm is right.
    Loop,
    /// It never repeats itself in a way that matters: every alarm is false.
    Clean,
    /// It repeats, then recovers by itself.
    Transient,
    /// The stream is damaged: an alarm is right of a detector that names the kind of damage, and false of
    /// every other.
    Fault,
    /// Nobody can say: counted, not scored.
    Unsure,
}

impl Class {
    /// All classes, in the order of the contract.
    pub const ALL: [Self; 5] = [
        Self::Loop,
        Self::Clean,
        Self::Transient,
        Self::Fault,
        Self::Unsure,
    ];

    /// The name used in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Loop => "loop",
            Self::Clean => "clean",
            Self::Transient => "transient",
            Self::Fault => "fault",
            Self::Unsure => "unsure",
        }
    }
}
