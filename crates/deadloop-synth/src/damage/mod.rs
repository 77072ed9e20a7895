//! Faults: intact texts or events, damaged in a known way and place.
//!
//! The same fault, severity, seed and text give the same damage on every machine. A severity of 0 changes nothing.
//!
//! | to find | look in |
//! |---|---|
//! | numbers drawn from a seed | `draw` |
//! | faults of tags | `tags` |
//! | faults of arguments | `json` |
//! | faults of thinking | `think` |
//! | answers without content, control text, cuts | `text` |
//! | faults of delivery | `events` |

use deadloop_detect::Fault;

mod draw;
mod events;
mod json;
mod tags;
mod text;
mod think;

pub use events::{DamagedEvents, damage_events};

use draw::DamageDraws;

/// A damaged text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedText {
    /// The damaged text.
    pub text: String,
    /// The index of the first char that differs from the intact text. If one text is the beginning of the other, it
    /// is the length of the shorter one. `None` if nothing changed: the severity is 0, or the fault does not apply to
    /// the text.
    pub onset: Option<u64>,
}

/// Damages a text. `severity` is 0 to 3, and a higher value counts as 3. A [fault](Fault) of events changes no text.
pub fn damage(fault: Fault, severity: u8, seed: u64, intact: &str) -> DamagedText {
    let severity = usize::from(severity.min(3));
    let draw = DamageDraws::new(fault.name(), seed);
    let text = match severity {
        0 => intact.to_owned(),
        _ => damage_text(fault, severity, draw, intact),
    };
    let onset = first_difference(intact, &text);
    DamagedText { text, onset }
}

fn damage_text(fault: Fault, severity: usize, mut draw: DamageDraws, intact: &str) -> String {
    let draw = &mut draw;
    match fault {
        Fault::Unclosed => tags::remove_closing(intact, severity, draw),
        Fault::EarlyClose => tags::close_early(intact, severity, draw),
        Fault::Nested => tags::nest_elements(intact, severity, draw),
        Fault::Crossed => tags::cross_elements(intact, draw),
        Fault::Case => tags::change_case(intact, severity, draw),
        Fault::Misspelt => tags::misspell(intact, severity, draw),
        Fault::NumberMismatch => tags::mismatch_numbers(intact, severity, draw),
        Fault::MissingField => tags::remove_field(intact, severity, draw),
        Fault::Empty => tags::remove_text(intact, severity),
        Fault::LeakedControl => text::insert_control(intact, severity, draw),
        Fault::BrokenJson => json::break_json(intact, severity, draw),
        Fault::ThinkOpen => think::remove_closing(intact),
        Fault::ThinkMissing => think::remove_opening(intact),
        Fault::ThinkTwice => think::repeat_opening(intact, severity),
        Fault::ThinkLate => think::move_answer_start(intact, severity),
        Fault::ToolInThink => think::move_tool_inside(intact),
        Fault::Pseudo => text::replace_by_acknowledgements(intact, severity, draw),
        Fault::Confirmation => text::replace_by_confirmations(intact, severity, draw),
        Fault::Cut => text::cut_end(intact, severity, draw),
        // Faults of delivery and of whole streams change no text.
        _ => intact.to_owned(),
    }
}

/// Returns the index of the first char in which two texts differ. `None` if they are equal.
fn first_difference(intact: &str, damaged: &str) -> Option<u64> {
    if intact == damaged {
        return None;
    }
    let same = intact
        .chars()
        .zip(damaged.chars())
        .take_while(|(a, b)| a == b);
    Some(same.count() as u64)
}
