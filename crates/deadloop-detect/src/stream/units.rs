//! Counts of chars, calls and turns, each in a type of its own, and [`Units`]: one of them.

use std::cmp::Ordering;
use std::fmt;
use std::ops::{Add, Sub};

use serde::{Deserialize, Serialize, Serializer};

/// Defines a count that adds to and compares with nothing but its like.
macro_rules! count {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        #[serde(transparent)]
        pub struct $name(pub u64);

        impl $name {
            /// `self - other`, or 0 where that would be negative.
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
    /// A count of Unicode scalar values ("chars"), or a position counted in them from the start of a
    /// channel. Bytes, UTF-16 units and tokens are other things and never cross a public function.
    Chars
}
count! {
    /// A count of tool calls, or a position counted in them from the start of a run.
    Calls
}
count! {
    /// A count of turns of an agent, or a position counted in them from the start of a run.
    Turns
}

impl Chars {
    /// How many chars `text` has.
    pub fn of(text: &str) -> Self {
        Self(text.chars().count() as u64)
    }
}

crate::words! {
    /// The unit of a count: that of a channel, in which positions and labels are given.
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

/// A length in a channel, or a position counted from its start, in the channel's own unit. Counts of
/// different units are neither equal nor ordered, and nothing adds them.
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
    /// The bare number, for what is written. Two of these may be of different units.
    pub fn count(self) -> u64 {
        match self {
            Self::Chars(Chars(n)) | Self::Calls(Calls(n)) | Self::Turns(Turns(n)) => n,
        }
    }

    /// Returns the unit in which it is counted.
    pub fn unit(self) -> Unit {
        match self {
            Self::Chars(_) => Unit::Chars,
            Self::Calls(_) => Unit::Calls,
            Self::Turns(_) => Unit::Turns,
        }
    }

    /// How many units lie between `from` and here: 0 where `from` comes later, and where it is of
    /// another unit.
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

/// The number alone: the unit is that of the channel beside it.
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
