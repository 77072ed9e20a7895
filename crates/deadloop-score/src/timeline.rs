//! What arrived when: the order of a transcript's channels, without its text.

use deadloop_replay::corpus::{Body, Event};
use deadloop_replay::detect::{Channel, Chars};
use deadloop_replay::{Seen, text_of, tokens_at};

/// The lengths of a transcript's channels and the order in which they were filled. Neighbouring
/// events of one channel are one stretch, so a million chunks of an answer take one entry.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    stretches: Vec<(Channel, u64)>,
}

/// When something happened, where the recording says.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Clock {
    pub(crate) t_ms: Option<f64>,
    pub(crate) tokens: Option<u64>,
}

impl Timeline {
    /// The timeline of some events.
    pub fn of(events: &[Event]) -> Self {
        let mut timeline = Self::default();
        for (channel, units) in events.iter().filter_map(units) {
            timeline.add(channel, units);
        }
        timeline.stretches.shrink_to_fit();
        timeline
    }

    fn add(&mut self, channel: Channel, units: u64) {
        match self.stretches.last_mut() {
            Some((last, n)) if *last == channel => *n += units,
            _ if units > 0 => self.stretches.push((channel, units)),
            _ => {}
        }
    }

    /// Everything: the length of each text channel.
    pub fn length(&self) -> Seen {
        let mut seen = Seen::default();
        self.stretches
            .iter()
            .for_each(|(channel, n)| seen = seen.plus(*channel, Chars(*n)));
        seen
    }

    /// The length of one channel: chars, or calls on `tools`.
    pub fn units(&self, channel: Channel) -> u64 {
        self.stretches
            .iter()
            .filter(|(c, _)| *c == channel)
            .map(|(_, n)| n)
            .sum()
    }

    /// The channels that hold anything, in the order in which they began.
    pub fn channels(&self) -> Vec<Channel> {
        let mut found = Vec::new();
        for (channel, _) in &self.stretches {
            if !found.contains(channel) {
                found.push(*channel);
            }
        }
        found
    }

    /// What had arrived just before unit `at` (from 0) of `channel`; for a position at or past the
    /// channel's end, what had arrived when it ended.
    ///
    /// Reasoning of 10 chars, then an answer: before char 0 of the answer 10 chars were there.
    pub fn before(&self, channel: Channel, at: u64) -> Seen {
        let mut seen = Seen::default();
        let mut own = 0;
        let mut ended = seen;
        for (c, n) in &self.stretches {
            if *c == channel && at < own + n {
                return seen.plus(channel, Chars(at - own));
            }
            seen = seen.plus(*c, Chars(*n));
            if *c == channel {
                own += n;
                ended = seen;
            }
        }
        ended
    }

    /// The moment at which the `nth` char (from 1) of the text had arrived, and its channel.
    pub(crate) fn nth_char(&self, nth: u64) -> Option<(Channel, Seen)> {
        self.moment(|channel, seen, n| {
            let before = seen.reasoning.0 + seen.answer.0;
            (Channel::TEXT.contains(&channel) && before < nth && nth <= before + n)
                .then(|| nth - before)
        })
    }

    /// The moment at which the first text channel had `chars` chars.
    pub(crate) fn first_to_reach(&self, chars: u64) -> Option<(Channel, Seen)> {
        self.moment(|channel, seen, n| {
            let before = seen.of(channel).0;
            let text = Channel::TEXT.contains(&channel);
            (text && before < chars && chars <= before + n).then(|| chars - before)
        })
    }

    /// The first stretch in which `stop` finds a moment, given what had arrived before it and its
    /// length: so many units into it.
    fn moment(&self, stop: impl Fn(Channel, Seen, u64) -> Option<u64>) -> Option<(Channel, Seen)> {
        let mut seen = Seen::default();
        for (channel, n) in &self.stretches {
            if let Some(into) = stop(*channel, seen, *n) {
                return Some((*channel, seen.plus(*channel, Chars(into))));
            }
            seen = seen.plus(*channel, Chars(*n));
        }
        None
    }
}

