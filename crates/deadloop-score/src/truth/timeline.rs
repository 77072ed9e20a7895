//! [`Timeline`]: the order and the lengths of a transcript's channels, without its text.

use deadloop_replay::corpus::{Body, RecordedEvent, stream};
use deadloop_replay::detect::{Channel, Chars, Event as GuardEvent, Unit};
use deadloop_replay::{ChannelLengths, EventTokens, TokenSum, event_text};
use serde::{Deserialize, Serialize};

use crate::truth::{ByteReader, ChannelSegments};

/// The lengths of a transcript's channels, and the order in which they were filled.
///
/// Neighbouring events of one channel are one segment, so a million chunks of an answer take one entry.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timeline {
    segments: ChannelSegments,
}

/// The recorded time of a position, and the number of tokens before it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct PositionTime {
    pub(crate) t_ms: Option<f64>,
    pub(crate) tokens: Option<u64>,
}

impl Timeline {
    /// Builds the timeline of a transcript's events.
    pub fn from_events(events: &[RecordedEvent]) -> Self {
        let mut segments = Vec::new();
        let mut add = |channel, units| extend_segments(&mut segments, channel, units);
        for (_, event) in stream(events) {
            match event {
                GuardEvent::Text(channel, text) => add(channel.into(), Chars::count(text).0),
                GuardEvent::Call { arguments, .. } => {
                    add(Channel::Arguments, Chars::count(&arguments.text()).0);
                    add(Channel::Tools, 1);
                }
                GuardEvent::Turn { .. } => add(Channel::Turns, 1),
                _ => {}
            }
        }
        Self {
            segments: segments.into_iter().collect(),
        }
    }

    /// Writes the packed timeline.
    pub(crate) fn put(&self, to: &mut Vec<u8>) {
        self.segments.put(to);
    }

    /// Reads a timeline written by [`put`](Self::put).
    pub(crate) fn read(from: &mut ByteReader<'_>) -> Self {
        let segments = ChannelSegments::read(from);
        Self { segments }
    }

    /// Returns the lengths of all channels.
    pub fn length(&self) -> ChannelLengths {
        let all = self.segments.iter();
        all.fold(ChannelLengths::default(), |seen, (channel, n)| {
            seen.plus(channel, n)
        })
    }

    /// Returns the length of the transcript in `unit`: chars of reasoning and answer, calls, or turns.
    pub fn in_unit(&self, unit: Unit) -> u64 {
        let length = self.length();
        match unit {
            Unit::Chars => length.text().0,
            Unit::Calls => length.tools.0,
            Unit::Turns => length.turns.0,
        }
    }

    /// Returns the length of one channel, in its unit.
    pub fn units(&self, channel: Channel) -> u64 {
        self.segments
            .iter()
            .filter(|(c, _)| *c == channel)
            .map(|(_, n)| n)
            .sum()
    }

    /// Returns the channels that a label without a channel may be about, in the order of appearance.
    pub fn channels(&self) -> Vec<Channel> {
        let mut found = Vec::new();
        for (channel, _) in self.segments.iter() {
            let is_eligible = !matches!(channel, Channel::Arguments | Channel::Turns);
            if is_eligible && !found.contains(&channel) {
                found.push(channel);
            }
        }
        found
    }

    /// Returns the lengths of all channels just before position `at` (from 0) of `channel`.
    ///
    /// If `at` is not below the channel's length, they are the lengths at the end of the channel. With reasoning of 10
    /// chars before an answer, there are 10 chars of reasoning before char 0 of the answer.
    pub fn before(&self, channel: Channel, at: u64) -> ChannelLengths {
        let mut seen = ChannelLengths::default();
        let mut own = 0;
        let mut ended = seen;
        for (c, n) in self.segments.iter() {
            if c == channel && at < own + n {
                return seen.plus(channel, at - own);
            }
            seen = seen.plus(c, n);
            if c == channel {
                own += n;
                ended = seen;
            }
        }
        ended
    }
}

/// Adds units to the last segment if it is of the same channel, otherwise starts a new segment.
fn extend_segments(segments: &mut Vec<(Channel, u64)>, channel: Channel, units: u64) {
    match segments.last_mut() {
        Some((last, n)) if *last == channel => *n += units,
        _ if units > 0 => segments.push((channel, units)),
        _ => {}
    }
}

/// Returns the time of the event at position `at` (from 0) of `channel`, and the number of tokens before it.
///
/// Tokens are summed over all channels. The tokens of the event itself count in proportion to the position in it. The
/// number is known only if every text and every tool call before has a count. In a run whose turns have token counts,
/// it is the number of tokens of the turns before.
pub(crate) fn position_time(events: &[RecordedEvent], channel: Channel, at: u64) -> PositionTime {
    let by_events = event_time(events, channel, at);
    match TokenSum::from_events(events) {
        None => by_events,
        Some(spent) => PositionTime {
            tokens: turn_tokens_before(spent, events, channel, at),
            ..by_events
        },
    }
}

