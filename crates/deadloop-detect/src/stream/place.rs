//! [`EventPlace`]: the place of an event. [`EventPlaces`]: a counter of places.

use super::{Calls, Chars, Event, TextChannel, Turns};

/// The place of an event in a stream, counted once for all meters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventPlace {
    /// The number of the event, from 0.
    pub event: u64,
    /// The number of calls so far, the event's own included.
    pub calls: Calls,
    /// The number of turns begun before the event.
    pub turns: Turns,
    /// The number of chars of the answer so far, the event's own included.
    pub answer: Chars,
}

/// A counter of the places of a stream's events.
#[derive(Clone, Copy, Debug, Default)]
pub struct EventPlaces(EventPlace);

impl EventPlaces {
    /// Returns the place of the next event.
    pub fn advance(&mut self, event: &Event<'_>) -> EventPlace {
        let mut here = self.0;
        match event {
            Event::Text(TextChannel::Answer, text) => {
                here.answer = here.answer + Chars::count(text)
            }
            Event::Call { .. } => here.calls = here.calls + Calls(1),
            _ => {}
        }
        self.0 = here;
        self.0.event += 1;
        if let Event::Turn { .. } = event {
            self.0.turns = here.turns + Turns(1);
        }
        here
    }
}