/// The clock at unit `at` (from 0) of `channel`: the time of the event that holds it, and the tokens
/// before it, summed over all channels; those of that event by share. Known only where every event
/// that carries generated output (text, a tool call) has a count.
pub(crate) fn clock(events: &[Event], channel: Channel, at: u64) -> Clock {
    let mut own = 0;
    let mut tokens = Some(0);
    for event in events {
        let Some((c, n)) = units(event) else { continue };
        if c == channel && at < own + n {
            let counted = tokens.zip(event.tokens);
            return Clock {
                t_ms: event.t_ms,
                tokens: counted.map(|counted| tokens_at(counted, (at - own, n))),
            };
        }
        if c == channel {
            own += n;
        }
        tokens = tokens
            .zip(event.tokens)
            .map(|(sum, n): (u64, u64)| sum.saturating_add(n));
    }
    Clock::default()
}

/// The channel that an event adds to, and how much.
fn units(event: &Event) -> Option<(Channel, u64)> {
    match (text_of(event), &event.body) {
        (Some((channel, text)), _) => Some((channel, Chars::of(text).0)),
        (None, Body::ToolCall { .. }) => Some((Channel::Tools, 1)),
        (None, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(channel: Channel, text: &str, t_ms: f64, tokens: u64) -> Event {
        let body = match channel {
            Channel::Reasoning => Body::Reasoning(text.into()),
            _ => Body::Answer(text.into()),
        };
        Event {
            body,
            t_ms: Some(t_ms),
            tokens: Some(tokens),
            ..Event::default()
        }
    }

    fn interleaved() -> Vec<Event> {
        vec![
            text(Channel::Reasoning, "思考思考", 1.0, 2),
            text(Channel::Answer, "abc", 2.0, 1),
            text(Channel::Reasoning, "xyz", 3.0, 3),
            text(Channel::Answer, "de", 4.0, 1),
        ]
    }

    fn seen(reasoning: u64, answer: u64) -> Seen {
        Seen {
            reasoning: Chars(reasoning),
            answer: Chars(answer),
        }
    }

    #[test]
    fn positions_of_one_channel_carry_the_chars_of_the_other() {
        let line = Timeline::of(&interleaved());
        assert_eq!(line.length(), seen(7, 5));
        assert_eq!(line.before(Channel::Answer, 0), seen(4, 0));
        assert_eq!(line.before(Channel::Reasoning, 4), seen(4, 3));
        assert_eq!(line.before(Channel::Answer, 4), seen(7, 4));
        assert_eq!(line.before(Channel::Reasoning, 7), seen(7, 3), "at its end");
        assert_eq!(line.channels(), [Channel::Reasoning, Channel::Answer]);
    }

    #[test]
    fn a_char_is_found_by_its_number() {
        let line = Timeline::of(&interleaved());
        assert_eq!(line.nth_char(4), Some((Channel::Reasoning, seen(4, 0))));
        assert_eq!(line.nth_char(5), Some((Channel::Answer, seen(4, 1))));
        assert_eq!(line.nth_char(8), Some((Channel::Reasoning, seen(5, 3))));
        assert_eq!((line.nth_char(0), line.nth_char(13)), (None, None));
    }

    #[test]
    fn the_first_channel_to_reach_a_length_is_found() {
        let line = Timeline::of(&interleaved());
        assert_eq!(
            line.first_to_reach(3),
            Some((Channel::Reasoning, seen(3, 0)))
        );
        assert_eq!(
            line.first_to_reach(7),
            Some((Channel::Reasoning, seen(7, 3)))
        );
        assert_eq!(line.first_to_reach(8), None);
    }

    #[test]
    fn the_clock_is_that_of_the_event_that_holds_the_char() {
        let events = interleaved();
        let at = clock(&events, Channel::Answer, 3);
        assert_eq!((at.t_ms, at.tokens), (Some(4.0), Some(6)));
        // Of an event with three tokens for three chars, one is before the second char.
        assert_eq!(clock(&events, Channel::Reasoning, 5).tokens, Some(4));
        assert_eq!(clock(&events, Channel::Answer, 5), Clock::default());
    }

    #[test]
    fn tokens_are_unknown_once_a_text_event_has_no_count() {
        let mut events = interleaved();
        events[1].tokens = None;
        assert_eq!(clock(&events, Channel::Reasoning, 0).tokens, Some(0));
        assert_eq!(clock(&events, Channel::Reasoning, 6).tokens, None);
    }
}
