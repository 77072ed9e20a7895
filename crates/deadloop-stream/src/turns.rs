//! [`TurnFinder`]: derives turns of a live run that the stream does not report.
//!
//! The rule is that of [`stream`](crate::stream()).

use deadloop_detect::{Alarm, Event};

/// Finder of turns that the stream does not report. Such a turn begins with the first model output, and with the first
/// after a result or a user message.
///
/// Only a call, a result or a user message shows that a live stream is a run. So the first output always begins a turn,
/// but alarms do not count that turn until the stream proves to be a run.
#[derive(Debug)]
pub(crate) struct TurnFinder {
    /// Whether the next output begins a turn.
    next_output_begins_turn: bool,
    /// Whether the stream marks the beginning of each turn.
    reported: bool,
    /// Whether a call, a result or a user message has arrived.
    is_run: bool,
    /// Whether a turn was derived in this stream.
    derived: bool,
}

impl TurnFinder {
    /// Returns the finder for a new stream. `has_objects` is false for plain text, which is one answer without turns.
    pub(crate) fn new(has_objects: bool) -> Self {
        Self {
            next_output_begins_turn: has_objects,
            reported: !has_objects,
            is_run: false,
            derived: false,
        }
    }

    /// Returns whether a derived turn begins before this event.
    pub(crate) fn begins_turn(&mut self, event: &Event<'_>) -> bool {
        let output = match event {
            Event::Text(_, text) => !text.is_empty(),
            Event::Call { .. } => true,
            _ => false,
        };
        let begins = output && self.next_output_begins_turn && !self.reported;
        match event {
            Event::Turn { .. } => self.reported = true,
            Event::Result { .. } | Event::User(_) => self.next_output_begins_turn = true,
            _ if output => self.next_output_begins_turn = false,
            _ => {}
        }
        self.is_run |= matches!(
            event,
            Event::Call { .. } | Event::Result { .. } | Event::User(_)
        );
        self.derived |= begins;
        begins
    }

    /// Removes the derived turn from an alarm's count, unless the stream has proved to be a run.
    pub(crate) fn correct_turn_count(&self, alarm: &mut Alarm) {
        if self.derived && !self.is_run {
            alarm.turns.0 = alarm.turns.0.saturating_sub(1);
        }
    }
}
