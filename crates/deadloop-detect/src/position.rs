//! Where something is: [`Chars`] from the start of a [`Channel`].

use std::fmt;
use std::ops::{Add, Sub};

use serde::{Deserialize, Serialize};

/// A count of Unicode scalar values ("chars"), or a position counted in them from the start of a
/// channel. Bytes, UTF-16 units and tokens are other things and never cross a public function.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Chars(pub u64);

impl Chars {
    /// How many chars `text` has.
    pub fn of(text: &str) -> Self {
        Self(text.chars().count() as u64)
    }

    /// `self - other`, or 0 where that would be negative.
    #[must_use]
    pub fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Add for Chars {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Sub for Chars {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl fmt::Display for Chars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A stream inside a transcript. Positions are counted in each one apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Channel {
    /// Text of the model's thinking, in chars.
    Reasoning,
    /// Text of the model's answer, in chars.
    Answer,
    /// Tool calls, in calls.
    Tools,
}

impl Channel {
    /// The channels that carry text, in the order in which a model usually fills them.
    pub const TEXT: [Self; 2] = [Self::Reasoning, Self::Answer];

    /// The name used in files and commands.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reasoning => "reasoning",
            Self::Answer => "answer",
            Self::Tools => "tools",
        }
    }
}

impl fmt::Display for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What kind of loop it is: of an alarm (what the detector saw) and of a label (the truth).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A short unit over and over: "thinkthinkthink" (seed 000, type 3).
    ShortSequence,
    /// The same sentences or paragraphs (seed 000, type 1).
    Paragraph,
    /// The same list items under rising numbers (seed 000, type 2).
    OrderedList,
    /// Copies that differ in a word, a number, a name.
    NearRepeat,
    /// One tool call over and over.
    ToolRepeat,
    /// A cycle of tool calls.
    ToolCycle,
    /// Anything else.
    Other,
}

impl Kind {
    /// All kinds, in the order of tables and charts.
    pub const ALL: [Self; 7] = [
        Self::ShortSequence,
        Self::Paragraph,
        Self::OrderedList,
        Self::NearRepeat,
        Self::ToolRepeat,
        Self::ToolCycle,
        Self::Other,
    ];

    /// The name used in files and commands.
    pub fn name(self) -> &'static str {
        match self {
            Self::ShortSequence => "short-sequence",
            Self::Paragraph => "paragraph",
            Self::OrderedList => "ordered-list",
            Self::NearRepeat => "near-repeat",
            Self::ToolRepeat => "tool-repeat",
            Self::ToolCycle => "tool-cycle",
            Self::Other => "other",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
