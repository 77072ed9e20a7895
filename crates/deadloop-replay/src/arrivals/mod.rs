//! [`Arrivals`]: maps a position in a channel to its [`Moment`].

use std::borrow::Cow;
use std::num::NonZeroU64;

use deadloop_corpus::{Body, RecordedEvent};
use deadloop_detect::harness::{Cursor, EventPlace};
use deadloop_detect::{Channel, ChannelLengths, Chars};

use crate::record::Moment;

mod running_counts;

/// Arrival times and counts of a transcript's text and of its other events.
pub(crate) struct Arrivals<'a> {
    chunks: Option<NonZeroU64>,
    lanes: [ChannelArrivals<'a>; Channel::ALL_TEXT.len()],
    others: Vec<EventArrival>,
}

/// The text pieces of one channel, each with its arrival.
#[derive(Default)]
struct ChannelArrivals<'a> {
    pieces: Vec<Cow<'a, str>>,
    texts: Vec<TextArrival>,
    timed: bool,
}

/// The arrival of one text event.
struct TextArrival {
    /// The index of the event.
    event: u64,
    /// The position in the channel after the event's last char.
    end: Chars,
    /// The length of the text.
    chars: Chars,
    /// The counts of all channels after the event.
    seen: ChannelLengths,
    /// The start position of the uninterrupted text that contains the event.
    run_start: Chars,
    t_ms: Option<f64>,
    tokens: Option<EventTokens>,
}

/// The arrival of an event that is not model text, such as a call, a result or a turn.
struct EventArrival {
    /// The index of the event in the stream of run detectors.
    nth: u64,
    /// Whether the event was recorded, rather than derived like some turns.
    recorded: bool,
    moment: Moment,
}

impl<'a> Arrivals<'a> {
    /// Returns the whole text of a channel.
    pub(crate) fn text(&self, channel: Channel) -> Cow<'a, str> {
        match self.lane(channel).map_or(&[][..], |lane| &lane.pieces) {
            [] => Cow::Borrowed(""),
            [Cow::Borrowed(one)] => Cow::Borrowed(one),
            many => Cow::Owned(many.concat()),
        }
    }

    /// Returns the moments at which a channel reached `at` chars and at which a live integration receives the last of
    /// these.
    pub(crate) fn moments(&self, channel: Channel, at: Chars) -> [Moment; 2] {
        let delivered = self.chunk_end(channel, at);
        [at, delivered].map(|at| self.moment(channel, at))
    }

    /// Returns the moment at which a channel reached `at` chars.
    pub(crate) fn moment(&self, channel: Channel, at: Chars) -> Moment {
        let arrived = self.lane(channel).and_then(|lane| lane.event_at(at));
        let Some(arrived) = arrived else {
            return Moment::default();
        };
        let missing = arrived.end.saturating_sub(at);
        let chars = arrived.chars.0;
        let read = chars.saturating_sub(missing.0);
        Moment {
            place: Cursor {
                event: arrived.event,
                offset: read,
            },
            seen: arrived.seen.minus(channel, missing.0),
            t_ms: arrived.t_ms,
            tokens: arrived.tokens.map(|counted| counted.at(read, chars)),
        }
    }

    /// Returns the index of the last event other than text up to `place`, in the stream of run detectors. 0 if there is
    /// none.
    pub(crate) fn last_event_index(&self, place: Cursor) -> u64 {
        let up_to = self
            .others
            .partition_point(|other| other.moment.place <= place);
        self.others[..up_to].last().map_or(0, |other| other.nth)
    }

    /// Returns the moment of a run detector's fact: that of its event, with the counts of calls and turns at `place`.
    pub(crate) fn moment_of_fact(&self, place: EventPlace) -> Moment {
        let other = self.others.partition_point(|other| other.nth < place.event);
        let moment = self
            .others
            .get(other)
            .map_or(Moment::default(), |o| o.moment);
        let seen = ChannelLengths {
            tools: place.calls,
            turns: place.turns,
            ..moment.seen
        };
        Moment { seen, ..moment }
    }

    /// Returns the moment of the `nth` recorded event other than text, with the count of `channel` reduced to `at`.
    pub(crate) fn event_moment(&self, nth: usize, channel: Channel, at: u64) -> Moment {
        let mut recorded = self.others.iter().filter(|other| other.recorded);
        let moment = recorded.nth(nth).map_or(Moment::default(), |o| o.moment);
        let more = moment.seen.count(channel).saturating_sub(at);
        Moment {
            seen: moment.seen.minus(channel, more),
            ..moment
        }
    }

    /// Returns the position after the chunk that holds the char before `at`. A live integration receives the char
    /// there. Returns `at` for a channel without chunk times.
    pub(crate) fn chunk_end(&self, channel: Channel, at: Chars) -> Chars {
        let Some(lane) = self.lane(channel) else {
            return at;
        };
        let Some(arrived) = lane.event_at(at) else {
            return at;
        };
        match self.chunks {
            Some(size) => {
                let chunks = at.saturating_sub(arrived.run_start).0.div_ceil(size.get());
                let into = chunks.saturating_mul(size.get());
                let end = Chars(arrived.run_start.0.saturating_add(into));
                end.min(lane.run_end(arrived.run_start))
            }
            None if lane.timed => arrived.end,
            None => at,
        }
    }

    fn lane(&self, channel: Channel) -> Option<&ChannelArrivals<'a>> {
        let index = Channel::ALL_TEXT.iter().position(|c| *c == channel)?;
        self.lanes.get(index)
    }

    fn lane_mut(&mut self, channel: Channel) -> Option<&mut ChannelArrivals<'a>> {
        let index = Channel::ALL_TEXT.iter().position(|c| *c == channel)?;
        self.lanes.get_mut(index)
    }
}

