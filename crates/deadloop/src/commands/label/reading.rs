//! What the offline finder says where a detector and the label disagree: a label may be wrong too. A detector is
//! never asked, so its alarm does not become its own proof.

use deadloop_corpus::Transcript;
use deadloop_detect::Channel;
use deadloop_score::{Class, LabelRow};

use super::proposing::propose;

/// What a transcript looks like at an alarm, or as a whole.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reading {
    /// A loop that had begun there; from this char on.
    Loop(u64),
    /// A repetition that ends by itself, from the first char to the second.
    Passing(u64, u64),
    /// Nothing repeats.
    Nothing,
}

impl Reading {
    /// At an alarm in a channel after so many chars; without an alarm, of the whole transcript.
    pub(crate) fn of(transcript: &Transcript, alarm: Option<(Channel, u64)>) -> Self {
        let rows = propose(transcript).rows;
        let meant = |row: &&LabelRow| {
            alarm.is_none_or(|(channel, at)| {
                row.channel == Some(channel)
                    && begins(row) <= at
                    && row.end.is_none_or(|end| at <= end)
            })
        };
        let spans = || rows.iter().filter(|row| row.onset.is_some()).filter(meant);
        if let Some(row) = spans().find(|row| row.class == Class::Loop) {
            return Self::Loop(begins(row));
        }
        let longest = |row: &&LabelRow| row.end.unwrap_or(u64::MAX) - begins(row);
        spans().max_by_key(longest).map_or(Self::Nothing, |row| {
            Self::Passing(begins(row), row.end.unwrap_or(u64::MAX))
        })
    }

    /// Writes it in words; an end at the end of the text is left out.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Loop(from) => format!("a loop from char {from} on"),
            Self::Passing(from, u64::MAX) => {
                format!("a repetition from char {from} on; the model stopped by itself")
            }
            Self::Passing(from, end) => {
                format!("a repetition from char {from} to {end}, then other text")
            }
            Self::Nothing => "no repetition".into(),
        }
    }
}

/// Where a repetition begins, as a label would say.
fn begins(row: &LabelRow) -> u64 {
    row.earliest.or(row.onset).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadloop_corpus::{Body, RecordedEvent};

    #[test]
    fn it_is_asked_at_the_alarm_or_of_the_whole() {
        let start = "A start that says something. ";
        let text = format!("{start}{}", "Let me think about it once more. ".repeat(20));
        let transcript = Transcript {
            events: vec![RecordedEvent::of(Body::Answer(text))],
            ..Transcript::default()
        };
        let at = |at| Reading::of(&transcript, Some((Channel::Answer, at)));
        let onset = start.len() as u64 + 33;
        assert_eq!(at(300), Reading::Loop(onset));
        assert_eq!(at(20), Reading::Nothing);
        assert_eq!(
            Reading::of(&transcript, Some((Channel::Reasoning, 300))),
            Reading::Nothing
        );
        assert_eq!(Reading::of(&transcript, None), Reading::Loop(onset));
    }
}
