//! Writing an event as it is in a transcript: known fields in a fixed order, what was kept after them.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};

use super::plain::{WINDOW, plain, window};
use crate::{Body, RecordedEvent};

/// Writes an event as one JSON object. Fields without a value are left out.
///
/// Long text is escaped here, in a fraction of the time that the JSON writer takes; all else is the JSON writer's.
///
/// # Errors
/// Never but for a value that JSON cannot hold, which no event has.
pub fn write_event(event: &RecordedEvent, out: &mut Vec<u8>) -> serde_json::Result<()> {
    let (kind, id, name, text) = match &event.body {
        Body::Reasoning(text) => ("reasoning", None, "text", text),
        Body::Answer(text) => ("answer", None, "text", text),
        Body::User(text) => ("user", None, "text", text),
        Body::ToolResult { id, content, .. } => ("tool_result", id.as_ref(), "content", content),
        _ => return serde_json::to_writer(out, event),
    };
    out.extend_from_slice(b"{\"type\":\"");
    out.extend_from_slice(kind.as_bytes());
    out.push(b'"');
    for (name, text) in [("id", id), (name, Some(text))] {
        if let Some(text) = text {
            out.push(b',');
            write_text(name, text, out);
        }
    }
    let error = matches!(&event.body, Body::ToolResult { error: Some(_), .. });
    if !error && event.t_ms.is_none() && event.tokens.is_none() && event.rest.is_empty() {
        out.push(b'}')
    } else {
        go_on(out, &About(event))?
    }
    Ok(())
}

/// Writes a field that is a text; `name` has nothing to escape.
pub fn write_text(name: &str, text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":\"");
    escape(text.as_bytes(), out);
    out.push(b'"');
}

/// Ends an object that has fields already with those of another that has some.
///
/// # Errors
/// `more` cannot be written as JSON.
pub fn go_on(out: &mut Vec<u8>, more: &impl Serialize) -> serde_json::Result<()> {
    let at = out.len();
    serde_json::to_writer(&mut *out, more)?;
    out[at] = b',';
    Ok(())
}

/// Writes what is between the quotes of a JSON string, as the JSON writer does.
fn escape(text: &[u8], out: &mut Vec<u8>) {
    out.reserve(text.len());
    let mut text = &text[windows(text, out)..];
    loop {
        let (plain, rest) = text.split_at(plain(text));
        out.extend_from_slice(plain);
        let Some((byte, rest)) = rest.split_first() else {
            return;
        };
        let (escaped, length) = escaped(*byte);
        out.extend_from_slice(&escaped[..length]);
        text = rest;
    }
}

/// Bytes that are put together before they are appended.
const ROOM: usize = 2048;

/// Writes a long text but for its end; how much of it.
fn windows(text: &[u8], out: &mut Vec<u8>) -> usize {
    let mut at = 0;
    if text.len() < 2 * WINDOW {
        return at;
    }
    let (mut room, mut end) = ([0; ROOM], 0);
    while let Some((two, mut special)) = window(&text[at..]) {
        let mut from = 0;
        // More is copied than is meant, which needs no count: what follows stands over it.
        while special != 0 {
            room[end..][..WINDOW].copy_from_slice(&two[from..][..WINDOW]);
            let plain = special.trailing_zeros() as usize;
            special &= special - 1;
            let (escaped, length) = escaped(two[plain]);
            end += plain - from;
            room[end..][..escaped.len()].copy_from_slice(&escaped);
            end += length;
            from = plain + 1;
        }
        room[end..][..WINDOW].copy_from_slice(&two[from..][..WINDOW]);
        end += WINDOW - from;
        at += WINDOW;
        if end > ROOM - LONGEST {
            out.extend_from_slice(&room[..end]);
            end = 0;
        }
    }
    out.extend_from_slice(&room[..end]);
    at
}

/// Bytes that a window may become, and one more that is copied behind it.
const LONGEST: usize = 6 * WINDOW + WINDOW;

