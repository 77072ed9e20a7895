//! [`FinderReading`]: the finding of the offline finder at an alarm or in a transcript.
//!
//! It is used if a detector and the label disagree, since the label may be wrong too. The finder uses no detector, so
//! its finding is independent of the alarm.

use deadloop_replay::corpus::Transcript;
use deadloop_replay::detect::{Channel, Unit, Units};

use super::propose;
use crate::truth::{Class, LabelRow};

/// The finding of the offline finder at an alarm, or in a whole transcript.
#[derive(Clone, Debug, PartialEq)]
pub enum FinderReading {
    /// A loop with its start, in chars, calls or turns.
    Loop(Units),
    /// A repetition that ends on its own, with its start and its end. The end is `None` at the end of the text.
    Passing(Units, Option<u64>),
    /// No repetition.
    Nothing,
}

impl FinderReading {
    /// Searches a transcript for a repetition at an alarm, given by its channel and position. Without an alarm, any
    /// repetition counts.
    pub fn new(transcript: &Transcript, alarm: Option<(Channel, u64)>) -> Self {
        Self::at(&propose(transcript).rows, alarm)
    }

    /// Selects the finding at an alarm from the rows proposed for a transcript, as [`new`](Self::new) does.
    pub fn at(rows: &[LabelRow], alarm: Option<(Channel, u64)>) -> Self {
        let is_at = |row: &LabelRow, (channel, at)| {
            row.channel == Some(channel)
                && repetition_start(row) <= at
                && row.end.is_none_or(|end| at <= end)
        };
        let is_near = |row: &&LabelRow| alarm.is_none_or(|alarm| is_at(row, alarm));
        let spans = || rows.iter().filter(|r| r.onset.is_some()).filter(is_near);
        if let Some(row) = spans().find(|row| row.class == Class::Loop) {
            return Self::Loop(start_in_units(row));
        }
        let longest = |row: &&LabelRow| row.end.unwrap_or(u64::MAX) - repetition_start(row);
        spans().max_by_key(longest).map_or(Self::Nothing, |row| {
            Self::Passing(start_in_units(row), row.end)
        })
    }

    /// Returns whether the finding is a loop.
    pub fn is_loop(&self) -> bool {
        matches!(self, Self::Loop(_))
    }

    /// Describes the finding in words.
    pub fn words(&self) -> String {
        match self {
            Self::Loop(from) => format!("a loop from {} on", position(*from)),
            Self::Passing(from, None) => {
                let place = position(*from);
                format!("a repetition from {place} on; the model stopped by itself")
            }
            Self::Passing(from, Some(end)) => {
                let others = match from.unit() {
                    Unit::Chars => "text",
                    unit => unit.name(),
                };
                format!(
                    "a repetition from {} to {end}, then other {others}",
                    position(*from)
                )
            }
            Self::Nothing => "no repetition".into(),
        }
    }
}

/// Formats a position with its unit, such as `char 62` or `call 9`.
fn position(at: Units) -> String {
    format!("{} {at}", at.unit().name().trim_end_matches('s'))
}

/// Returns the start of a repetition, in the unit of its channel.
fn start_in_units(row: &LabelRow) -> Units {
    let channel = row.channel.unwrap_or(Channel::Answer);
    channel.units(repetition_start(row))
}

/// Returns the position of the start of a repetition: the label's `earliest`, or else its onset.
fn repetition_start(row: &LabelRow) -> u64 {
    row.earliest.or(row.onset).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadloop_replay::corpus::{Body, RecordedEvent};

    #[test]
    fn it_is_asked_at_the_alarm_or_of_the_whole() {
        let start = "A start that says something. ";
        let text = format!("{start}{}", "Let me think about it once more. ".repeat(20));
        let transcript = Transcript {
            events: vec![RecordedEvent::new(Body::Answer(text))],
            ..Transcript::default()
        };
        let at = |at| FinderReading::new(&transcript, Some((Channel::Answer, at)));
        let onset = start.len() as u64 + 33;
        let looped = FinderReading::Loop(Channel::Answer.units(onset));
        assert_eq!(at(300), looped);
        assert_eq!(at(20), FinderReading::Nothing);
        assert_eq!(
            FinderReading::new(&transcript, Some((Channel::Reasoning, 300))),
            FinderReading::Nothing
        );
        assert_eq!(FinderReading::new(&transcript, None), looped);
    }

    #[test]
    fn a_place_is_told_in_the_unit_of_its_channel() {
        let told = |channel: Channel, end| FinderReading::Passing(channel.units(9), end).words();
        assert_eq!(
            told(Channel::Tools, Some(13)),
            "a repetition from call 9 to 13, then other calls"
        );
        assert_eq!(
            told(Channel::Answer, Some(13)),
            "a repetition from char 9 to 13, then other text"
        );
        assert_eq!(
            FinderReading::Loop(Channel::Turns.units(2)).words(),
            "a loop from turn 2 on"
        );
    }
}