/// Returns the number of tokens of the turns before the turn with position `at` of a channel.
fn turn_tokens_before(
    mut spent: TokenSum,
    events: &[RecordedEvent],
    channel: Channel,
    at: u64,
) -> Option<u64> {
    let mut own = 0;
    for event in events {
        spent.take(event);
        if let Some((c, n, _)) = generated_units(event)
            && c == channel
        {
            own += n;
            if at < own {
                return spent.before();
            }
        }
    }
    None
}

/// Returns the tokens before and in an event. `None` if this event or an earlier one has no count.
fn next_event_tokens(before: Option<u64>, event: &RecordedEvent) -> Option<EventTokens> {
    let (before, own) = before.zip(event.tokens)?;
    Some(EventTokens { before, own })
}

/// Returns the time and the tokens of a position by the counts of events.
fn event_time(events: &[RecordedEvent], channel: Channel, at: u64) -> PositionTime {
    let mut own = 0;
    let mut tokens = Some(0);
    for event in events {
        let Some((c, n, is_generated)) = generated_units(event) else {
            continue;
        };
        if c == channel && at < own + n {
            if !is_generated {
                let t_ms = event.t_ms;
                return PositionTime { t_ms, tokens };
            }
            let event_tokens = next_event_tokens(tokens, event);
            return PositionTime {
                t_ms: event.t_ms,
                tokens: event_tokens.map(|counts| counts.at(at - own, n)),
            };
        }
        if c == channel {
            own += n;
        }
        if is_generated {
            tokens = next_event_tokens(tokens, event).map(EventTokens::through);
        }
    }
    PositionTime::default()
}

/// Returns the channel of an event, the number of units it adds, and whether the model generated it.
fn generated_units(event: &RecordedEvent) -> Option<(Channel, u64, bool)> {
    match (event_text(event), &event.body) {
        (Some((channel, text)), _) => Some((channel, Chars::count(text).0, true)),
        (None, Body::ToolCall { .. }) => Some((Channel::Tools, 1, true)),
        (None, Body::Turn) => Some((Channel::Turns, 1, false)),
        (None, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(channel: Channel, text: &str, t_ms: f64, tokens: u64) -> RecordedEvent {
        let body = match channel {
            Channel::Reasoning => Body::Reasoning(text.into()),
            _ => Body::Answer(text.into()),
        };
        RecordedEvent {
            body,
            t_ms: Some(t_ms),
            tokens: Some(tokens),
            ..RecordedEvent::default()
        }
    }

    fn interleaved() -> Vec<RecordedEvent> {
        vec![
            text(Channel::Reasoning, "思考思考", 1.0, 2),
            text(Channel::Answer, "abc", 2.0, 1),
            text(Channel::Reasoning, "xyz", 3.0, 3),
            text(Channel::Answer, "de", 4.0, 1),
        ]
    }

    fn seen(reasoning: u64, answer: u64) -> ChannelLengths {
        ChannelLengths {
            reasoning: Chars(reasoning),
            answer: Chars(answer),
            ..ChannelLengths::default()
        }
    }

    #[test]
    fn positions_of_one_channel_carry_the_chars_of_the_other() {
        let line = Timeline::from_events(&interleaved());
        assert_eq!(line.length(), seen(7, 5));
        assert_eq!(line.before(Channel::Answer, 0), seen(4, 0));
        assert_eq!(line.before(Channel::Reasoning, 4), seen(4, 3));
        assert_eq!(line.before(Channel::Answer, 4), seen(7, 4));
        assert_eq!(line.before(Channel::Reasoning, 7), seen(7, 3), "at its end");
        assert_eq!(line.channels(), [Channel::Reasoning, Channel::Answer]);
    }

    #[test]
    fn the_clock_is_that_of_the_event_that_holds_the_char() {
        let events = interleaved();
        let at = position_time(&events, Channel::Answer, 3);
        assert_eq!((at.t_ms, at.tokens), (Some(4.0), Some(6)));
        // Of an event with three tokens for three chars, one is before the second char.
        assert_eq!(
            position_time(&events, Channel::Reasoning, 5).tokens,
            Some(4)
        );
        assert_eq!(
            position_time(&events, Channel::Answer, 5),
            PositionTime::default()
        );
    }

    #[test]
    fn tokens_are_unknown_once_a_text_event_has_no_count() {
        let mut events = interleaved();
        events[1].tokens = None;
        assert_eq!(
            position_time(&events, Channel::Reasoning, 0).tokens,
            Some(0)
        );
        assert_eq!(position_time(&events, Channel::Reasoning, 6).tokens, None);
    }
}
