//! [`Response`]: what an alarm does.

use serde::Serialize;

/// What an alarm does: `response` in a settings file; where it says nothing, what the
/// [detector](crate::Detector::response) brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Response {
    /// It ends the stream: what is scored, and what `tune` chooses among.
    Stop,
    /// It keeps one call from being run, and the run goes on. Scored as [`Stop`](Self::Stop): what
    /// would have come after it is not recorded.
    Refuse,
    /// It adds a remark, and the stream goes on.
    Warn,
    /// It is written into a log, and nothing else happens.
    Observe,
}

impl Response {
    /// All of them, the hardest first.
    pub const ALL: [Self; 4] = [Self::Stop, Self::Refuse, Self::Warn, Self::Observe];

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Refuse => "refuse",
            Self::Warn => "warn",
            Self::Observe => "observe",
        }
    }

    /// The response with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|r| r.name() == name)
    }

    /// The level at which it is scored: a refusal counts as a stop, the others as themselves. Alarms of two levels are
    /// never scored together.
    #[must_use]
    pub fn level(self) -> Self {
        match self {
            Self::Refuse => Self::Stop,
            other => other,
        }
    }
}
