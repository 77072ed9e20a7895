//! Construction of [`Arrivals`] event by event, with running counts of units and tokens.

use std::borrow::Cow;
use std::num::NonZeroU64;

use deadloop_corpus::{Body, RecordedEvent, Transcript};
use deadloop_detect::harness::Cursor;
use deadloop_detect::{Channel, ChannelLengths, Chars, Event as StreamEvent};

use super::{Arrivals, EventArrival, EventTokens, TextArrival};
use crate::record::Moment;
use crate::tokens::TokenSum;

/// Running counts of a transcript while its events are added.
#[derive(Default)]
struct RunningCounts {
    seen: ChannelLengths,
    /// The channel of the last event, if the next text can continue its text.
    last: Option<Channel>,
    /// The number of tokens so far. `None` once an event has no count.
    tokens: Option<u64>,
    /// The tokens of turns, if the recording counts tokens per turn.
    turn_tokens: Option<TokenSum>,
}

impl<'a> Arrivals<'a> {
    /// Builds the arrivals of a transcript.
    ///
    /// All text is assumed to arrive in chunks of `chunks` chars. If `None`, the recorded chunks are used.
    #[inline]
    pub(crate) fn new(transcript: &'a Transcript, chunks: Option<NonZeroU64>) -> Self {
        let mut arrivals = Self {
            chunks,
            lanes: Default::default(),
            others: Vec::new(),
        };
        let mut running = RunningCounts {
            tokens: Some(0),
            turn_tokens: TokenSum::from_events(&transcript.events),
            ..RunningCounts::default()
        };
        for (nth, (number, stream_event)) in (0..).zip(transcript.stream()) {
            let index = usize::try_from(number).unwrap_or(usize::MAX);
            let Some(event) = transcript.events.get(index) else {
                continue;
            };
            arrivals.add_event(&mut running, (number, event), &stream_event);
            if matches!(stream_event, StreamEvent::Text(..)) {
                continue;
            }
            let before = index
                .checked_sub(1)
                .and_then(|before| transcript.events.get(before));
            let silent_since = before.and_then(|event| event.t_ms).unwrap_or(0.0);
            arrivals.others.push(EventArrival {
                nth,
                recorded: match stream_event {
                    StreamEvent::Turn { .. } => event.body == Body::Turn,
                    StreamEvent::Silence(_) | StreamEvent::Closed => false,
                    _ => true,
                },
                moment: running.moment((number, event), &stream_event, silent_since),
            });
        }
        arrivals
    }

    /// Adds the text, call or turn of an event.
    #[inline]
    fn add_event(
        &mut self,
        running: &mut RunningCounts,
        (number, event): (u64, &RecordedEvent),
        stream_event: &StreamEvent<'a>,
    ) {
        match *stream_event {
            StreamEvent::Text(channel, text) => {
                let counted = running.count_tokens(event);
                let text = (channel.into(), Cow::Borrowed(text));
                self.add_text(running, (number, event), text, counted);
            }
            StreamEvent::Call { arguments, .. } => {
                let counted = running.count_tokens(event);
                running.last = None;
                let text = (Channel::Arguments, arguments.text());
                self.add_text(running, (number, event), text, counted);
                running.last = None;
                running.seen = running.seen.plus(Channel::Tools, 1);
            }
            StreamEvent::Turn { .. } => {
                if let Some(turn_tokens) = &mut running.turn_tokens {
                    turn_tokens.take(event);
                }
                running.last = None;
                running.seen = running.seen.plus(Channel::Turns, 1);
            }
            StreamEvent::Result { .. } => running.last = None,
            _ => {}
        }
    }

    fn add_text(
        &mut self,
        running: &mut RunningCounts,
        (number, event): (u64, &RecordedEvent),
        (channel, text): (Channel, Cow<'a, str>),
        tokens: Option<EventTokens>,
    ) {
        if text.is_empty() {
            return;
        }
        let continues = running.last == Some(channel);
        let run_start = (!continues).then(|| Chars(running.seen.count(channel)));
        running.last = Some(channel);
        let chars = Chars::count(&text);
        running.seen = running.seen.plus(channel, chars.0);
        let Some(lane) = self.lane_mut(channel) else {
            return;
        };
        let last_start = lane.texts.last().map_or(Chars(0), |last| last.run_start);
        lane.pieces.push(text);
        // A call arrives as a whole.
        lane.timed |= event.t_ms.is_some() || channel == Channel::Arguments;
        lane.texts.push(TextArrival {
            event: number,
            end: Chars(running.seen.count(channel)),
            chars,
            seen: running.seen,
            run_start: run_start.unwrap_or(last_start),
            t_ms: event.t_ms,
            tokens,
        });
    }
}

impl RunningCounts {
    /// Returns the moment of an event other than text that was just added. `silent_since` is the time of the previous
    /// event.
    #[inline]
    fn moment(
        &self,
        (number, event): (u64, &RecordedEvent),
        stream_event: &StreamEvent<'_>,
        silent_since: f64,
    ) -> Moment {
        // The end comes after the last event, so it gets its own place.
        let (number, offset) = match *stream_event {
            StreamEvent::Call { arguments, .. } => (number, Chars::count(&arguments.text()).0),
            StreamEvent::Closed => (number + 1, 0),
            _ => (number, 0),
        };
        Moment {
            place: Cursor {
                event: number,
                offset,
            },
            seen: self.seen,
            t_ms: match *stream_event {
                // A silence is reported while it lasts.
                StreamEvent::Silence(millis) => Some(silent_since + millis as f64),
                _ => event.t_ms,
            },
            tokens: self.tokens_so_far(stream_event),
        }
    }

    /// Returns the number of tokens up to an event other than text.
    ///
    /// If the run counts tokens per turn, these are the tokens of all turns up to the current one. At a new turn, they
    /// are those of the ended turns.
    fn tokens_so_far(&self, stream_event: &StreamEvent<'_>) -> Option<u64> {
        match (self.turn_tokens, stream_event) {
            (None, _) => self.tokens,
            (Some(turn_tokens), StreamEvent::Turn { .. }) => turn_tokens.before(),
            (Some(turn_tokens), _) => turn_tokens.through(),
        }
    }

    /// Adds the tokens of an event that the model wrote, and returns its token counts. Results of tools have no tokens,
    /// and do not end the count.
    ///
    /// If the run counts tokens per turn, returns the tokens of the turns so far.
    fn count_tokens(&mut self, event: &RecordedEvent) -> Option<EventTokens> {
        if let Some(turn_tokens) = self.turn_tokens {
            let before = turn_tokens.through()?;
            return Some(EventTokens { before, own: 0 });
        }
        let counted = self.tokens.zip(event.tokens);
        let counted = counted.map(|(before, own)| EventTokens { before, own });
        self.tokens = counted.map(EventTokens::through);
        counted
    }
}
