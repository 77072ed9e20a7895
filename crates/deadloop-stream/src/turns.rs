//! [`Turns`]: turns for a live run whose stream has none, by the rule of [`stream`](crate::stream()).

use deadloop_detect::{Alarm, Event};

/// Finds where a turn begins that nobody recorded: before output of the model that follows a result, a message of a user
/// or the beginning.
///
/// A replay knows the whole recording, and a live stream does not: whether it is a run, that is whether a call, a result
/// or a message of a user comes at all, and whether turns are recorded. So the first turn begins with the first output,
/// but is not counted in alarms before it is known that there is a run.
#[derive(Debug)]
pub(crate) struct Turns {
    /// Output begins a turn.
    fresh: bool,
    /// The stream has turns of its own.
    recorded: bool,
    /// A call, a result or a message of a user came.
    run: bool,
    /// A turn was begun here.
    begun: bool,
}

impl Turns {
    /// `objects`: events come as objects of some API; plain text is one answer.
    pub(crate) fn new(objects: bool) -> Self {
        Self {
            fresh: objects,
            recorded: !objects,
            run: false,
            begun: false,
        }
    }

    /// Whether a turn begins before this event.
    pub(crate) fn begins(&mut self, event: &Event<'_>) -> bool {
        let output = match event {
            Event::Text(_, text) => !text.is_empty(),
            Event::Call { .. } => true,
            _ => false,
        };
        let begins = output && self.fresh && !self.recorded;
        match event {
            Event::Turn { .. } => self.recorded = true,
            Event::Result { .. } | Event::User(_) => self.fresh = true,
            _ if output => self.fresh = false,
            _ => {}
        }
        self.run |= matches!(
            event,
            Event::Call { .. } | Event::Result { .. } | Event::User(_)
        );
        self.begun |= begins;
        begins
    }

    /// Takes away from an alarm the turn of what is no run so far.
    pub(crate) fn settle(&self, alarm: &mut Alarm) {
        if self.begun && !self.run {
            alarm.turns.0 = alarm.turns.0.saturating_sub(1);
        }
    }
}
