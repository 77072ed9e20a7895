//! [`Fault`]: in what way a stream is damaged.

use std::fmt;

/// How a stream is damaged: what a detector of faults names, and what `deadloop synth` makes. N is the severity of one that
/// was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// N closing tags are missing.
    Unclosed,
    /// N elements have their closing tag inside as well, too early.
    EarlyClose,
    /// The closing tag of an element comes after the N elements that follow it.
    Nested,
    /// The closing tag of an element is inside the element that follows it.
    Crossed,
    /// The names of N elements are in another case.
    Case,
    /// The name of an element is misspelt, by N edits.
    Misspelt,
    /// The closing tags of N elements have another number.
    NumberMismatch,
    /// N tags inside of elements are missing, with their text.
    MissingField,
    /// The text outside of elements is missing: after the last one; from N = 2 also before the first; from N = 3 all of
    /// it.
    Empty,
    /// N control marks are in the text.
    LeakedControl,
    /// JSON is broken in N ways: cut, a quote or bracket missing, a comment, a comma too many, a raw line end, a second
    /// object.
    BrokenJson,
    /// The closing tag of the thinking is missing.
    ThinkOpen,
    /// The opening tag of the thinking is missing.
    ThinkMissing,
    /// The opening tag of the thinking is there N more times.
    ThinkTwice,
    /// The first 4 N chars of the answer come before the thinking.
    ThinkLate,
    /// The closing tag of the thinking, before a tag of the answer, is missing.
    ToolInThink,
    /// N sentences of acknowledgement replace the answer.
    Pseudo,
    /// N confirmations replace the text.
    Confirmation,
    /// The text ends in the middle: up to N quarters of it are missing.
    Cut,
    /// N events are lost.
    ReplayLost,
    /// N times one to three events in a row are sent again.
    ReplayDoubled,
    /// N events are out of order.
    ReplayOrder,
    /// The text is whole, but nothing says that it has ended. This fault and those after it are of whole streams: they
    /// change no text and no row of events.
    NoDone,
    /// The stream stops without an end.
    Stall,
    /// An error replaces the rest of the stream.
    ErrorEvent,
    /// Some of the calls of one turn fail, or come back without a field.
    PartialTools,
}

impl Fault {
    /// Every fault, in the order of tables.
    pub const ALL: [Self; 26] = [
        Self::Unclosed,
        Self::EarlyClose,
        Self::Nested,
        Self::Crossed,
        Self::Case,
        Self::Misspelt,
        Self::NumberMismatch,
        Self::MissingField,
        Self::Empty,
        Self::LeakedControl,
        Self::BrokenJson,
        Self::ThinkOpen,
        Self::ThinkMissing,
        Self::ThinkTwice,
        Self::ThinkLate,
        Self::ToolInThink,
        Self::Pseudo,
        Self::Confirmation,
        Self::Cut,
        Self::ReplayLost,
        Self::ReplayDoubled,
        Self::ReplayOrder,
        Self::NoDone,
        Self::Stall,
        Self::ErrorEvent,
        Self::PartialTools,
    ];

    /// Its name in specs and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unclosed => "unclosed",
            Self::EarlyClose => "early-close",
            Self::Nested => "nested",
            Self::Crossed => "crossed",
            Self::Case => "case",
            Self::Misspelt => "misspelt",
            Self::NumberMismatch => "number-mismatch",
            Self::MissingField => "missing-field",
            Self::Empty => "empty",
            Self::LeakedControl => "leaked-control",
            Self::BrokenJson => "broken-json",
            Self::ThinkOpen => "think-open",
            Self::ThinkMissing => "think-missing",
            Self::ThinkTwice => "think-twice",
            Self::ThinkLate => "think-late",
            Self::ToolInThink => "tool-in-think",
            Self::Pseudo => "pseudo",
            Self::Confirmation => "confirmation",
            Self::Cut => "cut",
            Self::ReplayLost => "replay-lost",
            Self::ReplayDoubled => "replay-doubled",
            Self::ReplayOrder => "replay-order",
            Self::NoDone => "no-done",
            Self::Stall => "stall",
            Self::ErrorEvent => "error-event",
            Self::PartialTools => "partial-tools",
        }
    }

    /// The fault with this name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|fault| fault.name() == name)
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
