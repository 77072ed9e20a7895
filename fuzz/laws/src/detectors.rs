//! Laws of text detectors: live, in any chunks and replayed, a detector raises the same alarm.
//!
//! The input is `detector, chunking, length of the parameter bytes, parameter bytes, text`.

use deadloop_corpus::{Body, RecordedEvent, Transcript};
use deadloop_detect::harness::{DETECTORS, Detector, Measurement, Member, UNIT_CHARS};
use deadloop_detect::{Alarm, Chars, Guard, Setting, TextChannel, Units};
use deadloop_replay::{Plan, decide};

use crate::members::member;
use crate::text::{chars, chunks, text};

/// Checks the detector that the first byte selects, or the one that `DEADLOOP_DETECTOR` names.
pub fn detectors(data: &[u8]) {
    let all = text_detectors();
    let picked = match std::env::var("DEADLOOP_DETECTOR") {
        Ok(name) => Detector::find(&name).expect("DEADLOOP_DETECTOR names a detector"),
        Err(_) => all[usize::from(data.first().copied().unwrap_or(0)) % all.len()],
    };
    detector(picked, data);
}

/// Returns the detectors of text.
pub fn text_detectors() -> Vec<&'static Detector> {
    let reads = |detector: &&'static Detector| matches!(detector.measure, Measurement::Text(_));
    DETECTORS.iter().copied().filter(reads).collect()
}

/// Checks the laws of one detector.
pub fn detector(detector: &'static Detector, data: &[u8]) {
    let [_, chunking, length, rest @ ..] = data else {
        return;
    };
    let (params, rest) = rest.split_at(rest.len().min(usize::from(*length)));
    let Some(member) = member(detector, params) else {
        return;
    };
    let (member, text) = (&member, text(rest));
    let whole = live(member, &[&text]);
    assert_eq!(live(member, &chunks(&text, *chunking)), whole, "in chunks");
    let by_char = live(member, &chars(&text));
    assert_eq!(by_char, whole, "char by char");
    assert_eq!(
        replayed(member, &text),
        whole.map(|alarm| (alarm.exact.count(), alarm.kind))
    );
}

/// Returns the alarm of a live guard on these chunks, without the position at which its chunk ended.
fn live(member: &Member, chunks: &[&str]) -> Option<Alarm> {
    let mut guard = Guard::new(&Setting {
        members: vec![member.clone()],
    })
    .expect("it reads text");
    let mut before = Chars(0);
    for (i, chunk) in chunks.iter().enumerate() {
        let after = before + Chars::count(chunk);
        if let Some(alarm) = guard.push_text(TextChannel::Answer, chunk).into_alarm() {
            let (first, last) = (Units::from(before), Units::from(after));
            assert!(
                first < alarm.exact && alarm.exact <= last,
                "{alarm:?} in {before}..{after}"
            );
            assert_eq!(alarm.delivered, last);
            assert!(alarm.onset <= alarm.exact, "{alarm:?}");
            assert!(alarm.unit.chars().count() <= UNIT_CHARS, "{alarm:?}");
            let mut later = chunks[i..].iter().take(3);
            assert!(
                later
                    .all(|more| guard.push_text(TextChannel::Answer, more).alarm() == Some(&alarm)),
                "one alarm"
            );
            let mut alarm = alarm;
            (alarm.delivered, alarm.event) = (alarm.exact, 0);
            return Some(alarm);
        }
        before = after;
    }
    None
}

/// Returns the position and the kind of the alarm in a replay.
fn replayed(member: &Member, text: &str) -> Option<(u64, deadloop_detect::Kind)> {
    let mut plan = Plan::default();
    plan.add_setting(&Setting {
        members: vec![member.clone()],
    });
    let transcript = Transcript {
        events: vec![RecordedEvent::new(Body::Answer(text.to_owned()))],
        ..Transcript::default()
    };
    let record = decide(&plan, &transcript, None);
    let stop = record.blocks[0].stop(&[])?;
    Some((stop.exact.seen.answer.0, stop.kind))
}
