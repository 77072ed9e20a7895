//! The UI message stream of Vercel's AI SDK 5.
//!
//! Its parts have a `type` (`text-delta`, `reasoning-delta`, `tool-input-available`, …) and come between `start` and
//! `finish`.
//!
//! The format: <https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol>.

use serde_json::Value;

use super::{Family, answer_event, failure_event, finish_event, read_type, reasoning_event};
use crate::fields::{Object, ReadFields};
use crate::reader::content::{CallPiece, ObjectContent};
use crate::reasons::normalize;
use crate::wire::WireResult;
use crate::{Body, RecordedEvent};

/// The types of parts, each with its required field. The field is empty if none is required.
const PART_TYPES: [(&str, &str); 18] = [
    ("start", "messageId"),
    ("start-step", ""),
    ("text-start", "id"),
    ("text-delta", "delta"),
    ("text-end", "id"),
    ("reasoning-start", "id"),
    ("reasoning-delta", "delta"),
    ("reasoning-end", "id"),
    ("tool-input-start", "toolCallId"),
    ("tool-input-delta", "toolCallId"),
    ("tool-input-available", "toolCallId"),
    ("tool-input-error", "toolCallId"),
    ("tool-output-available", "toolCallId"),
    ("tool-output-error", "toolCallId"),
    ("finish-step", ""),
    ("finish", ""),
    ("abort", ""),
    ("error", "errorText"),
];

/// The family of the UI message stream's parts.
pub const ENTRY: Family = Family {
    name: "ai_sdk",
    keys: &["type", "id", "delta", "messageId", "toolCallId"],
    knows: |object| {
        let mut parts = PART_TYPES
            .iter()
            .filter(|(part, _)| *part == read_type(object));
        let has = |field: &str| field.is_empty() || object.contains_key(field);
        // OpenCode's events have a `part`, and deadloop's own ends have a `reason` or `t_ms`.
        let others = ["part", "reason", "t_ms"];
        let other = others.iter().any(|name| object.contains_key(*name));
        parts.any(|(_, field)| has(field)) && !other
    },
    read,
    ..Family::PLAIN
};

fn read(object: &mut Object, parsed: &mut ObjectContent) -> WireResult {
    let kind = object.take_string("type")?.unwrap_or_default();
    match kind.as_str() {
        "start" => {
            parsed.begins = true;
            object.take("messageId");
        }
        "text-delta" => parsed.push(0, answer_event(object.take_string("delta")?)),
        "reasoning-delta" => parsed.push(0, reasoning_event(object.take_string("delta")?)),
        // The arguments came in pieces before, and are repeated as a whole.
        "tool-input-available" => add_call(object, parsed)?,
        "tool-output-available" | "tool-output-error" => {
            let output = ["output", "errorText"].map(|name| object.take(name));
            let output = output.into_iter().flatten().next();
            let body = Body::ToolResult {
                id: object.take_label("toolCallId"),
                content: match output {
                    Some(Value::String(text)) => text,
                    Some(other) => other.to_string(),
                    None => String::new(),
                },
                error: Some(kind == "tool-output-error"),
            };
            parsed.push(0, Some(RecordedEvent::new(body)));
        }
        "finish" => {
            let reason = object.take_string("finishReason")?;
            parsed.push(0, finish_event(reason.map(|reason| normalize(&reason))));
            parsed.ends = true;
        }
        "error" => {
            parsed.push(0, Some(failure_event()));
            parsed.keep("error", object.take("errorText"));
        }
        _ => {}
    }
    object.take("id");
    Ok(())
}

/// Adds a call with complete arguments.
fn add_call(object: &mut Object, parsed: &mut ObjectContent) -> WireResult {
    let piece = CallPiece {
        id: object.take_label("toolCallId"),
        name: object.take_string("toolName")?,
        arguments: object
            .take("input")
            .map_or(String::new(), |input| input.to_string()),
        ..CallPiece::default()
    };
    parsed.push_call(0, piece);
    Ok(())
}
