//! [`CallKey`]: the parts of a call that are compared.

use super::{MeterCall, hash};
use crate::settings::param::Param;
use crate::settings::params::Params;

const NAME: &str = "key";

/// Returns the parameter that selects a [`CallKey`].
pub(crate) const fn key(default: &'static str) -> Param {
    Param::word(NAME, default, &["name", "call", "raw"])
        .doc("in common: the tool; the tool and its arguments; the same, the text as written")
}

/// The parts by which calls are compared.
#[derive(Clone, Copy)]
pub(crate) enum CallKey {
    /// The tool.
    Name,
    /// The tool and its arguments as JSON values.
    Call,
    /// The tool and the text of its arguments.
    Raw,
}

impl CallKey {
    /// Returns the key selected by the parameters.
    pub(crate) fn from(params: &Params) -> Self {
        match params.text(NAME) {
            "name" => Self::Name,
            "raw" => Self::Raw,
            _ => Self::Call,
        }
    }

    /// Returns a hash that is equal for equal calls.
    pub(crate) fn digest(self, call: &MeterCall<'_>) -> u128 {
        match self {
            Self::Name => hash(&[call.name]),
            Self::Call => hash(&[call.name, &call.arguments.canonical()]),
            Self::Raw => hash(&[call.name, &call.arguments.text()]),
        }
    }
}
