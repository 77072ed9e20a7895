//! [`OpenCalls`]: calls without a result, with their data.

use std::collections::VecDeque;

use super::{CallKey, MAX_OPEN, MeterCall, hash, unit};
use crate::stream::Calls;

/// Calls without a result, each with the data that a meter keeps. At most [`MAX_OPEN`] are kept. If there are more, the
/// oldest is dropped.
pub(crate) struct OpenCalls<T = CallDigest>(VecDeque<(Calls, T)>);

impl<T> Default for OpenCalls<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<T> OpenCalls<T> {
    /// Stores the data of the call with this number.
    pub(crate) fn put(&mut self, call: Calls, what: T) {
        if self.0.len() == MAX_OPEN {
            self.0.pop_front();
        }
        self.0.push_back((call, what));
    }

    /// Removes and returns the data of the call with this number.
    pub(crate) fn take(&mut self, call: Calls) -> Option<T> {
        let found = self.0.iter().position(|(of, _)| *of == call)?;
        self.0.remove(found).map(|(_, what)| what)
    }

    /// Removes every call.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

/// The data of a call that most guards keep.
pub(crate) struct CallDigest {
    /// The hash shared by calls with the same tool and the same arguments, as JSON values.
    pub(crate) key: u128,
    /// The hash shared by calls of one tool.
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
