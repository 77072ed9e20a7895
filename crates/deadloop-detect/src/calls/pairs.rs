//! [`Pairs`]: what is kept of a call until its result comes.

use std::collections::VecDeque;

use super::{Call, Key, MAX_OPEN, hash, unit};
use crate::stream::Calls;

/// Calls that wait for their results, each with what a meter keeps of it: of more than [`MAX_OPEN`] the oldest is
/// forgotten.
pub(crate) struct Pairs<T = Asked>(VecDeque<(Calls, T)>);

impl<T> Default for Pairs<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<T> Pairs<T> {
    /// Keeps `what` of the call with this number.
    pub(crate) fn put(&mut self, call: Calls, what: T) {
        if self.0.len() == MAX_OPEN {
            self.0.pop_front();
        }
        self.0.push_back((call, what));
    }

    /// What was kept of the call with this number, once.
    pub(crate) fn take(&mut self, call: Calls) -> Option<T> {
        let found = self.0.iter().position(|(of, _)| *of == call)?;
        self.0.remove(found).map(|(_, what)| what)
    }

    /// Forgets every call.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

/// A call, as most guards keep it.
pub(crate) struct Asked {
    /// Equal of calls that have the tool and the arguments, as JSON values, in common.
    pub(crate) key: u128,
    /// Equal of calls that have the tool in common.
    pub(crate) tool: u128,
    /// `name(arguments)`, cut.
    pub(crate) unit: String,
}

impl Asked {
    /// What is kept of a call.
    pub(crate) fn of(call: &Call<'_>) -> Self {
        Self {
            key: Key::Call.of(call),
            tool: hash(&[call.name]),
            unit: unit(call.name, call.arguments),
        }
    }
}
