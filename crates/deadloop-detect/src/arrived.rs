//! [`Arrived`]: the position in a stream, for detectors that read every event.

use crate::fact::{Beat, Bound, Clock, Fact};
use crate::stream::{Calls, Chars, Event, Kind, TextChannel, Turns, Units};

/// Counts what arrives.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Arrived {
    events: u64,
    calls: Calls,
    turns: Turns,
    chars: Chars,
}

impl Arrived {
    /// Takes the next event.
    pub(crate) fn see(&mut self, event: &Event<'_>) {
        self.events += 1;
        match event {
            Event::Text(TextChannel::Answer, text) => self.chars = self.chars + Chars::of(text),
            Event::Call { .. } => self.calls = self.calls + Calls(1),
            Event::Turn { .. } => self.turns = self.turns + Turns(1),
            _ => {}
        }
    }

    /// Calls so far.
    pub(crate) fn calls(&self) -> Calls {
        self.calls
    }

    /// Chars of the answer so far.
    pub(crate) fn chars(&self) -> Chars {
        self.chars
    }

    /// A fact that is known at the event that was just seen.
    pub(crate) fn fact(
        &self,
        (kind, check): (Kind, &'static str),
        bounds: Vec<Bound>,
        (onset, period): (Units, Units),
        unit: String,
    ) -> Fact {
        let at = self.events.saturating_sub(1);
        Fact {
            at,
            until: at,
            clock: Clock::Event(Beat {
                calls: self.calls,
                turns: self.turns,
                chars: self.chars,
            }),
            kind,
            bounds,
            asked: Vec::new(),
            check,
            onset,
            period,
            copies: Bound::Fixed(1),
            unit: unit.chars().take(crate::fact::UNIT_CHARS).collect(),
        }
    }
}
