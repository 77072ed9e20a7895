//! Builds [`Arrivals`] event by event, with running counts of units and tokens.

use std::borrow::Cow;
use std::num::NonZeroU64;

use deadloop_corpus::{Body, RecordedEvent, Transcript};
use deadloop_detect::harness::Cursor;
use deadloop_detect::{Channel, ChannelLengths, Chars, Event as Arriving};

use super::{Arrivals, EventArrival, EventTokens, TextArrival};
use crate::record::Moment;
use crate::tokens::TokenSum;

/// The running counts while events are added.
#[derive(Default)]
struct RunningCounts {
    seen: ChannelLengths,
    /// The channel of the last event, if the next text can continue it.
    last: Option<Channel>,
    /// Tokens so far. `None` once an event has no count.
    tokens: Option<u64>,
    /// Tokens of turns, if the recording counts tokens by turn.
    spent: Option<TokenSum>,
}

impl<'a> Arrivals<'a> {
    /// Builds the arrivals of a transcript. `chunks` is the size in chars of the chunks in which all text is assumed
    /// to have arrived. With `None` the recorded chunks are used.
    #[inline]
    pub(crate) fn new(transcript: &'a Transcript, chunks: Option<NonZeroU64>) -> Self {
        let mut arrivals = Self {
            chunks,
            lanes: Default::default(),
            others: Vec::new(),
        };
        let mut adding = RunningCounts {
            tokens: Some(0),
            spent: TokenSum::from_events(&transcript.events),
            ..RunningCounts::default()
        };
        for (nth, (number, arriving)) in (0..).zip(transcript.stream()) {
            let index = usize::try_from(number).unwrap_or(usize::MAX);
            let Some(event) = transcript.events.get(index) else {
                continue;
            };
            arrivals.take(&mut adding, (number, event), &arriving);
            if matches!(arriving, Arriving::Text(..)) {
                continue;
            }
            let before = index
                .checked_sub(1)
                .and_then(|before| transcript.events.get(before));
            let silent_since = before.and_then(|event| event.t_ms).unwrap_or(0.0);
            arrivals.others.push(EventArrival {
                nth,
                recorded: match arriving {
                    Arriving::Turn { .. } => event.body == Body::Turn,
                    Arriving::Silence(_) | Arriving::Closed => false,
                    _ => true,
                },
                moment: adding.moment((number, event), &arriving, silent_since),
            });
        }
        arrivals
    }

    /// Adds the text, call or turn of an event.
    #[inline]
    fn take(
        &mut self,
        adding: &mut RunningCounts,
        (number, event): (u64, &RecordedEvent),
        arriving: &Arriving<'a>,
    ) {
        match *arriving {
            Arriving::Text(channel, text) => {
                let counted = adding.count(event);
                let text = (channel.into(), Cow::Borrowed(text));
                self.add(adding, (number, event), text, counted);
            }
            Arriving::Call { arguments, .. } => {
                let counted = adding.count(event);
                adding.last = None;
                let text = (Channel::Arguments, arguments.text());
                self.add(adding, (number, event), text, counted);
                adding.last = None;
                adding.seen = adding.seen.plus(Channel::Tools, 1);
            }
            Arriving::Turn { .. } => {
                if let Some(spent) = &mut adding.spent {
                    spent.take(event);
                }
                adding.last = None;
                adding.seen = adding.seen.plus(Channel::Turns, 1);
            }
            Arriving::Result { .. } => adding.last = None,
            _ => {}
        }
    }

    fn add(
        &mut self,
        adding: &mut RunningCounts,
        (number, event): (u64, &RecordedEvent),
        (channel, text): (Channel, Cow<'a, str>),
        tokens: Option<EventTokens>,
    ) {
        if text.is_empty() {
            return;
        }
        let goes_on = adding.last == Some(channel);
        let stretch = (!goes_on).then(|| Chars(adding.seen.count(channel)));
        adding.last = Some(channel);
        let chars = Chars::count(&text);
        adding.seen = adding.seen.plus(channel, chars.0);
        let Some(lane) = self.lane_mut(channel) else {
            return;
        };
        let going_on = lane.arrived.last().map_or(Chars(0), |last| last.stretch);
        lane.pieces.push(text);
        // A call arrives as a whole.
        lane.timed |= event.t_ms.is_some() || channel == Channel::Arguments;
        lane.arrived.push(TextArrival {
            event: number,
            end: Chars(adding.seen.count(channel)),
            chars,
            seen: adding.seen,
            stretch: stretch.unwrap_or(going_on),
            t_ms: event.t_ms,
            tokens,
        });
    }
}

impl RunningCounts {
    /// Returns the moment of an event that is not text, after the event was added. `silent_since` is the time of the
    /// event before it.
    #[inline]
    fn moment(
        &self,
        (number, event): (u64, &RecordedEvent),
        arriving: &Arriving<'_>,
        silent_since: f64,
    ) -> Moment {
        // The end comes after the last event, so it gets a place of its own.
        let (number, offset) = match *arriving {
            Arriving::Call { arguments, .. } => (number, Chars::count(&arguments.text()).0),
            Arriving::Closed => (number + 1, 0),
            _ => (number, 0),
        };
        Moment {
            place: Cursor {
                event: number,
                offset,
            },
            seen: self.seen,
            t_ms: match *arriving {
                // A silence is reported while it lasts.
                Arriving::Silence(millis) => Some(silent_since + millis as f64),
                _ => event.t_ms,
            },
            tokens: self.tokens_by_then(arriving),
        }
    }

    /// Returns the tokens up to an event that is not text. A run that counts tokens by turn counts the turns up to the
    /// current one, and at a turn the turns that ended.
    fn tokens_by_then(&self, arriving: &Arriving<'_>) -> Option<u64> {
        match (self.spent, arriving) {
            (None, _) => self.tokens,
            (Some(spent), Arriving::Turn { .. }) => spent.before(),
            (Some(spent), _) => spent.through(),
        }
    }

    /// Adds the tokens of an event that the model wrote. A tool's result has no tokens, and does not stop the count.
    /// In a run that counts tokens by turn, returns the tokens of the turns up to the current one.
    fn count(&mut self, event: &RecordedEvent) -> Option<EventTokens> {
        if let Some(spent) = self.spent {
            let before = spent.through()?;
            return Some(EventTokens { before, own: 0 });
        }
        let counted = self.tokens.zip(event.tokens);
        let counted = counted.map(|(before, own)| EventTokens { before, own });
        self.tokens = counted.map(EventTokens::through);
        counted
    }
}
