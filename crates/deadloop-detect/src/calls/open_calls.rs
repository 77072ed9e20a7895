//! [`OpenCalls`]: calls without a result, with their data.

use std::collections::VecDeque;

use super::{CallKey, MAX_OPEN, MeterCall, hash, unit};
use crate::stream::Calls;

/// Calls without a result, each with the data that a meter keeps. At most [`MAX_OPEN`] are kept, and the oldest is
/// dropped first.
pub(crate) struct OpenCalls<T = CallDigest>(VecDeque<(Calls, T)>);

impl<T> Default for OpenCalls<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<T> OpenCalls<T> {
    /// Stores the data of the call with this number.
    pub(crate) fn put(&mut self, call: Calls, data: T) {
        if self.0.len() == MAX_OPEN {
            self.0.pop_front();
        }
        self.0.push_back((call, data));
    }

    /// Removes and returns the data of the call with this number.
    pub(crate) fn take(&mut self, call: Calls) -> Option<T> {
        let found = self.0.iter().position(|(of, _)| *of == call)?;
        self.0.remove(found).map(|(_, data)| data)
    }

    /// Removes every call.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

/// The data of a call that most detectors need.
pub(crate) struct CallDigest {
    /// The hash of the tool and the arguments, compared as JSON values.
    pub(crate) key: u128,
    /// The hash of the tool.
    pub(crate) tool: u128,
    /// `name(arguments)`, truncated.
    pub(crate) unit: String,
}

impl CallDigest {
    /// Returns the data of a call.
    pub(crate) fn from_call(call: &MeterCall<'_>) -> Self {
        Self {
            key: CallKey::Call.digest(call),
            tool: hash(&[call.name]),
            unit: unit(call.name, call.arguments),
        }
    }
}
