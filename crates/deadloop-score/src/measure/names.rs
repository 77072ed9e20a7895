//! The lookup of measures by name, and [`GoalError`].

use super::entry::{Measure, Metric};
use super::table::MEASURES;

impl Measure {
    /// Returns the measure with this name, if there is one.
    pub fn named(name: &str) -> Option<Metric> {
        MEASURES.into_iter().find(|measure| measure.name == name)
    }
}

/// Parses the name of a measure. `FromStr` cannot be implemented for a reference.
///
/// # Errors
/// No measure has this name.
pub fn metric(text: &str) -> Result<Metric, GoalError> {
    Measure::named(text.trim()).ok_or_else(|| GoalError::Metric(text.trim().into()))
}

/// The error for a metric or a constraint that cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GoalError {
    /// No metric has this name.
    #[error("unknown metric {0:?}{near}; expected one of {names}", near = find_hint(.0), names = list_names())]
    Metric(String),
    /// The text is not a constraint.
    #[error("{0:?} is no constraint; expected metric<=number or metric>=number")]
    Constraint(String),
    /// No count of ended loops ends at this latency.
    #[error(
        "{0}: a latency can be limited to 100, 200, 500, 1000, 2000 or 5000 chars, or to 2, 5, 10 or 20 calls or turns"
    )]
    Latency(String),
    /// No value of the metric meets the constraint, or every value does.
    #[error("{0}: {1}")]
    Impossible(String, String),
}

/// Returns a hint to the known name closest to `name`. Empty if no name is close.
fn find_hint(name: &str) -> String {
    deadloop_replay::detect::harness::did_you_mean(name, MEASURES.map(|measure| measure.name))
}

fn list_names() -> String {
    MEASURES.map(|measure| measure.name).join(", ")
}
