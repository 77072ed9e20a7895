//! [`Unfit`]: what is wrong with a value or with presets.

use thiserror::Error;

/// What is wrong with a value, with a name or with presets, as a clause.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct Unfit(pub(crate) String);

impl From<Unfit> for String {
    fn from(unfit: Unfit) -> Self {
        unfit.0
    }
}
