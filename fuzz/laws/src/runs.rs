//! Laws of run detectors.
//!
//! The input is `detector, length of the parameter bytes, parameter bytes, events of two bytes each`.

use deadloop_corpus::{Body, RecordedEvent, Transcript};
use deadloop_detect::harness::{DETECTORS, Detector, Measurement, Member, UNIT_CHARS};
use deadloop_detect::{Alarm, Guard, Setting};
use deadloop_replay::{Plan, decide};
use serde_json::{Value, json};

use crate::members::member;

/// Checks the detector that the first byte selects. Its alarm is the same live and in a replay, and later events do not
/// change the alarm.
pub fn runs(data: &[u8]) {
    let [which, length, rest @ ..] = data else {
        return;
    };
    let reads = |detector: &&'static Detector| matches!(detector.measure, Measurement::Run(..));
    let all: Vec<&Detector> = DETECTORS.iter().copied().filter(reads).collect();
    let (params, rest) = rest.split_at(rest.len().min(usize::from(*length)));
    let Some(member) = member(all[usize::from(*which) % all.len()], params) else {
        return;
    };
    let events: Vec<RecordedEvent> = rest
        .chunks_exact(2)
        .map(|two| event(two[0], two[1]))
        .collect();
    // Turns are recorded from the beginning on, so that none is put in where a run is cut.
    let begun = RecordedEvent::new(Body::Turn);
    let events: Vec<RecordedEvent> = [begun].into_iter().chain(events).collect();
    let alarm = live(&member, &run(&events));
    assert_eq!(replayed(&member, &run(&events)), alarm.as_ref().map(told));
    let Some(alarm) = alarm else { return };
    assert!(alarm.onset <= alarm.exact, "{alarm:?}");
    assert!(alarm.unit.chars().count() <= UNIT_CHARS, "{alarm:?}");
    // An alarm at the end of the stream comes with the event after the last one that is recorded.
    let upto = usize::try_from(alarm.event).map_or(events.len(), |event| event + 1);
    let upto = upto.min(events.len());
    assert_eq!(live(&member, &run(&events[..upto])).as_ref(), Some(&alarm));
}

/// Returns an event. There are few tools, arguments, results, ids and agents, so that many events repeat.
fn event(what: u8, which: u8) -> RecordedEvent {
    let of = |texts: &[&str]| texts[usize::from(which) % texts.len()].to_owned();
    let id = (which >> 4 != 15).then(|| format!("c{}", which >> 4));
    let body = match what % 8 {
        0..=2 => Body::ToolCall {
            id,
            name: of(&["ls", "bash", "wait"]),
            arguments: match which & 4 {
                0 => Value::String(of(&[r#"{"a":1,"b":2}"#, r#"{"b":2,"a":1}"#, " ls ", "{"])),
                _ => json!({"a": which & 3}),
            },
        },
        3 | 4 => Body::ToolResult {
            id,
            content: of(&["12:30:05", "12:31:00", "no", ""]),
            error: [None, Some(false), Some(true), Some(true)][usize::from(which >> 2 & 3)],
        },
        5 => Body::Turn,
        6 => Body::Answer(of(&[" done", "done ", "\n", ""])),
        _ => Body::User("go on".into()),
    };
    let mut event = RecordedEvent::new(body);
    if event.body == Body::Turn && which & 1 == 1 {
        let agent = Value::String(of(&["x", "y", "z", "w", "v"]));
        event.rest.insert("agent".into(), agent);
    }
    event
}

fn run(events: &[RecordedEvent]) -> Transcript {
    Transcript {
        events: events.to_vec(),
        ..Transcript::default()
    }
}

fn live(member: &Member, run: &Transcript) -> Option<Alarm> {
    let members = vec![member.clone()];
    let mut guard = Guard::new(&Setting { members }).expect("it reads runs");
    let mut events = run.stream();
    events.find_map(|(_, event)| guard.push(&event).into_alarm())
}

/// Returns the fields that a live alarm shares with the stop of a replay.
fn told(alarm: &Alarm) -> (u64, u64, u64, &'static str) {
    let Alarm { calls, turns, .. } = alarm;
    (alarm.event, calls.0, turns.0, alarm.kind.name())
}

fn replayed(member: &Member, run: &Transcript) -> Option<(u64, u64, u64, &'static str)> {
    let mut plan = Plan::default();
    let members = vec![member.clone()];
    plan.add_setting(&Setting { members });
    let record = decide(&plan, run, None);
    let stop = record.blocks[0].stop(&[])?;
    let seen = stop.exact.seen;
    let event = stop.exact.place.event;
    Some((event, seen.tools.0, seen.turns.0, stop.kind.name()))
}
