//! Faults: known damage to intact texts or events.
//!
//! The same fault, severity, seed and text give the same damage on every machine. A severity of 0 has no effect.
//!
//! | to find | look in |
//! |---|---|
//! | random numbers from a seed | `draw` |
//! | faults of tags | `tags` |
//! | faults of arguments | `json` |
//! | faults of reasoning | `think` |
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

use draw::DamageRng;

/// A damaged text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DamagedText {
    /// Damaged text.
    pub text: String,
    /// Index of the first char that differs from the intact text, or the length of the shorter text if one is a prefix
    /// of the other.
    ///
    /// `None` if nothing changed, because the severity is 0 or the fault does not apply to the text.
    pub onset: Option<u64>,
}

/// Damages a text. `severity` is 0 to 3, and higher values count as 3. Faults of events have no effect.
pub fn damage(fault: Fault, severity: u8, seed: u64, intact: &str) -> DamagedText {
    let severity = usize::from(severity.min(3));
    let rng = DamageRng::new(fault.name(), seed);
    let text = match severity {
        0 => intact.to_owned(),
        _ => apply_text_fault(fault, severity, rng, intact),
    };
    let onset = first_difference(intact, &text);
    DamagedText { text, onset }
}

fn apply_text_fault(fault: Fault, severity: usize, mut rng: DamageRng, intact: &str) -> String {
    let rng = &mut rng;
    match fault {
        Fault::Unclosed => tags::remove_closing(intact, severity, rng),
        Fault::EarlyClose => tags::close_early(intact, severity, rng),
        Fault::Nested => tags::nest_elements(intact, severity, rng),
        Fault::Crossed => tags::cross_elements(intact, rng),
        Fault::Case => tags::change_case(intact, severity, rng),
        Fault::Misspelt => tags::misspell(intact, severity, rng),
        Fault::NumberMismatch => tags::mismatch_numbers(intact, severity, rng),
        Fault::MissingField => tags::remove_field(intact, severity, rng),
        Fault::Empty => tags::remove_text(intact, severity),
        Fault::LeakedControl => text::insert_control(intact, severity, rng),
        Fault::BrokenJson => json::break_json(intact, severity, rng),
        Fault::ThinkOpen => think::remove_closing(intact),
        Fault::ThinkMissing => think::remove_opening(intact),
        Fault::ThinkTwice => think::repeat_opening(intact, severity),
        Fault::ThinkLate => think::move_answer_start(intact, severity),
        Fault::ToolInThink => think::move_tool_inside(intact),
        Fault::Pseudo => text::acknowledge(intact, severity, rng),
        Fault::Confirmation => text::confirm(intact, severity, rng),
        Fault::Cut => text::cut_end(intact, severity, rng),
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
