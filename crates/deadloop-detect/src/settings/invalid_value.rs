//! [`InvalidValue`]: the error of a value, a name or a preset.

use thiserror::Error;

/// The error of a value, a name or a preset, as a lower-case clause.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct InvalidValue(pub String);

impl From<InvalidValue> for String {
    fn from(error: InvalidValue) -> Self {
        error.0
    }
}
