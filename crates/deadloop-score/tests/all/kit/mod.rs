//! Cases and stops for the tests of this crate.

use deadloop_score::Case;
use deadloop_score::replay::corpus::{Body, Entry, Place, RecordedEvent, Transcript};
use deadloop_score::replay::detect::{Channel, Chars, Kind};
use deadloop_score::replay::{BlockDecision, ChannelLengths, Cursor, Moment, Record, Region, Stop};
use serde_json::Value;

/// A transcript of `reasoning` chars, then `answer` chars.
pub(crate) fn case(id: &str, model: &str, group: &str, lengths: (u64, u64), labels: Value) -> Case {
    // Of its own, and not by a number alone: copies of a text are held out together, and count once.
    let letter = |c: char| match c.to_digit(10) {
        Some(digit) => char::from(b'a' + digit as u8),
        None => c,
    };
    let text = |n: u64| -> String {
        let chars = id.chars().map(letter).chain(std::iter::repeat('x'));
        chars.take(n as usize).collect()
    };
    let event = |body| RecordedEvent {
        body,
        ..RecordedEvent::default()
    };
    let transcript = Transcript {
        id: id.into(),
        model: model.into(),
        group: (!group.is_empty()).then(|| group.into()),
        events: vec![
            event(Body::Reasoning(text(lengths.0))),
            event(Body::Answer(text(lengths.1))),
        ],
        ..Transcript::default()
    };
    let place = Place {
        file: std::sync::Arc::new("t.jsonl".into()),
        line: 1,
    };
    let labels = Some(labels);
    let entry = Entry {
        transcript,
        labels,
        rest: Default::default(),
        split: None,
        place,
    };
    let (case, problems) = Case::from_entry(&entry, None, &["group".into()]);
    assert_eq!(problems, [], "{id}");
    case
}

/// A moment in a [`case`]: reasoning comes first.
pub(crate) fn moment(channel: Channel, at: u64, lengths: (u64, u64)) -> Moment {
    let (reasoning, answer) = match channel {
        Channel::Reasoning => (at.min(lengths.0), 0),
        _ => (lengths.0, at.min(lengths.1)),
    };
    let seen = ChannelLengths {
        reasoning: Chars(reasoning),
        answer: Chars(answer),
        ..ChannelLengths::default()
    };
    Moment {
        place: Cursor::default(),
        seen,
        t_ms: None,
        tokens: None,
    }
}

/// A stop whose exact and delivered position are `at` and 7 chars later.
pub(crate) fn stop(channel: Channel, at: u64, kind: Kind, lengths: (u64, u64)) -> Stop {
    Stop {
        channel,
        kind,
        member: 0,
        exact: moment(channel, at, lengths),
        delivered: moment(channel, at + 7, lengths),
    }
}

/// What one block says of a transcript: the settings below `hi` on each axis stop it, or none.
pub(crate) fn record(id: &str, stop: Stop, hi: Option<Vec<u16>>) -> Record {
    let region = |hi: Vec<u16>| Region {
        lo: vec![0; hi.len()],
        hi,
        stop: 0,
    };
    Record {
        transcript: id.into(),
        blocks: vec![BlockDecision {
            stops: vec![stop],
            regions: hi.map(region).into_iter().collect(),
            error: None,
            details: Vec::new(),
        }],
    }
}
