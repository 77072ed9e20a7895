//! Faults by construction: an intact text or row of events, damaged in a known way at a known place.
//!
//! What was intact is the truth that a repairer is held against ([`judge`](super::judge())). The same kind,
//! severity, seed and text give the same damage on every machine. A severity of 0 changes nothing.
//!
//! | to find | look in |
//! |---|---|
//! | numbers drawn from a seed | `draw` |
//! | faults of tags | `tags` |
//! | faults of arguments | `json` |
//! | faults of thinking | `think` |
//! | answers that are none, control text, cuts | `text` |
//! | faults of delivery | `events` |

use std::fmt;

mod draw;
mod events;
mod json;
mod tags;
mod text;
mod think;

pub use events::{DamagedEvents, damage_events};

use draw::Draw;

/// What is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fault {
    /// Closing tags are left out: one for each degree.
    Unclosed,
    /// A closing tag stands inside its element too: for one element a degree.
    EarlyClose,
    /// The closing tag of an element stands behind the element that follows it: so many of them.
    Nested,
    /// The closing tag of an element stands inside the element that follows it.
    Crossed,
    /// The names of elements are in another case: one element a degree.
    Case,
    /// The name of an element is misspelt: one edit a degree.
    Misspelt,
    /// The number in a closing tag is another one: one element a degree.
    NumberMismatch,
    /// Tags inside of elements are left out with what they hold: one a degree.
    MissingField,
    /// The text between elements is left out: the last of it, the first too, all of it.
    Empty,
    /// Control marks stand in the text: one a degree.
    LeakedControl,
    /// JSON is broken in so many ways: cut, a quote or bracket lost, a comment, a comma too many, a raw line
    /// end, a second object.
    BrokenJson,
    /// The block of thinking is not closed.
    ThinkOpen,
    /// The block of thinking is not opened.
    ThinkMissing,
    /// The tag that opens the block stands there again: so many times.
    ThinkTwice,
    /// The first words of the answer stand before the block: 4 a degree.
    ThinkLate,
    /// The block of thinking is not closed before a tag of the answer.
    ToolInThink,
    /// An acknowledgement in place of the answer: so many sentences.
    Pseudo,
    /// A confirmation in place of the text: so many of them.
    Confirmation,
    /// The text ends in the middle: a quarter of it is missing for each degree, at most.
    Cut,
    /// Events are lost: one a degree.
    ReplayLost,
    /// Events are sent again: one to three in a row for each degree.
    ReplayDoubled,
    /// Events are out of order: one a degree.
    ReplayOrder,
    /// The text is whole and nothing says that it has ended. This fault and those behind it are of whole
    /// streams: they change no text and no row of events, `deadloop synth` makes them.
    NoDone,
    /// Nothing comes any more.
    Stall,
    /// An error stands where the rest should.
    ErrorEvent,
    /// Of the calls of one turn some fail, or come back without a field.
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

    /// The fault of that name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|fault| fault.name() == name)
    }

    /// Whether it damages a stream as a whole: neither its text nor a row of its events.
    pub fn is_of_stream(self) -> bool {
        matches!(
            self,
            Self::NoDone | Self::Stall | Self::ErrorEvent | Self::PartialTools
        )
    }

    /// Returns whether it damages events; other faults damage text, or the stream as a whole.
    pub fn is_of_events(self) -> bool {
        matches!(
            self,
            Self::ReplayLost | Self::ReplayDoubled | Self::ReplayOrder
        )
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A text that was damaged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damaged {
    /// What is left of it.
    pub text: String,
    /// The first char that is not as it was, counted from 0; the length of the shorter text where one is
    /// the beginning of the other. None: nothing changed, because the severity is 0, or the text has
    /// nothing of what the fault damages.
    pub onset: Option<u64>,
}

/// Damages a text. `severity`: 0 to 3, more counts as 3; a [fault](Fault) of events changes no text.
pub fn damage(fault: Fault, severity: u8, seed: u64, intact: &str) -> Damaged {
    let severity = usize::from(severity.min(3));
    let draw = Draw::new(fault.name(), seed);
    let text = match severity {
        0 => intact.to_owned(),
        _ => damaged(fault, severity, draw, intact),
    };
    let onset = onset(intact, &text);
    Damaged { text, onset }
}

fn damaged(fault: Fault, severity: usize, mut draw: Draw, intact: &str) -> String {
    let draw = &mut draw;
    match fault {
        Fault::Unclosed => tags::unclosed(intact, severity, draw),
        Fault::EarlyClose => tags::early_close(intact, severity, draw),
        Fault::Nested => tags::nested(intact, severity, draw),
        Fault::Crossed => tags::crossed(intact, draw),
        Fault::Case => tags::case(intact, severity, draw),
        Fault::Misspelt => tags::misspelt(intact, severity, draw),
        Fault::NumberMismatch => tags::number_mismatch(intact, severity, draw),
        Fault::MissingField => tags::missing_field(intact, severity, draw),
        Fault::Empty => tags::empty(intact, severity),
        Fault::LeakedControl => text::leaked_control(intact, severity, draw),
        Fault::BrokenJson => json::broken(intact, severity, draw),
        Fault::ThinkOpen => think::open(intact),
        Fault::ThinkMissing => think::missing(intact),
        Fault::ThinkTwice => think::twice(intact, severity),
        Fault::ThinkLate => think::late(intact, severity),
        Fault::ToolInThink => think::tool_inside(intact),
        Fault::Pseudo => text::pseudo(intact, severity, draw),
        Fault::Confirmation => text::confirmation(intact, severity, draw),
        Fault::Cut => text::cut(intact, severity, draw),
        Fault::ReplayLost
        | Fault::ReplayDoubled
        | Fault::ReplayOrder
        | Fault::NoDone
        | Fault::Stall
        | Fault::ErrorEvent
        | Fault::PartialTools => intact.to_owned(),
    }
}

/// The first char in which two texts differ.
fn onset(intact: &str, damaged: &str) -> Option<u64> {
    if intact == damaged {
        return None;
    }
    let same = intact
        .chars()
        .zip(damaged.chars())
        .take_while(|(a, b)| a == b);
    Some(same.count() as u64)
}
