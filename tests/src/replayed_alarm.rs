//! The same text three ways: live, replayed, as a cell of a sweep.

use deadloop_corpus::{Body, RecordedEvent, Transcript};
use deadloop_detect::{Alarm, Channel, Guard, PushResult, Setting};
use deadloop_replay::{Plan, Record, Stop, decide};

/// What an alarm says, however it was reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayedAlarm {
    /// The channel.
    pub channel: Channel,
    /// Exact position, chars.
    pub at: u64,
    /// Kind of loop.
    pub kind: &'static str,
    /// Which member fired.
    pub member: usize,
}

impl From<&Stop> for ReplayedAlarm {
    fn from(stop: &Stop) -> Self {
        let at = stop.exact.seen.count(stop.channel);
        Self {
            channel: stop.channel,
            at,
            kind: stop.kind.name(),
            member: stop.member,
        }
    }
}

/// A transcript of pieces, one event each.
pub fn transcript(pieces: &[(Channel, String)]) -> Transcript {
    let event = |(channel, text): &(Channel, String)| {
        let body = match channel {
            Channel::Reasoning => Body::Reasoning(text.clone()),
            _ => Body::Answer(text.clone()),
        };
        RecordedEvent {
            body,
            ..RecordedEvent::default()
        }
    };
    let events = pieces.iter().map(event).collect();
    Transcript {
        id: "t".into(),
        model: "m".into(),
        events,
        ..Transcript::default()
    }
}

/// Through the live guard, in chunks of `size` chars.
pub fn live(setting: &Setting, pieces: &[(Channel, String)], size: usize) -> Option<ReplayedAlarm> {
    alarm(setting, pieces, size).map(|alarm| ReplayedAlarm {
        channel: alarm.channel,
        at: alarm.exact.count(),
        kind: alarm.kind.name(),
        member: alarm.member,
    })
}

/// The whole alarm of the live guard, as if it had been told at once: what no chunk changes.
pub fn alarm(setting: &Setting, pieces: &[(Channel, String)], size: usize) -> Option<Alarm> {
    alarm_of(
        &mut Guard::new(setting).expect("it reads text"),
        pieces,
        size,
    )
}

/// The same of this guard.
pub fn alarm_of(guard: &mut Guard, pieces: &[(Channel, String)], size: usize) -> Option<Alarm> {
    for (channel, text) in pieces {
        let chars: Vec<char> = text.chars().collect();
        for chunk in chars.chunks(size.max(1)) {
            let chunk: String = chunk.iter().collect();
            let lane = channel.text().expect("a channel of text");
            let PushResult { decision, warnings } = guard.push_text(lane, &chunk);
            // What only warns is told as a replay tells it.
            let stopped = decision.into_alarm();
            if let Some(mut a) = stopped.clone().or_else(|| warnings.into_iter().next()) {
                assert!(a.exact <= a.delivered && a.delivered.since(a.exact) < size as u64);
                let again = guard.push_text(lane, &chunk);
                assert_eq!(again.alarm(), stopped.as_ref(), "one alarm a guard");
                (a.delivered, a.event) = (a.exact, 0);
                return Some(a);
            }
        }
    }
    None
}

/// Through a replay of this one setting.
pub fn replay(setting: &Setting, pieces: &[(Channel, String)]) -> Option<ReplayedAlarm> {
    let mut plan = Plan::default();
    let cell = plan.add_setting(setting);
    cell_of(&plan, &decide(&plan, &transcript(pieces), None), cell)
}

/// One cell of a record.
pub fn cell_of(plan: &Plan, record: &Record, cell: usize) -> Option<ReplayedAlarm> {
    let cell = plan.cell(cell);
    record.blocks[cell.block]
        .stop(&cell.at)
        .map(ReplayedAlarm::from)
}
