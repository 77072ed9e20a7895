//! Faults by construction: an intact text or row of events, damaged in a known way at a known place.
//!
//! A repair is compared with the intact original ([`judge`](super::judge())). The same fault, severity, seed and
//! text make the same damage on every machine. A severity of 0 changes nothing.
//!
//! | to find | look in |
//! |---|---|
//! | numbers drawn from a seed | `draw` |
//! | faults of tags | `tags` |
//! | faults of arguments | `json` |
//! | faults of thinking | `think` |
//! | answers without content, control text, cuts | `text` |
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

/// What is damaged, and how. N is the severity.
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
    /// change no text and no row of events. `deadloop synth` makes them.
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

    /// Whether it damages a stream as a whole, and neither a text nor a row of events.
    pub fn is_of_stream(self) -> bool {
        matches!(
            self,
            Self::NoDone | Self::Stall | Self::ErrorEvent | Self::PartialTools
        )
    }

    /// Whether it damages events; other faults damage text, or the stream as a whole.
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
    /// The damaged text.
    pub text: String,
    /// The index of the first char that differs from the intact text. If one text is the beginning of the other, the
    /// length of the shorter one. `None` if nothing changed, because the severity is 0 or the text has nothing that the
    /// fault damages.
    pub onset: Option<u64>,
}

/// Damages a text. `severity` is 0 to 3; more counts as 3. A [fault](Fault) of events changes no text.
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

/// The index of the first char in which two texts differ. `None` if they are equal.
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
