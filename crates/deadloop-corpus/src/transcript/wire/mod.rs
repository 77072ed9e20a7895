//! [`WireTranscript`]: the fields of a record as read from a file.
//!
//! Every format fills a [`WireTranscript`], which only [`WireTranscript::into_entry`] checks. Fields are read as JSON values
//! first and checked afterwards, so that a type error names the field and not only a column. Unknown fields are kept.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};
use serde_json::{Map, Value};

use crate::think::{ThinkOptions, split_think};
use crate::{Body, Entry, Place, RecordedEvent, TagSide, Transcript};

mod write;

use deadloop_stream::wire::{CountedValue, EventList, Fields, REPEATED_FIELD, ValueBudget};
pub(crate) use deadloop_stream::wire::{WireFault, WireResult, event_from_object, kind, read_utf8};
pub(crate) use write::write_line;

const FIELD_NAMES: [&str; 10] = [
    "id",
    "model",
    "profile",
    "group",
    "lang",
    "meta",
    "labels",
    "text",
    "reasoning",
    "answer",
];

/// An unchecked record with its fields as they were read.
#[derive(Debug)]
pub(crate) struct WireTranscript {
    fields: Fields<10>,
    events: Option<Vec<WireResult<RecordedEvent>>>,
}

impl WireTranscript {
    pub(crate) fn empty() -> Self {
        Self {
            fields: Fields::new(&FIELD_NAMES),
            events: None,
        }
    }

    /// Converts an object to an unchecked record.
    pub(crate) fn from_object(object: Map<String, Value>) -> WireResult<Self> {
        let mut wire = Self::empty();
        for (name, value) in object {
            match (name.as_str(), value) {
                ("events", Value::Array(events)) => {
                    wire.events = Some(events.into_iter().map(read_event).collect());
                }
                ("events", Value::Null) => {}
                ("events", other) => return Err(WireFault::wrong_type("events", &other, "a list")),
                // The keys of an object are unique.
                (_, value) => {
                    wire.set_field(name, value);
                }
            }
        }
        Ok(wire)
    }

    /// Sets a field other than `events`. Returns `false` if the field was set before.
    pub(crate) fn set_field(&mut self, name: String, value: Value) -> bool {
        self.fields.put(name, value)
    }

    /// Checks the record and converts it to an entry. `think` returns the options for splitting the `text` of a model.
    pub(crate) fn into_entry(
        mut self,
        place: &Place,
        think: impl Fn(&str) -> ThinkOptions,
    ) -> WireResult<Entry> {
        let id = self.fields.need_string("id")?;
        if id.is_empty() {
            return Err(WireFault::new(
                "`id` is empty",
                "an id that is unique in its corpus",
            ));
        }
        let model = self.fields.take_string("model")?;
        let model = model.unwrap_or_else(|| "unknown".to_owned());
        if model == "*" {
            return Err(WireFault::new(
                "`model` is \"*\", which stands for all models together",
                "the name of a model",
            ));
        }
        let events = self.take_events(think(&model))?;
        let fields = &mut self.fields;
        let transcript = Transcript {
            id,
            model,
            profile: fields.take_string("profile")?,
            group: fields.take_string("group")?,
            lang: fields.take_string("lang")?,
            meta: match fields.take("meta") {
                None => Map::new(),
                Some(Value::Object(meta)) => meta,
                Some(other) => return Err(WireFault::wrong_type("meta", &other, "an object")),
            },
            events,
        };
        Ok(Entry {
            transcript,
            labels: fields.take("labels"),
            rest: self.fields.into_rest(),
            split: None,
            place: place.clone(),
        })
    }

    /// Removes the events from the record and returns them. A record may also have a short form: `text`, or `reasoning`
    /// and `answer`.
    fn take_events(&mut self, think: ThinkOptions) -> WireResult<Vec<RecordedEvent>> {
        const FORMS: &str = "`events`, or `text`, or `reasoning` and `answer`";
        let text = self.fields.take_string("text")?;
        let reasoning = self.fields.take_string("reasoning")?;
        let answer = self.fields.take_string("answer")?;
        let parts = reasoning.is_some() || answer.is_some();
        match (self.events.take(), text) {
            (Some(events), None) if !parts => {
                let events = events.into_iter().enumerate();
                let placed = |(at, event): (usize, WireResult<_>)| {
                    event.map_err(|fault| fault.inside(&format!("events[{at}]")))
                };
                events.map(placed).collect()
            }
            (None, Some(text)) if !parts => {
                let pieces = split_think(&text, think).into_iter();
                let event = |(side, text): (TagSide, String)| RecordedEvent::new(side.body(text));
                Ok(pieces.map(event).collect())
            }
            (None, None) if parts => {
                let bodies = [reasoning.map(Body::Reasoning), answer.map(Body::Answer)];
                let bodies = bodies.into_iter().flatten();
                Ok(bodies.map(RecordedEvent::new).collect())
            }
            (None, None) => Err(WireFault::new("no events and no text", FORMS)),
            _ => Err(WireFault::new(
                "the text stands here in two ways",
                format!("one of {FORMS}"),
            )),
        }
    }
}

fn read_event(value: Value) -> WireResult<RecordedEvent> {
    match value {
        Value::Object(object) => event_from_object(object),
        other => Err(WireFault::new(kind(&other), "an event (a JSON object)")),
    }
}

impl<'de> Deserialize<'de> for WireTranscript {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TranscriptVisitor;
        impl<'de> Visitor<'de> for TranscriptVisitor {
            type Value = WireTranscript;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a transcript (a JSON object)")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<WireTranscript, A::Error> {
                let (mut wire, budget) = (WireTranscript::empty(), ValueBudget::default());
                while let Some(name) = map.next_key::<String>()? {
                    if name == "events" {
                        wire.events = map.next_value_seed(EventList(&budget))?;
                        continue;
                    }
                    let value = map.next_value_seed(CountedValue(&budget))?;
                    if !wire.set_field(name, value) {
                        return Err(A::Error::custom(REPEATED_FIELD));
                    }
                }
                Ok(wire)
            }
        }
        deserializer.deserialize_map(TranscriptVisitor)
    }
}
