//! What a record may say, as it stands in a file: every format fills a [`Wire`], and [`Wire::entry`]
//! is the one place where it is checked.
//!
//! Fields are read as JSON values first and checked afterwards, so that a wrong type is told by the
//! field's name and not by a column alone. Fields that are not known here are kept.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::think::{Side, ThinkOptions, split_think};
use crate::{Body, Entry, Event, Place, Problem, Transcript};

/// What is wrong inside a record, before it is known where the record stands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fault {
    what: String,
    expected: String,
}

impl Fault {
    pub(crate) fn new(what: impl Into<String>, expected: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            expected: expected.into(),
        }
    }

    pub(crate) fn at(self, place: Place) -> Problem {
        Problem::new(place, self.what, self.expected)
    }

    /// Says in which part of the record it is.
    pub(crate) fn inside(self, part: &str) -> Self {
        Self {
            what: format!("{part}: {}", self.what),
            ..self
        }
    }

    fn wrong_type(name: &str, value: &Value, expected: &str) -> Self {
        Self::new(format!("`{name}` is {}", kind(value)), expected)
    }

    /// From the JSON reader's own words: syntax errors, and the few types it checks itself.
    pub(crate) fn json(error: &serde_json::Error) -> Self {
        let text = error.to_string();
        let suffix = format!(" at line {} column {}", error.line(), error.column());
        let text = text.strip_suffix(&suffix).unwrap_or(&text);
        let column = error.column();
        if !error.is_data() {
            return Self::new(format!("not JSON: {text} (column {column})"), "one JSON object");
        }
        match text.rsplit_once(", expected ") {
            Some((what, expected)) => Self::new(format!("{what} (column {column})"), expected),
            None => Self::new(format!("{text} (column {column})"), "a transcript"),
        }
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn string(name: &str, value: Value) -> Result<String, Fault> {
    match value {
        Value::String(text) => Ok(text),
        other => Err(Fault::wrong_type(name, &other, "a string")),
    }
}

/// The fields of one JSON object: the known ones by their place in `names`, the others in order.
#[derive(Debug)]
pub(crate) struct Fields<const N: usize> {
    names: &'static [&'static str; N],
    values: [Option<Value>; N],
    rest: Map<String, Value>,
}

impl<const N: usize> Fields<N> {
    fn new(names: &'static [&'static str; N]) -> Self {
        Self {
            names,
            values: [const { None }; N],
            rest: Map::new(),
        }
    }

    /// Notes a field; false where a known one comes twice. Null counts as absent in known fields.
    fn put(&mut self, name: String, value: Value) -> bool {
        match self.names.iter().position(|known| *known == name) {
            Some(_) if value.is_null() => true,
            Some(at) => self.values[at].replace(value).is_none(),
            None => self.rest.insert(name, value).is_none(),
        }
    }

    fn take(&mut self, name: &str) -> Option<Value> {
        let at = self.names.iter().position(|known| *known == name)?;
        self.values[at].take()
    }

    fn take_string(&mut self, name: &str) -> Result<Option<String>, Fault> {
        self.take(name).map(|value| string(name, value)).transpose()
    }

    fn need_string(&mut self, name: &str) -> Result<String, Fault> {
        let missing = || Fault::new(format!("no `{name}`"), format!("`{name}`, a string"));
        self.take_string(name)?.ok_or_else(missing)
    }

    fn take_number<T>(&mut self, name: &str, expected: &str, read: fn(&Value) -> Option<T>) -> Result<Option<T>, Fault> {
        let Some(value) = self.take(name) else {
            return Ok(None);
        };
        let wrong = || match &value {
            Value::Number(n) => Fault::new(format!("`{name}` is {n}"), expected),
            other => Fault::wrong_type(name, other, expected),
        };
        read(&value).map(Some).ok_or_else(wrong)
    }

    /// The unknown fields, and the known ones that nothing asked for.
    fn into_rest(self) -> Map<String, Value> {
        let mut rest = self.rest;
        for (name, value) in self.names.iter().zip(self.values) {
            if let Some(value) = value {
                rest.insert((*name).to_owned(), value);
            }
        }
        rest
    }
}

