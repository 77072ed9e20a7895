//! [`InvalidValue`]: an error in a value or in presets.

use thiserror::Error;

/// An error in a value, a name or a preset, as a clause.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct InvalidValue(pub String);

impl From<InvalidValue> for String {
    fn from(unfit: InvalidValue) -> Self {
        unfit.0
    }
}
