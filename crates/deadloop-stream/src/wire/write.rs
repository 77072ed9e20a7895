//! Serializer of events in the format of transcripts.
//!
//! Known fields come in a fixed order, then the other fields.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};

use crate::{Body, RecordedEvent};

impl Serialize for RecordedEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        write_body(&mut map, &self.body)?;
        write_metadata(&mut map, self)?;
        map.end()
    }
}

fn write_metadata<M: SerializeMap>(map: &mut M, event: &RecordedEvent) -> Result<(), M::Error> {
    if let Body::ToolResult { error, .. } = &event.body {
        write_optional(map, "error", error.as_ref())?;
    }
    if let Some(t_ms) = event.t_ms {
        map.serialize_entry("t_ms", &time_to_json(t_ms))?;
    }
    write_optional(map, "tokens", event.tokens.as_ref())?;
    write_all(map, &event.rest)
}

fn write_body<M: SerializeMap>(map: &mut M, body: &Body) -> Result<(), M::Error> {
    match body {
        Body::Reasoning(text) => write_text_event(map, "reasoning", text),
        Body::Answer(text) => write_text_event(map, "answer", text),
        Body::ToolCall {
            id,
            name,
            arguments,
        } => {
            map.serialize_entry("type", "tool_call")?;
            write_optional(map, "id", id.as_ref())?;
            map.serialize_entry("name", name)?;
            write_optional(
                map,
                "arguments",
                Some(arguments).filter(|value| !value.is_null()),
            )
        }
        Body::ToolResult { id, content, .. } => {
            map.serialize_entry("type", "tool_result")?;
            write_optional(map, "id", id.as_ref())?;
            map.serialize_entry("content", content)
        }
        Body::Turn => map.serialize_entry("type", "turn"),
        Body::User(text) => write_text_event(map, "user", text),
        Body::System => map.serialize_entry("type", "system"),
        Body::Handoff { from, to } => {
            map.serialize_entry("type", "handoff")?;
            map.serialize_entry("from", from)?;
            map.serialize_entry("to", to)
        }
        Body::Finish { reason } => {
            map.serialize_entry("type", "finish")?;
            write_optional(map, "reason", reason.as_ref())
        }
    }
}

fn write_text_event<M: SerializeMap>(map: &mut M, kind: &str, text: &str) -> Result<(), M::Error> {
    map.serialize_entry("type", kind)?;
    map.serialize_entry("text", text)
}

/// Returns a time as a JSON number. Whole milliseconds are written without a decimal point, as in the input.
fn time_to_json(t_ms: f64) -> Value {
    const MAX_EXACT: f64 = (1_u64 << 53) as f64;
    if t_ms.fract() == 0.0 && t_ms.abs() < MAX_EXACT {
        Value::from(t_ms as i64)
    } else {
        Value::from(t_ms)
    }
}

/// Writes a field of the map, unless its value is `None`.
///
/// # Errors
/// The value cannot be written.
pub fn write_optional<M: SerializeMap, T: Serialize>(
    map: &mut M,
    name: &str,
    value: Option<&T>,
) -> Result<(), M::Error> {
    match value {
        Some(value) => map.serialize_entry(name, value),
        None => Ok(()),
    }
}

/// Writes all given fields to the map.
///
/// # Errors
///
/// A field cannot be written.
pub fn write_all<M: SerializeMap>(map: &mut M, rest: &Map<String, Value>) -> Result<(), M::Error> {
    rest.iter()
        .try_for_each(|(name, value)| map.serialize_entry(name, value))
}