const RECORD: [&str; 10] = [
    "id", "model", "profile", "group", "lang", "meta", "labels", "text", "reasoning", "answer",
];

/// Whether a record's field has a meaning here.
#[cfg(feature = "parquet")]
pub(crate) fn is_known(name: &str) -> bool {
    RECORD.contains(&name) || name == "events"
}

/// One record: its fields as they came.
#[derive(Debug)]
pub(crate) struct Wire {
    fields: Fields<10>,
    events: Option<Vec<Result<Event, Fault>>>,
}

impl Wire {
    pub(crate) fn empty() -> Self {
        Self {
            fields: Fields::new(&RECORD),
            events: None,
        }
    }

    /// Sets a field other than `events`; false where it was set already.
    pub(crate) fn put(&mut self, name: String, value: Value) -> bool {
        self.fields.put(name, value)
    }

    /// Sets the events from their JSON text.
    #[cfg(feature = "parquet")]
    pub(crate) fn put_events(&mut self, json: &str) -> Result<(), Fault> {
        let events: Events = serde_json::from_str(json).map_err(|e| Fault::json(&e))?;
        self.events = events.0;
        Ok(())
    }

    /// Checks the record and makes an entry of it. `think` gives the options for a model's `text`.
    pub(crate) fn entry(mut self, place: &Place, think: impl Fn(&str) -> ThinkOptions) -> Result<Entry, Fault> {
        let id = self.fields.need_string("id")?;
        if id.is_empty() {
            return Err(Fault::new("`id` is empty", "an id that is unique in its corpus"));
        }
        let model = self.fields.take_string("model")?;
        let model = model.unwrap_or_else(|| "unknown".to_owned());
        let events = self.take_events(think(&model))?;
        let fields = &mut self.fields;
        let transcript = Transcript {
            id,
            model,
            profile: fields.take_string("profile")?,
            group: fields.take_string("group")?,
            lang: fields.take_string("lang")?,
            meta: meta(fields.take("meta"))?,
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

    /// The events: as they stand, or from one of the short forms. `reasoning` and `answer` may stand
    /// together and come in that order; `text` stands alone.
    fn take_events(&mut self, think: ThinkOptions) -> Result<Vec<Event>, Fault> {
        const FORMS: &str = "`events`, or `text`, or `reasoning` and `answer`";
        let text = self.fields.take_string("text")?;
        let reasoning = self.fields.take_string("reasoning")?;
        let answer = self.fields.take_string("answer")?;
        let parts = reasoning.is_some() || answer.is_some();
        match (self.events.take(), text) {
            (Some(events), None) if !parts => numbered(events),
            (None, Some(text)) if !parts => Ok(split_events(&text, think)),
            (None, None) if parts => Ok(two_events(reasoning, answer)),
            (None, None) => Err(Fault::new("no events and no text", FORMS)),
            _ => Err(Fault::new("the text stands here in two ways", format!("one of {FORMS}"))),
        }
    }
}

fn meta(value: Option<Value>) -> Result<Map<String, Value>, Fault> {
    match value {
        None => Ok(Map::new()),
        Some(Value::Object(meta)) => Ok(meta),
        Some(other) => Err(Fault::wrong_type("meta", &other, "an object")),
    }
}

fn numbered(events: Vec<Result<Event, Fault>>) -> Result<Vec<Event>, Fault> {
    let events = events.into_iter().enumerate();
    events
        .map(|(at, event)| event.map_err(|fault| fault.inside(&format!("events[{at}]"))))
        .collect()
}

fn split_events(text: &str, think: ThinkOptions) -> Vec<Event> {
    let pieces = split_think(text, think).into_iter();
    let body = |(side, text)| match side {
        Side::Reasoning => Body::Reasoning(text),
        Side::Answer => Body::Answer(text),
    };
    pieces.map(|piece| Event::of(body(piece))).collect()
}

fn two_events(reasoning: Option<String>, answer: Option<String>) -> Vec<Event> {
    let reasoning = reasoning.map(Body::Reasoning);
    let answer = answer.map(Body::Answer);
    reasoning.into_iter().chain(answer).map(Event::of).collect()
}

impl<'de> Deserialize<'de> for Wire {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Record;
        impl<'de> Visitor<'de> for Record {
            type Value = Wire;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a transcript (a JSON object)")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Wire, A::Error> {
                let mut wire = Wire::empty();
                while let Some(name) = map.next_key::<String>()? {
                    if name == "events" {
                        wire.events = map.next_value::<Events>()?.0;
                        continue;
                    }
                    let value = map.next_value()?;
                    if !wire.put(name, value) {
                        return Err(A::Error::custom("a field stands here twice, expected each field once"));
                    }
                }
                Ok(wire)
            }
        }
        deserializer.deserialize_map(Record)
    }
}

