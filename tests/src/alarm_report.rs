//! [`AlarmReport`]: what an alarm says, however it was reached.

use deadloop_detect::{Alarm, Channel};
use deadloop_replay::Stop;

/// What an alarm says, however it was reached.
#[derive(Clone, Debug, PartialEq)]
pub struct AlarmReport {
    /// Its channel.
    pub channel: Channel,
    /// Its place, in the unit of its channel.
    pub at: u64,
    /// What it is.
    pub kind: &'static str,
    member: usize,
    calls: u64,
    turns: u64,
}

impl AlarmReport {
    /// What can be known while it goes on. A recording that is a run has a turn from its beginning on; before the first
    /// call nobody live knows that it is one.
    #[must_use]
    pub fn live(self) -> Self {
        let turns = if self.calls == 0 { 0 } else { self.turns };
        Self { turns, ..self }
    }
}

impl From<&Alarm> for AlarmReport {
    fn from(alarm: &Alarm) -> Self {
        Self {
            channel: alarm.channel,
            at: alarm.exact.count(),
            kind: alarm.kind.name(),
            member: alarm.member,
            calls: alarm.calls.0,
            turns: alarm.turns.0,
        }
    }
}

impl From<&Stop> for AlarmReport {
    fn from(stop: &Stop) -> Self {
        let seen = stop.exact.seen;
        Self {
            channel: stop.channel,
            at: seen.count(stop.channel),
            kind: stop.kind.name(),
            member: stop.member,
            calls: seen.tools.0,
            turns: seen.turns.0,
        }
    }
}
