//! [`Kind`]: what kind of loop it is.

use std::fmt;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::fault::Fault;

/// What kind of loop it is: of an alarm (what the detector saw) and of a label (the truth).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A short unit over and over: "thinkthinkthink".
    ShortSequence,
    /// The same sentences or paragraphs.
    Paragraph,
    /// The same list items under rising numbers.
    OrderedList,
    /// Copies that differ in a word, a number, a name.
    NearRepeat,
    /// The same few ideas again, in other words.
    Circling,
    /// One tool call over and over.
    IdenticalCall,
    /// One tool call over and over, with the same result each time.
    SameCallSameResult,
    /// A cycle of tool calls.
    Cycle,
    /// The same calls and results come back, with others between.
    Interleaved,
    /// Calls that bring nothing new, in no fixed order.
    AperiodicStagnation,
    /// An error is met again and again.
    ErrorRetry,
    /// Turns without a call, in a row.
    Monologue,
    /// Agents hand the work to each other and back.
    Handoff,
    /// More turns or calls than are allowed.
    Iterations,
    /// More tokens than the window holds.
    Budget,
    /// Anything else.
    Other,
    /// No loop: the stream is damaged, and how.
    Fault(Fault),
}

impl Kind {
    /// All kinds of loops, in the order of tables and charts; those of faults are [`Fault::ALL`].
    pub const ALL: [Self; 16] = [
        Self::ShortSequence,
        Self::Paragraph,
        Self::OrderedList,
        Self::NearRepeat,
        Self::Circling,
        Self::IdenticalCall,
        Self::SameCallSameResult,
        Self::Cycle,
        Self::Interleaved,
        Self::AperiodicStagnation,
        Self::ErrorRetry,
        Self::Monologue,
        Self::Handoff,
        Self::Iterations,
        Self::Budget,
        Self::Other,
    ];

    /// The name used in files and commands.
    pub fn name(self) -> &'static str {
        match self {
            Self::ShortSequence => "short-sequence",
            Self::Paragraph => "paragraph",
            Self::OrderedList => "ordered-list",
            Self::NearRepeat => "near-repeat",
            Self::Circling => "circling",
            Self::IdenticalCall => "identical-call",
            Self::SameCallSameResult => "same-call-same-result",
            Self::Cycle => "cycle",
            Self::Interleaved => "interleaved",
            Self::AperiodicStagnation => "aperiodic-stagnation",
            Self::ErrorRetry => "error-retry",
            Self::Monologue => "monologue",
            Self::Handoff => "handoff",
            Self::Iterations => "iterations",
            Self::Budget => "budget",
            Self::Other => "other",
            Self::Fault(fault) => fault.name(),
        }
    }

    /// The kind of that name; `tool-repeat` and `tool-cycle` are older names of two of them.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "tool-repeat" => Some(Self::IdenticalCall),
            "tool-cycle" => Some(Self::Cycle),
            _ => {
                let of_loop = Self::ALL.into_iter().find(|kind| kind.name() == name);
                of_loop.or_else(|| Fault::find(name).map(Self::Fault))
            }
        }
    }

    /// Says what the model was doing, as a clause for the reader of the answer: `was repeating
    /// itself`.
    pub fn was_doing(self) -> &'static str {
        match self {
            Self::ShortSequence | Self::Paragraph | Self::OrderedList => "was repeating itself",
            Self::NearRepeat => "was repeating itself with small changes",
            Self::Circling => "was going round the same few ideas",
            Self::IdenticalCall => "was making the same tool call again and again",
            Self::SameCallSameResult => {
                "was making the same tool call again and again, and got the same result each time"
            }
            Self::Cycle => "was making the same few tool calls in turn",
            Self::Interleaved => "was coming back to tool calls whose results it had",
            Self::AperiodicStagnation => "was making tool calls that brought nothing new",
            Self::ErrorRetry => "was running into the same kind of error again and again",
            Self::Monologue => "was taking turn after turn without doing anything",
            Self::Handoff => "was passing the work back and forth",
            Self::Iterations => "had used all the steps that it is allowed",
            Self::Budget => "had filled the context that it has",
            Self::Other => "was not getting anywhere",
            Self::Fault(Fault::Stall) => "fell silent",
            Self::Fault(_) => "was sending a stream that is damaged",
        }
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let name = String::deserialize(from)?;
        let unknown = || D::Error::custom(format!("unknown kind {name:?}"));
        Self::parse(&name).ok_or_else(unknown)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_read_again_and_two_older_ones_too() {
        for kind in Kind::ALL {
            assert_eq!(Kind::parse(kind.name()), Some(kind));
        }
        assert_eq!(Kind::parse("tool-cycle"), Some(Kind::Cycle));
        assert_eq!(Kind::parse("tool-repeat"), Some(Kind::IdenticalCall));
        assert_eq!(Kind::parse("loop"), None);
        for fault in Fault::ALL {
            assert_eq!(Kind::parse(fault.name()), Some(Kind::Fault(fault)));
        }
    }
}
