//! [`Timeline`]: the order and the lengths of a transcript's channels, without its text.

use deadloop_replay::corpus::{Body, RecordedEvent, stream};
use deadloop_replay::detect::{Channel, Chars, Event as Arriving, Unit};
use deadloop_replay::{ChannelLengths, EventTokens, TokenSum, text_of};
use serde::{Deserialize, Serialize};

use crate::truth::{ByteReader, Stretches};

/// The lengths of a transcript's channels and the order in which they were filled.
///
/// Neighbouring events of one channel are one stretch, so a million chunks of an answer take one entry.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timeline {
    stretches: Stretches,
}

/// The recorded time and tokens of a position, if any.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct PositionTime {
    pub(crate) t_ms: Option<f64>,
    pub(crate) tokens: Option<u64>,
}

impl Timeline {
    /// Builds the timeline of some events.
    pub fn from_events(events: &[RecordedEvent]) -> Self {
        let mut stretches = Vec::new();
        let mut add = |channel, units| add(&mut stretches, channel, units);
        for (_, event) in stream(events) {
            match event {
                Arriving::Text(channel, text) => add(channel.into(), Chars::count(text).0),
                Arriving::Call { arguments, .. } => {
                    add(Channel::Arguments, Chars::count(&arguments.text()).0);
                    add(Channel::Tools, 1);
                }
                Arriving::Turn { .. } => add(Channel::Turns, 1),
                _ => {}
            }
        }
        Self {
            stretches: stretches.into_iter().collect(),
        }
    }

    /// Packs the timeline.
    pub(crate) fn put(&self, to: &mut Vec<u8>) {
        self.stretches.put(to);
    }

    /// Unpacks the bytes of [`put`](Self::put).
    pub(crate) fn take(from: &mut ByteReader<'_>) -> Self {
        let stretches = Stretches::take(from);
        Self { stretches }
    }

    /// Returns the length of every channel.
    pub fn length(&self) -> ChannelLengths {
        let all = self.stretches.iter();
        all.fold(ChannelLengths::default(), |seen, (channel, n)| {
            seen.plus(channel, n)
        })
    }

    /// Returns the length in `unit`: chars of reasoning and answer, calls, or turns.
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
        self.stretches
            .iter()
            .filter(|(c, _)| *c == channel)
            .map(|(_, n)| n)
            .sum()
    }

    /// Returns the channels that a label without a channel may refer to, text and calls, in order of appearance.
    pub fn channels(&self) -> Vec<Channel> {
        let mut found = Vec::new();
        for (channel, _) in self.stretches.iter() {
            let meant = !matches!(channel, Channel::Arguments | Channel::Turns);
            if meant && !found.contains(&channel) {
                found.push(channel);
            }
        }
        found
    }

    /// Returns the lengths just before unit `at` (from 0) of `channel`.
    ///
    /// If `at` is at or past the channel's end, these are the lengths when it ended.
    ///
    /// Reasoning of 10 chars, then an answer: before char 0 of the answer there are 10 chars.
    pub fn before(&self, channel: Channel, at: u64) -> ChannelLengths {
        let mut seen = ChannelLengths::default();
        let mut own = 0;
        let mut ended = seen;
        for (c, n) in self.stretches.iter() {
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

/// Adds to the last stretch if it is of the same channel, otherwise starts a new one.
fn add(stretches: &mut Vec<(Channel, u64)>, channel: Channel, units: u64) {
    match stretches.last_mut() {
        Some((last, n)) if *last == channel => *n += units,
        _ if units > 0 => stretches.push((channel, units)),
        _ => {}
    }
}

/// Returns the clock at unit `at` (from 0) of `channel`: the time of its event, and the tokens before it.
///
/// Tokens are summed over all channels; those of the event itself are counted by share. They are known only if every
/// event with generated output (text, a tool call) has a count. In a run whose turns have token counts, they are the
/// tokens of the turns before its own.
pub(crate) fn clock(events: &[RecordedEvent], channel: Channel, at: u64) -> PositionTime {
    let by_events = find_clock(events, channel, at);
    match TokenSum::from_events(events) {
        None => by_events,
        Some(spent) => PositionTime {
            tokens: spent_before(spent, events, channel, at),
            ..by_events
        },
    }
}

/// Returns the tokens of the turns before the one with unit `at` of a channel.
fn spent_before(
    mut spent: TokenSum,
    events: &[RecordedEvent],
    channel: Channel,
    at: u64,
) -> Option<u64> {
    let mut own = 0;
    for event in events {
        spent.take(event);
        if let Some((c, n, _)) = units(event)
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

/// Returns the tokens around an event of the model, if it and all events before it have counts.
fn add_event_tokens(before: Option<u64>, event: &RecordedEvent) -> Option<EventTokens> {
    let (before, own) = before.zip(event.tokens)?;
    Some(EventTokens { before, own })
}

fn find_clock(events: &[RecordedEvent], channel: Channel, at: u64) -> PositionTime {
    let mut own = 0;
    let mut tokens = Some(0);
    for event in events {
        let Some((c, n, made)) = units(event) else {
            continue;
        };
        if c == channel && at < own + n {
            if !made {
                let t_ms = event.t_ms;
                return PositionTime { t_ms, tokens };
            }
            let counted = add_event_tokens(tokens, event);
            return PositionTime {
                t_ms: event.t_ms,
                tokens: counted.map(|counted| counted.at(at - own, n)),
            };
        }
        if c == channel {
            own += n;
        }
        if made {
            tokens = add_event_tokens(tokens, event).map(EventTokens::through);
        }
    }
    PositionTime::default()
}

/// Returns the channel that an event adds to, the amount, and whether the model made it. Such an event may have tokens.
fn units(event: &RecordedEvent) -> Option<(Channel, u64, bool)> {
    match (text_of(event), &event.body) {
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
        let at = clock(&events, Channel::Answer, 3);
        assert_eq!((at.t_ms, at.tokens), (Some(4.0), Some(6)));
        // Of an event with three tokens for three chars, one is before the second char.
        assert_eq!(clock(&events, Channel::Reasoning, 5).tokens, Some(4));
        assert_eq!(clock(&events, Channel::Answer, 5), PositionTime::default());
    }

    #[test]
    fn tokens_are_unknown_once_a_text_event_has_no_count() {
        let mut events = interleaved();
        events[1].tokens = None;
        assert_eq!(clock(&events, Channel::Reasoning, 0).tokens, Some(0));
        assert_eq!(clock(&events, Channel::Reasoning, 6).tokens, None);
    }
}