/// A byte that cannot stand in a JSON string as it is as it stands there, and how many bytes of that are meant.
#[inline]
fn escaped(byte: u8) -> ([u8; 8], usize) {
    const LETTERS: [u8; 256] = {
        let mut letters = [0; 256];
        letters[b'\n' as usize] = b'n';
        letters[b'"' as usize] = b'"';
        letters[b'\\' as usize] = b'\\';
        letters[b'\r' as usize] = b'r';
        letters[b'\t' as usize] = b't';
        letters[0x08] = b'b';
        letters[0x0c] = b'f';
        letters
    };
    let letter = LETTERS[usize::from(byte)];
    if letter != 0 {
        return ([b'\\', letter, 0, 0, 0, 0, 0, 0], 2);
    }
    let digit = |digit: u8| b"0123456789abcdef"[usize::from(digit)];
    let digits = [digit(byte >> 4), digit(byte & 15)];
    ([b'\\', b'u', b'0', b'0', digits[0], digits[1], 0, 0], 6)
}

/// As it is in a transcript.
impl Serialize for RecordedEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        body(&mut map, &self.body)?;
        about(&mut map, self)?;
        map.end()
    }
}

/// What is in an event after its body.
struct About<'a>(&'a RecordedEvent);

impl Serialize for About<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        about(&mut map, self.0)?;
        map.end()
    }
}

fn about<M: SerializeMap>(map: &mut M, event: &RecordedEvent) -> Result<(), M::Error> {
    if let Body::ToolResult { error, .. } = &event.body {
        optional(map, "error", error.as_ref())?;
    }
    if let Some(t_ms) = event.t_ms {
        map.serialize_entry("t_ms", &number(t_ms))?;
    }
    optional(map, "tokens", event.tokens.as_ref())?;
    all(map, &event.rest)
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
        Body::ToolResult { id, content, .. } => {
            map.serialize_entry("type", "tool_result")?;
            optional(map, "id", id.as_ref())?;
            map.serialize_entry("content", content)
        }
        Body::Turn => map.serialize_entry("type", "turn"),
        Body::User(text) => text_event(map, "user", text),
        Body::System => map.serialize_entry("type", "system"),
        Body::Handoff { from, to } => {
            map.serialize_entry("type", "handoff")?;
            map.serialize_entry("from", from)?;
            map.serialize_entry("to", to)
        }
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

/// Writes a field that has a value.
///
/// # Errors
/// It cannot be written.
pub fn optional<M: SerializeMap, T: Serialize>(
    map: &mut M,
    name: &str,
    value: Option<&T>,
) -> Result<(), M::Error> {
    match value {
        Some(value) => map.serialize_entry(name, value),
        None => Ok(()),
    }
}

/// Writes these fields.
///
/// # Errors
/// One cannot be written.
pub fn all<M: SerializeMap>(map: &mut M, fields: &Map<String, Value>) -> Result<(), M::Error> {
    fields
        .iter()
        .try_for_each(|(name, value)| map.serialize_entry(name, value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn written(event: &RecordedEvent) -> String {
        let mut out = Vec::new();
        write_event(event, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_char_is_escaped_as_the_json_writer_does() {
        let text: String = (0..0x250).filter_map(char::from_u32).collect();
        let text = text.clone() + &"long ".repeat(100) + &text;
        let event = RecordedEvent::of(Body::Answer(text));
        assert_eq!(written(&event), serde_json::to_string(&event).unwrap());
    }

    proptest! {
        #[test]
        fn an_event_is_what_the_json_writer_makes_of_it(
            text in "([ -~]{0,40}|[a-z]{60,70}|[\\x00-\\x1f\"\\\\]|\\PC{0,5}){0,20}",
            kind in 0..4,
            id in proptest::option::of("[a-z\"]{0,3}"),
            error: Option<bool>,
            t_ms in proptest::option::of(0.0..1e4),
            tokens: Option<u64>,
            more: bool,
        ) {
            let body = match kind {
                0 => Body::Reasoning(text),
                1 => Body::Answer(text),
                2 => Body::User(text),
                _ => Body::ToolResult { id, content: text, error },
            };
            let rest = match json!({"x": [1, "\n"], "y": null}) {
                Value::Object(rest) if more => rest,
                _ => Map::new(),
            };
            let event = RecordedEvent { body, t_ms, tokens, rest };
            prop_assert_eq!(written(&event), serde_json::to_string(&event).unwrap());
        }
    }
}
