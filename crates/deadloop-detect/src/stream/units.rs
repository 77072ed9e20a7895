//! Counts of chars, calls and turns, each of its own type.
//!
//! [`Units`] is one of these counts.

use std::cmp::Ordering;
use std::fmt;
use std::ops::{Add, Sub};

use serde::{Deserialize, Serialize, Serializer};

/// Defines a type of counts that cannot be mixed with other counts.
macro_rules! count {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        #[serde(transparent)]
        pub struct $name(pub u64);

        impl $name {
            /// Returns `self - other`, or 0 if that is negative.
            #[must_use]
            pub fn saturating_sub(self, other: Self) -> Self {
                Self(self.0.saturating_sub(other.0))
            }
        }

        impl Add for $name {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0 + other.0)
            }
        }

        impl Sub for $name {
            type Output = Self;
            fn sub(self, other: Self) -> Self {
                Self(self.0 - other.0)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl From<$name> for Units {
            fn from(count: $name) -> Self {
                Self::$name(count)
            }
        }
    };
}

count! {
    /// A count of Unicode scalar values ("chars"), or a position in chars from the start of a channel. No public
    /// function takes or returns counts of bytes, UTF-16 units or tokens.
    Chars
}
count! {
    /// A count of tool calls, or a position in calls from the start of a run.
    Calls
}
count! {
    /// A count of an agent's turns, or a position in turns from the start of a run.
    Turns
}

impl Chars {
    /// Returns the number of chars in `text`.
    pub fn count(text: &str) -> Self {
        Self(text.chars().count() as u64)
    }
}

crate::words! {
    /// The unit of a channel, in which its positions and labels are counted.
    #[derive(Default)]
    pub enum Unit {
        /// Unicode scalar values.
        #[default]
        Chars = "chars",
        /// Tool calls.
        Calls = "calls",
        /// Turns of an agent.
        Turns = "turns",
    }
}

/// A length in a channel, or a position counted from its start, in the channel's own unit. Counts of different units
/// are neither equal nor ordered, and cannot be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Units {
    /// A number of chars.
    Chars(Chars),
    /// A number of calls.
    Calls(Calls),
    /// A number of turns.
    Turns(Turns),
}

impl Units {
    /// Returns the bare number, for output. Two bare numbers may be of different units.
    pub fn count(self) -> u64 {
        match self {
            Self::Chars(Chars(n)) | Self::Calls(Calls(n)) | Self::Turns(Turns(n)) => n,
        }
    }

    /// Returns the unit of the count.
    pub fn unit(self) -> Unit {
        match self {
            Self::Chars(_) => Unit::Chars,
            Self::Calls(_) => Unit::Calls,
            Self::Turns(_) => Unit::Turns,
        }
    }

    /// Returns the number of units from `from` to `self`. 0 if `from` is later or has another unit.
    pub fn since(self, from: Self) -> u64 {
        if self.unit() == from.unit() {
            self.count().saturating_sub(from.count())
        } else {
            0
        }
    }
}

impl PartialOrd for Units {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (self.unit() == other.unit()).then(|| self.count().cmp(&other.count()))
    }
}

/// Writes the number alone, since the channel beside it implies the unit.
impl fmt::Display for Units {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.count().fmt(f)
    }
}

impl Serialize for Units {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.count())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_two_units_are_not_ordered() {
        let (chars, calls) = (Units::from(Chars(3)), Units::from(Calls(3)));
        assert_eq!(chars.partial_cmp(&calls), None);
        assert_ne!(chars, calls);
        assert!(Units::from(Calls(2)) < calls);
        assert_eq!((calls.since(Calls(1).into()), calls.since(chars)), (2, 0));
    }
}