impl ChannelArrivals<'_> {
    /// Returns the event that holds char number `at`, counted from 1.
    fn event_at(&self, at: Chars) -> Option<&TextArrival> {
        self.texts.get(self.texts.partition_point(|a| a.end < at))
    }

    fn run_end(&self, run_start: Chars) -> Chars {
        let after = self.texts.partition_point(|a| a.run_start <= run_start);
        after
            .checked_sub(1)
            .and_then(|i| self.texts.get(i))
            .map_or(run_start, |a| a.end)
    }
}

/// Token counts of an event and of all earlier events.
///
/// A recording counts tokens per event, and one event may be a whole answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventTokens {
    /// The number of tokens of earlier events.
    pub before: u64,
    /// The number of tokens of the event.
    pub own: u64,
}

impl EventTokens {
    /// Returns the number of tokens after `read` of the event's `of` chars. The event's tokens are prorated and rounded
    /// to the nearest.
    pub fn at(self, read: u64, of: u64) -> u64 {
        let [own, read, of] = [self.own, read, of].map(u128::from);
        let share = (own * read + of / 2) / of.max(1);
        self.before
            .saturating_add(u64::try_from(share).unwrap_or(u64::MAX))
    }

    /// Returns the number of tokens up to the end of the event.
    pub fn through(self) -> u64 {
        self.before.saturating_add(self.own)
    }
}

/// Returns the channel and the text of an event. Returns `None` if the event is not text.
pub fn event_text(event: &RecordedEvent) -> Option<(Channel, &str)> {
    match &event.body {
        Body::Reasoning(text) => Some((Channel::Reasoning, text)),
        Body::Answer(text) => Some((Channel::Answer, text)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use deadloop_corpus::Transcript;

    use super::*;

    fn event(body: Body, t_ms: Option<f64>) -> RecordedEvent {
        RecordedEvent {
            body,
            t_ms,
            tokens: Some(1),
            ..RecordedEvent::default()
        }
    }

    fn transcript(timed: bool) -> Transcript {
        let t = |n: f64| timed.then_some(n);
        let events = vec![
            event(Body::Reasoning("思考".into()), t(1.0)),
            event(Body::Answer("abc".into()), t(2.0)),
            event(Body::Reasoning("xyz".into()), t(3.0)),
            event(Body::Reasoning("uv".into()), t(4.0)),
        ];
        Transcript {
            events,
            ..Transcript::default()
        }
    }

    #[test]
    fn a_moment_knows_what_the_other_channel_had() {
        let t = transcript(true);
        let arrivals = Arrivals::new(&t, None);
        let moment = arrivals.moment(Channel::Reasoning, Chars(4));
        let seen = ChannelLengths::default().plus(Channel::Reasoning, 4);
        assert_eq!(moment.seen, seen.plus(Channel::Answer, 3));
        assert_eq!((moment.t_ms, moment.tokens), (Some(3.0), Some(3)));
        assert_eq!(arrivals.text(Channel::Reasoning), "思考xyzuv");
    }

    /// Covers a recording without streaming, which is one event.
    #[test]
    fn an_event_has_its_tokens_by_share() {
        let mut whole = event(Body::Answer("x".repeat(1000)), None);
        whole.tokens = Some(300);
        let t = Transcript {
            events: vec![event(Body::Reasoning("思考".into()), None), whole],
            ..Transcript::default()
        };
        let arrivals = Arrivals::new(&t, None);
        let tokens = |at| arrivals.moment(Channel::Answer, Chars(at)).tokens;
        assert_eq!([1, 500, 1000].map(tokens), [1, 151, 301].map(Some));
        let of = |before, own| EventTokens { before, own };
        assert_eq!(of(u64::MAX, u64::MAX).at(3, 3), u64::MAX);
        assert_eq!(of(5, 7).at(0, 0), 5);
    }

    #[test]
    fn no_chunk_holds_what_stands_before_and_after_a_tool_call() {
        let call = Body::ToolCall {
            id: None,
            name: "search".into(),
            arguments: serde_json::Value::Null,
        };
        let t = Transcript {
            events: vec![
                event(Body::Answer("a".repeat(5)), None),
                event(call, None),
                event(Body::Answer("b".repeat(6)), None),
            ],
            ..Transcript::default()
        };
        let arrivals = Arrivals::new(&t, NonZeroU64::new(4));
        let at = |at| arrivals.chunk_end(Channel::Answer, Chars(at)).0;
        assert_eq!([3, 5, 6, 10].map(at), [4, 5, 9, 11]);
    }

    #[test]
    fn delivered_is_the_end_of_the_chunk() {
        let at = |timed, chunks, at| {
            let t = transcript(timed);
            let arrivals = Arrivals::new(&t, NonZeroU64::new(chunks));
            arrivals.chunk_end(Channel::Reasoning, Chars(at)).0
        };
        assert_eq!(at(true, 0, 3), 5, "the recorded chunk");
        assert_eq!(at(false, 0, 3), 3, "no times, no chunks");
        assert_eq!(at(false, 2, 3), 4, "chunks begin anew after the answer");
        assert_eq!(at(false, 4, 7), 7, "the last chunk is short");
        assert_eq!(at(false, 4, 1), 2, "and so is the one that the answer ends");
    }
}
