//! [`TurnTokens`]: tokens that the turns of a run read and wrote.

use deadloop_corpus::{Body, RecordedEvent};
use serde::{Deserialize, Serialize};

/// The token counts of one turn of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TurnTokens {
    /// The number of tokens read by the model, including cached ones.
    pub read: u64,
    /// The number of tokens written by the model.
    pub written: u64,
    /// The part of `read` that came from a cache.
    pub cached: u64,
}

impl TurnTokens {
    /// Returns the token counts of a turn's event. `None` if the event is not a turn, or records neither tokens read
    /// nor written.
    pub fn from_event(event: &RecordedEvent) -> Option<Self> {
        if !matches!(event.body, Body::Turn) {
            return None;
        }
        let (read, written) = (event.count("tokens_in"), event.count("tokens_out"));
        read.or(written).map(|_| Self {
            read: read.unwrap_or(0),
            written: written.unwrap_or(0),
            cached: event.count("cached").unwrap_or(0),
        })
    }

    /// Returns the sum of tokens read and written.
    pub fn all(&self) -> u64 {
        self.read.saturating_add(self.written)
    }
}

/// A running sum of the tokens of turns.
#[derive(Clone, Copy, Debug)]
pub struct TokenSum {
    /// The tokens of the ended turns. `None` once a turn had no count.
    ended: Option<u64>,
    /// The tokens of the current turn. `None` if it has no count.
    current: Option<u64>,
}

impl TokenSum {
    /// Returns a sum of zero. `None` if no turn in `events` records its tokens.
    pub fn from_events(events: &[RecordedEvent]) -> Option<Self> {
        let has_tokens = |event: &RecordedEvent| turn_total(event).is_some();
        events.iter().any(has_tokens).then_some(Self {
            ended: Some(0),
            current: Some(0),
        })
    }

    /// Adds an event of the run to the sum.
    pub fn take(&mut self, event: &RecordedEvent) {
        if matches!(event.body, Body::Turn) {
            self.ended = self.through();
            self.current = turn_total(event);
        }
    }

    /// Returns the tokens of all turns before the current one.
    pub fn before(&self) -> Option<u64> {
        self.ended
    }

    /// Returns the tokens of all turns up to and including the current one.
    pub fn through(&self) -> Option<u64> {
        Some(self.ended?.saturating_add(self.current?))
    }
}

/// Returns the sum of tokens that a turn read and wrote. `None` if the event records neither.
fn turn_total(event: &RecordedEvent) -> Option<u64> {
    Some(TurnTokens::from_event(event)?.all())
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn turn(fields: &[(&str, u64)]) -> RecordedEvent {
        let mut event = RecordedEvent::new(Body::Turn);
        for (name, n) in fields {
            event.rest.insert((*name).to_owned(), Value::from(*n));
        }
        event
    }

    #[test]
    fn turns_add_up_until_one_does_not_say() {
        let events = [
            turn(&[("tokens_in", 10), ("tokens_out", 2)]),
            turn(&[("tokens_in", 20)]),
            turn(&[]),
            turn(&[("tokens_out", 1)]),
        ];
        let beyond = turn(&[("tokens_in", u64::MAX), ("tokens_out", 1 << 50)]);
        assert_eq!(TurnTokens::from_event(&beyond), None);
        let mut spent = TokenSum::from_events(&events).unwrap();
        let mut told = Vec::new();
        for event in &events {
            spent.take(event);
            told.push((spent.before(), spent.through()));
        }
        let known = [
            (Some(0), Some(12)),
            (Some(12), Some(32)),
            (Some(32), None),
            (None, None),
        ];
        assert_eq!(told, known);
        assert!(TokenSum::from_events(&events[2..3]).is_none());
    }
}
