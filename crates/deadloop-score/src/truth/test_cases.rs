//! Cases for unit tests.

use deadloop_replay::corpus::{Body, CopyKeys, RecordedEvent};

use super::{Case, Class, Timeline, Truth};

/// Returns a short answer of model m without spans. Cases with different ids have different texts. Without a `class`,
/// the case has no label.
pub(crate) fn case(id: &str, class: Option<Class>) -> Case {
    Case {
        id: id.into(),
        model: "m".into(),
        task: None,
        profile: None,
        group: None,
        lang: None,
        split: None,
        source: None,
        by: Vec::new(),
        timeline: answer(1),
        timed: false,
        truth: class.map(|class| Truth {
            class,
            spans: Vec::new(),
            channels: Vec::new(),
            reviewed: false,
        }),
        text: "x".into(),
        copied: CopyKeys {
            text: id.bytes().fold(7, |key, byte| key * 31 + u64::from(byte)),
            calls: None,
        },
    }
}

/// Returns the timeline of an answer of `chars` chars in one piece.
pub(crate) fn answer(chars: usize) -> Timeline {
    Timeline::from_events(&[RecordedEvent::new(Body::Answer("x".repeat(chars)))])
}
