//! [`Unfit`]: an error in a value or in presets.

use thiserror::Error;

/// An error in a value, a name or a preset, as a clause.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct Unfit(pub String);

impl From<Unfit> for String {
    fn from(unfit: Unfit) -> Self {
        unfit.0
    }
}
