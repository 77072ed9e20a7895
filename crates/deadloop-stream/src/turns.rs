//! [`TurnFinder`]: derives the turns of a live run whose stream does not report them.
//!
//! The rule is the same as in [`stream`](crate::stream()).

use deadloop_detect::{Alarm, Event};

/// Finder of turns that the stream does not report. They begin with model output after a result, a user message or the
/// beginning.
///
/// A live stream shows only later whether it is a run (with a call, a result or a user message), and whether its turns
/// are recorded. So the first turn begins with the first output, but alarms do not count it before the stream proves to
/// be a run.
#[derive(Debug)]
pub(crate) struct TurnFinder {
    /// Whether the next output begins a turn.
    begins_next: bool,
    /// Whether the stream has turns of its own.
    reported: bool,
    /// Whether a call, a result or a user message came.
    run: bool,
    /// Whether a turn was derived.
    derived: bool,
}

impl TurnFinder {
    /// Returns the turns of a new stream. With `objects`, the events come as objects of an API. Without, the stream is
    /// plain text, which is one answer.
    pub(crate) fn new(objects: bool) -> Self {
        Self {
            begins_next: objects,
            reported: !objects,
            run: false,
            derived: false,
        }
    }

    /// Returns whether a turn begins before this event.
    pub(crate) fn begins(&mut self, event: &Event<'_>) -> bool {
        let output = match event {
            Event::Text(_, text) => !text.is_empty(),
            Event::Call { .. } => true,
            _ => false,
        };
        let begins = output && self.begins_next && !self.reported;
        match event {
            Event::Turn { .. } => self.reported = true,
            Event::Result { .. } | Event::User(_) => self.begins_next = true,
            _ if output => self.begins_next = false,
            _ => {}
        }
        self.run |= matches!(
            event,
            Event::Call { .. } | Event::Result { .. } | Event::User(_)
        );
        self.derived |= begins;
        begins
    }

    /// Removes the derived turn from an alarm if the stream has not proved to be a run.
    pub(crate) fn settle(&self, alarm: &mut Alarm) {
        if self.derived && !self.run {
            alarm.turns.0 = alarm.turns.0.saturating_sub(1);
        }
    }
}
