//! A transcript of the corpus being built, with its labels and its split.

use std::collections::BTreeMap;

use deadloop_corpus::plant::{Planted, Rng};
use deadloop_corpus::{Body, Entry, Place, RecordedEvent, Transcript};
use serde_json::{Map, Value, json};

use crate::hard::Lang;

/// A transcript and what is true about it.
pub(crate) struct Item {
    pub(crate) entry: Entry,
    pub(crate) labels: Vec<Label>,
}

/// A row of labels.csv.
#[derive(Clone, Debug, Default)]
pub(crate) struct Label {
    pub(crate) class: String,
    pub(crate) kind: String,
    pub(crate) channel: String,
    pub(crate) start: Option<u64>,
    pub(crate) onset: Option<u64>,
    pub(crate) earliest: Option<u64>,
    pub(crate) end: Option<u64>,
    pub(crate) period: Option<u64>,
    pub(crate) by: String,
    pub(crate) note: String,
}

impl Label {
    /// Healthy text, known to be so because of how it was made.
    pub(crate) fn clean(channel: &str) -> Self {
        Self {
            class: "clean".to_owned(),
            channel: channel.to_owned(),
            by: "construction".to_owned(),
            ..Self::default()
        }
    }

    /// A planted loop.
    pub(crate) fn planted(kind: &str, channel: &str, planted: &Planted) -> Self {
        Self {
            class: "loop".to_owned(),
            kind: kind.to_owned(),
            channel: channel.to_owned(),
            start: Some(planted.start as u64),
            onset: Some(planted.onset as u64),
            period: Some(planted.period as u64),
            by: "planted".to_owned(),
            ..Self::default()
        }
    }
}

/// What a made transcript is, its text aside.
pub(crate) struct Made<'a> {
    pub(crate) id: String,
    pub(crate) model: &'a str,
    pub(crate) group: String,
    pub(crate) lang: &'a str,
    pub(crate) meta: Value,
}

impl Made<'_> {
    /// A transcript without chunk times: its text came from no stream.
    pub(crate) fn item(self, texts: Vec<Body>, labels: Vec<Label>, split: &str) -> Item {
        let finish = Body::Finish { reason: None };
        let bodies = texts.into_iter().chain([finish]);
        let transcript = Transcript {
            id: self.id,
            model: self.model.to_owned(),
            profile: None,
            group: Some(self.group),
            lang: Some(self.lang.to_owned()),
            meta: object(self.meta),
            events: bodies.map(RecordedEvent::of).collect(),
        };
        let entry = Entry {
            transcript,
            labels: None,
            rest: Map::new(),
            split: Some(split.to_owned()),
            place: Place::whole("made"),
        };
        Item { entry, labels }
    }
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => Map::from_iter([("value".to_owned(), other)]),
    }
}

/// `reasoning` or `answer`.
pub(crate) fn body(channel: &str, text: String) -> Body {
    match channel {
        "reasoning" => Body::Reasoning(text),
        _ => Body::Answer(text),
    }
}

/// Deals groups out to the splits, three in ten to `test`; whatever shares a group shares its split.
pub(crate) struct Splits(BTreeMap<String, &'static str>);

impl Splits {
    pub(crate) fn deal(groups: impl IntoIterator<Item = String>, rng: &mut Rng) -> Self {
        let unique: std::collections::BTreeSet<String> = groups.into_iter().collect();
        let mut groups: Vec<String> = unique.into_iter().collect();
        rng.shuffle(&mut groups);
        let test = groups.len() * 3 / 10;
        let dealt = groups.into_iter().enumerate();
        Self(
            dealt
                .map(|(at, group)| (group, if at < test { "test" } else { "dev" }))
                .collect(),
        )
    }

    pub(crate) fn of(&self, group: &str) -> &'static str {
        self.0.get(group).copied().unwrap_or("dev")
    }
}

/// Where an onset lies, as the tables of the corpus have it.
#[derive(Clone, Copy)]
pub(crate) struct Bucket {
    pub(crate) name: &'static str,
    low: usize,
    high: usize,
}

/// The bounds leave room for a cut that moves back to the end of a sentence.
pub(crate) const BUCKETS: [Bucket; 3] = [
    Bucket {
        name: "under-2000",
        low: 700,
        high: 1950,
    },
    Bucket {
        name: "2000-5000",
        low: 2450,
        high: 4950,
    },
    Bucket {
        name: "over-5000",
        low: 5450,
        high: 9000,
    },
];

impl Bucket {
    /// An onset to ask for.
    pub(crate) fn onset(self, rng: &mut Rng) -> usize {
        rng.between(self.low, self.high)
    }
}

/// What `meta` says of a planted loop, besides its source.
pub(crate) fn planted_meta(source: &str, kind: &str, bucket: Bucket, extra: &Value) -> Value {
    json!({"source": source, "tag": format!("loop-{kind}"), "onset": bucket.name, "made": extra})
}

/// The tag of a language as it stands in transcripts.
pub(crate) fn lang_of(tag: &str) -> Option<Lang> {
    Lang::ALL.into_iter().find(|lang| lang.tag() == tag)
}