/// The value of `events`: a list, or null for none.
#[derive(Debug)]
struct Events(Option<Vec<Result<Event, Fault>>>);

impl<'de> Deserialize<'de> for Events {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = Events;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of events")
            }

            fn visit_unit<E>(self) -> Result<Events, E> {
                Ok(Events(None))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Events, A::Error> {
                let mut events = Vec::new();
                while let Some(WireEvent(event)) = seq.next_element()? {
                    events.push(event);
                }
                Ok(Events(Some(events)))
            }
        }
        deserializer.deserialize_any(List)
    }
}

const EVENT: [&str; 10] = [
    "type", "text", "t_ms", "tokens", "id", "name", "arguments", "content", "error", "reason",
];

/// One element of `events`, checked at once so that only its event is kept.
struct WireEvent(Result<Event, Fault>);

impl<'de> Deserialize<'de> for WireEvent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = WireEvent;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an event (a JSON object)")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<WireEvent, A::Error> {
                let mut fields = Fields::new(&EVENT);
                while let Some(name) = map.next_key()? {
                    let value = map.next_value()?;
                    if !fields.put(name, value) {
                        return Err(A::Error::custom("a field stands here twice, expected each field once"));
                    }
                }
                Ok(WireEvent(event(fields)))
            }
        }
        deserializer.deserialize_map(Object)
    }
}

fn event(mut fields: Fields<10>) -> Result<Event, Fault> {
    Ok(Event {
        body: body(&mut fields)?,
        t_ms: fields.take_number("t_ms", "milliseconds, a number", Value::as_f64)?,
        tokens: fields.take_number("tokens", "a whole number", Value::as_u64)?,
        rest: fields.into_rest(),
    })
}

fn body(fields: &mut Fields<10>) -> Result<Body, Fault> {
    const TYPES: &str = "reasoning, answer, tool_call, tool_result, turn or finish";
    match fields.need_string("type")?.as_str() {
        "reasoning" => Ok(Body::Reasoning(fields.need_string("text")?)),
        "answer" => Ok(Body::Answer(fields.need_string("text")?)),
        "tool_call" => Ok(Body::ToolCall {
            id: fields.take_string("id")?,
            name: fields.need_string("name")?,
            arguments: fields.take("arguments").unwrap_or(Value::Null),
        }),
        "tool_result" => tool_result(fields),
        "turn" => Ok(Body::Turn),
        "finish" => Ok(Body::Finish {
            reason: fields.take_string("reason")?,
        }),
        other => Err(Fault::new(format!("unknown event type {other:?}"), TYPES)),
    }
}

fn tool_result(fields: &mut Fields<10>) -> Result<Body, Fault> {
    let error = match fields.take("error") {
        None => false,
        Some(Value::Bool(error)) => error,
        Some(other) => return Err(Fault::wrong_type("error", &other, "true or false")),
    };
    Ok(Body::ToolResult {
        id: fields.take_string("id")?,
        content: fields.take_string("content")?.unwrap_or_default(),
        error,
    })
}
