//! Writing a transcript back: known fields in a fixed order, what was kept after them.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};

use crate::{Body, Entry, Event};

/// An entry as one JSON object. Fields without a value are left out.
pub(crate) struct Line<'a>(pub(crate) &'a Entry);

impl Serialize for Line<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Entry {
            transcript,
            labels,
            rest,
            ..
        } = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("id", &transcript.id)?;
        map.serialize_entry("model", &transcript.model)?;
        optional(&mut map, "profile", transcript.profile.as_ref())?;
        optional(&mut map, "group", transcript.group.as_ref())?;
        optional(&mut map, "lang", transcript.lang.as_ref())?;
        if !transcript.meta.is_empty() {
            map.serialize_entry("meta", &transcript.meta)?;
        }
        map.serialize_entry("events", &transcript.events)?;
        optional(&mut map, "labels", labels.as_ref())?;
        all(&mut map, rest)?;
        map.end()
    }
}

/// The events as JSON text.
#[cfg(feature = "parquet")]
pub(crate) fn events_json(events: &[Event]) -> serde_json::Result<String> {
    serde_json::to_string(events)
}

/// As it stands in a transcript.
impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        body(&mut map, &self.body)?;
        if let Some(t_ms) = self.t_ms {
            map.serialize_entry("t_ms", &number(t_ms))?;
        }
        optional(&mut map, "tokens", self.tokens.as_ref())?;
        all(&mut map, &self.rest)?;
        map.end()
    }
}

fn body<M: SerializeMap>(map: &mut M, body: &Body) -> Result<(), M::Error> {
    match body {
        Body::Reasoning(text) => text_event(map, "reasoning", text),
        Body::Answer(text) => text_event(map, "answer", text),
        Body::ToolCall {
            id,
            name,
            arguments,
        } => {
            map.serialize_entry("type", "tool_call")?;
            optional(map, "id", id.as_ref())?;
            map.serialize_entry("name", name)?;
            optional(
                map,
                "arguments",
                Some(arguments).filter(|value| !value.is_null()),
            )
        }
        Body::ToolResult { id, content, error } => {
            map.serialize_entry("type", "tool_result")?;
            optional(map, "id", id.as_ref())?;
            map.serialize_entry("content", content)?;
            map.serialize_entry("error", error)
        }
        Body::Turn => map.serialize_entry("type", "turn"),
        Body::Finish { reason } => {
            map.serialize_entry("type", "finish")?;
            optional(map, "reason", reason.as_ref())
        }
    }
}

fn text_event<M: SerializeMap>(map: &mut M, kind: &str, text: &str) -> Result<(), M::Error> {
    map.serialize_entry("type", kind)?;
    map.serialize_entry("text", text)
}

/// Whole milliseconds are written as they were read, without a decimal point.
fn number(t_ms: f64) -> Value {
    const EXACT: f64 = (1_u64 << 53) as f64;
    if t_ms.fract() == 0.0 && t_ms.abs() < EXACT {
        Value::from(t_ms as i64)
    } else {
        Value::from(t_ms)
    }
}

fn optional<M: SerializeMap, T: Serialize>(
    map: &mut M,
    name: &str,
    value: Option<&T>,
) -> Result<(), M::Error> {
    match value {
        Some(value) => map.serialize_entry(name, value),
        None => Ok(()),
    }
}

fn all<M: SerializeMap>(map: &mut M, fields: &Map<String, Value>) -> Result<(), M::Error> {
    fields
        .iter()
        .try_for_each(|(name, value)| map.serialize_entry(name, value))
}
