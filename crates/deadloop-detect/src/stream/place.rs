//! [`EventPlace`]: where in a stream an event is; [`EventPlaces`] counts them.

use super::{Calls, Chars, Event, TextChannel, Turns};

/// Where in a stream an event is. Whoever runs meters counts, once for all of them, and hands it over with the event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventPlace {
    /// The number of the event, from 0.
    pub event: u64,
    /// Calls issued by then, the event's own included.
    pub calls: Calls,
    /// Turns begun before the event: at the beginning of a turn, those that have ended.
    pub turns: Turns,
    /// Chars of the answer by then, the event's own included.
    pub answer: Chars,
}

/// Counts the places of a stream's events, from the first on.
#[derive(Clone, Copy, Debug, Default)]
pub struct EventPlaces(EventPlace);

impl EventPlaces {
    /// The place of the next event.
    pub fn of(&mut self, event: &Event<'_>) -> EventPlace {
        let mut here = self.0;
        match event {
            Event::Text(TextChannel::Answer, text) => here.answer = here.answer + Chars::of(text),
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
